package writer

import (
	"context"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/denorm-go/denorm/internal/decide"
	"github.com/denorm-go/denorm/internal/statement"
	"github.com/denorm-go/denorm/tables"
	"github.com/gocql/gocql"
)

// Photo is a row that may be large.
type Photo struct {
	ID      gocql.UUID
	Data    []byte
	Label   string
	Version gocql.UUID
}

// Rows of a megabyte are read ahead of slow nodes up to 64 MiB and sixteen more, however many writes may be under way, and whether the rows are
// those of a request, of a transaction, or of a before-image.
func TestWriteAllHoldsSixtyFourMegabytes(t *testing.T) {
	t.Parallel()
	const items, row = 300, 1 << 20
	table := tables.Table{Name: "photos", PartKey: []string{"id"}}
	plain, compared := mustSet[Photo](t, "photo", table), mustSet[Photo](t, "photo", table, tables.Compare("label"))
	versioned := mustSet[Photo](t, "photo", table, tables.Versioned("version"))
	small := func(p Photo) Photo { return Photo{ID: p.ID, Label: "small", Version: p.Version} }
	for name, change := range map[string]func(Photo) tables.Change{
		"insert":                     plain.Insert,
		"update of a large row":      func(p Photo) tables.Change { return plain.Update(p, small(p)) },
		"delete":                     plain.Delete,
		"patch of a large row":       func(p Photo) tables.Change { return plain.Patch(p, tables.Column("label")) },
		"Compare, insert":            compared.Insert,
		"Compare, update to large":   func(p Photo) tables.Change { return compared.Update(small(p), p) },
		"Compare, update of large":   func(p Photo) tables.Change { return compared.Update(p, small(p)) },
		"Compare, delete":            compared.Delete,
		"Versioned, insert":          versioned.Insert,
		"Versioned, update to large": func(p Photo) tables.Change { return versioned.Update(small(p), p) },
		"Versioned, delete":          versioned.Delete,
	} {
		t.Run(name, func(t *testing.T) { //nolint:paralleltest // each takes much memory
			synctest.Test(t, func(t *testing.T) {
				photo := Photo{Data: []byte(strings.Repeat("x", row)), Label: "large", Version: gocql.UUIDFromTime(time.Now())}
				var mu sync.Mutex
				held, most := 0, 0
				source := func(yield func(Item, error) bool) {
					for i := range items {
						mu.Lock()
						held++
						most = max(most, held)
						mu.Unlock()
						photo.ID = newTask("").TaskID
						photo.ID[0], photo.ID[1] = byte(i), byte(i>>8)
						if !yield(Item{Change: change(photo)}, nil) {
							return
						}
					}
				}
				w := bulkWriter(slowExecutor{})
				w.transact = slowTransactor{&fakeTransactor{}}
				b := w.WriteAll(t.Context(), "import", source)
				for d := range b.All() {
					mu.Lock()
					held--
					mu.Unlock()
					if d.Err != nil {
						t.Error(d.Err)
					}
				}
				// One more is taken in when the rest is just below the bound, and one waits at the source.
				if allowed := aheadBytes/row + aheadUnsized + 2; b.Err() != nil || most > allowed || most < allowed-4 {
					t.Errorf("%d rows of a megabyte were held, want about %d: %v", most, allowed, b.Err())
				}
			})
		})
	}
}

// slowTransactor applies every transaction, after a while.
type slowTransactor struct{ *fakeTransactor }

func (x slowTransactor) Swap(ctx context.Context, statements []statement.Bound, o decide.Options) (bool, map[string]any, error) {
	<-time.After(100 * time.Millisecond)
	return x.fakeTransactor.Swap(ctx, statements, o)
}
