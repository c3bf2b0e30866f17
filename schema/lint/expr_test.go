package lint_test

import (
	"slices"
	"testing"

	"github.com/denorm-go/denorm/schema"
	"github.com/denorm-go/denorm/schema/lint"
)

// A query by expr() goes by the custom index that it names: it asks node after node, and is no read of the whole table.
func TestExpr(t *testing.T) {
	t.Parallel()
	s, err := schema.Parse("f", `CREATE TABLE k.tweets (id int PRIMARY KEY, body text);
CREATE CUSTOM INDEX tweets_index ON k.tweets (body) USING 'com.stratio.cassandra.lucene.Index';
SELECT * FROM k.tweets WHERE expr(tweets_index, 'x');`)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range lint.Check(s) {
		got = append(got, f.String())
	}
	if want := []string{"warning DN404 k.tweets: a query by an index alone asks node after node, and without LIMIT reads all rows that have the value"}; !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}
