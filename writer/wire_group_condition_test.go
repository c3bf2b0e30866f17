package writer

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/denorm-go/denorm/cassandratest"
	"github.com/denorm-go/denorm/internal/testutil/golden"
	"github.com/denorm-go/denorm/retry"
	"github.com/denorm-go/denorm/schema"
	"github.com/denorm-go/denorm/tables"
	"github.com/gocql/gocql"
)

// shelvedSet is Versioned, and has two query tables.
func shelvedSet(tb testing.TB) *tables.Set[Piece] {
	tb.Helper()
	return mustSet[Piece](tb, "item",
		tables.Table{Name: "items", PartKey: []string{"item_id"}},
		tables.Table{Name: "items_by_shelf", PartKey: []string{"shelf"}, SortKey: []string{"item_id"}},
		tables.Table{Name: "items_by_count", PartKey: []string{"count"}, SortKey: []string{"item_id"}},
		tables.Versioned("version"),
	)
}

// openWireItems opens a shop that has the tables of shelvedSet too, and whose writer groups.
func openWireItems(t *testing.T, options ...NewOption) (*wireShop, *tables.Set[Piece]) {
	t.Helper()
	s, set := openWireGroups(t, 3, options...), shelvedSet(t)
	s.Create(schema.Must(schema.Declare(schema.Sets(set))).In(map[string]string{"": "shop"}).Statements()...)
	if err := s.w.Warm(t.Context(), set); err != nil {
		t.Fatal(err)
	}
	return s, set
}

// freshItem is one of no partition that another one has, but that of its count.
func freshItem(count int32) Piece {
	id := gocql.TimeUUID()
	return Piece{ItemID: id, Shelf: "of " + id.String(), Count: count}
}

// pending is whether the row of an item has an entry that says what is left of a change.
func (s *wireShop) pending(t *testing.T, id gocql.UUID) bool {
	t.Helper()
	var entries map[gocql.UUID][]byte
	if err := s.session.Query("SELECT pending FROM shop.items WHERE item_id = ?", id).Consistency(gocql.All).Scan(&entries); err != nil {
		t.Fatal(err)
	}
	return len(entries) > 0
}

// places are the rows of an item in a query table.
func (s *wireShop) places(t *testing.T, table string, id gocql.UUID) (rows []Piece) {
	t.Helper()
	iter := s.session.Query("SELECT item_id, shelf, count, version FROM shop." + table).Consistency(gocql.All).Iter()
	for p := (Piece{}); iter.Scan(&p.ItemID, &p.Shelf, &p.Count, &p.Version); p = (Piece{}) {
		if p.ItemID == id {
			rows = append(rows, p)
		}
	}
	if err := iter.Close(); err != nil {
		t.Fatal(err)
	}
	return rows
}

// After its transaction the query tables of a Versioned set travel in one group, and the entry that says what is left goes after that. Nothing
// of it is sent if the condition does not hold.
func TestWireGroupAfterACondition(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		unwind(t)
		s, set := openWireItems(t)
		before := freshItem(1)
		write := func(change tables.Change, partitions int) Result {
			from := len(s.Journal())
			result, err := s.w.Write(t.Context(), "changeItem", change)
			if err != nil || s.w.Wait(t.Context()) != nil {
				t.Fatal(err)
			}
			sent := s.writes(from)
			if len(sent) != 3 || sent[0].Serial == 0 || sent[1].Serial != 0 || len(sent[1].Statements) != partitions || sent[1].Logged ||
				!sent[2].On("items") {
				t.Errorf("sent %v", sent)
			}
			if result.Mode != Conditional || result.Requests != 2 || result.Groups != 1 || result.Attempts != 2 {
				t.Errorf("%+v", result)
			}
			return result
		}
		before.Version = write(set.Insert(before), 2).Version
		after := before
		after.Shelf, after.Count = "another", 2
		after.Version = write(set.Update(before, after), 4).Version // to two places and away from two
		for _, table := range []string{"items_by_shelf", "items_by_count"} {
			if rows := s.places(t, table, after.ItemID); len(rows) != 1 || rows[0] != after {
				t.Errorf("%s: %+v, want %+v", table, rows, after)
			}
		}
		from := len(s.Journal())
		if _, err := s.w.Write(t.Context(), "changeItem", set.Update(before, after)); !errors.Is(err, ErrConflict) {
			t.Errorf("an old before-image: %v", err)
		}
		if slices.ContainsFunc(s.writes(from), func(r cassandratest.Request) bool { return r.On("items_by_shelf") || r.On("items_by_count") }) {
			t.Errorf("sent %v", s.writes(from))
		}
	})
}

// Every error and every lost answer of such a group, with every subset of it applied, and then every kind of error of a request that it
// becomes: query tables without an answer are Pending, whatever their own requests say, the entry stays as long as they are, and a Resume of the
// stored error, or the next change of the entity, finishes them.
func TestWireGroupOutcomesAfterACondition(t *testing.T) {
	t.Parallel()
	for first, fault := range wireFaults() {
		t.Run(first, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				unwind(t)
				s, set := openWireItems(t, Timeout(time.Minute), Retry(retry.Policy{MaxAttempts: 2, MaxElapsedTime: time.Minute}))
				faults, group := wireFaults(), groupKnown(first, fault)
				subsets := 4
				if group != maybe {
					subsets = 1
				}
				for n := range wireSeconds {
					subset, second := n%subsets, wireSeconds[n]
					s.groupAfterACondition(t, set, groupCase{
						first: fault, group: group, subset: subset, second: faults[second], say: fmt.Sprintf("%02b applied, then %s", subset, second),
					}, n)
				}
			})
		})
	}
}

