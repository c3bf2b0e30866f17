package command

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/denorm-go/denorm/internal/cql"
	"github.com/denorm-go/denorm/internal/printable"
	"github.com/denorm-go/denorm/schema"
	"github.com/denorm-go/denorm/schema/estimate"
)

func newEstimate(config *config) *cobra.Command {
	s := &source{config: config, review: true, sizes: true, unstated: true}
	var format string
	var stated []string
	c := &cobra.Command{
		Use:   "estimate [file.cql | folder ...]",
		Short: "Say how large partitions become, when limits are met, and what splitting them does",
		Long: `Say how large the partitions of tables become, when limits are met, and what ways to split them do.

How many rows come is stated in the files, in the binary, or here: --volume replaces what is stated of its table elsewhere.
  -- denorm:volume orders_by_customer rows=1M/month elements.products=1
  denorm estimate orders.cql --volume 'orders_by_customer rows=1M/month elements.products=1'
rows is what an average partition gets in that time, or has in all. Also known: largest=20 (times the average), growth=50%/year, window=1day (of a
bucket), and of columns width.C (bytes), elements.C and filled.C (share of rows). Of tables of a cluster (--hosts) without a stated volume, what
one node reports of its data files is taken.

The number of values of a column is known from a note or OneOf:
  -- denorm:domain orders_by_customer.status 6

Exit codes: 0 done, also where a limit is exceeded (denorm lint has rules on that), 2 it could not be done.`,
		RunE: func(c *cobra.Command, files []string) error {
			write, ok := map[string]func(io.Writer, *outlook) error{"text": writeOutlook, "json": writeOutlookJSON}[format]
			if !ok {
				return fmt.Errorf("unknown --format %q: text or json", format)
			}
			if err := s.state(stated); err != nil {
				return err
			}
			found, err := s.tables(c.Context(), files)
			if err != nil {
				return err
			}
			o, err := look(found, s)
			if err != nil {
				return err
			}
			return write(c.OutOrStdout(), o)
		},
	}
	s.flags(c)
	f := c.Flags()
	f.StringArrayVar(&stated, "volume", nil, "what is expected of a table, as in a denorm:volume note: 'TABLE rows=2000/year ...'; may be repeated")
	f.StringVar(&format, "format", "text", "text or json")
	return c
}

// state reads --volume.
func (s *source) state(stated []string) error {
	s.volumes = nil
	for _, text := range stated {
		if len(strings.Fields(text)) < 2 || strings.ContainsAny(text, "\r\n") {
			return fmt.Errorf("--volume %q: name one table and its rows, as in 'orders_by_user rows=2000/year'", text)
		}
		parsed, err := schema.Parse("", "-- denorm:volume "+text)
		if err != nil {
			return fmt.Errorf("--volume %q: %w", text, errors.Unwrap(errors.Unwrap(err))) // without file and line
		}
		for _, v := range s.volumes {
			if s.in(v.Table) == s.in(parsed.Volumes[0].Table) {
				return fmt.Errorf("--volume states table %s twice: leave out one", v.Table)
			}
		}
		s.volumes = append(s.volumes, parsed.Volumes...)
	}
	return nil
}

// outlook is what is known of the tables.
type outlook struct {
	tables  []planned
	unknown []schema.ID // tables without a volume
	strays  []string    // what is said of volumes of tables that there are not
	unread  int         // statements
	live    bool        // the tables are those of a cluster
}

