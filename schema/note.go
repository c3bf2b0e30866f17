package schema

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/denorm-go/denorm/internal/cql"
	"github.com/denorm-go/denorm/internal/cql/ast"
)

// lintRules are the codes of the rules of package lint, which imports this package.
var lintRules = []string{
	"DN001", "DN101", "DN102", "DN103", "DN104", "DN105", "DN106", "DN107", "DN108", "DN201", "DN202", "DN203", "DN205", "DN206",
	"DN207", "DN208", "DN209", "DN210", "DN211", "DN301", "DN302", "DN303", "DN304", "DN305", "DN401", "DN402", "DN403", "DN404", "DN405", "DN406", "DN407", "DN501", "DN502",
	"DN503", "DN504", "DN505", "DN506", "DN507", "DN508", "DN509", "DN510", "DN511", "DN512", "DN513", "DN514", "DN515", "DN516", "DN519", "DN520", "DN521", "DN522", "DN523", "DN524",
	"DN601", "DN602", "DN603", "DN604", "DN605", "DN606", "DN607", "DN608", "DN609", "DN610", "DN611", "DN612", "DN613", "DN614", "DN615", "DN616", "DN617",
}

// lintRule says which codes there are if code is not one of them.
func lintRule(code string) error {
	if slices.Contains(lintRules, code) {
		return nil
	}
	return fmt.Errorf("no lint rule has the code %q; the rules are %s", code, strings.Join(lintRules, ", "))
}

const notePrefix = "denorm:"

// comment reads what follows "-- denorm:".
func (p *parser) comment(c ast.Comment) error {
	if c.Block {
		if n := noteInside(c.Text); n >= 0 {
			return p.fail(c.At+len("/*")+n, "a note inside /* */ is not read: write it behind --, as in -- denorm:ignore, or leave denorm: out")
		}
		return nil
	}
	text, ok := strings.CutPrefix(strings.TrimSpace(c.Text), notePrefix)
	if !ok {
		return nil
	}
	fields, at := strings.Fields(text), p.position(c.At)
	fail := func(want string) error { return p.fail(c.At, "want %s%s", notePrefix, want) }
	if len(fields) == 0 {
		return fail("entity, ignore, volume or domain")
	}
	switch args := fields[1:]; fields[0] {
	case "entity":
		e := Entity{At: at}
		for i, a := range args {
			switch {
			case i == 0:
				e.Name = a
			case a == "atomic":
				e.Atomic = true
			case strings.HasPrefix(a, "moves="):
				e.Moves = strings.Split(strings.TrimPrefix(a, "moves="), ",")
			case strings.HasPrefix(a, "id="):
				e.ID = strings.Split(strings.TrimPrefix(a, "id="), ",")
			default:
				if id := p.noteID(a); !slices.Contains(e.Tables, id) {
					e.Tables = append(e.Tables, id)
				}
			}
		}
		if len(e.Tables) == 0 {
			return fail("entity <name> <base table> [<table>...]")
		}
		p.out.Entities = append(p.out.Entities, e)
	case "ignore":
		if len(args) < 3 {
			return fail("ignore <code> <table or *> <reason>")
		}
		if err := lintRule(args[0]); err != nil {
			return p.fail(c.At, "denorm:ignore: %w", err)
		}
		i := Ignore{Code: args[0], Reason: strings.Join(args[2:], " "), At: at}
		if args[1] != "*" {
			i.Table = p.noteID(args[1])
		}
		p.out.Ignores = append(p.out.Ignores, i)
	case "volume":
		if len(args) < 2 {
			return fail("volume <table> rows=<n>[/<time>] ...")
		}
		v, err := parseVolume(args[1:])
		if err != nil {
			return p.fail(c.At, "%w", err)
		}
		v.Table, v.At = p.noteID(args[0]), at
		p.out.Volumes = append(p.out.Volumes, v)
	case "domain":
		if len(args) != 2 {
			args = []string{"", ""}
		}
		dot := strings.LastIndex(args[0], ".")
		n, _ := strconv.Atoi(args[1])
		if dot < 1 || n < 1 {
			return fail("domain <table>.<column> <number of values>")
		}
		p.out.Domains = append(p.out.Domains, Domain{p.noteID(args[0][:dot]), args[0][dot+1:], n, at})
	default:
		return fail("entity, ignore, volume or domain")
	}
	return nil
}

// noteInside gives where in a comment a note begins, or -1. What has -- before it is a note that was taken out.
func noteInside(comment string) int {
	at := 0
	for line := range strings.Lines(comment) {
		said, ok := strings.CutPrefix(strings.TrimLeft(line, " \t*"), notePrefix)
		kind, _, _ := strings.Cut(strings.TrimSpace(said), " ")
		if ok && slices.Contains([]string{"entity", "ignore", "volume", "domain"}, kind) {
			return at
		}
		at += len(line)
	}
	return -1
}

func (p *parser) noteID(s string) ID { return p.id(cql.Name(parseID(s))) }

// added is a list with what another one has and what is not known yet.
func added[T interface{ id() ID }](known map[string]bool, list, more []T) []T {
	for _, x := range more {
		if what := fmt.Sprintf("%T %s", x, x.id()); !known[what] {
			known[what] = true
			list = append(list, x)
		}
	}
	return list
}

// Add returns a schema with the contents of all: for example the tables of a cluster, and what a file says about their
// use. If several have the same table, type or keyspace, the first one stays, but the domains of columns are added to
// it.
func Add(schemas ...*Schema) *Schema {
	out := &Schema{}
	batches := 0
	known := make(map[string]bool)
	tables := make(map[ID]int) // where they are in out
	for _, s := range schemas {
		out.Keyspaces = added(known, out.Keyspaces, s.Keyspaces)
		out.Types = added(known, out.Types, s.Types)
		for _, i := range s.Indexes {
			out.addIndex(i)
		}
		out.Views = added(known, out.Views, s.Views)
		for _, t := range s.Tables {
			at, twice := tables[t.ID]
			if !twice {
				tables[t.ID] = len(out.Tables)
				out.Tables = append(out.Tables, t)
				continue
			}
			domains := make(map[string]int)
			for _, c := range t.Columns {
				domains[c.Name] = c.Domain
			}
			known := &out.Tables[at]
			known.Columns = slices.Clone(known.Columns)
			for i := range known.Columns {
				if c := &known.Columns[i]; c.Domain == 0 {
					c.Domain = domains[c.Name]
				}
			}
		}
		out.Entities = append(out.Entities, s.Entities...)
		most := batches
		for _, q := range s.Queries {
			if q.Batch > 0 {
				q.Batch += batches
				most = max(most, q.Batch)
			}
			out.Queries = append(out.Queries, q)
		}
		batches = most
		out.Volumes = append(out.Volumes, s.Volumes...)
		out.Ignores = append(out.Ignores, s.Ignores...)
		out.Unread = append(out.Unread, s.Unread...)
		out.Domains = append(out.Domains, s.Domains...)
	}
	out.resolve()
	return out
}
