package lint

import (
	"testing"

	"github.com/denorm-go/denorm/schema"
)

// The first statement of a verb is known from the start. Rules ask for it for each statement, so a search would go
// through all statements of a table as often as there are some.
func TestFirstStatementIsNotSearched(t *testing.T) {
	t.Parallel()
	s, err := schema.Review(schema.Source{File: "test", Text: `CREATE TABLE k.t (a int PRIMARY KEY, b int);
		UPDATE k.t SET b = ? WHERE a = ?; SELECT b FROM k.t WHERE a = ?; SELECT a FROM k.t WHERE a = ?;`})
	if err != nil {
		t.Fatal(err)
	}
	r := newReview(s)
	clear(r.sent)
	of := r.tables()[0]
	if q := r.query(of, "SELECT"); q != &s.Queries[1] {
		t.Errorf("the first SELECT is %v", q)
	}
	if r.query(of, "DELETE") != nil || !r.written(of) {
		t.Errorf("a DELETE, or nothing that writes")
	}
}
