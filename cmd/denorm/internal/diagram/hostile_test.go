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

// Whatever names a schema has, an SVG of it is XML that any viewer opens, and it holds nothing that a terminal would obey.
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
		svg := diagram.SVG(s)
		if shown := printable.Lines(svg); shown != svg {
			t.Fatalf("control characters in\n%q", svg)
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
