package diagram

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/denorm-go/denorm/internal/printable"
	"github.com/denorm-go/denorm/schema"
)

// Mermaid draws a schema as a Mermaid entity relationship diagram. The queries that a table serves, and its indexes,
// are listed among its columns.
func Mermaid(s *schema.Schema) string {
	var b strings.Builder
	b.WriteString("erDiagram\n")
	for _, g := range groups(s) {
		for _, n := range g.roots {
			g.mermaid(&b, n)
		}
		for i := range g.roots {
			if i > 0 {
				g.relation(&b, g.roots[0], g.roots[i])
			}
			g.relations(&b, g.roots[i])
		}
	}
	return b.String()
}

// mermaid writes a table and those that are filled from it.
func (g *group) mermaid(b *strings.Builder, n *node) {
	fmt.Fprintf(b, "    %s[\"%s\"] {\n", alias(n.ID), label(n.label()))
	row := func(typ, name, key, text string) {
		if text != "" {
			text = ` "` + label(text) + `"`
		}
		fmt.Fprintf(b, "        %s %s%s%s\n", word(typ), word(name), key, text)
	}
	for _, c := range n.Columns {
		key, said := "", []string{g.role(n, c)}
		if inKey(c) {
			key = " PK"
		}
		for _, text := range []string{c.Name, c.Type} {
			if word(text) != text {
				said = append(said, text)
			}
		}
		row(c.Type, c.Name, key, strings.Join(slices.DeleteFunc(said, func(s string) bool { return s == "" }), ", "))
	}
	for i, q := range n.queries {
		row("query", fmt.Sprintf("Q%d", i+1), "", q)
	}
	for i, x := range n.indexes {
		row("index", fmt.Sprintf("I%d", i+1), "", x.String())
	}
	b.WriteString("    }\n")
	for _, child := range n.children {
		g.mermaid(b, child)
	}
}

func (g *group) relations(b *strings.Builder, n *node) {
	for _, child := range n.children {
		g.relation(b, n, child)
		g.relations(b, child)
	}
}

func (g *group) relation(b *strings.Builder, from, to *node) {
	text, class := g.edge(to)
	line := "||--||"
	if class == "guess" {
		line = "||..||"
	}
	fmt.Fprintf(b, "    %s %s %s : \"%s\"\n", alias(from.ID), line, alias(to.ID), label(text))
}

// label is a text between the quotes of Mermaid. It takes %%{ for an instruction wherever it stands, <text> for HTML
// and #35; for a letter, and neither % nor \ in the name of a table; in a diagram of this kind it has no way to write
// them, so letters that look alike are shown.
func label(s string) string { return alike.Replace(printable.Line(s)) }

var alike = strings.NewReplacer(`"`, "'", "#", "＃", "%", "％", `\`, "＼", "<", "‹", ">", "›")

var notWord = regexp.MustCompile(`[^A-Za-z0-9_]+`)

// word is a text as Mermaid takes it for a type or a name: frozen<list<int>> becomes frozen-list-int. It begins with a
// letter, and is not a word that marks a key.
func word(s string) string {
	s = strings.Trim(notWord.ReplaceAllString(s, "-"), "-")
	if s == "" || s[0] >= '0' && s[0] <= '9' || slices.Contains([]string{"PK", "FK", "UK"}, s) {
		return "_" + s
	}
	return s
}

func alias(id schema.ID) string {
	return strings.ReplaceAll(word(strings.TrimPrefix(id.Keyspace+"_"+id.Name, "_")), "-", "_")
}
