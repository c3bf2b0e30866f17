package layout_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/denorm-go/denorm/tables"
)

type measure struct {
	ID     int64
	Value  float64
	Small  *float32
	Values []float64
	Places []place
	Spare  float64
}

type place struct{ X, Y float32 }

var measures = tables.Must(tables.New[measure]("measure",
	tables.Table{Name: "measures", PartKey: []string{"id"}},
	tables.Table{Name: "measures_by_value", PartKey: []string{"id"}, SortKey: []string{"value"}},
	tables.Table{Name: "measures_by_small", PartKey: []string{"small"}, SortKey: []string{"id"}},
	tables.Table{Name: "measures_by_values", PartKey: []string{"id"}, SortKey: []string{"values", "places"}},
	tables.SingleWriter("value"), tables.SingleWriter("small"), tables.SingleWriter("values"),
	tables.SingleWriter("places"),
	tables.Type("values", "frozen<list<double>>"), tables.Type("places", "frozen<list<frozen<tuple<float, float>>>>"),
))

// Two NaNs may differ in their bytes, and are one row for Cassandra: its move from one to the other would be a delete
// of itself.
func TestNaNIsNoKey(t *testing.T) {
	t.Parallel()
	other := math.Float64frombits(math.Float64bits(math.NaN()) + 1)
	small := float32(math.NaN())
	valid := measure{ID: 1, Value: math.Inf(1), Values: []float64{1}, Places: []place{{1, 2}}, Spare: math.NaN()}
	if _, err := measures.Insert(valid).Internal().Render(1, nil); err != nil {
		t.Errorf("NaN in a column that is no key: %v", err)
	}
	for column, edit := range map[string]func(*measure){
		"value":  func(m *measure) { m.Value = other },
		"small":  func(m *measure) { m.Small = &small },
		"values": func(m *measure) { m.Values = []float64{1, other} },
		"places": func(m *measure) { m.Places = []place{{1, 2}, {3, small}} },
	} {
		m := valid
		edit(&m)
		for verb, c := range map[string]tables.Change{
			"insert": measures.Insert(m), "update to it": measures.Update(valid, m), "update from it": measures.Update(m, valid),
			"delete": measures.Delete(m),
		} {
			_, err := c.Internal().Render(1, nil)
			var invalid *tables.InvalidError
			if !errors.As(err, &invalid) || invalid.Column != column ||
				!strings.Contains(invalid.Reason, "a key column must not be NaN") {
				t.Errorf("%s, %s: %v", column, verb, err)
			}
		}
	}
}
