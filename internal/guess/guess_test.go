package guess_test

import (
	"fmt"
	"testing"

	"github.com/denorm-go/denorm/internal/guess"
	"github.com/denorm-go/denorm/schema"
)

// Tables of one name before _by_ are of one entity, with the table of that name alone, in one keyspace; declared ones
// are left out.
func TestEntities(t *testing.T) {
	t.Parallel()
	s := &schema.Schema{Entities: []schema.Entity{{Name: "user", Tables: []schema.ID{{Name: "users_by_email"}}}}}
	for _, name := range []string{
		"orders_by_user", "logs", "orders", "users_by_email", "orders_by_id", "boxes_by_id",
		"boxes_by_shelf", "news_by_day",
	} {
		s.Tables = append(s.Tables, schema.Table{ID: schema.ID{Name: name}})
	}
	s.Tables = append(s.Tables, schema.Table{ID: schema.ID{Keyspace: "other", Name: "orders_by_day"}})
	var got string
	for _, e := range guess.Entities(s) {
		got += fmt.Sprintf("%s %v %d\n", e.Name, e.Tables, guess.Base(e))
	}
	const want = `order [orders_by_user orders orders_by_id] 1
box [boxes_by_id boxes_by_shelf] 0
new [news_by_day] -1
order [other.orders_by_day] -1
`
	if got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}
