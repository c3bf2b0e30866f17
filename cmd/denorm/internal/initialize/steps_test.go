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
