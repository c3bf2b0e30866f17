package writer

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// A writer forgets tables that rotate away, and names of which the cluster has no table, and keeps what is in use.
func TestLiveForgets(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const days = 100
		var down atomic.Bool // tables are also read by goroutines that nothing waits for
		l := live{read: func(_ context.Context, _, table string) (liveTable, error) {
			if table == "never" {
				return liveTable{}, errNoTable
			}
			if down.Load() {
				return liveTable{}, errors.New("unavailable")
			}
			return liveTable{gcGrace: time.Hour}, nil
		}}
		for day := range days {
			for range 24 {
				for _, table := range []string{"orders", fmt.Sprint("orders_", day)} {
					if _, err := l.table(t.Context(), &single, "shop", table); err != nil {
						t.Fatal(err)
					}
				}
				l.groupable("shop", "notes")
				l.groupable("shop", fmt.Sprint("notes_", day))
				l.groupable("shop", "never")
				l.ungroup("shop", fmt.Sprint("rejected_", day))
				<-time.After(time.Hour)
			}
			if day > 0 && !l.groupable("shop", "notes") {
				t.Fatalf("day %d: a table in use is forgotten", day)
			}
		}
		if known := len(*l.known.Load()); known > 10 {
			t.Errorf("%d tables are known", known)
		}
		down.Store(true)
		<-time.After(liveKept - 2*time.Hour)
		l.ungroup("shop", "other")
		if known, err := l.table(t.Context(), &single, "shop", "orders"); err != nil || known.gcGrace != time.Hour {
			t.Errorf("a table of yesterday, whose schema cannot be read now: %v, %v", known, err)
		}
	})
}
