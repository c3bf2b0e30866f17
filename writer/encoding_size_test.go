package writer

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/denorm-go/denorm/internal/fanout"
	"github.com/denorm-go/denorm/tables"
)

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
		if cost, limit := after.TotalAlloc-before.TotalAlloc, uint64(200*len(data)+1<<20); test.refused && cost > 1<<20 || cost > limit {
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

// What is encoded can be decoded: an error whose types take more text together than is read is rejected while there is somebody to tell.
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
			set := mustSet[row](t, "row"+id, tables.Table{Name: "rows" + id, PartKey: []string{"id"}}, tables.UserType[eightInts]("ints"+id),
				tables.UserType[eightRows]("rows"+id), tables.UserType[eightBoxs]("boxes"+id), tables.UserType[wideType]("wide"+id))
			changes = append(changes, set.Insert(row{"a", new(wideType)}))
		}
		e := failed(t, fakeWriter(&fakeExecutor{answer: func(context.Context, fanout.Attempt) error { return errSimple }}, once()), changes...)
		data, err := e.MarshalBinary()
		if encoded[err == nil]++; err == nil {
			err = new(Error).UnmarshalBinary(data)
			if err != nil {
				t.Errorf("%d sets: stored, and not read: %v", n, err)
			}
		} else if !strings.Contains(err.Error(), "denorm: encode error: ") || !strings.Contains(err.Error(), "column types of more than 1048576 characters together") {
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
