package lint_test

import (
	"strings"
	"testing"

	"github.com/denorm-go/denorm/schema"
	"github.com/denorm-go/denorm/schema/lint"
)

// A rule that goes through all statements of a table for each of them allocates for each pair. What a file of twice the
// size allocates is then four times as much. Text of a pull request may be that file.
func TestWorkForManyStatementsOfOneTable(t *testing.T) { //nolint:paralleltest // AllocsPerRun counts the whole process
	const table = "CREATE TABLE k.t (a text, b timeuuid, c int, PRIMARY KEY (a, b));\n"
	for name, text := range map[string]func(n int) string{
		"a batch of deletes": func(n int) string {
			return table + "BEGIN BATCH " + strings.Repeat("DELETE c FROM k.t WHERE a = ? AND b = ?;\n", n) + "APPLY BATCH;"
		},
		"inserts of rows that are read otherwise than by their key": func(n int) string {
			return table + strings.Repeat("SELECT * FROM k.t WHERE a = ? LIMIT 1;\nINSERT INTO k.t (a, b, c) VALUES (?, ?, ?);\n", n)
		},
		"reads of one partition": func(n int) string {
			return table + strings.Repeat("SELECT * FROM k.t WHERE a = 'x';\nINSERT INTO k.t (a, b, c) VALUES ('x', ?, ?) USING TTL 60;\n", n)
		},
	} {
		t.Run(name, func(t *testing.T) {
			allocations := func(n int) float64 {
				s, err := schema.Review(schema.Source{File: "test", Text: text(n)})
				if err != nil {
					t.Fatal(err)
				}
				return testing.AllocsPerRun(1, func() { lint.Check(s) })
			}
			if few, many := allocations(100), allocations(400); many > 6*few {
				t.Errorf("%v allocations, and %v for four times as much", few, many)
			}
		})
	}
}
