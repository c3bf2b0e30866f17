package lint_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/denorm-go/denorm/schema"
	"github.com/denorm-go/denorm/schema/lint"
)

// The statements of a transaction are reviewed as others are, and rules on batches say of transactions only what is so
// of them.
func TestTransactions(t *testing.T) {
	t.Parallel()
	const tables = `-- denorm:entity pet pets owners
CREATE TABLE pets (pet_id uuid PRIMARY KEY, name text, owner text) WITH transactional_mode = 'full';
CREATE TABLE owners (owner text, pet_id uuid, name text, PRIMARY KEY (owner, pet_id)) WITH transactional_mode = 'full';
BEGIN TRANSACTION
`
	const let = "LET p = (SELECT * FROM pets WHERE pet_id = ?);\n"
	const both = "INSERT INTO pets (pet_id, name, owner) VALUES (?, ?, ?);\nINSERT INTO owners (owner, pet_id, name) VALUES (?, ?, ?);\n"
	for _, c := range []struct{ body, want string }{
		{let + "SELECT p.name;", ""},
		{let + "SELECT p.nick;", "5 DN507 pets"},
		{let + "IF p.nick = ? THEN " + both + "END IF", "5 DN507 pets"},
		{"LET p = (SELECT nick FROM pets WHERE pet_id = ?);\nSELECT p.nick;", "5 DN507 pets"},
		{"LET p = (SELECT name FROM pet WHERE pet_id = ?);\nSELECT p.name;", "5 DN506 pet"},
		{"LET p = (SELECT name FROM pets WHERE owner = ?);\nSELECT p.name;", "5 DN501 pets"},
		{"SELECT name FROM pets;", "5 DN501 pets"},
		// Where DN501 says nothing, as of a table with an index.
		{"SELECT name FROM pets WHERE name = ?;\nCOMMIT TRANSACTION;\nCREATE INDEX i ON pets (name); BEGIN TRANSACTION DELETE FROM pets WHERE pet_id = ?;" +
			"DELETE FROM owners WHERE owner = ? AND pet_id = ?;", "5 DN404 pets"},
		{
			let + "UPDATE pets SET name = p.owner, pet_id = p.pet_id WHERE pet_id = ?;\nUPDATE owners SET name = p.owner WHERE owner = ? AND pet_id = ?;",
			"6 DN509 pets",
		},
		{let + "UPDATE pets SET name = p.owner WHERE name = ?;\nUPDATE owners SET name = p.name WHERE owner = ? AND pet_id = ?;", "6 DN509 pets"},
		{"INSERT INTO pets (pet_id, name, owner) VALUES (?, ?, ?);\n", "5 DN510 pets"},
		{"LET o = (SELECT pet_id FROM owners WHERE owner = ? LIMIT 1);\nIF o IS NULL THEN\nDELETE FROM pets WHERE pet_id = ?; END IF", "7 DN510 pets"},
		{both + both + both + both, ""}, // several partitions, and many rows: no batch
		{strings.Repeat("UPDATE pets SET name = ? WHERE pet_id = ?;\n", 6) + "UPDATE owners SET name = ? WHERE owner = ? AND pet_id = ?;", ""},
		{let + both + "COMMIT TRANSACTION;\nUPDATE pets SET name = ? WHERE pet_id = ? IF owner = ?; BEGIN TRANSACTION " + both, ""}, // no two clocks
		// A table that is only read is not written together with the others.
		{"LET e = (SELECT keeper FROM emails WHERE email = ?);\nIF e IS NULL THEN INSERT INTO keepers (keeper, email) VALUES (?, ?); END IF\n" +
			"COMMIT TRANSACTION;\n-- denorm:entity keeper keepers emails\nCREATE TABLE keepers (keeper uuid PRIMARY KEY, email text) WITH " +
			"transactional_mode = 'full'; CREATE TABLE emails (email text PRIMARY KEY, keeper uuid) WITH transactional_mode = 'full'; BEGIN TRANSACTION " + both, ""},
		{let + "SELECT q.name;", "4 DN508 "},
		{let + "SELECT p.name; " + both + "UPDATE;", "4 DN508 "},
	} {
		text := tables + c.body + "\nCOMMIT TRANSACTION;"
		s, err := schema.Review(schema.Source{File: "test", Text: text})
		if err != nil {
			t.Fatal(err)
		}
		var found []string
		for _, f := range lint.Check(s) {
			found = append(found, fmt.Sprintf("%d %s %s", f.At.Line, f.Code, f.Table.Name))
			if f.Code == "DN510" && !strings.HasPrefix(f.Reason, "a transaction ") {
				t.Error(f)
			}
		}
		slices.Sort(found)
		if got := strings.Join(found, ", "); got != c.want {
			t.Errorf("%s\n got %s\nwant %s", c.body, got, c.want)
		}
	}
}
