package lint_test

import (
	"testing"

	"github.com/denorm-go/denorm/schema"
	"github.com/denorm-go/denorm/schema/lint"
)

// An index of what another table has as its key is not needed, and no second table is either.
func TestAdviceOnIndexes(t *testing.T) {
	t.Parallel()
	const users = "CREATE TABLE users (id text PRIMARY KEY, email text); CREATE INDEX ON users (email);\n"
	for text, want := range map[string]string{
		users: "a query table with email as its partition key",
		users + "CREATE TABLE users_by_email (email text PRIMARY KEY, user_id text)": "drop the index: users_by_email has email as its partition key",
		users + "CREATE TABLE shops_by_email (email text PRIMARY KEY, shop_id text)": "a query table with email as its partition key",
	} {
		found := lint.Check(schema.Must(schema.Parse("f", text)))
		if len(found) != 1 || found[0].Code != "DN401" || found[0].Fix != want {
			t.Errorf("%s\n%v, %q", text, found, found[0].Fix)
		}
	}
}
