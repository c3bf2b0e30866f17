package diagram

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/denorm-go/denorm/internal/printable"
	"github.com/denorm-go/denorm/schema"
)

// Mermaid draws a schema as an entity relationship diagram of Mermaid.
func Mermaid(s *schema.Schema) string {
	var b strings.Builder
	b.WriteString("erDiagram\n")
	for _, g := range groups(s) {
		for _, t := range g.tables {
			fmt.Fprintf(&b, "    %s[\"%s\"] {\n", alias(t.ID), label(t.String()))
			for _, c := range t.Columns {
				key := ""
				if c.Kind == schema.PartitionKey || c.Kind == schema.Clustering {
					key = " PK"
				}
				role := g.role(t, c)
				if word(c.Type) != c.Type {
					role = strings.TrimPrefix(role+", "+c.Type, ", ")
				}
				if role != "" {
					role = ` "` + label(role) + `"`
				}
				fmt.Fprintf(&b, "        %s %s%s%s\n", word(c.Type), word(c.Name), key, role)
			}
			b.WriteString("    }\n")
		}
		for _, t := range g.tables[1:] {
			fmt.Fprintf(&b, "    %s ||--|| %s : \"%s\"\n", alias(g.tables[0].ID), alias(t.ID), label(g.edge(t)))
		}
	}
	return b.String()
}

// label is a text between the quotes of Mermaid, which takes %%{ for an instruction wherever it stands.
func label(s string) string {
	s = strings.ReplaceAll(printable.Line(s), `"`, "'")
	for strings.Contains(s, "%%") {
		s = strings.ReplaceAll(s, "%%", "% %")
	}
	return s
}

var notWord = regexp.MustCompile(`[^A-Za-z0-9_]+`)

// word is a text as Mermaid takes it for a type or a name: frozen<list<int>> becomes frozen-list-int.
func word(s string) string { return strings.Trim(notWord.ReplaceAllString(s, "-"), "-") }

func alias(id schema.ID) string {
	return strings.ReplaceAll(word(strings.TrimPrefix(id.Keyspace+"_"+id.Name, "_")), "-", "_")
}
