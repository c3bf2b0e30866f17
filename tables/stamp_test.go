package tables_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/denorm-go/denorm/internal/statement"
	"github.com/denorm-go/denorm/tables"
)

func TestStamp(t *testing.T) {
	t.Parallel()
	s, o := orders(t), order()
	s.SetStamp(&o, now-42)
	if o.UpdatedAt != now-42 {
		t.Fatalf("stamp %d", o.UpdatedAt)
	}
	after := with(o, func(o *Order) { o.UpdatedAt = now - 99 })
	for _, tc := range []struct {
		change tables.Change
		want   int64
	}{
		{s.Insert(o), 0}, {s.Upsert(o), 0}, {s.Update(o, after), now - 42}, {s.Delete(o), now - 42},
	} {
		if got := tc.change.Internal().StampOf(); got != tc.want {
			t.Errorf("%s: stamp of the before-image %d, want %d", tc.change, got, tc.want)
		}
	}
	r, err := s.Update(o, after).Internal().Render(1000, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range r.Mutations {
		if m.Kind == statement.Put {
			if got := shown(m.Args[slices.Index(m.Names, "updated_at")]); got != "0x00000000000003e8" {
				t.Errorf("%s: stamp %s, want the timestamp of the write", m, got)
			}
		}
	}
	plain := tables.Must(tables.New[Order]("order", tables.Table{Name: "orders", PartKey: []string{"order_id"}}))
	plain.SetStamp(&o, 7)
	if o.UpdatedAt != now-42 || plain.Delete(o).Internal().StampOf() != 0 {
		t.Error("a set without Stamp has one")
	}
}

// A stamp of zero is most often a forgotten one, and the write of a process whose clock is behind did nothing and was
// acknowledged.
func TestForgottenStampIsRejected(t *testing.T) {
	t.Parallel()
	s, o := orders(t), with(order(), func(o *Order) { o.UpdatedAt = 0 })
	paid := with(o, func(o *Order) { o.Status, o.UpdatedAt = Paid, now })
	for _, c := range []tables.Change{s.Update(o, paid), s.Updating(o)(paid), s.Delete(o)} {
		_, err := c.Internal().Render(now, nil)
		invalidAs(t, err, tables.InvalidError{
			Entity: "order", Column: "updated_at",
			Reason: "the before-image has no stamp: pass the row as it was read, or with Result.Timestamp as its stamp (rows " +
				"from before the library: declare UnstampedRows)",
		})
	}
	for _, c := range []tables.Change{s.Insert(o), orders(t, tables.SweepInserts()).Upsert(o)} {
		if _, err := c.Internal().Render(now, nil); err != nil {
			t.Errorf("%s has no before-image: %v", c, err)
		}
	}
	old := orders(t, tables.UnstampedRows())
	for _, c := range []tables.Change{old.Update(o, paid), old.Delete(o)} {
		if _, err := c.Internal().Render(now, nil); err != nil {
			t.Errorf("%s where rows have no stamp: %v", c, err)
		}
	}
	plain := tables.Must(tables.New[Order]("order", tables.Table{Name: "orders", PartKey: []string{"order_id"}},
		tables.Stamp("updated_at")))
	if _, err := plain.Update(o, paid).Internal().Render(now, nil); err != nil {
		t.Errorf("a set without OneOf: %v", err)
	}
}

// A stamp in another unit orders nothing. One in nanoseconds is ahead of every clock: see TestStampInNanoseconds of the
// writer.
func TestStampInAnotherUnitIsRejected(t *testing.T) {
	t.Parallel()
	plain := tables.Must(tables.New[Order]("order", tables.Table{Name: "orders", PartKey: []string{"order_id"}},
		tables.Stamp("updated_at")))
	at := time.UnixMicro(now)
	for name, stamp := range map[string]int64{
		"seconds": at.Unix(), "milliseconds": at.UnixMilli(), "negative": -now,
		"one": 1,
	} {
		o := with(order(), func(o *Order) { o.UpdatedAt = stamp })
		for set, s := range map[string]*tables.Set[Order]{
			"OneOf": orders(t), "unstamped": orders(t, tables.UnstampedRows()),
			"plain": plain,
		} {
			for _, c := range []tables.Change{s.Update(o, o), s.Delete(o)} {
				_, err := c.Internal().Render(now, nil)
				if err == nil || !strings.Contains(err.Error(), "too small for microseconds") {
					t.Errorf("%s, %s, %s: %v", name, set, c, err)
				}
			}
		}
		_, err := plain.Patch(o, tables.Column("total")).Internal().Render(now, nil)
		if err == nil || !strings.Contains(err.Error(), "too small for microseconds") {
			t.Errorf("%s, patch: %v", name, err)
		}
	}
}

// TestNoMoveBelowResolution: Cassandra keeps milliseconds. An update from 12:00:00.0001 to 12:00:00.0002 is one of the
// same row, and as a move it would delete the row it has just written.
func TestNoMoveBelowResolution(t *testing.T) {
	t.Parallel()
	at := time.UnixMilli(1000)
	before := aJob()
	for _, later := range []time.Duration{0, time.Nanosecond, time.Millisecond - 1} {
		after := with(before, func(j *job) { j.Started = at.Add(later) })
		r, err := jobs(t).Update(before, after).Internal().Render(now, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range r.Mutations {
			if m.Table == "jobs_by_worker" && m.Kind != statement.Put {
				t.Errorf("%s later: %s", later, m)
			}
		}
	}
	r, err := jobs(t).Update(before, with(before, func(j *job) { j.Started = at.Add(time.Millisecond) })).Internal().
		Render(now, nil)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(dump(r), "remove jobs_by_worker") {
		t.Error("a millisecond later the row must move")
	}

	type visit struct {
		ID int64
		At time.Time
	}
	immutable := tables.Must(tables.New[visit]("visit", tables.Table{Name: "visits", PartKey: []string{"id"}},
		tables.Table{Name: "visits_by_day", PartKey: []string{"at"}, SortKey: []string{"id"}}, tables.Type("at", "date")))
	noon := time.Date(1969, 12, 31, 12, 0, 0, 0, time.UTC)
	if _, err := immutable.Update(visit{1, noon}, visit{1, noon.Add(11 * time.Hour)}).Internal().
		Render(1, nil); err != nil {
		t.Errorf("the hour of a date is not stored: %v", err)
	}
	if _, err := immutable.Update(visit{1, noon}, visit{1, noon.Add(12 * time.Hour)}).Internal().
		Render(1, nil); err == nil {
		t.Error("the next day passed as the same one")
	}
}
