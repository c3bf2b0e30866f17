package command

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/denorm-go/denorm/internal/cql/ast"
	"github.com/denorm-go/denorm/internal/each"
	"github.com/denorm-go/denorm/internal/estimate"
	"github.com/denorm-go/denorm/internal/printable"
	"github.com/denorm-go/denorm/schema"
)

// writeOutlook writes for people.
func writeOutlook(out io.Writer, o *outlook) error {
	var b strings.Builder
	for i := range o.tables {
		o.tables[i].write(&b)
	}
	if len(o.unknown) > 0 {
		measured := ""
		if o.live {
			measured = ", and none is reported by the node,"
		}
		names := each.Of(o.unknown, func(id schema.ID) string { return printable.Line(id.String()) })
		fmt.Fprintf(&b, "No volume is stated%s of %s: state how many rows a partition gets,\n  as in --volume '%[4]s rows=2000/year', or in a file, "+
			"-- denorm:volume %[3]s rows=2000/year\n", measured, strings.Join(names, ", "), names[0], strings.ReplaceAll(names[0], "'", `'\''`))
	}
	for _, said := range o.strays {
		fmt.Fprintln(&b, printable.Line(said))
	}
	if o.unread > 0 {
		fmt.Fprintf(&b, "Statements that are not understood: %d; denorm lint says which\n", o.unread)
	}
	_, err := io.WriteString(out, b.String())
	return err
}

// write writes of one table.
func (p *planned) write(b *strings.Builder) {
	row := p.e.Row()
	name := printable.Line(fmt.Sprintf("%s  PRIMARY KEY %s", p.table, p.table.Key()))
	if single(p.table) {
		fmt.Fprintf(b, "%s: one row a partition, %s\n", name, p.singles())
		return
	}
	fmt.Fprintf(b, "%s, %s\n", name, p.said())
	later := p.e.At(foresight)
	if later.Rows < estimate.GoodRows && later.Bytes < estimate.GoodBytes && later.Cells < estimate.MaxCells {
		when := "after 5 years"
		switch {
		case p.volume.Measured:
			fmt.Fprintf(b, "  now up to about %s rows: %s%s\n", amount(later.Rows), p.fine(), p.assumed())
			return
		case p.bounded():
			when = "at most"
		}
		fmt.Fprintf(b, "  %s %s: %s%s\n", when, sized(later), p.fine(), p.assumed())
		return
	}
	fmt.Fprintf(b, "  a row has %s and %s bytes before compression%s\n", cells(row.Cells), amount(row.Bytes), p.assumed())
	p.writeAges(b)
}

// said is the volume, for people.
func (p *planned) said() string {
	v := p.volume
	if v.Measured {
		return p.measured()
	}
	said := "stated: " + amount(v.Rows) + " rows"
	if v.Per > 0 {
		said += " " + every(v.Per)
	}
	said += " in a partition"
	if keep := p.e.Keep(); keep > 0 && v.Per > 0 {
		said += ", which has the rows of " + span(keep)
	}
	if v.Largest > 1 {
		said += fmt.Sprintf(", %s times that in the largest", amount(v.Largest))
	}
	if v.Growth > 0 {
		said += fmt.Sprintf(", growing by %s %% a year", amount(min(100*v.Growth, math.MaxFloat64)))
	}
	return said
}

// measured is what a node has reported. It says how large the largest partition is in whole MiB, if at all.
func (p *planned) measured() string {
	said := "measured by one node: " + size(p.e.Mean(0).Bytes) + " on average"
	if p.volume.Largest > 1 {
		said += ", the largest up to " + size(p.e.At(0).Bytes)
	}
	return said
}

// singles is the size of tables whose partitions are a row each.
func (p *planned) singles() string {
	if p.known && p.volume.Measured {
		return p.measured() + over(p.e.At(0))
	}
	one := p.e.At(0)
	text := cells(one.Cells) + ", " + size(one.Bytes) + over(one) + p.assumed()
	if p.void {
		text += "; what is stated of its rows does not count"
	}
	return text
}

// over says which is the worst limit that a size meets.
func over(s estimate.Size) string {
	worst := ""
	for _, l := range limits {
		if l.of(s) >= l.most {
			worst = strings.TrimSuffix(l.text, ",")
		}
	}
	if worst == "" {
		return ""
	}
	return ", above the limit of " + worst
}

