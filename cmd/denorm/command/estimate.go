package command

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/denorm-go/denorm/internal/cql"
	"github.com/denorm-go/denorm/internal/estimate"
	"github.com/denorm-go/denorm/schema"
)

func newEstimate(config *config) *cobra.Command {
	s := &source{config: config, review: true, sizes: true, unstated: true}
	var format string
	var stated []string
	c := &cobra.Command{
		Use:   "estimate [file.cql | folder ...]",
		Short: "Say how large partitions become, and when limits are met",
		Long: `Say how large the partitions of tables become, and when limits are met.

How many rows come is stated in the files, in the binary, or here: --volume replaces what is stated of its table elsewhere.
  -- denorm:volume orders_by_customer rows=1M/month elements.products=1
  denorm estimate orders.cql --volume 'orders_by_customer rows=1M/month elements.products=1'
rows is what an average partition gets in that time, or has in all. Also known: largest=20 (times the average), growth=50%/year, window=1day (the
time of a bucket in the key, or of one that you consider), and of columns width.C (bytes), elements.C and filled.C (share of rows). Of tables of a
cluster (--hosts) without a stated volume, what one node reports of its data files is taken.

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

// foresight is how far ahead estimate looks, as the rules on size of package lint do.
const foresight = 5 * schema.Year

// planned is a table with its volume, and what comes of it.
type planned struct {
	table  *schema.Table
	volume schema.Volume
	known  bool // the volume is stated or measured; otherwise it is one row
	void   bool // rows are stated of a partition that has only one
	e      *estimate.Estimate
}

// bounded says whether partitions stop growing.
func (p *planned) bounded() bool {
	return p.volume.Per == 0 || p.e.Keep() > 0 && p.volume.Growth == 0
}

// single says whether a partition is one row.
func single(t *schema.Table) bool { return len(t.Of(schema.Clustering)) == 0 }

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
		p := planned{table: &found.Tables[i]}
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
