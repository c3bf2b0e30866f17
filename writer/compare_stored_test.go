package writer

import (
	"testing"
	"time"

	"github.com/denorm-go/denorm/internal/decide"
	"github.com/denorm-go/denorm/internal/entity"
	"github.com/denorm-go/denorm/tables"
)

// bench is a row of a hall with seats in it.
type bench struct {
	Hall  string
	Seat  int32
	Count int32
}

func benchSet(tb testing.TB) *tables.Set[bench] {
	tb.Helper()
	return mustSet[bench](tb, "bench",
		tables.Table{Name: "benches", PartKey: []string{"hall"}, SortKey: []string{"seat"}}, tables.Compare("count"))
}

// Stored conditions that no writer could have put into one transaction are rejected: they would not hold together.
func TestStoredConditionsHoldTogether(t *testing.T) {
	t.Parallel()
	at := time.Now().UnixMicro()
	stored := func(c tables.Change, at int64) []byte {
		r, err := c.Internal().RenderConditional(at, decide.Version(at, 1), func(string) string { return "shop" })
		if err != nil {
			t.Fatal(err)
		}
		data, err := r.MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	first := stored(benchSet(t).Insert(bench{Hall: "a", Seat: 1}), at)
	second := stored(benchSet(t).Insert(bench{Hall: "a", Seat: 2}), at)
	for name, test := range map[string]struct {
		more [][]byte
		ok   bool
	}{
		"one":                {nil, true},
		"two of a partition": {[][]byte{second}, true},
		"another partition":  {[][]byte{stored(benchSet(t).Insert(bench{Hall: "b", Seat: 2}), at)}, false},
		"another entity":     {[][]byte{stored(seatSet(t).Insert(newItem()), at)}, false},
		"a versioned one":    {[][]byte{stored(itemSet(t).Insert(newItem()), at)}, false},
		"another timestamp":  {[][]byte{stored(benchSet(t).Insert(bench{Hall: "a", Seat: 2}), at-1)}, false},
		"not a condition":    {[][]byte{{1}}, false},
	} {
		w := wireError{Op: "op", Timestamp: at, Mode: Conditional, Decision: wireDecision{Conditions: append([][]byte{first}, test.more...)}}
		e := new(Error)
		if err := e.UnmarshalBinary(sealed(w)); (err == nil) != test.ok {
			t.Errorf("%s: %v", name, err)
		} else if err == nil && len(e.decision.Parts) != 1+len(test.more) {
			t.Errorf("%s: %d conditions", name, len(e.decision.Parts))
		}
	}
}

// Each of the conditions is compared with the sets that are resumed.
func TestStoredConditionsAreOfTheSets(t *testing.T) {
	t.Parallel()
	w, _, _ := conditional([]scripted{{err: errLost}, {err: errLost}, {err: errLost}})
	set := benchSet(t)
	_, err := w.Write(t.Context(), "op", set.Insert(bench{Hall: "a", Seat: 1}), set.Insert(bench{Hall: "a", Seat: 2}))
	failed := transport(t, asError(t, err))
	own, x, _ := conditional(nil, Resumes(set))
	if _, err := own.Resume(t.Context(), failed); err != nil || x.asked() != "INSERT" {
		t.Errorf("%v, sent %s", err, x.asked())
	}
	// A column that only the second has is in none of the sets.
	other, err := mustSet[struct {
		Hall  string
		Seat  int32
		Count int32
		Owner string
	}](t, "bench", tables.Table{Name: "benches", PartKey: []string{"hall"}, SortKey: []string{"seat"}}, tables.Compare("count")).
		Insert(struct {
			Hall  string
			Seat  int32
			Count int32
			Owner string
		}{"a", 2, 0, "x"}).Internal().RenderConditional(failed.Timestamp, failed.decision.First().Version, func(string) string { return "shop" })
	if err != nil {
		t.Fatal(err)
	}
	failed.decision.Parts[1] = &other
	own, x, _ = conditional(nil, Resumes(set))
	if _, err := own.Resume(t.Context(), failed); err == nil || x.asked() != "" {
		t.Errorf("a column of no set: %v, sent %s", err, x.asked())
	}
}

// The marks of several rows follow from what is changed, whoever computes them: another number would make a repeat a conflict.
func TestDigestOfConditions(t *testing.T) {
	t.Parallel()
	var all []*entity.Conditional
	for seat := range int32(2) {
		r, err := benchSet(t).Insert(bench{Hall: "a", Seat: seat}).Internal().RenderConditional(1, decide.Version(1, 1), func(string) string { return "shop" })
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, &r)
	}
	const want uint64 = 0xaefe839ec13fc0c9
	if got := decide.Digest(all); got != want {
		t.Errorf("%#x, want %#x", got, want)
	}
	all[0], all[1] = all[1], all[0]
	if got := decide.Digest(all); got != want {
		t.Errorf("in another order %#x, want %#x", got, want)
	}
}
