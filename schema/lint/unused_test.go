package lint_test

import (
	"strings"
	"testing"

	"github.com/denorm-go/denorm/schema"
	"github.com/denorm-go/denorm/schema/lint"
)

// Statements that name few of the tables are all that the service sends, if there are many.
func TestUnusedAmongMany(t *testing.T) {
	t.Parallel()
	const tables = `CREATE TABLE a (id uuid PRIMARY KEY, v int); CREATE TABLE b (id uuid PRIMARY KEY, v int);
CREATE TABLE c (id uuid PRIMARY KEY, v int); CREATE TABLE d (id uuid PRIMARY KEY, v int); CREATE TABLE e (id uuid PRIMARY KEY, v int);
SELECT v FROM b WHERE id = ?;
`
	for n, want := range map[int]int{3: 0, 8: 3} {
		s, err := schema.Parse("test", tables+strings.Repeat("SELECT v FROM a WHERE id = ?;\n", n))
		if err != nil {
			t.Fatal(err)
		}
		unused := 0
		for _, f := range lint.Check(s) {
			if f.Code == "DN616" && f.Reason == "no statement uses the table" {
				unused++
			}
		}
		if unused != want {
			t.Errorf("%d statements: %d tables are unused, want %d", n+1, unused, want)
		}
	}
}
