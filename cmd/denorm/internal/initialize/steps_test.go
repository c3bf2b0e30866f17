package initialize_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/denorm-go/denorm/cmd/denorm/internal/initialize"
)

// A plan that compares each table with each entity, or declares all sets again for each entity, allocates for each
// pair. For four times as many tables it then allocates sixteen times as much. Each keyspace has few tables here, as
// package guess compares up to 400 of a keyspace with each other.
func TestWorkForManyTables(t *testing.T) { //nolint:paralleltest // AllocsPerRun counts the whole process
	for name, format := range map[string]string{
		"tables alone": "CREATE TABLE k%d.orders_by_%[1]d (c%[1]d text, order_id uuid, s text, PRIMARY KEY (c%[1]d, order_id));\n",
		"entities": "CREATE TABLE k%d.e%[1]dx_by_id (e%[1]dx_id uuid PRIMARY KEY, s text, t int);\n" +
			"CREATE TABLE k%[1]d.e%[1]dx_by_s (s text, e%[1]dx_id uuid, t int, PRIMARY KEY (s, e%[1]dx_id));\n",
	} {
		t.Run(name, func(t *testing.T) {
			allocations := func(n int) float64 {
				var text strings.Builder
				for i := range n {
					fmt.Fprintf(&text, format, i)
				}
				s := review(t, "", text.String())
				return testing.AllocsPerRun(1, func() { initialize.New(s, nil) })
			}
			if few, many := allocations(200), allocations(800); many > 5*few {
				t.Errorf("%v allocations, and %v for four times as much", few, many)
			}
		})
	}
}

// The library keeps about 1 KB for each part of each column: 4,000 columns of a type of 900 fields, 146 KB of text,
// took 4 GB. What has too many parts gets no set, and others get theirs.
func TestManyPartsOfTypes(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	text.WriteString("CREATE TYPE k.u (f0 int")
	for i := range 899 {
		fmt.Fprintf(&text, ", f%d int", i+1)
	}
	text.WriteString(");\n")
	for i, columns := range []int{112, 60, 60, 1} {
		var own strings.Builder
		for c := range columns {
			fmt.Fprintf(&own, "c%d frozen<u>, ", c)
		}
		fmt.Fprintf(&text, "CREATE TABLE k.e%dx_by_id (e%[1]dx_id uuid PRIMARY KEY, %[2]s s text);\n"+
			"CREATE TABLE k.e%[1]dx_by_s (s text, e%[1]dx_id uuid, %[2]s PRIMARY KEY (s, e%[1]dx_id));\n", i, own.String())
	}
	plan := initialize.New(review(t, "", text.String()), nil)
	var got string
	for _, e := range plan.Entities {
		got += e.Name + " "
	}
	for _, l := range plan.Alone {
		got += l.Table + " "
		if strings.HasSuffix(l.Table, "_id") && !strings.Contains(l.Why, "too many parts: all sets may have 100000") {
			t.Error(l.Why)
		}
	}
	if want := "e1x e3x k.e0x_by_id k.e0x_by_s k.e2x_by_id k.e2x_by_s "; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
