package writer

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/gob"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"log/slog"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/denorm-go/denorm/internal/entity"
	"github.com/denorm-go/denorm/internal/fanout"
	"github.com/denorm-go/denorm/internal/printable"
	"github.com/denorm-go/denorm/internal/testutil/cost"
	"github.com/denorm-go/denorm/internal/wire"
	"github.com/denorm-go/denorm/session"
	"github.com/denorm-go/denorm/tables"
	"github.com/gocql/gocql"
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
		"keyspace": {
			[]NewOption{shared(session.Keyspaces(map[string]string{"": "tenant"}))},
			[]tables.Change{orders.Insert(open)},
		},
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
			w := newWriter(y, "shop", grace(tenDays),
				shared(session.Keyspaces(map[string]string{"shop": "shop", "other": "tenant"})))
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
		"too many attempts": func(w *wireError) { w.Paths = []wirePath{{Attempts: 1<<30 + 1, Mutations: [][]byte{m}}} },
		"too many attempts of a decision": func(w *wireError) {
			w.Mode, w.Paths = Transaction, nil
			w.Decision = wireDecision{Attempts: 1<<30 + 1, Conditions: [][]byte{signUp(1, 1)}}
		},
		"odd mutation": func(w *wireError) { w.Paths = []wirePath{{Mutations: [][]byte{{1}}}} },
		"two batches":  func(w *wireError) { w.Mode, w.Paths = LoggedBatch, append(w.Paths, w.Paths...) },
	} {
		w := good
		edit(&w)
		if err := new(Error).UnmarshalBinary(sealed(w)); err == nil {
			t.Errorf("%s: read without error", name)
		}
	}
	for first, want := range map[string]string{
		"denorm\x02": "made by an unreleased version: drain the queue before the update",
		"denorm\x04": "made by a later version", magic + "\x00": "damaged",
		"denorn\x03": "not an encoded writer.Error", "": "not an encoded writer.Error",
	} {
		data := bytes.Replace(sealed(good), []byte(magic), []byte(first), 1)
		if err := new(Error).UnmarshalBinary(data); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", first, err, want)
		}
	}
}

// An error can be stored again, however many attempts it says to have had before.
func TestAttemptsAreStoredAgain(t *testing.T) {
	t.Parallel()
	open, _ := move()
	data := storedError(t, orderSet(t).Insert(open))
	var w wireError
	if _, err := wire.Decode(data[len(magic):len(data)-4], &w, maxParts); err != nil {
		t.Fatal(err)
	}
	for i := range w.Paths {
		w.Paths[i].Attempts = 1 << 30
	}
	e := new(Error)
	if err := e.UnmarshalBinary(sealed(w)); err != nil {
		t.Fatal(err)
	}
	lost := fakeWriter(&fakeExecutor{answer: func(context.Context, fanout.Attempt) error { return errSimple }}, once())
	_, err := lost.Resume(t.Context(), e)
	if _, err := asError(t, err).MarshalBinary(); err != nil {
		t.Error(err)
	}
}

// FuzzUnmarshalError reads bytes whose checksum holds: nothing may panic, what is read must be fit to be resumed, and
// what reading takes grows with the bytes.
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
	f.Add(wire.Append(nil, wireError{
		Op: "op", Timestamp: 1, Mode: Conditional,
		Decision: wireDecision{Conditions: [][]byte{compared(0, 9), compared(1, 9)}},
	}))
	f.Add(wire.Append(nil, wireError{
		Op: "op", Timestamp: 1, Mode: Transaction,
		Decision: wireDecision{Conditions: [][]byte{signUp(1, 0), signUp(1, 1)}},
	}))
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

