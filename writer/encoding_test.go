package writer

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/gob"
	"encoding/json"
	"errors"
	"hash/crc32"
	"io"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/denorm-go/denorm/internal/fanout"
	"github.com/denorm-go/denorm/internal/testutil/cost"
	"github.com/denorm-go/denorm/internal/wire"
	"github.com/denorm-go/denorm/session"
	"github.com/denorm-go/denorm/tables"
)

// everyState is a change whose bound values are null, unset, empty and present.
func everyState(tb testing.TB) []tables.Change {
	tb.Helper()
	type row struct {
		ID    string
		Kind  string
		None  *string
		Also  *int
		Blob  []byte
		Empty string
		Tags  []string
	}
	set := mustSet[row](tb, "row",
		tables.Table{Name: "rows", PartKey: []string{"id"}},
		tables.Table{Name: "rows_by_kind", PartKey: []string{"kind"}, SortKey: []string{"id"}},
		tables.Table{Name: "rows_by_none", PartKey: []string{"none"}, SortKey: []string{"id"}, Columns: []string{"blob"}},
		tables.Type("tags", "set<text>"), tables.SingleWriter("kind"), tables.SingleWriter("none"),
	)
	before := row{ID: "a", Kind: "k", None: ptr("n"), Blob: []byte{}}
	after := row{ID: "a", Kind: "l", Blob: []byte{}}
	return []tables.Change{set.Update(before, after), set.Insert(row{ID: "b", Kind: "k", Blob: []byte{0}})}
}

// transport stores an error and reads it again, as a queue does.
func transport(t *testing.T, e *Error) *Error {
	t.Helper()
	data, err := e.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	out := new(Error)
	if err := out.UnmarshalBinary(data); err != nil {
		t.Fatal(err)
	}
	again, err := out.MarshalBinary()
	if err != nil || !bytes.Equal(data, again) {
		t.Errorf("stored again it differs: %v", err)
	}
	return out
}

// A failed write is stored, and finished by a writer of another process with another session: the same bytes at the
// same timestamp in the same keyspaces.
func TestStoredErrorIsResumed(t *testing.T) {
	t.Parallel()
	open, paid := move()
	orders := orderSet(t)
	for name, test := range map[string]struct {
		with    []NewOption
		changes []tables.Change
	}{
		"fan-out":        {nil, []tables.Change{orders.Insert(open)}},
		"same partition": {nil, []tables.Change{noteSet(t).Insert(newNote())}},
		"logged batch":   {nil, []tables.Change{orders.Update(open, paid)}},
		"strict batch":   {[]NewOption{Logged()}, []tables.Change{orders.Insert(open)}},
		"all states":     {nil, everyState(t)},
		"keyspace":       {[]NewOption{shared(session.Keyspaces(map[string]string{"": "tenant"}))}, []tables.Change{orders.Insert(open)}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x, y := &fakeExecutor{answer: fail("", errSimple, errSimple, errSimple)}, &fakeExecutor{}
			e := failed(t, fakeWriter(x, append(test.with, once())...), test.changes...)
			stored := transport(t, e)
			if stored.Error() != e.Error() || stored.NotApplied() != e.NotApplied() || stored.strict != e.strict {
				t.Errorf("stored: %v\nwas: %v", stored, e)
			}
			if !errors.Is(stored, ErrUnknown) || errors.Is(stored, errSimple) {
				t.Errorf("causes come back as texts, outcomes as they were: %v", stored)
			}
			w := newWriter(y, "shop", grace(tenDays), shared(session.Keyspaces(map[string]string{"shop": "shop", "other": "tenant"})))
			res, err := w.Resume(t.Context(), stored)
			if err != nil || res.Timestamp != e.Timestamp || res.Mode != e.Mode {
				t.Errorf("%+v, %v", res, err)
			}
			wantEqualRequests(t, x.sent(), y.sent())
		})
	}
}

