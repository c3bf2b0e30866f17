package diagram

import (
	_ "embed"
	"fmt"
	"html"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/denorm-go/denorm/internal/each"
	"github.com/denorm-go/denorm/internal/printable"
	"github.com/denorm-go/denorm/schema"
)

// Measures of the picture, in pixels.
const (
	line    = 20  // height of a line of text
	letter  = 7.3 // width of a letter of the fixed font, 12 px
	padding = 12
	header  = line + 10 // height of the part of a box that has the name
	gapY    = 28
	turn    = 14  // from a box to where its arrows branch off
	swatch  = 26  // width of a sample in the legend
	least   = 560 // width of the legend, if the picture is not wider
)

// SVG draws a schema with one row for each entity. The base table is on the left, the tables and views that are filled
// from it are to its right, each with an arrow that says what moves its rows. Tables show the queries that read them,
// and their indexes. The legend below explains what is in the picture. The picture follows the reader's choice of light
// or dark, and has its own background.
func SVG(s *schema.Schema) string {
	p := picture{seen: make(map[string]bool)}
	y := float64(padding)
	for _, g := range groups(s) {
		y = p.group(&g, y) + gapY
	}
	y = p.legend(y)
	return fmt.Sprintf(frame, int(math.Ceil(p.width))+padding, int(y)+padding, style, p.body.String())
}

//go:embed style.css
var style string

const frame = `<svg xmlns="http://www.w3.org/2000/svg" width="%[1]d" height="%[2]d" viewBox="0 0 %[1]d %[2]d" role="img">
<style>
%[3]s</style>
<rect class="page" width="100%%" height="100%%"/>
%[4]s</svg>
`

type picture struct {
	body  strings.Builder
	width float64
	seen  map[string]bool // what the legend has to say something of
}

// text writes a text. XML has no way to write control characters, so they are written as escapes of Go.
func (p *picture) text(x, y float64, class, text string) {
	fmt.Fprintf(&p.body, `<text x="%.0f" y="%.0f" class="%s">%s</text>`+"\n", x, y, class, html.EscapeString(printable.Line(text)))
	p.width = max(p.width, x+letters(text))
}

func (p *picture) rect(class string, x, y, w, h float64) {
	fmt.Fprintf(&p.body, `<rect class="%s" x="%.0f" y="%.0f" width="%.0f" height="%.0f"/>`+"\n", class, x, y, w, h)
	p.width = max(p.width, x+w)
}

func (p *picture) path(class, format string, args ...any) {
	fmt.Fprintf(&p.body, `<path class="%s" d="%s"/>`+"\n", class, fmt.Sprintf(format, args...))
}

// group draws one entity and returns where it ends.
func (p *picture) group(g *group, y float64) float64 {
	if !g.guessed {
		if g.name != "" {
			p.text(padding, y+14, "entity", "entity "+g.name)
			y += line + 4
		}
		_, bottom := p.tree(g, g.roots[0], padding, y)
		return bottom
	}
	p.seen["guess"] = true
	const x = 2 * padding
	name := "entity " + g.name + ", guessed from the names of its tables"
	p.text(x, y+padding+10, "entity", name)
	right, bottom := x+letters(name), y+padding+line+4-gapY
	for _, n := range g.roots {
		r, b := p.tree(g, n, x, bottom+gapY)
		right, bottom = max(right, r), b
	}
	p.rect("guessed", padding, y, right, bottom+padding-y)
	return bottom + padding
}

// tree draws a table, and to the right of it those that are filled from it, and returns where all that ends.
func (p *picture) tree(g *group, n *node, x, y float64) (right, bottom float64) {
	w, h := p.table(g, n, x, y)
	right, bottom = x+w, y+h
	gap := 0.0
	for _, child := range n.children {
		text, _ := g.edge(child)
		gap = max(gap, math.Ceil(turn+6+letters(text)+24))
	}
	at, last := y, y
	for _, child := range n.children {
		p.arrow(g, child, x+w+turn, x+w+gap, at+header/2)
		r, b := p.tree(g, child, x+w+gap, at)
		right, bottom, last, at = max(right, r), max(bottom, b), at, b+gapY
	}
	if len(n.children) > 0 {
		p.path("edge", "M%.0f %.0f H%.0f V%.0f", x+w, y+header/2, x+w+turn, last+header/2)
	}
	return right, bottom
}

// arrow goes to a table from where it branches off.
func (p *picture) arrow(g *group, to *node, from, x, y float64) {
	text, class := g.edge(to)
	p.seen[class] = true
	p.path("edge "+class, "M%.0f %.0f H%.0f", from, y, x-8)
	p.path("tip "+class, "M%.0f %.0f l-9 -4 v8 z", x, y)
	p.text(from+6, y-5, "label "+class, text)
}

