package writer_test

import (
	"errors"
	"testing"
	"time"

	"github.com/denorm-go/denorm/cassandratest"
	"github.com/denorm-go/denorm/tables"
	"github.com/denorm-go/denorm/writer"
	"github.com/gocql/gocql"
)

// A set with Compare has no version that tells an old change from a new one, so its errors are too old when those of other sets
// are: within half of the table's gc_grace_seconds a reservation may be made, given up and made again.
func TestOldErrorOfCompareIsRefused(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, c *cassandratest.Cluster, again func(*writer.Error) *writer.Error) {
		t.Helper()
		s := start(t, c)
		free := slot{SlotID: "a"}
		_, err := s.w.Write(t.Context(), "open", slots.Insert(free))
		read, unread := writer.Load(t.Context(), s.w, "show", slots, free)
		if err != nil || unread != nil {
			t.Fatal(err, unread)
		}
		mine := read
		mine.Holder = "alice"
		away := c.When(cassandratest.Table("slots")).Do(unavailable)
		_, err = s.w.Write(t.Context(), "take", slots.Update(read, mine))
		failed := failedWrite(t, err)
		away.End()
		after := func(d time.Duration) error {
			late := s.client(t, writer.WithClock(writer.NewClock(func() time.Time { return time.Now().Add(d) })))
			_, err := late.w.Resume(t.Context(), again(failed))
			return err
		}
		if err := after(6 * 24 * time.Hour); !errors.Is(err, writer.ErrExpired) || failedWrite(t, err).NotApplied() {
			t.Errorf("after six days: %v", err)
		}
		if err := after(4 * 24 * time.Hour); err != nil {
			t.Errorf("after four days: %v", err)
		}
	})
}

// What a Mark does not tell: the repeat of a delete, whose row is gone, is not known to be one, and the repeat of an insert whose
// row was deleted is an insert.
func TestRepeatsThatAMarkDoesNotTell(t *testing.T) {
	t.Parallel()
	set := countedSet(tables.Compare("left", "mark"), tables.Mark("mark"))
	cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
		create(c, set)
		w, _ := open(t, c)
		n := counted{CountedID: gocql.MustRandomUUID(), Left: 5}
		build := w.With(writer.At(time.Now().UnixMicro()))
		_, built := build.Write(t.Context(), "build", set.Insert(n))
		time.Sleep(time.Second)
		now, unread := writer.Load(t.Context(), w, "show", set, n)
		raze := w.With(writer.At(time.Now().UnixMicro()))
		_, razed := raze.Write(t.Context(), "raze", set.Delete(now))
		if err := errors.Join(built, unread, razed); err != nil {
			t.Fatal(err)
		}
		_, err := raze.Write(t.Context(), "raze", set.Delete(now))
		if _, current := writer.Current[counted](err); !errors.Is(err, writer.ErrConflict) || !errors.Is(err, writer.ErrUnknown) || current {
			t.Errorf("the repeat of the delete: %v", err)
		}
		_, err = build.Write(t.Context(), "build", set.Insert(n))
		if _, unread := writer.Load(t.Context(), w, "show", set, n); err != nil || unread != nil {
			t.Errorf("the repeat of the insert: %v, %v", err, unread)
		}
	})
}