// fine says which limit a table meets that meets none soon.
func (p *planned) fine() string {
	m := meets(p.e)
	if len(m) == 0 {
		return "within all limits"
	}
	return fmt.Sprintf("within all limits until then; %s after %s", strings.TrimSuffix(limits[m[0].limit].text, ","), estimate.Age(m[0].age))
}

// assumed says which columns have a width or a number of elements that nobody has stated.
func (p *planned) assumed() string {
	widths, elements := p.guessed()
	var text []string
	if len(widths) > 0 {
		text = append(text, "width of "+strings.Join(widths, ", "))
	}
	if len(elements) > 0 {
		text = append(text, "elements of "+strings.Join(elements, ", "))
	}
	if len(text) == 0 {
		return ""
	}
	return printable.Line("; assumed: " + strings.Join(text, "; "))
}

// guessed gives the columns whose width, and whose number of elements, is assumed.
func (p *planned) guessed() (widths, elements []string) {
	for _, c := range p.table.Columns {
		kind, _, _ := ast.TypeParts(c.Type)
		collection := slices.Contains([]string{"list", "set", "map"}, kind)
		if _, ok := p.volume.Elements[c.Name]; collection && !ok {
			elements = append(elements, c.Name)
		}
		if _, ok := p.volume.Width[c.Name]; !ok && wide(c.Type) {
			widths = append(widths, c.Name)
		}
	}
	return widths, elements
}

// wide says whether the values of a type are as long as who writes them likes.
func wide(typ string) bool {
	name, _, args := ast.TypeParts(typ)
	return slices.Contains([]string{"text", "ascii", "blob"}, name) || slices.ContainsFunc(args, wide)
}

// writeAges writes the sizes of the largest partition over time, and when it meets limits.
func (p *planned) writeAges(b *strings.Builder) {
	const line = "  %-20s%18s%22s%12s\n"
	fmt.Fprintf(b, line, "largest partition", "rows", "cells", "bytes")
	for _, a := range p.ages() {
		s := p.e.At(a.age)
		fmt.Fprintf(b, line, "  "+a.text, amount(s.Rows), amount(s.Cells), size(s.Bytes))
	}
	var when []string
	for _, m := range meets(p.e) {
		if text := limits[m.limit].text; p.volume.Per == 0 {
			when = append(when, "above the limit of "+strings.TrimSuffix(text, ","))
		} else {
			when = append(when, text+" after "+estimate.Age(m.age))
		}
	}
	fmt.Fprintf(b, "  %s\n", strings.Join(when, " \u00b7 "))
	if p.volume.Measured {
		b.WriteString("  how it grows is not known: state its rows with the time in which they come, as rows=2000/year\n")
	}
}

// sized is a size for people.
func sized(s estimate.Size) string {
	return fmt.Sprintf("%s rows, %s, %s", amount(s.Rows), cells(s.Cells), size(s.Bytes))
}

func cells(n float64) string {
	if n == 1 {
		return "1 cell"
	}
	return amount(n) + " cells"
}

// amount writes a number for people.
func amount(n float64) string {
	switch {
	case n >= 1e15:
		return fmt.Sprintf("%.1e", n)
	case n >= 10 || n == math.Trunc(n):
		return grouped(int(math.Round(n)))
	case n < 0.05:
		return "under 0.1"
	}
	return strings.TrimSuffix(strconv.FormatFloat(n, 'f', 1, 64), ".0")
}

// size writes bytes for people.
func size(bytes float64) string {
	const units = "kMGTPE"
	if bytes < 1000 {
		return amount(math.Round(bytes)) + " bytes"
	}
	for i := range units {
		if bytes /= 1000; bytes < 999.5 {
			if bytes < 99.95 {
				return strings.TrimSuffix(strconv.FormatFloat(bytes, 'f', 1, 64), ".0") + " " + units[i:i+1] + "B"
			}
			return fmt.Sprintf("%.0f %cB", bytes, units[i])
		}
	}
	return fmt.Sprintf("%.1e EB", bytes)
}

// span is a length of time in words: a month, 90 days.
func span(d time.Duration) string {
	for _, s := range spans {
		switch n := d / s.time; {
		case d%s.time != 0:
		case n == 1 && s.name == "hour":
			return "an hour"
		case n == 1:
			return "a " + s.name
		default:
			return fmt.Sprintf("%s %ss", grouped(int(n)), s.name)
		}
	}
	return d.String()
}

// every is a time that comes again: a month, every 36 hours.
func every(d time.Duration) string {
	text := span(d)
	if strings.HasPrefix(text, "a ") || strings.HasPrefix(text, "an ") {
		return text
	}
	return "every " + text
}
