package lint_test

import (
	"fmt"
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

// A rule that looks at all batches for each pair of tables allocates for each pair, four times as much for twice the
// tables.
func TestWorkForManyTablesAndBatches(t *testing.T) { //nolint:paralleltest // AllocsPerRun counts the whole process
	allocations := func(n int) float64 {
		var text strings.Builder
		for i := range n {
			fmt.Fprintf(&text, "CREATE TABLE k.t%d (a_id int PRIMARY KEY, x int);\n", i)
			fmt.Fprintf(&text, "INSERT INTO k.t%d (a_id, x) VALUES (?, ?);\n", i)
			text.WriteString("BEGIN BATCH INSERT INTO k.t0 (a_id, x) VALUES (?, ?); APPLY BATCH;\n")
		}
		s, err := schema.Review(schema.Source{File: "test", Text: text.String()})
		if err != nil {
			t.Fatal(err)
		}
		return testing.AllocsPerRun(1, func() { lint.Check(s) })
	}
	if few, many := allocations(400), allocations(800); many > 2.5*few { // package guess compares 400 with each other
		t.Errorf("%v allocations, and %v for twice as much", few, many)
	}
}