// JSON would lose what Resume needs, without an error until the day on which it is to be resumed. Logs show the message
// as before.
func TestErrorIsNoJSON(t *testing.T) {
	t.Parallel()
	x := &fakeExecutor{answer: fail("", io.EOF)}
	e := failed(t, fakeWriter(x, once()), noteSet(t).Insert(newNote()))
	type job struct{ Failed *Error }
	for name, thing := range map[string]any{"pointer": e, "value": *e, "in a struct": job{e}, "in a slice": []any{e}} {
		if _, err := json.Marshal(thing); err == nil || !strings.Contains(err.Error(), "store the bytes of MarshalBinary") {
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

// Fields of what is stored. Whoever changes one gives the format another version, which is in magic. Then the list here
// follows.
func TestStoredFieldsAreOfAVersion(t *testing.T) {
	t.Parallel()
	if magic[len(magic)-1] != 3 {
		t.Errorf("version %d has no list of fields here", magic[len(magic)-1])
	}
	for typ, want := range map[reflect.Type][]string{
		reflect.TypeFor[wireError](): {
			"Op string", "Timestamp int64", "Mode writer.Mode", "Strict bool", "Link string", "Paths []writer.wirePath",
			"Decision writer.wireDecision",
		},
		reflect.TypeFor[wireDecision](): {
			"Outcome retry.Outcome", "Attempts int", "Err string", "Refused bool", "Conflict bool", "Taken string",
			"Tables []string", "ID decide.IDClaim", "Conditions [][]uint8",
		},
		reflect.TypeFor[wirePath](): {
			"Outcome retry.Outcome", "Attempts int", "Err string", "Refused bool",
			"Mutations [][]uint8",
		},
	} {
		var got []string
		for i := range typ.NumField() {
			got = append(got, typ.Field(i).Name+" "+typ.Field(i).Type.String())
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s has %q, and version 3 is %q", typ, got, want)
		}
	}
}

// A stored error costs in the order of what it is: what blows up is rejected before there is room made for it.
func TestStoredErrorCostsWhatItHolds(t *testing.T) { //nolint:paralleltest // it counts what is allocated
	m := bytesOf(t, noteSet(t).Insert(newNote()))
	many := make([][]byte, 5_000)
	for i := range many {
		many[i] = m
	}
	for name, test := range map[string]struct {
		requests []wirePath
		refused  bool
	}{
		"empty mutations": {[]wirePath{{Mutations: make([][]byte, 4<<20)}}, true},
		"empty paths":     {make([]wirePath, 4<<20), true},
		"many mutations":  {[]wirePath{{Mutations: many}}, false},
	} {
		data := sealed(wireError{Op: "op", Timestamp: 1, Mode: FanOut, Paths: test.requests})
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		err := new(Error).UnmarshalBinary(data)
		runtime.ReadMemStats(&after)
		if (err != nil) != test.refused || test.refused && !strings.Contains(err.Error(), "too many elements") {
			t.Errorf("%s: %v", name, err)
		}
		if cost, limit := after.TotalAlloc-before.TotalAlloc, uint64(200*len(data)+1<<20); test.refused && cost > 1<<20 ||
			cost > limit {
			t.Errorf("%s: %d KiB cost %d KiB", name, len(data)>>10, cost>>10)
		}
	}
}

// bytesOf is the first mutation of a change as it is stored, at the timestamp 1.
func bytesOf(tb testing.TB, c tables.Change) []byte {
	tb.Helper()
	r, err := c.Internal().Render(1, nil)
	if err != nil {
		tb.Fatal(err)
	}
	data, err := r.Mutations[0].MarshalBinary()
	if err != nil {
		tb.Fatal(err)
	}
	return data
}

// wideType is a user-defined type of which the text takes some 40 KiB.
type (
	eightOf[T any] struct {
		A T `cql:"a"`
		B T `cql:"b"`
		C T `cql:"c"`
		D T `cql:"d"`
		E T `cql:"e"`
		F T `cql:"f"`
		G T `cql:"g"`
		H T `cql:"h"`
	}
	eightInts = eightOf[int32]
	eightRows = eightOf[*eightInts]
	eightBoxs = eightOf[*eightRows]
	wideType  = eightOf[*eightBoxs]
)

// What is encoded can be decoded: an error whose types take more text together than is read is rejected while there is
// somebody to tell.
func TestWhatIsEncodedCanBeDecoded(t *testing.T) {
	t.Parallel()
	type row struct {
		ID string
		V  *wideType
	}
	encoded := make(map[bool]int)
	for _, n := range []int{1, 26, 27, 30} {
		var changes []tables.Change
		for k := range n {
			id := fmt.Sprintf("_%d", k)
			set := mustSet[row](t, "row"+id, tables.Table{Name: "rows" + id, PartKey: []string{"id"}},
				tables.UserType[eightInts]("ints"+id),
				tables.UserType[eightRows]("rows"+id), tables.UserType[eightBoxs]("boxes"+id), tables.UserType[wideType]("wide"+id))
			changes = append(changes, set.Insert(row{"a", new(wideType)}))
		}
		e := failed(t, fakeWriter(&fakeExecutor{answer: func(context.Context, fanout.Attempt) error { return errSimple }},
			once()), changes...)
		data, err := e.MarshalBinary()
		if encoded[err == nil]++; err == nil {
			err = new(Error).UnmarshalBinary(data)
			if err != nil {
				t.Errorf("%d sets: stored, and not read: %v", n, err)
			}
		} else if !strings.Contains(err.Error(), "denorm: encode error: ") ||
			!strings.Contains(err.Error(), "column types of more than 1048576 characters together") {
			t.Errorf("%d sets: %v", n, err)
		}
	}
	if encoded[true] == 0 || encoded[false] == 0 {
		t.Errorf("not on both sides of the bound: %v", encoded)
	}
	w, _, _ := conditional([]scripted{{err: errLost}, {err: errLost}, {err: errLost}})
	_, err := w.Write(t.Context(), "op", itemSet(t).Insert(newItem()))
	e := asError(t, err)
	for _, n := range []int{maxTables, maxTables + 1} {
		e.decision.Tables = make([]string, n)
		data, err := e.MarshalBinary()
		if (err == nil) != (n <= maxTables) || err == nil && new(Error).UnmarshalBinary(data) != nil {
			t.Errorf("%d tables of an entity: %v", n, err)
		}
	}
}

// The types of columns are stored as texts, and parsed they take up to 60 times as much. Whatever they are made of and
// however many there are, an error takes the memory of its own bytes, a few times, and of a mebibyte of types.
func TestStoredTypesCostInTheOrderOfTheirBytes(t *testing.T) { //nolint:paralleltest // it counts what is allocated
	const length = 64_000 // of a text; 65,536 are read
	filled := func(open, part, end string) string {
		return open + strings.TrimSuffix(strings.Repeat(part+",", length/(len(part)+1)), ",") + end
	}
	fields := func() string {
		var b strings.Builder
		for i := 0; b.Len() < length; i++ {
			fmt.Fprintf(&b, ", f%x int", i)
		}
		return "u{" + b.String()[2:] + "}"
	}
	// stored is an error with n mutations of as many columns, of type text with i elements more.
	stored := func(n, columns int, text func(i int) string) []byte {
		w := wireError{Op: "op", Timestamp: 1, Mode: FanOut, Paths: []wirePath{{}}}
		for i := range n {
			m := put(1, func(*forged) {})
			for j := range columns {
				m.Columns = append(m.Columns, forgedColumn{Name: fmt.Sprintf("c%d", j), State: 1, Type: text(i*columns + j)})
			}
			w.Paths[0].Mutations = append(w.Paths[0].Mutations, m.stored())
		}
		return sealed(w)
	}
	for name, text := range map[string]string{
		"a wide tuple":           filled("tuple<", "int", ">"),
		"tuples of one":          filled("tuple<", "tuple<int>", ">"),
		"lists":                  filled("tuple<", "list<int>", ">"),
		"maps":                   filled("tuple<", "map<int,int>", ">"),
		"a wide tuple, deep":     strings.Repeat("tuple<", 60) + filled("tuple<", "int", ">") + strings.Repeat(">", 60),
		"types of one field":     filled("tuple<", "u{a int}", ">"),
		"a type of many fields":  fields(),
		"types of several":       filled("tuple<", "u{a int,b int,c int,d int,e int,f int,g int,h int,i int,j int}", ">"),
		"types inside of a type": filled("u{a tuple<", "u{a int}", ">}"),
	} {
		same := func(int) string { return text }
		other := func(i int) string { return "tuple<" + text + strings.Repeat(",int", i) + ">" }
		for shape, test := range map[string]struct {
			data    []byte
			refused bool
		}{
			"in one mutation":            {stored(1, 64, other), true},
			"in many mutations":          {stored(64, 1, other), true},
			"one type in one mutation":   {stored(1, 64, same), false},
			"one type in many mutations": {stored(64, 1, same), false},
			"as many as are read":        {stored(4, 4, other), false},
		} {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			err := new(Error).UnmarshalBinary(test.data)
			runtime.ReadMemStats(&after)
			if (err != nil) != test.refused || test.refused &&
				!strings.Contains(err.Error(), "column types of more than 1048576 characters together") {
				t.Errorf("%s, %s: %.200v", name, shape, err)
			}
			// Alone it is 64 times a mebibyte. What a sync.Pool forgets, under load or with the race detector, comes on top.
			n := uint64(len(test.data))
			if cost := after.TotalAlloc - before.TotalAlloc; cost > 8*n+128<<20 {
				t.Errorf("%s, %s: %d KiB cost %d KiB", name, shape, n>>10, cost>>10)
			}
		}
	}
}

// forgedCondition is a condition as package entity stores it.
type forgedCondition struct {
	Entity                          string
	Kind                            tables.Kind
	Versioned, Local, Transactional bool
	Before, Version                 gocql.UUID
	VersionColumn, Mark             string
	Keys                            []byte
	Keyspace, Table                 string
	Key, Part                       int
	Columns, Compared               []forgedCell
	Claims, Releases                []forgedClaim
}

type forgedClaim struct {
	Keyspace, Table string
	Part            int
	Columns         []forgedCell
}

type forgedCell struct {
	forgedColumn
	Edit uint8
}

func cell(name string, state uint8, typ string, data []byte) forgedCell {
	return forgedCell{forgedColumn{name, state, typ, data}, 0}
}

func number(n int) []byte { return binary.BigEndian.AppendUint32(nil, uint32(n)) }

// compared is the n-th condition of a set with Compare, with so many columns.
func compared(n, columns int) []byte {
	c := forgedCondition{
		Entity: "e", Kind: tables.Update, Keyspace: "shop", Table: "t", Key: 2, Part: 1,
		Columns: []forgedCell{cell("a", wireHas, "int", number(1)), cell("b", wireHas, "int", number(n))},
	}
	for i := len(c.Columns); i < columns; i++ {
		c.Columns = append(c.Columns, cell(fmt.Sprintf("c%x", i), wireIsNull, "int", nil))
	}
	c.Compared = c.Columns[columns-1:]
	return wire.Append(nil, c)
}

// signUp is the n-th insert of a Transactional set, with a claim.
func signUp(at int64, n int) []byte {
	email := cell("email", wireHas, "int", number(n))
	return wire.Append(nil, forgedCondition{
		Entity: "e", Kind: tables.Insert, Versioned: true, Transactional: true, Version: entity.Version(at, uint64(n)),
		VersionColumn: "version",
		Keyspace:      "shop", Table: fmt.Sprintf("t%d", n), Key: 1, Part: 1,
		Columns: []forgedCell{cell("id", wireHas, "int", number(n)), email},
		Claims:  []forgedClaim{{"shop", "emails", 1, []forgedCell{email}}},
	})
}

const wireIsNull, wireHas = 1, 2 // the states of a column

// perByte is the most that decoding allocates for each byte: 60 times the text of types, and less of the rest.
const perByte = 100

// The columns of conditions count like those of mutations, over all parts of an error: 2.4 million would keep 600 MiB.
func TestColumnsOfStoredConditionsAreBounded(t *testing.T) { //nolint:paralleltest // it counts what is allocated
	const columns = 10_000
	for conditions, refused := range map[int]bool{50: false, 100: true} { // the column that is compared counts too
		w := wireError{Op: "x", Timestamp: 1, Mode: Conditional}
		for n := range conditions {
			w.Decision.Conditions = append(w.Decision.Conditions, compared(n, columns))
		}
		data := sealed(w)
		var err error
		cost.Bound(t, len(data), perByte, func() { err = new(Error).UnmarshalBinary(data) })
		if (err != nil) != refused || refused && !strings.Contains(err.Error(), "too many elements") {
			t.Errorf("%d conditions of %d columns: %v", conditions, columns, err)
		}
	}
}

// What others have stored does nothing to a terminal, or to a log of lines, wherever it is in an error.
func TestStoredConditionsArePrintable(t *testing.T) {
	t.Parallel()
	const evil = "x\x1b]0;pwned\x07\n2026-11-27 INFO all is well"
	at := time.Now().UnixMicro()
	transactional := func(name, typ string) wireDecision {
		return wireDecision{Conditions: [][]byte{wire.Append(nil, forgedCondition{
			Entity: name, Kind: tables.Insert, Versioned: true, Transactional: true, Version: entity.Version(at, 1),
			VersionColumn: "version",
			Keyspace:      "shop", Table: "t", Key: 1, Part: 1, Columns: []forgedCell{
				cell("id", wireHas, "int", number(1)),
				cell("email", wireIsNull, typ, nil),
			},
		})}}
	}
	plain := func(entity string, n int) []byte {
		c := cell("c", wireIsNull, "int", nil)
		return wire.Append(nil, forgedCondition{
			Entity: entity, Kind: tables.Update, Keyspace: "shop", Table: "t", Key: 2, Part: 1,
			Columns:  []forgedCell{cell("a", wireHas, "int", number(1)), cell("b", wireHas, "int", number(n)), c},
			Compared: []forgedCell{c},
		})
	}
	whole := transactional(evil, "int")
	whole.Err, whole.Tables = evil, []string{evil}
	userType := put(at, func(m *forged) {
		m.Columns[1] = forgedColumn{"status", wireIsNull, `"` + evil + `"{a int}`, nil}
	})
	for name, w := range map[string]wireError{
		"entities that differ": {
			Mode:     Conditional,
			Decision: wireDecision{Conditions: [][]byte{plain(evil, 1), plain("y", 2)}},
		},
		"twice": {
			Mode:     Conditional,
			Decision: wireDecision{Conditions: [][]byte{plain(evil, 1), plain(evil, 1)}},
		},
		"type":               {Mode: Transaction, Decision: transactional("e", `"`+evil+`"`)},
		"type of a mutation": {Mode: Single, Paths: []wirePath{{Mutations: [][]byte{userType.stored()}}}},
		"a whole one":        {Mode: Transaction, Decision: whole},
		"taken": {Mode: Conditional, Decision: wireDecision{
			Taken: evil, Tables: []string{evil},
			Conditions: [][]byte{plain(evil, 1)},
		}},
		"undecided": {Mode: Conditional, Decision: wireDecision{Err: evil, Conditions: [][]byte{plain(evil, 1)}}},
	} {
		w.Op, w.Timestamp = evil, at
		e := new(Error)
		err := e.UnmarshalBinary(sealed(w))
		if err == nil {
			if s := fmt.Sprintf("%v %+v %#v", e, e, e.Tables); printable.Line(s) != s {
				t.Errorf("%s: %q", name, s)
			}
			_, err = fakeWriter(&fakeExecutor{}, Resumes(orderSet(t))).Resume(t.Context(), e)
		}
		if s := err.Error(); printable.Line(s) != s {
			t.Errorf("%s: %q", name, s)
		}
	}
}
