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

// A view whose key has a number that changes deletes and inserts rows of it.
func TestViewsThatMoveRows(t *testing.T) {
	t.Parallel()
	const players = "CREATE TABLE players (player_id uuid PRIMARY KEY, team text, points int);\n"
	const view = "CREATE MATERIALIZED VIEW v AS SELECT * FROM players WHERE team IS NOT NULL AND points IS NOT NULL AND player_id IS NOT NULL PRIMARY KEY "
	for key, want := range map[string]string{
		"(points, player_id)": "materialized view v, which deletes a row and inserts one where points changes",
		"(team, player_id)":   "materialized view v",
	} {
		found := lint.Check(schema.Must(schema.Parse("f", players+view+key)))
		if len(found) != 1 || found[0].Code != "DN402" || found[0].Reason != want {
			t.Errorf("%s: %v", key, found)
		}
	}
}