// look finds the volume of each table.
func look(found *schema.Schema, s *source) (*outlook, error) {
	o := &outlook{unread: len(found.Unread), live: len(s.hosts) > 0}
	for _, v := range s.volumes {
		if id := s.in(v.Table); found.Table(id) == nil {
			return nil, fmt.Errorf("--volume: there is no table %s%s", id, meant(found, id))
		}
	}
	for i := range found.Tables {
		p := planned{schema: found, table: &found.Tables[i]}
		at := slices.IndexFunc(found.Volumes, func(v schema.Volume) bool { return v.Table == p.table.ID })
		if at < 0 && !single(p.table) {
			o.unknown = append(o.unknown, p.table.ID)
			continue
		}
		p.volume = schema.Volume{Table: p.table.ID, Rows: 1}
		if at >= 0 {
			p.volume, p.known = found.Volumes[at], true
			for _, v := range found.Volumes[at+1:] {
				if v.Table == p.table.ID {
					return nil, fmt.Errorf("table %s has two volumes, %s and %s: leave out one, or state with --volume what replaces both", v.Table,
						origin(p.volume), origin(v))
				}
			}
		}
		if single(p.table) && !p.volume.Measured {
			p.void = p.volume.Rows != 1 || p.volume.Per > 0
			p.volume.Rows, p.volume.Per, p.volume.Largest, p.volume.Growth = 1, 0, 0, 0
		}
		var err error
		if p.e, err = estimate.New(found, p.volume); err != nil {
			return nil, fmt.Errorf("%s: %w", origin(p.volume), err)
		}
		o.tables = append(o.tables, p)
	}
	for _, v := range found.Volumes {
		if found.Table(v.Table) == nil {
			o.strays = append(o.strays, fmt.Sprintf("%s states a volume of %s, and there is no such table%s", origin(v), v.Table, meant(found, v.Table)))
		}
	}
	return o, nil
}

// meant says which table may be meant, as the end of an error.
func meant(s *schema.Schema, id schema.ID) string {
	var names []string
	for _, t := range s.Tables {
		if t.Name == id.Name {
			return ": did you mean " + t.String() + "?"
		}
		names = append(names, t.String())
	}
	return cql.Meant(id.String(), names)
}

// origin says where a volume was stated.
func origin(v schema.Volume) string {
	switch {
	case v.At.File != "":
		return fmt.Sprintf("%s:%d", v.At.File, v.At.Line)
	case v.At.Line > 0:
		return "--volume"
	}
	return "the declared one"
}

// limits are those of package estimate.
var limits = []struct {
	name string // in JSON
	text string
	of   func(estimate.Size) float64
	most float64
}{
	{"goodRows", "100,000 rows", func(s estimate.Size) float64 { return s.Rows }, estimate.GoodRows},
	{"goodBytes", "10 MB", bytesOf, estimate.GoodBytes},
	{"badBytes", "100 MB", bytesOf, estimate.BadBytes},
	{"maxCells", "2,000,000,000 cells, which Cassandra cannot exceed,", func(s estimate.Size) float64 { return s.Cells }, estimate.MaxCells},
}

func bytesOf(s estimate.Size) float64 { return s.Bytes }

// met is when a limit is met.
type met struct {
	limit int // of limits
	age   time.Duration
}

// meets says when limits are met within a hundred years, the first one first.
func meets(e *estimate.Estimate) []met {
	var out []met
	for i, l := range limits {
		age, ok := e.When(func(s estimate.Size) bool { return l.of(s) >= l.most })
		if l.of(e.At(0)) >= l.most {
			age = 0
		}
		if ok {
			out = append(out, met{i, age})
		}
	}
	slices.SortStableFunc(out, func(a, b met) int { return cmp.Compare(a.age, b.age) })
	return out
}

// writeOutlook writes for people.
func writeOutlook(out io.Writer, o *outlook) error {
	var b strings.Builder
	for i := range o.tables {
		o.tables[i].write(&b)
	}
	if len(o.unknown) > 0 {
		var names []string
		measured := ""
		if o.live {
			measured = ", and none is reported by the node,"
		}
		for _, id := range o.unknown {
			names = append(names, printable.Line(id.String()))
		}
		fmt.Fprintf(&b, "No volume is stated%s of %s: state how many rows a partition gets,\n  as in --volume '%s rows=2000/year', or in a file, "+
			"-- denorm:volume %[3]s rows=2000/year\n", measured, strings.Join(names, ", "), names[0])
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
	if small(later) {
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
	p.writeSplits(b)
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
	return fmt.Sprintf("within all limits until then; %s after %s", strings.TrimSuffix(limits[m[0].limit].text, ","), age(m[0].age))
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
		kind, _, _ := cql.TypeParts(c.Type)
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
	name, _, args := cql.TypeParts(typ)
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
			when = append(when, text+" after "+age(m.age))
		}
	}
	fmt.Fprintf(b, "  %s\n", strings.Join(when, " \u00b7 "))
	if p.volume.Measured {
		b.WriteString("  how it grows is not known: state its rows with the time in which they come, as rows=2000/year\n")
	}
}