// The TTL is what remains when it is sent; once nothing remains a delete is, as TTL 0 would mean forever.
func TestStoredErrorExpires(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		clock := WithClock(NewClock(time.Now))
		task := newTask("bob")
		task.Ends = ptr(time.Now().Add(time.Hour))
		x, y := &fakeExecutor{answer: fail("", errSimple, errSimple)}, &fakeExecutor{}
		stored := transport(t, failed(t, fakeWriter(x, clock, once()), taskSet(t, tables.ExpiresAt("ends")).Insert(task)))
		w := fakeWriter(y, clock)
		for _, step := range []struct {
			sleep time.Duration
			want  string
		}{
			{0, " int:00000e10 "}, // 3600
			{59*time.Minute + 59500*time.Millisecond, " int:00000001 "},
			{500 * time.Millisecond, "DELETE FROM "},
			{time.Hour, "DELETE FROM "},
		} {
			time.Sleep(step.sleep)
			n := len(y.sent())
			if _, err := w.Resume(t.Context(), stored); err != nil {
				t.Fatal(err)
			}
			for _, r := range y.sent()[n:] {
				if got := spelled(r); !strings.Contains(got, step.want) {
					t.Errorf("%v later: %s, want %s", step.sleep, got, step.want)
				}
			}
		}
	})
}

func storedError(tb testing.TB, changes ...tables.Change) []byte {
	tb.Helper()
	w := fakeWriter(&fakeExecutor{answer: func(context.Context, fanout.Attempt) error { return errSimple }}, once())
	_, err := w.Write(context.Background(), "op", changes...)
	var e *Error
	if !errors.As(err, &e) {
		tb.Fatal(err)
	}
	data, err := e.MarshalBinary()
	if err != nil {
		tb.Fatal(err)
	}
	return data
}

// What is damaged on its way is rejected, and leaves the error that it was read into as it was.
func TestDamagedError(t *testing.T) {
	t.Parallel()
	open, paid := move()
	data := storedError(t, orderSet(t).Update(open, paid))
	e := &Error{Op: "mine"}
	wrong := func(data []byte, what string, args ...any) {
		t.Helper()
		if err := e.UnmarshalBinary(data); err == nil {
			t.Errorf(what+": read without error", args...)
		}
	}
	for i := range data {
		for _, flip := range []byte{1, 0x80, 0xff} {
			damaged := slices.Clone(data)
			damaged[i] ^= flip
			wrong(damaged, "byte %d flipped by %x", i, flip)
		}
		wrong(data[:i], "cut at %d", i)
		wrong(slices.Delete(slices.Clone(data), i, i+1), "byte %d missing", i)
		wrong(slices.Insert(slices.Clone(data), i, 0), "a byte more at %d", i)
	}
	wrong(nil, "nothing")
	wrong(append(slices.Clone(data), data...), "twice")
	if e.Op != "mine" || e.requests != nil {
		t.Error("a failed UnmarshalBinary has changed the error")
	}
}

// seal makes the bytes of a wireError, or of anything else, look undamaged.
func seal(body []byte) []byte {
	data := append([]byte(magic), body...)
	return binary.BigEndian.AppendUint32(data, crc32.ChecksumIEEE(data))
}

func sealed(w wireError) []byte { return seal(wire.Append(nil, w)) }

// What no version of the library has stored is rejected, even if it is undamaged.
func TestForeignError(t *testing.T) {
	t.Parallel()
	r, err := noteSet(t).Insert(newNote()).Internal().Render(1, nil)
	if err != nil {
		t.Fatal(err)
	}
	m, err := r.Mutations[0].MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	good := wireError{Op: "op", Timestamp: 1, Mode: FanOut, Paths: []wirePath{{Mutations: [][]byte{m}}}}
	if err := new(Error).UnmarshalBinary(sealed(good)); err != nil {
		t.Fatal(err)
	}
	for name, edit := range map[string]func(*wireError){
		"no timestamp":      func(w *wireError) { w.Timestamp = 0 },
		"no mode":           func(w *wireError) { w.Mode = None },
		"unknown mode":      func(w *wireError) { w.Mode = 99 },
		"no path":           func(w *wireError) { w.Paths = nil },
		"no mutation":       func(w *wireError) { w.Paths = []wirePath{{}} },
		"unknown outcome":   func(w *wireError) { w.Paths = []wirePath{{Outcome: 99, Mutations: [][]byte{m}}} },
		"negative attempts": func(w *wireError) { w.Paths = []wirePath{{Attempts: -1, Mutations: [][]byte{m}}} },
		"odd mutation":      func(w *wireError) { w.Paths = []wirePath{{Mutations: [][]byte{{1}}}} },
		"two batches":       func(w *wireError) { w.Mode, w.Paths = LoggedBatch, append(w.Paths, w.Paths...) },
	} {
		w := good
		edit(&w)
		if err := new(Error).UnmarshalBinary(sealed(w)); err == nil {
			t.Errorf("%s: read without error", name)
		}
	}
	for first, want := range map[string]string{
		"denorm\x01": "made by an unreleased version: drain the queue before the update", "denorm\x03": "made by a later version", "denorm": "damaged",
		"denorn\x02": "not an encoded writer.Error", "": "not an encoded writer.Error",
	} {
		data := bytes.Replace(sealed(good), []byte(magic), []byte(first), 1)
		if err := new(Error).UnmarshalBinary(data); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", first, err, want)
		}
	}
}