// table draws a table and returns its size.
func (p *picture) table(g *group, n *node, x, y float64) (w, h float64) {
	w, h = size(g, n)
	p.seen[string(n.kind)] = true
	p.rect("box", x, y, w, h)
	p.rect(string(n.kind), x, y, w, header)
	p.text(x+padding, y+20, "title", n.label())
	names, types := widths(n)
	at := y + line + 26
	for _, c := range n.Columns {
		class := ""
		if inKey(c) {
			class = "key"
			p.seen[class] = true
		}
		p.text(x+padding, at, class, c.Name)
		p.text(x+padding+names, at, "", c.Type)
		if role := g.role(n, c); role != "" {
			p.text(x+padding+names+types, at, "role", role)
		}
		at += line
	}
	rows := served(n)
	if len(rows) > 0 {
		p.path("edge", "M%.0f %.0f H%.0f", x, at-10, x+w)
		at += 6
	}
	for _, r := range rows {
		p.seen[r.class] = true
		p.text(x+padding, at, r.class, r.class)
		p.text(x+padding+tag, at, "", r.text)
		at += line
	}
	for _, i := range n.indexes {
		p.seen["index "+i.class] = true
	}
	return w, h
}

// tag is the width of the words query and index, with the space after them.
const tag = 7 * letter

// row is one of those below the columns of a table.
type row struct{ class, text string }

func served(n *node) []row {
	return slices.Concat(
		each.Of(n.queries, func(q string) row { return row{"query", q} }),
		each.Of(n.indexes, func(i index) row { return row{"index", i.String()} }))
}

// size is the width and height of a table.
func size(g *group, n *node) (w, h float64) {
	names, types := widths(n)
	roles := 0.0
	for _, c := range n.Columns {
		roles = max(roles, letters(g.role(n, c)))
	}
	w, h = max(names+types+roles, letters(n.label())), float64(line*(len(n.Columns)+1)+18)
	rows := served(n)
	for _, r := range rows {
		w = max(w, tag+letters(r.text))
	}
	if len(rows) > 0 {
		h += float64(line*len(rows) + 6)
	}
	return math.Ceil(w) + 2*padding, h // whole pixels, for lines that meet
}

// widths are those of the columns for names and types, with the space after them.
func widths(n *node) (names, types float64) {
	for _, c := range n.Columns {
		names, types = max(names, letters(c.Name)), max(types, letters(c.Type))
	}
	return names + 2*letter, types + 2*letter
}

// letters is how wide a text is at most. Letters that a fixed font may not have come from another one.
func letters(s string) float64 {
	n := 0
	for _, r := range printable.Line(s) {
		if n++; r >= 0x300 && r != '…' {
			n++
		}
	}
	return float64(n) * letter
}

// entry is one of the legend: a sample, and what it means.
type entry struct {
	seen, text string
	width      float64 // of the sample
	draw       func(x, y float64)
}

// legend explains what is in the picture, from y on, and returns where it ends.
func (p *picture) legend(y float64) float64 {
	right, x := max(p.width, least), float64(padding)
	if len(p.seen) > 0 {
		defer func(y float64) { p.path("rule", "M%d %.0f H%.0f", padding, y, p.width) }(y - gapY/2)
		y += 4
	}
	for _, e := range p.entries() {
		if !p.seen[e.seen] {
			continue
		}
		w := e.width + letters(e.text)
		if x > padding && x+w > right {
			x, y = padding, y+line
		}
		e.draw(x, y+10)
		p.text(x+e.width, y+10, "label", e.text)
		x += w + 2*padding
	}
	return y + line
}

// entries are all that a legend can have, in their order.
func (p *picture) entries() []entry {
	box := func(class string) func(x, y float64) {
		return func(x, y float64) { p.rect(class, x, y-11, swatch-8, 14) }
	}
	arrow := func(class string) func(x, y float64) {
		return func(x, y float64) {
			p.path("edge "+class, "M%.0f %.0f h%d", x, y-4, swatch-16)
			p.path("tip "+class, "M%.0f %.0f l-9 -4 v8 z", x+swatch-8, y-4)
		}
	}
	sample := func(seen, class, sample, text string) entry {
		return entry{seen, text, letters(sample) + letter, func(x, y float64) { p.text(x, y, class, sample) }}
	}
	out := []entry{
		{string(base), "base table of an entity", swatch, box("base")},
		{string(query), "another table of the entity", swatch, box("other")},
		{string(view), "materialized view", swatch, box("view")},
		{string(alone), "table of no declared entity", swatch, box("alone")},
		{"guess", "guessed from names, not declared", swatch, box("guessed")},
		{"same", "a change stays in its row", swatch, arrow("same")},
		{"moves", "a change of these columns moves the row", swatch, arrow("moves")},
		{"derives", "Cassandra fills the view from its table", swatch, arrow("derives")},
		sample("key", "key", "abc", "column of the primary key"),
		sample("query", "query", "query", "what a SELECT reads"),
	}
	for _, class := range slices.Sorted(maps.Keys(p.seen)) {
		if class, ok := strings.CutPrefix(class, "index "); ok {
			out = append(out, sample("index", "index", class, meaning(class)))
		}
	}
	return out
}

// meaning is what a class of indexes is.
func meaning(class string) string {
	switch class {
	case "2i":
		return "Cassandra's first kind of index"
	case "SAI":
		return "storage-attached index"
	case "SASI":
		return "SSTable-attached index, experimental"
	}
	return "index of a custom class"
}
