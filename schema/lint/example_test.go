package lint_test

import (
	"fmt"

	"github.com/denorm-go/denorm/schema"
	"github.com/denorm-go/denorm/schema/lint"
)

func Example() {
	shop := schema.Must(schema.Declare(
		schema.CQL(`
			CREATE TABLE tickets_by_state (state text, ticket_id uuid, title text, PRIMARY KEY (state, ticket_id));
			CREATE TABLE tickets_by_id (ticket_id uuid PRIMARY KEY, state text, labels list<text>);
			SELECT * FROM tickets_by_id WHERE state = ? ALLOW FILTERING;`),
		schema.Accept("DN101", "tickets_by_state", "closed tickets are deleted"),
	))
	for _, f := range lint.Check(shop) {
		if f.Suppressed == "" {
			fmt.Println(f)
		}
	}
	// Output:
	// warning DN302 tickets_by_id: labels is a list that is not frozen
	// error DN504 tickets_by_id: a query filters the whole table
}
