package diagram_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/denorm-go/denorm/cmd/denorm/internal/diagram"
	"github.com/denorm-go/denorm/internal/testutil/golden"
)

// TestDocs keeps the pictures in the documentation those of the schemas.
func TestDocs(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../../../../schema/testdata/systems/*.cql")
	if err != nil || len(files) != 17 {
		t.Fatalf("%d systems, %v", len(files), err)
	}
	var b strings.Builder
	b.WriteString(`# Example schemas in pictures

Written by ` + "`go test ./cmd/denorm/internal/diagram -update`" + ` with what draws ` + "`denorm diagram`" + `. An entity's base table is on the left, green, its
query tables on the right. Blue columns are the key. An arrow says what a change of the entity does to its row there: it
stays the same row, or it moves, because a column of the key changes. Below its columns a table has the queries that read it, in a few
words, and its indexes; materialized views are to the right of their tables. Which tables are of one entity is guessed from
their names where nothing declares it; such a guess is in a dashed frame
([everything in one picture](../../cmd/denorm/internal/diagram/testdata/everything.svg)).

A query is drawn at the table that it reads, also where the table cannot serve it: ` + "`denorm lint`" + ` finds that. Several tables keep a flaw on purpose, with the fixed form alongside it; ` + "[lint.md](lint.md)" + ` has the rules that find them.
`)
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".cql")
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		first, _, _ := strings.Cut(string(text), "\n")
		title := strings.TrimSuffix(strings.TrimPrefix(first, "-- "), ".")
		fmt.Fprintf(&b, "\n## %s\n\n![%s](../model/%s.svg)\n\n[CQL](../../schema/testdata/systems/%[3]s.cql)\n", title, strings.ReplaceAll(name, "_", " "), name)
		golden.Check(t, "../../../../../docs/model/"+name+".svg", diagram.SVG(system(t, name)))
	}
	golden.Check(t, "../../../../../docs/ref/examples.md", b.String())
}
