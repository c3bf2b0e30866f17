package history_test

import (
	"bytes"
	"errors"
	"io/fs"
	"path/filepath"
	"testing"

	"github.com/denorm-go/denorm/examples/orders"
	"github.com/denorm-go/denorm/integration/load/history"
	"github.com/denorm-go/denorm/writer"
)

// told is an error that says this of its tables.
func told(outcomes ...writer.Outcome) *writer.Error {
	e := &writer.Error{Timestamp: 7}
	for n, o := range outcomes {
		e.Tables = append(e.Tables, writer.TableResult{Table: string(rune('a' + n)), Outcome: o})
	}
	return e
}

// Of what several callers are told of a write, all that is certain holds, and two of whom one is wrong are found out.
func TestSeveralCallers(t *testing.T) {
	t.Parallel()
	const applied, not, unknown = writer.Applied, writer.NotApplied, writer.Unknown
	for name, c := range map[string]struct {
		say     func(say func(error), again, repeat func())
		outcome writer.Outcome
		a       writer.Outcome // of the first table, if it is told of the tables
		wrong   bool
	}{
		"applied, then less":   {func(say func(error), again, _ func()) { say(nil); again(); say(told(unknown, unknown)) }, applied, 0, false},
		"applied, then not":    {func(say func(error), again, _ func()) { say(nil); again(); say(told(not, not)) }, applied, 0, true},
		"applied, then not a":  {func(say func(error), again, _ func()) { say(nil); again(); say(told(not, unknown)) }, applied, 0, true},
		"not, then applied":    {func(say func(error), _, _ func()) { say(told(not, not)); say(nil) }, applied, 0, true},
		"not, then sent again": {func(say func(error), again, _ func()) { say(told(not, not)); again(); say(nil) }, applied, 0, false},
		"not, then less":       {func(say func(error), _, _ func()) { say(told(not, not)); say(told(unknown, unknown)) }, not, 0, false},
		"a applied, then less": {func(say func(error), again, _ func()) {
			say(told(applied, unknown))
			again()
			say(told(unknown, unknown))
		}, unknown, applied, false},
		"a applied, then not": {func(say func(error), again, _ func()) {
			say(told(applied, unknown))
			again()
			say(told(not, unknown))
		}, unknown, applied, true},
		"a applied, then nothing": {func(say func(error), again, _ func()) { say(told(applied, unknown)); again(); say(told(not, not)) }, not, 0, true},
		"not, and made anew":      {func(say func(error), _, repeat func()) { say(nil); repeat(); say(told(not, not)) }, applied, 0, false},
		"not a, and made anew": {func(say func(error), _, repeat func()) {
			say(told(applied, unknown))
			repeat()
			say(told(not, unknown))
		}, unknown, applied, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := history.New[orders.Order](nil)
			n := h.Begin("", 0, orders.Order{})
			c.say(func(err error) { h.End(n, 7, err) }, func() { h.Again(n) }, func() { h.Repeat(n) })
			if w := h.Writes()[n]; w.Outcome != c.outcome || w.Tables["a"] != c.a || (w.Contradiction != "") != c.wrong {
				t.Errorf("%+v", w)
			}
		})
	}
}

// What another process was told of a write is added to what its own client knows of it.
func TestDeliveries(t *testing.T) {
	t.Parallel()
	h := history.New[orders.Order](nil)
	h.Begin("", 0, orders.Order{}) // of another client
	for range 2 {
		n := h.Begin("", 0, orders.Order{})
		h.End(n, 0, told(writer.NotApplied, writer.NotApplied))
	}
	var journal bytes.Buffer
	d := history.NewDeliveries(&journal)
	first, other := history.Place{History: "1.1", N: 0}, history.Place{History: "2.1", N: 0}
	for _, of := range []history.Place{first, other} {
		d.Again(of)
		d.End(of, 7, told(writer.Applied, writer.Unknown))
	}
	d.Again(first)
	d.End(first, 7, nil)
	d.Again(history.Place{History: "1.1", N: 1}) // and is killed
	data := append(journal.Bytes(), `{"of":{"hist`...)
	if err := h.Deliver(bytes.NewReader(data), "1.1", 1); err != nil {
		t.Fatal(err)
	}
	w := h.Writes()
	if w[0].Outcome != writer.Unknown || w[1].Outcome != writer.Applied || w[1].Timestamp != 7 || w[2].Outcome != writer.Unknown || !w[2].Resumed {
		t.Errorf("%+v", w)
	}
	places, err := history.Delivered(bytes.NewReader(data))
	if err != nil || len(places) != 4 || places[1] != other {
		t.Errorf("%v, %v", places, err)
	}
	if err := h.Deliver(bytes.NewReader(data), "1.1", 2); err == nil {
		t.Error("a delivery of a write that did not begin is added")
	}
}

// A queue whose directory is missing is not an empty one.
func TestQueueWithoutDirectory(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if _, ok, err := history.Queue(dir).Take(); ok || err != nil {
		t.Errorf("empty: %v, %v", ok, err)
	}
	if _, _, err := history.Queue(filepath.Join(dir, "absent")).Take(); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no directory: %v", err)
	}
}
