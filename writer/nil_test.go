package writer_test

import (
	"context"
	"testing"

	"github.com/denorm-go/denorm/cassandratest"
	"github.com/denorm-go/denorm/tables"
	"github.com/denorm-go/denorm/writer"
	"github.com/denorm-go/denorm/writer/bulk"
	"github.com/gocql/gocql"
)

// What was forgotten is named by an error, in every call that takes it: it is no nil dereference.
func TestNil(t *testing.T) {
	t.Parallel()
	set := tables.Must(tables.New[guest]("guest", tables.Table{Name: "guests", PartKey: []string{"guest_id"}}))
	var (
		none       context.Context
		noSet      *tables.Set[guest]
		noWriter   *writer.Writer
		row        = guest{GuestID: gocql.MustRandomUUID()}
		same       = func(g guest) (guest, error) { return g, nil }
		zero       writer.Writer
		noMade     = "the writer is nil or a zero value: it is made by writer.New"
		noOp       = "op is empty: name the write, as in createOrder; errors, spans and metrics show it"
		noSetMade  = "the set is nil or a zero value: it is made by tables.New"
		nothing    = func(func(bulk.Item, error) bool) {}
		notDecoded = "; the error is empty, as where UnmarshalBinary has failed: look at what that returned, and keep the " +
			"bytes"
		noContext = "the context is nil: pass the caller's, or context.Background()"
	)
	cassandratest.Test(t, 1, func(t *testing.T, c *cassandratest.Cluster) {
		c.Create("CREATE KEYSPACE shop WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}")
		create(c, set)
		w, _ := open(t, c)
		ctx := t.Context()
		for name, call := range map[string]struct {
			does func() error
			want string
		}{
			"Write without a context": {
				func() error { _, err := w.Write(none, "m", set.Insert(row)); return err },
				"m: invalid: " + noContext,
			},
			"Resume without a context": {
				func() error { _, err := w.Resume(none, &writer.Error{Op: "m"}); return err },
				"m: invalid: " + noContext + notDecoded,
			},
			"Warm without a context": {func() error { return w.Warm(none, set) }, "Warm: invalid: " + noContext},
			"Modify without a context": {
				func() error { _, err := writer.Modify(none, w, "m", set, row, same); return err },
				"m: invalid: " + noContext,
			},
			"Load without a context": {
				func() error { _, err := writer.Load(none, w, "m", set, row); return err },
				"m: invalid: " + noContext,
			},
			"Modify without a writer": {func() error {
				_, err := writer.Modify(ctx, noWriter, "m", set, row, same)
				return err
			}, "m: invalid: " + noMade},
			"Load without a writer": {
				func() error { _, err := writer.Load(ctx, noWriter, "m", set, row); return err },
				"m: invalid: " + noMade,
			},
			"Write without a writer": {
				func() error { _, err := noWriter.Write(ctx, "m", set.Insert(row)); return err },
				"m: invalid: " + noMade,
			},
			"Write of a zero writer": {
				func() error { _, err := zero.Write(ctx, "m", set.Insert(row)); return err },
				"m: invalid: " + noMade,
			},
			"With of a zero writer": {
				func() error { _, err := zero.With(writer.Auto()).Write(ctx, "m"); return err },
				"m: invalid: " + noMade,
			},
			"With of no writer": {
				func() error { _, err := noWriter.With(writer.Auto()).Write(ctx, "m"); return err },
				"m: invalid: " + noMade,
			},
			"Explain of a zero writer": {
				func() error { _, err := zero.Internal().Explain("m", set.Insert(row)); return err },
				"m: invalid: " + noMade,
			},
			"Modify of a zero writer": {
				func() error { _, err := writer.Modify(ctx, &zero, "m", set, row, same); return err },
				"m: invalid: " + noMade,
			},
			"Load of a zero writer": {
				func() error { _, err := writer.Load(ctx, &zero, "m", set, row); return err },
				"m: invalid: " + noMade,
			},
			"Warm of a zero writer": {func() error { return zero.Warm(ctx, set) }, "Warm: invalid: " + noMade},
			"Write without an op": {
				func() error { _, err := w.Write(ctx, "", set.Insert(row)); return err },
				"invalid: " + noOp,
			},
			"Explain without an op": {func() error { _, err := w.Internal().Explain("", set.Insert(row)); return err }, "invalid: " +
				noOp},
			"Modify without an op": {
				func() error { _, err := writer.Modify(ctx, w, "", set, row, same); return err },
				"invalid: " + noOp,
			},
			"Load without an op": {
				func() error { _, err := writer.Load(ctx, w, "", set, row); return err },
				"invalid: " + noOp,
			},
			"Modify without a set": {
				func() error { _, err := writer.Modify(ctx, w, "m", noSet, row, same); return err },
				"m: invalid: the set is nil or a zero value: it is made by tables.New",
			},
			"Load without a set": {
				func() error { _, err := writer.Load(ctx, w, "m", noSet, row); return err },
				"m: invalid: the set is nil or a zero value: it is made by tables.New",
			},
			"Modify without a change": {
				func() error { _, err := writer.Modify(ctx, w, "m", set, row, nil); return err },
				"m: invalid: the function that changes the row is nil",
			},
			"Modify of a zero set": {func() error {
				_, err := writer.Modify(ctx, w, "m", new(tables.Set[guest]), row, same)
				return err
			}, "m: invalid: " + noSetMade},
			"Load of a zero set": {func() error {
				_, err := writer.Load(ctx, w, "m", new(tables.Set[guest]), row)
				return err
			}, "m: invalid: " + noSetMade},
			"Wait without a context": {func() error { return w.Wait(none) }, "Wait: invalid: " + noContext},
			"Wait without a writer":  {func() error { return noWriter.Wait(ctx) }, "Wait: invalid: " + noMade},
			"Wait of a zero writer":  {func() error { return zero.Wait(ctx) }, "Wait: invalid: " + noMade},
			"WriteAll with a nil option": {
				func() error { return bulk.WriteAll(ctx, w, "m", nothing, nil).Err() },
				"m: invalid: an option is nil",
			},
			"Warm without a set": {
				func() error { return w.Warm(ctx, set, noSet) },
				"Warm: invalid: set 2 is nil or a zero value: it is made by tables.New",
			},
			"Warm with nil": {
				func() error { return w.Warm(ctx, nil) },
				"Warm: invalid: set 1 is nil or a zero value: it is made by tables.New",
			},
			"Resumes without a set": {
				func() error { _, err := w.With(writer.Resumes(noSet)).Write(ctx, "m", set.Insert(row)); return err },
				"m: invalid: Resumes: name at least one set, and none that is nil",
			},
			"a change of no set": {
				func() error { _, err := w.Write(ctx, "m", noSet.Insert(row)); return err },
				"m: invalid: a change was not made by a verb of a set, or the set is nil",
			},
			"an update of no set": {
				func() error { _, err := w.Internal().Explain("m", noSet.Updating(row)(row)); return err },
				"m: invalid: a change was not made by a verb of a set, or the set is nil",
			},
			"a patch of no set": {
				func() error { _, err := w.Internal().Explain("m", noSet.Patch(row, tables.Column("city"))); return err },
				"m: invalid: a change was not made by a verb of a set, or the set is nil",
			},
			"no change": {
				func() error { _, err := w.Write(ctx, "m", tables.Change{}); return err },
				"m: invalid: a change was not made by a verb of a set, or the set is nil",
			},
			"Modify no id": {
				func() error { _, err := writer.Modify(ctx, w, "m", set, guest{}, same); return err },
				"m: invalid: entity guest: column guest_id: a key column must not be the zero UUID",
			},
			"Load no id": {
				func() error { _, err := writer.Load(ctx, w, "m", set, guest{}); return err },
				"m: invalid: entity guest: column guest_id: a key column must not be the zero UUID",
			},
		} {
			wantError(t, name, call.does, "denorm: "+call.want)
		}
	})
}

func wantError(t *testing.T, name string, call func() error, want string) {
	t.Helper()
	defer func() {
		if p := recover(); p != nil {
			t.Errorf("%s: panic: %v", name, p)
		}
	}()
	if err := call(); err == nil || err.Error() != want {
		t.Errorf("%s: %v, want %s", name, err, want)
	}
}
