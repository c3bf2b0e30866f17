package diagram_test

import (
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/denorm-go/denorm/cmd/denorm/internal/diagram"
	"github.com/denorm-go/denorm/internal/testutil/golden"
	"github.com/denorm-go/denorm/schema"
)

func system(t *testing.T, name string) *schema.Schema {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("../../../../schema/testdata/systems", name+".cql"))
	if err != nil {
		t.Fatal(err)
	}
	s, err := schema.Parse(name, string(text))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestGolden(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"s01_orders", "s13_customers"} {
		s := system(t, name)
		golden.Check(t, name+".svg", diagram.SVG(s))
	}
	golden.Check(t, "everything.svg", diagram.SVG(everything(t)))
}

// TestSystems: each picture is well-formed, and shows every table and column.
func TestSystems(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../../../../schema/testdata/systems/*.cql")
	if err != nil || len(files) != 17 {
		t.Fatalf("%d systems, %v", len(files), err)
	}
	for _, file := range files {
		s := system(t, strings.TrimSuffix(filepath.Base(file), ".cql"))
		svg := diagram.SVG(s)
		var shown strings.Builder
		decoder := xml.NewDecoder(strings.NewReader(svg))
		for {
			token, err := decoder.Token()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatalf("%s: %v", file, err)
			}
			if text, ok := token.(xml.CharData); ok {
				shown.Write(text)
				shown.WriteByte('\n')
			}
		}
		for _, table := range s.Tables {
			for _, want := range append([]string{table.String()}, columns(table)...) {
				if !strings.Contains(shown.String(), want) {
					t.Errorf("%s: %s of %s is not shown", file, want, table.ID)
				}
			}
		}
	}
}

func columns(t schema.Table) []string {
	var out []string
	for _, c := range t.Columns {
		out = append(out, c.Name, c.Type)
	}
	return out
}
