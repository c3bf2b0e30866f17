package writer_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/denorm-go/denorm/cassandratest"
	"github.com/denorm-go/denorm/tables"
	"github.com/denorm-go/denorm/writer"
)

// A key of a Unique table that goes from one entity to another is given up before it is taken, as the source has it. Where the first change
// fails, the second is parked, and so is what comes after that.
func TestWriteAllKeepsTheOrderOfAUniqueKey(t *testing.T) {
	t.Parallel()
	set := patronSet()
	cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
		create(c, set)
		w, _ := open(t, c)
		const pairs, bad = 30, 7
		var gone, moved, heirs []patron
		write := func(p patron, email string) patron {
			p.Email = email
			result, err := w.Write(t.Context(), "signUp", set.Insert(newFor(p)))
			if err != nil {
				t.Fatal(err)
			}
			p.Version = result.Version
			return p
		}
		for n := range pairs {
			gone = append(gone, write(newPatron(), fmt.Sprintf("gone %d", n)))
			moved = append(moved, write(newPatron(), fmt.Sprintf("moved %d", n)))
		}
		gone[bad].Version = moved[bad].Version // as of a row that another has changed
		source := func(yield func(writer.Item, error) bool) {
			for n := range pairs {
				heir, after := newPatron(), moved[n]
				heir.Email = gone[n].Email
				after.Email = fmt.Sprintf("new %d", n)
				next := newPatron()
				next.Email = moved[n].Email
				heirs = append(heirs, heir)
				changes := []tables.Change{set.Delete(gone[n]), set.Insert(heir), set.Update(moved[n], after), set.Insert(next)}
				for _, change := range changes {
					if !yield(writer.Item{Change: change, Position: int64(n)}, nil) {
						return
					}
				}
			}
		}
		bulk := w.WriteAll(t.Context(), "import", source)
		failed, parked := 0, 0
		for done := range bulk.All() {
			switch {
			case done.Err == nil:
			case done.Position != bad:
				t.Errorf("%v: %v", done.Change, done.Err)
			case errors.Is(done.Err, writer.ErrParked):
				parked++
			default:
				failed++
			}
		}
		if failed != 1 || parked != 1 {
			t.Errorf("%d failed, %d parked: %v", failed, parked, bulk.Err())
		}
		for n, heir := range heirs {
			if _, err := writer.Load(t.Context(), w, "show", set, heir); (err != nil) != (n == bad) {
				t.Errorf("heir %d: %v", n, err)
			}
		}
	})
}
