package diagram_test

import (
	"encoding/xml"
	"errors"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/denorm-go/denorm/cmd/denorm/internal/diagram"
	"github.com/denorm-go/denorm/internal/printable"
	"github.com/denorm-go/denorm/internal/testutil/anyschema"
	"github.com/denorm-go/denorm/schema"
)

// A name is no instruction to Mermaid, however many percent signs it has.
func TestPercentSignsInMermaid(t *testing.T) {
	t.Parallel()
	for n := range 9 {
		signs := strings.Repeat("%", n)
		name := signs + "{init: {}}" + signs
		s := &schema.Schema{Tables: []schema.Table{{
			ID: schema.ID{Keyspace: "k", Name: name}, Columns: []schema.Column{{Name: "a", Type: "int", Kind: schema.PartitionKey}},
		}}}
		out := diagram.Mermaid(s)
		if strings.Contains(out, "%") || strings.Count(out, "％") != 2*n {
			t.Errorf("%s: %s", name, out)
		}
	}
}

// Whatever names a schema has, an SVG of it is XML that any viewer opens, and neither picture holds anything that a
// terminal would obey or that Mermaid takes for an instruction.
func TestPicturesOfHostileNames(t *testing.T) {
	t.Parallel()
	for seed := range uint64(150) {
		r := rand.New(rand.NewPCG(seed, 2))
		s := anyschema.Hostile(r, "ks", anyschema.Generate(r, "ks"))
		e := schema.Entity{Name: anyschema.HostileText(r, 0)}
		for i := range s.Tables {
			e.Tables = append(e.Tables, s.Tables[i].ID)
			e.Moves = append(e.Moves, s.Tables[i].Columns[0].Name)
		}
		s.Tables[0].Columns[0].Name = "%%{init: {'securityLevel': 'loose'}}%%\xff\ufffe" // not UTF-8, and no character
		s.Entities = []schema.Entity{e}
		svg, mermaid := diagram.SVG(s), diagram.Mermaid(s)
		for name, picture := range map[string]string{"svg": svg, "mermaid": mermaid} {
			if shown := printable.Lines(picture); shown != picture {
				t.Fatalf("%s: control characters in\n%q", name, picture)
			}
		}
		if strings.Contains(mermaid, "%%") {
			t.Fatalf("an instruction in\n%s", mermaid)
		}
		for _, line := range strings.Split(mermaid, "\n") {
			if n := strings.Count(line, `"`); n%2 != 0 || n > 2 {
				t.Fatalf("a text leaves its quotes: %s", line)
			}
		}
		texts := 0
		decoder := xml.NewDecoder(strings.NewReader(svg))
		for {
			token, err := decoder.Token()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatalf("seed %d: %v in\n%q", seed, err, svg)
			}
			if start, ok := token.(xml.StartElement); ok && start.Name.Local == "text" {
				texts++
			} else if ok && !slices.Contains([]string{"svg", "style", "path", "rect"}, start.Name.Local) {
				t.Fatalf("an element %s", start.Name.Local)
			}
		}
		if texts < 5 {
			t.Fatalf("%d texts", texts)
		}
	}
}
