package tables_test

import (
	"errors"
	"testing"

	"github.com/denorm-go/denorm/tables"
	"gopkg.in/inf.v0"
)

// An update that changes no compared column but in bytes would apply twice, as the server takes both values as equal.
// So a condition holds for a row that has equal values in other bytes.
func TestCompareOfEqualValues(t *testing.T) {
	t.Parallel()
	type stock struct {
		ID      int
		State   string
		Balance *inf.Dec
		Labels  []string
		Prices  map[string]*inf.Dec
		Note    string
	}
	before := stock{1, "open", inf.NewDec(10, 0), []string{"a", "b"}, map[string]*inf.Dec{
		"a": inf.NewDec(1, 0),
		"b": inf.NewDec(20, 1),
	}, ""}
	for name, tt := range map[string]struct {
		edit    func(*stock)
		changes bool
	}{
		"decimal of another scale": {func(s *stock) { s.Balance = inf.NewDec(1000, 2) }, false},
		"set in another order":     {func(s *stock) { s.Labels = []string{"b", "a", "b"} }, false},
		"frozen map in other bytes": {func(s *stock) {
			s.Prices = map[string]*inf.Dec{"b": inf.NewDec(2, 0), "a": inf.NewDec(10, 1)}
		}, false},
		"another column": {func(s *stock) { s.Note = "x" }, false},
		"decimal":        {func(s *stock) { s.Balance = inf.NewDec(1001, 2) }, true},
		"no decimal":     {func(s *stock) { s.Balance = nil }, true},
		"set":            {func(s *stock) { s.Labels = []string{"b"} }, true},
		"frozen map": {func(s *stock) {
			s.Prices = map[string]*inf.Dec{"b": inf.NewDec(2, 0), "a": inf.NewDec(2, 0)}
		}, true},
	} {
		set := tables.Must(tables.New[stock]("stock", tables.Table{Name: "stocks", PartKey: []string{"id"}},
			tables.Type("labels", "set<text>"), tables.Type("prices", "frozen<map<text, decimal>>"),
			tables.Compare("state", "balance", "labels", "prices")))
		after := before
		tt.edit(&after)
		_, err := set.Update(before, after).Internal().RenderConditional(1, version, nil)
		if invalid := new(*tables.InvalidError); errors.As(err, invalid) == tt.changes {
			t.Errorf("%s: %v", name, err)
		}
		row, err := set.Insert(after).Internal().RenderConditional(1, version, nil)
		if err != nil {
			t.Fatal(err)
		}
		held, err := set.Delete(before).Internal().RenderConditional(1, version, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := held.Condition.Holds(row.Condition.After()); got == tt.changes {
			t.Errorf("%s: the condition holds: %v", name, got)
		}
		if held.Condition.Holds(nil) {
			t.Errorf("%s: the condition holds for no row", name)
		}
	}
}