type atAge struct {
	age  time.Duration
	text string
}

// ages are those at which sizes are said.
func (p *planned) ages() []atAge {
	switch {
	case p.volume.Measured:
		return []atAge{{0, "now up to about"}}
	case p.volume.Per == 0:
		return []atAge{{0, "always"}}
	}
	var out []atAge
	for _, a := range []atAge{{schema.Day, "after a day"}, {schema.Month, "after a month"}, {schema.Year, "after a year"}, {foresight, "after 5 years"}} {
		if p.bounded() && a.age >= p.e.Keep() {
			return append(out, atAge{p.e.Keep(), "from " + span(p.e.Keep()) + " on"})
		}
		out = append(out, a)
	}
	return out
}

// writeSplits writes what each way to divide the partitions does.
func (p *planned) writeSplits(b *strings.Builder) {
	ways := p.splits()
	if len(ways) == 0 {
		b.WriteString("  no bucket and no column splits it far enough: it needs another partition key\n")
		return
	}
	b.WriteString("  ways to split it, and the largest partition then\n")
	w := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
	for _, s := range ways {
		_, _ = fmt.Fprintf(w, "    %s\t(%s)\t%s\n", printable.Line(s.way), printable.Line(strings.Join(s.part, ", ")), printable.Line(p.effect(&s)))
	}
	_ = w.Flush()
	if last := ways[len(ways)-1]; last.other != "" {
		fmt.Fprintf(b, "      the second table: PRIMARY KEY %s, with %s\n", printable.Line(last.other), printable.Line(strings.Join(last.moved, ", ")))
	}
}

// effect says what comes of the largest partition.
func (p *planned) effect(s *split) string {
	at := s.after.At(foresight)
	if ends(p.volume, s.after) {
		when := "stays: at most"
		if p.volume.Measured {
			when = "now: up to"
		}
		return fmt.Sprintf("%s %s rows, %s%s; %s", when, amount(at.Rows), size(at.Bytes), over(at), s.cost)
	}
	var when []string
	for _, m := range meets(s.after) {
		if l := limits[m.limit]; l.most != estimate.MaxCells {
			when = append(when, l.text+" after "+age(m.age))
		}
	}
	if len(when) == 0 {
		when = []string{size(at.Bytes) + " after 5 years"}
	}
	return fmt.Sprintf("grows: %s; %s", strings.Join(when, ", "), s.cost)
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

// age writes how long something takes, for people.
func age(d time.Duration) string {
	for _, u := range []struct {
		name string
		unit time.Duration
	}{{"years", schema.Year}, {"months", schema.Month}, {"days", schema.Day}, {"hours", time.Hour}} {
		if d < 2*u.unit {
			continue
		}
		n := float64(d) / float64(u.unit)
		if u.unit != schema.Year && n >= 10 {
			n = math.Round(n)
		}
		return strings.TrimSuffix(strconv.FormatFloat(n, 'f', 1, 64), ".0") + " " + u.name
	}
	if d < 2*time.Minute {
		return "a minute"
	}
	return fmt.Sprintf("%.0f minutes", d.Minutes())
}

var spans = []struct {
	time time.Duration
	name string
}{
	{schema.Year, "year"},
	{schema.Month, "month"},
	{7 * schema.Day, "week"},
	{schema.Day, "day"},
	{time.Hour, "hour"},
	{time.Minute, "minute"},
	{time.Second, "second"},
}

// span is a length of time in words: a month, 90 days.
func span(d time.Duration) string {
	for _, s := range spans {
		switch n := d / s.time; {
		case d%s.time != 0:
		case n == 1:
			return article(s.name) + " " + s.name
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
