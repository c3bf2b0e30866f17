package schema

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// lintRules are the codes of the rules of package lint, which imports this package.
var lintRules = []string{
	"DN001", "DN101", "DN102", "DN103", "DN104", "DN105", "DN106", "DN107", "DN108", "DN201", "DN202", "DN203", "DN301", "DN302",
	"DN303", "DN401", "DN402", "DN501", "DN502", "DN503", "DN504", "DN505", "DN506", "DN507",
	"DN601", "DN602", "DN603", "DN604", "DN605",
}

// lintRule says which codes there are if code is not one of them.
func lintRule(code string) error {
	if slices.Contains(lintRules, code) {
		return nil
	}
	return fmt.Errorf("no lint rule has the code %q; the rules are %s", code, strings.Join(lintRules, ", "))
}

// note reads what stands behind "-- denorm:".
func (p *parser) note(t token) {
	fields := strings.Fields(t.text)
	at := Position{p.file, t.line}
	fail := func(want string) {
		p.at--
		p.fail("want %s%s", "denorm:", want)
	}
	if len(fields) == 0 {
		fail("entity, ignore, volume or domain")
		return
	}
	switch args := fields[1:]; fields[0] {
	case "entity":
		if len(args) < 2 {
			fail("entity <name> <base table> [<table>...]")
			return
		}
		e := Entity{Name: args[0], At: at}
		for _, a := range args[1:] {
			switch {
			case a == "atomic":
				e.Atomic = true
			case strings.HasPrefix(a, "moves="):
				e.Moves = strings.Split(strings.TrimPrefix(a, "moves="), ",")
			default:
				e.Tables = append(e.Tables, p.noteID(a))
			}
		}
		if len(e.Tables) == 0 {
			fail("entity <name> <base table> [<table>...]")
			return
		}
		p.out.Entities = append(p.out.Entities, e)
	case "ignore":
		if len(args) < 3 {
			fail("ignore <code> <table or *> <reason>")
			return
		}
		if err := lintRule(args[0]); err != nil {
			p.at--
			p.fail("denorm:ignore: %w", err)
			return
		}
		i := Ignore{Code: args[0], Reason: strings.Join(args[2:], " "), At: at}
		if args[1] != "*" {
			i.Table = p.noteID(args[1])
		}
		p.out.Ignores = append(p.out.Ignores, i)
	case "volume":
		if len(args) < 2 {
			fail("volume <table> rows=<n>[/<time>] ...")
			return
		}
		v, err := parseVolume(args[1:])
		if err != nil {
			p.at--
			p.fail("%w", err)
			return
		}
		v.Table, v.At = p.noteID(args[0]), at
		p.out.Volumes = append(p.out.Volumes, v)
	case "domain":
		table, column := "", ""
		if len(args) == 2 {
			i := strings.LastIndex(args[0], ".")
			table, column = args[0][:max(i, 0)], args[0][i+1:]
		}
		n := 0
		if len(args) == 2 {
			n, _ = strconv.Atoi(args[1])
		}
		if table == "" || n < 1 {
			fail("domain <table>.<column> <number of values>")
			return
		}
		p.domains = append(p.domains, domainNote{p.noteID(table), column, n, t.line})
	default:
		fail("entity, ignore, volume or domain")
	}
}

func (p *parser) noteID(s string) ID {
	if keyspace, name, ok := strings.Cut(s, "."); ok {
		return ID{keyspace, name}
	}
	return ID{p.keyspace, s}
}

// Add gives a schema with what is in all: for example the tables of a cluster, and what a file says of their use. What
// is known of a table, a type or a keyspace already stays; the domains of columns are taken over.
func Add(schemas ...*Schema) *Schema {
	out := &Schema{}
	batches := 0
	known := make(map[string]bool)
	first := func(kind string, id ID) bool {
		what := kind + " " + id.String()
		was := known[what]
		known[what] = true
		return !was
	}
	tables := make(map[ID]int) // where they are in out
	for _, s := range schemas {
		for _, k := range s.Keyspaces {
			if first("keyspace", ID{Name: k.Name}) {
				out.Keyspaces = append(out.Keyspaces, k)
			}
		}
		for _, t := range s.Types {
			if first("type", t.ID) {
				out.Types = append(out.Types, t)
			}
		}
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
		for _, i := range s.Indexes {
			if first("index", i.ID) {
				out.Indexes = append(out.Indexes, i)
			}
		}
		for _, v := range s.Views {
			if first("view", v.ID) {
				out.Views = append(out.Views, v)
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
	}
	return out
}
