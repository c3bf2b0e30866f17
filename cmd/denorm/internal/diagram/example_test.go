package diagram_test

import (
	"fmt"

	"github.com/denorm-go/denorm/cmd/denorm/internal/diagram"
	"github.com/denorm-go/denorm/schema"
)

// Mermaid draws a schema where Markdown is shown.
func ExampleMermaid() {
	s := schema.Must(schema.Parse("shop.cql", `CREATE TABLE orders (order_id uuid PRIMARY KEY, total decimal);
		CREATE TABLE orders_by_user (user_id uuid, order_id uuid, total decimal, PRIMARY KEY (user_id, order_id));
		-- denorm:entity order orders orders_by_user`))
	fmt.Println(diagram.Mermaid(s))
	// Output:
	// erDiagram
	//     orders["orders"] {
	//         uuid order_id PK "partition key"
	//         decimal total
	//     }
	//     orders_by_user["orders_by_user"] {
	//         uuid user_id PK "partition key"
	//         uuid order_id PK "clustering ASC"
	//         decimal total
	//     }
	//     orders ||--|| orders_by_user : "same row"
}
