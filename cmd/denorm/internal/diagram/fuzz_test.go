package diagram_test

import (
	"testing"

	"github.com/denorm-go/denorm/cmd/denorm/internal/diagram"
	"github.com/denorm-go/denorm/internal/testutil/cost"
	"github.com/denorm-go/denorm/schema"
)

// FuzzDraw: whatever a file says, it is drawn in time and memory that its length bounds.
func FuzzDraw(f *testing.F) {
	f.Add("CREATE TABLE orders (order_id uuid PRIMARY KEY, total decimal); CREATE TABLE orders_by_user (user_id uuid, order_id uuid, total decimal, " +
		"PRIMARY KEY (user_id, order_id)); CREATE INDEX ON orders (total); -- denorm:entity order orders orders_by_user")
	f.Fuzz(func(t *testing.T, text string) {
		s, err := schema.Review(schema.Source{File: "fuzz", Text: text})
		if err != nil {
			return
		}
		cost.Bound(t, len(text), 20_000, func() { _ = diagram.SVG(s) })
	})
}
