package estimate_test

import (
	"fmt"

	"github.com/denorm-go/denorm/internal/estimate"
	"github.com/denorm-go/denorm/schema"
)

func Example() {
	s := schema.Must(schema.Declare(
		schema.CQL(`CREATE TABLE orders_by_customer (customer_id uuid, order_id timeuuid, total decimal, note text,
			PRIMARY KEY (customer_id, order_id))`),
		schema.Expect("orders_by_customer", schema.Volume{
			Rows: 2, Per: schema.Month, Largest: 5000, Width: map[string]float64{"note": 60},
			Filled: map[string]float64{"note": 0.1},
		}),
	))
	e, err := estimate.New(s, s.Volumes[0])
	if err != nil {
		panic(err)
	}
	year := e.At(schema.Year)
	fmt.Printf("the largest customer after a year: %.0f rows, %.1f MB\n", year.Rows, year.Bytes/1e6)
	after, _ := e.When(func(s estimate.Size) bool { return s.Bytes >= estimate.BadBytes })
	fmt.Printf("100 MB after %.1f years\n", float64(after)/float64(schema.Year))
	// Output:
	// the largest customer after a year: 120000 rows, 4.9 MB
	// 100 MB after 20.2 years
}