// groupAfterACondition makes the n-th write, of an item of its own.
func (s *wireShop) groupAfterACondition(t *testing.T, set *tables.Set[Piece], c groupCase, n int) {
	t.Helper()
	const table, other = "items_by_shelf", "items_by_count"
	group := s.When(cassandratest.Batch, cassandratest.Table(table), sentByWriter).Choose(func(r cassandratest.Request) []cassandratest.Step {
		s.applyPart(r, c.subset)
		return append([]cassandratest.Step{cassandratest.Delay(5 * time.Millisecond)}, c.first.steps...)
	})
	alone := s.When(cassandratest.Execute, cassandratest.Table(table), sentByWriter).Choose(func(cassandratest.Request) []cassandratest.Step {
		return c.second.steps
	})
	item := freshItem(int32(n))
	result, err := s.w.Write(t.Context(), "addItem", set.Insert(item))
	group.End()
	alone.End()
	made := []wireKnown{c.group}
	if alone.Handled() > 0 {
		made = append(made, c.second.partition)
	}
	if group.Handled() != 1 || alone.Handled() > 1 || result.Groups != 1 || result.Requests != 2 {
		t.Fatalf("%s: %d groups, %+v", c.say, group.Handled(), result)
	}
	if err := s.w.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	want := map[string]Outcome{"items": Applied, table: Pending, other: Applied}
	if known(made) == Applied {
		want[table] = Applied
	}
	got := map[string]Outcome{"items": Applied, table: Applied, other: Applied}
	if err != nil {
		wantConsistent(t, asError(t, err))
		got = outcomes(asError(t, err))
		if got[other] == Pending { // it may lose its answer with the connection
			want[other] = Pending
		}
	}
	for name := range want {
		if got[name] != want[name] {
			t.Errorf("%s: %s is %v, want %v: %v", c.say, name, got[name], want[name], err)
		}
	}
	<-time.After(3 * time.Minute) // what comes late has come, what was cut is connected, and what left the groups is back
	for range 5 {                 // and nodes that did not answer come back into rotation
		if _, err := s.w.With(Group(0)).Write(t.Context(), "op", orderSet(t).Insert(fresh())); err != nil {
			t.Fatal(err)
		}
	}
	item.Version = result.Version
	for _, name := range []string{table, other} {
		if rows := s.places(t, name, item.ItemID); got[name] == Applied && (len(rows) != 1 || rows[0] != item) {
			t.Errorf("%s: %s is claimed to be applied, and has %+v", c.say, name, rows)
		}
	}
	if s.pending(t, item.ItemID) != (err != nil) {
		t.Errorf("%s: an entry is there: %v, after %v", c.say, err == nil, err)
	}
	if err != nil {
		s.finishItem(t, set, &item, asError(t, err), n%2 == 0)
	}
	if s.pending(t, item.ItemID) {
		t.Errorf("%s: an entry is there after all is finished", c.say)
	}
	for _, name := range []string{table, other} {
		if rows := s.places(t, name, item.ItemID); len(rows) != 1 || rows[0] != item {
			t.Errorf("%s: in the end %s has %+v, want %+v", c.say, name, rows, item)
		}
	}
}

// finishItem finishes the insert of an item, by a Resume of the stored error or by the next change.
func (s *wireShop) finishItem(t *testing.T, set *tables.Set[Piece], item *Piece, failed *Error, resume bool) {
	t.Helper()
	if resume {
		data, err := failed.MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		var stored Error
		if err := stored.UnmarshalBinary(data); err != nil || !bytes.Contains(data, []byte("items_by_shelf")) {
			t.Fatal(err)
		}
		from := len(s.Journal())
		if result, err := s.w.Resume(t.Context(), &stored); err != nil || result.Groups != 0 || result.Version != item.Version {
			t.Errorf("resumed: %+v, %v, sent %v", result, err, s.writes(from))
		}
	} else {
		after := *item
		after.Shelf = "next"
		result, err := s.w.Write(t.Context(), "moveItem", set.Update(*item, after))
		if err != nil || result.Groups != 1 {
			t.Errorf("the next change: %+v, %v", result, err)
		}
		after.Version = result.Version
		*item = after
	}
	if err := s.w.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// Explain says that the query tables travel together after the condition.
func TestWireExplainGroupAfterACondition(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		unwind(t)
		s, set := openWireItems(t)
		from := len(s.Journal())
		plan, err := s.w.Explain("addItem", set.Insert(freshItem(1)))
		if err != nil || len(s.writes(from)) > 0 {
			t.Fatalf("%v, sent %v", err, s.writes(from))
		}
		golden.Check(t, "add_item_grouped.golden", plan.String())
	})
}
