package diagram_test

import (
	"fmt"
	"strings"

	"github.com/denorm-go/denorm/cmd/denorm/internal/diagram"
	"github.com/denorm-go/denorm/schema"
)

// SVG draws a schema where pictures are shown.
func ExampleSVG() {
	s := schema.Must(schema.Parse("shop.cql", `CREATE TABLE orders (order_id uuid PRIMARY KEY, total decimal);
		CREATE TABLE orders_by_user (user_id uuid, order_id uuid, total decimal, PRIMARY KEY (user_id, order_id));
		-- denorm:entity order orders orders_by_user`))
	svg := diagram.SVG(s)
	fmt.Println(strings.Contains(svg, "orders_by_user"), strings.Contains(svg, "same row"))
	// Output: true true
}
