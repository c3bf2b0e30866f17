package diagram

import (
	"fmt"
	"html"
	"strings"

	"github.com/denorm-go/denorm/internal/printable"
	"github.com/denorm-go/denorm/schema"
)

// Measures of the picture, in pixels.
const (
	line    = 20  // height of a line of text
	letter  = 7.3 // width of a letter of the fixed font, 12 px
	padding = 12
	gapX    = 190 // between the base table and the query tables, where the arrows are labelled
	gapY    = 28
)

// SVG draws a schema: an entity a row, its base table on the left, its query tables on the right with an arrow to each
// that says what moves its rows. The picture follows the reader's choice of light or dark.
func SVG(s *schema.Schema) string {
	var p picture
	y := float64(padding)
	for _, g := range groups(s) {
		y = p.group(&g, y) + gapY
	}
	return fmt.Sprintf(frame, int(p.width+padding), int(y-gapY+padding), p.body.String())
}

const frame = `<svg xmlns="http://www.w3.org/2000/svg" width="%[1]d" height="%[2]d" viewBox="0 0 %[1]d %[2]d" role="img">
<style>
  text { font: 12px ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; fill: #1f2328; }
  .title { font-weight: 600; }
  .entity, .role, .label { fill: #59636e; }
  .box { fill: #ffffff; stroke: #8c959f; }
  .head { fill: #ddf4ff; stroke: #8c959f; }
  .base { fill: #dafbe1; stroke: #8c959f; }
  .key { fill: #0969da; }
  .move { fill: #bc4c00; }
  .edge { stroke: #8c959f; fill: none; }
  .tip { fill: #8c959f; }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3; }
    .entity, .role, .label { fill: #9198a1; }
    .box { fill: #151b23; stroke: #656c76; }
    .head { fill: #0c2d6b; stroke: #656c76; }
    .base { fill: #0f3d22; stroke: #656c76; }
    .key { fill: #58a6ff; }
    .move { fill: #f0883e; }
    .edge { stroke: #656c76; }
    .tip { fill: #656c76; }
  }
</style>
%[3]s</svg>
`

type picture struct {
	body  strings.Builder
	width float64
}

// text writes a text. XML has no way to write control characters, so they are written as escapes of Go.
func (p *picture) text(x, y float64, class, format string, args ...any) {
	fmt.Fprintf(&p.body, `<text x="%.0f" y="%.0f" class="%s">%s</text>`+"\n", x, y, class, html.EscapeString(printable.Line(fmt.Sprintf(format, args...))))
}

// group draws one entity and returns where it ends.
func (p *picture) group(g *group, y float64) float64 {
	if g.name != "" {
		p.text(padding, y+14, "entity", "entity %s", g.name)
		y += line + 4
	}
	base := g.tables[0]
	w, h := size(g, base)
	p.table(g, base, padding, y, w, true)
	bottom := y + h
	top := y
	for _, t := range g.tables[1:] {
		tw, th := size(g, t)
		x := padding + w + gapX
		p.table(g, t, x, y, tw, false)
		p.arrow(g, t, padding+w, top+15, x, y+15)
		y += th + gapY
		bottom = max(bottom, y-gapY)
	}
	return bottom
}

// arrow goes from the base table to a query table.
func (p *picture) arrow(g *group, t *schema.Table, x1, y1, x2, y2 float64) {
	middle := x1 + 14
	fmt.Fprintf(&p.body, `<path class="edge" d="M%.0f %.0f H%.0f V%.0f H%.0f"/>`+"\n", x1, y1, middle, y2, x2-8)
	fmt.Fprintf(&p.body, `<path class="tip" d="M%.0f %.0f l-9 -4 v8 z"/>`+"\n", x2, y2)
	class := "label"
	if moves := g.movesIn(t); len(moves) > 0 {
		class = "move"
	}
	p.text(middle+6, y2-5, class, "%s", g.edge(t))
}

// table draws a table.
func (p *picture) table(g *group, t *schema.Table, x, y, w float64, base bool) {
	_, h := size(g, t)
	head := "head"
	if base {
		head = "base"
	}
	fmt.Fprintf(&p.body, `<rect class="box" x="%.0f" y="%.0f" width="%.0f" height="%.0f"/>`+"\n", x, y, w, h)
	fmt.Fprintf(&p.body, `<rect class="%s" x="%.0f" y="%.0f" width="%.0f" height="%d"/>`+"\n", head, x, y, w, line+10)
	p.text(x+padding, y+20, "title", "%s", t.ID)
	names, types := widths(t)
	for i, c := range t.Columns {
		at := y + line + 26 + float64(i)*line
		class := ""
		if c.Kind == schema.PartitionKey || c.Kind == schema.Clustering {
			class = "key"
		}
		p.text(x+padding, at, class, "%s", c.Name)
		p.text(x+padding+names, at, "", "%s", c.Type)
		p.text(x+padding+names+types, at, "role", "%s", g.role(t, c))
	}
	p.width = max(p.width, x+w)
}

// size is the width and height of a table.
func size(g *group, t *schema.Table) (w, h float64) {
	names, types := widths(t)
	roles := 0.0
	for _, c := range t.Columns {
		roles = max(roles, letters(g.role(t, c)))
	}
	return max(names+types+roles, letters(t.String())) + 2*padding, float64(line*(len(t.Columns)+1) + 18)
}

// widths are those of the columns for names and types, with the space after them.
func widths(t *schema.Table) (names, types float64) {
	for _, c := range t.Columns {
		names, types = max(names, letters(c.Name)), max(types, letters(c.Type))
	}
	return names + 2*letter, types + 2*letter
}

func letters(s string) float64 { return float64(len([]rune(printable.Line(s)))) * letter }
