package simulation

import (
	"fmt"
	"testing"
	"time"

	"github.com/denorm-go/denorm/integration/load/history"
	"github.com/denorm-go/denorm/tables"
	"github.com/denorm-go/denorm/writer"
)

// A process whose clock is ahead takes a login for expired that is not yet, and does not make it again.
func TestLoginIsLostByAClockAhead(t *testing.T) {
	t.Parallel()
	for made, end := range map[bool]time.Duration{true: skew / 2, false: -skew} {
		l := &loginLoad{crew: &crew{world: new(world)}, history: history.New[Login](nil), lost: make(map[int]bool)}
		v := Login{EndsAt: time.Now().Add(end)}
		noted := l.history.Begin("", tables.Update, v)
		if failed := l.told(noted, v, made, writer.Result{}, fmt.Errorf("expired: %w", writer.ErrInvalid)); failed != nil {
			t.Errorf("made again: %t: left to be done: %v", made, failed)
		}
		if l.lost[noted] != made || len(l.troubles) > 0 == made {
			t.Errorf("made again: %t: lost: %t, troubles: %v", made, l.lost[noted], l.troubles)
		}
	}
}