// FuzzUnmarshalError reads bytes whose checksum holds: nothing may panic, what is read must be fit to be resumed, and what reading takes
// grows with the bytes.
func FuzzUnmarshalError(f *testing.F) {
	open, paid := move()
	task := newTask("bob")
	task.Ends = ptr(time.Now().Add(time.Hour))
	for _, changes := range [][]tables.Change{
		{orderSet(f).Insert(open)},
		{orderSet(f).Update(open, paid)},
		{orderSet(f).Delete(open)},
		everyState(f),
		{taskSet(f, tables.ExpiresAt("ends")).Insert(task)},
	} {
		data := storedError(f, changes...)
		f.Add(data[len(magic) : len(data)-crc32.Size])
	}
	f.Add([]byte{})
	f.Add(wire.Append(nil, wireError{Op: "op", Timestamp: 1, Mode: Conditional, Decision: wireDecision{Conditions: [][]byte{compared(0, 9), compared(1, 9)}}}))
	f.Add(wire.Append(nil, wireError{Op: "op", Timestamp: 1, Mode: Transaction, Decision: wireDecision{Conditions: [][]byte{signUp(1, 0), signUp(1, 1)}}}))
	f.Fuzz(func(t *testing.T, body []byte) {
		e, data := new(Error), seal(body)
		var err error
		cost.Bound(t, len(data), perByte, func() { err = e.UnmarshalBinary(data) })
		if err != nil {
			return
		}
		_ = e.Error()
		if _, err := e.MarshalBinary(); err != nil {
			t.Error(err)
		}
		w, _, _ := conditional(nil)
		_, _ = w.Resume(context.Background(), e)
	})
}

// An error may be part of what a service stores with gob by itself.
func TestErrorInGob(t *testing.T) {
	t.Parallel()
	type job struct{ Failed *Error }
	x := &fakeExecutor{answer: fail("", io.EOF)}
	e := failed(t, fakeWriter(x, once()), noteSet(t).Insert(newNote()))
	var queue bytes.Buffer
	if err := gob.NewEncoder(&queue).Encode(job{e}); err != nil {
		t.Fatal(err)
	}
	var got job
	if err := gob.NewDecoder(&queue).Decode(&got); err != nil || got.Failed.Error() != e.Error() {
		t.Errorf("%v, %v", got.Failed, err)
	}
}

// JSON would lose what Resume needs, without an error until the day on which it is to be resumed. Logs show the message as before.
func TestErrorIsNoJSON(t *testing.T) {
	t.Parallel()
	x := &fakeExecutor{answer: fail("", io.EOF)}
	e := failed(t, fakeWriter(x, once()), noteSet(t).Insert(newNote()))
	type job struct{ Failed *Error }
	for name, thing := range map[string]any{"pointer": e, "value": *e, "in a struct": job{e}, "in a slice": []any{e}} {
		if _, err := json.Marshal(thing); err == nil || !strings.Contains(err.Error(), "store it with MarshalBinary") {
			t.Errorf("%s: %v", name, err)
		}
	}
	want, err := json.Marshal(e.Error())
	if err != nil {
		t.Fatal(err)
	}
	for name, thing := range map[string]any{"pointer": e, "value": *e, "error": error(e)} {
		var log bytes.Buffer
		slog.New(slog.NewJSONHandler(&log, nil)).Error("failed", "err", thing)
		slog.New(slog.NewTextHandler(&log, nil)).Error("failed", slog.Group("group", "err", thing))
		if n := strings.Count(log.String(), string(want)); n != 2 {
			t.Errorf("%s: logged as\n%s", name, &log)
		}
	}
}
