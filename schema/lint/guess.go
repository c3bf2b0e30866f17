package lint

import (
	"slices"
	"strings"

	"github.com/denorm-go/denorm/schema"
)

// This file guesses from names and types what a column is for. A schema that says so is believed: see Column.Domain.

// role is what a column of a partition key does for it.
type role uint8

const (
	identity role = iota // many values, rows spread
	few                  // few values, all rows in few partitions
	moment               // a time: rows of now are in one partition
	spread               // a bucket that divides what would be one partition
)

var (
	fewNames = strings.Fields(`status state type kind category country gender level priority severity flag active enabled
		deleted language currency role color colour class grade stage phase region confirmed`)
	momentNames   = strings.Fields(`date day hour month year week minute quarter yyyymmdd yyyymm period`)
	spreadNames   = strings.Fields(`bucket shard partition chunk segment hash slice`)
	numerousNames = strings.Fields(`email mail phone id uuid token hash url uri username login address ip serial key sku isbn`)
)

// manyValues is a domain that is no longer small.
const manyValues = 10_000

// roleOf guesses what a column of a partition key does.
func roleOf(c schema.Column) role {
	words := strings.Split(strings.ToLower(c.Name), "_")
	has := func(list []string) bool {
		return slices.ContainsFunc(words, func(w string) bool { return slices.Contains(list, w) })
	}
	short := slices.Contains([]string{"text", "ascii", "tinyint", "smallint", "int", "bigint"}, c.Type)
	switch {
	case c.Derived != "" && c.Buckets > 0:
		return spread
	case c.Derived != "":
		return moment
	case c.Domain >= manyValues:
		return identity
	case short && has(spreadNames):
		return spread
	case c.Domain > 0:
		return few
	case c.Type == "date" || c.Type == "timestamp" || c.Type == "time" || short && has(momentNames):
		return moment
	case c.Type == "boolean" || c.Type == "tinyint" || short && (has(fewNames) || words[0] == "is" || words[0] == "has"):
		return few
	}
	return identity
}

// instant says whether a column holds a moment.
func instant(c schema.Column) bool { return c.Type == "timeuuid" || c.Type == "timestamp" }

// numerous says whether a column has so many values that an index entry is for a row or two.
func numerous(c schema.Column) bool {
	if c.Domain > 0 {
		return c.Domain >= manyValues
	}
	switch c.Type {
	case "uuid", "timeuuid", "timestamp", "inet", "blob", "decimal", "double", "float", "duration", "varint":
		return true
	}
	if roleOf(c) == few {
		return false
	}
	return slices.ContainsFunc(strings.Split(strings.ToLower(c.Name), "_"), func(w string) bool { return slices.Contains(numerousNames, w) })
}

// family is tables that hold the same thing: declared so, or named so.
type family struct {
	schema.Entity
	guessed  bool
	identity []string // columns that tell entities apart
}

// entities gives those that the schema knows, and those that table names suggest: x_by_y and x_by_z.
func entities(s *schema.Schema) []family {
	var out []family
	known := make(map[schema.ID]bool)
	for _, e := range s.Entities {
		x := family{Entity: e}
		if base := s.Table(e.Tables[0]); base != nil {
			for _, c := range base.Columns {
				if c.Kind == schema.PartitionKey || c.Kind == schema.Clustering {
					x.identity = append(x.identity, c.Name)
				}
			}
		}
		for _, id := range e.Tables {
			known[id] = true
		}
		out = append(out, x)
	}
	var order []schema.ID
	groups := make(map[schema.ID][]schema.ID)
	for _, t := range s.Tables {
		plural, _, _ := strings.Cut(t.Name, "_by_")
		group := schema.ID{Keyspace: t.Keyspace, Name: plural}
		if known[t.ID] || !strings.Contains(t.Name, "_by_") && !named(s, group) {
			continue
		}
		if groups[group] == nil {
			order = append(order, group)
		}
		groups[group] = append(groups[group], t.ID)
	}
	for _, group := range order {
		if id := singular(group.Name) + "_id"; len(groups[group]) > 0 {
			out = append(out, family{
				Entity: schema.Entity{Name: singular(group.Name), Tables: groups[group]}, guessed: true, identity: []string{id},
			})
		}
	}
	return out
}

// named says whether there are tables called group_by_something.
func named(s *schema.Schema, group schema.ID) bool {
	return slices.ContainsFunc(s.Tables, func(t schema.Table) bool {
		return t.Keyspace == group.Keyspace && strings.HasPrefix(t.Name, group.Name+"_by_")
	})
}

func singular(plural string) string {
	switch {
	case strings.HasSuffix(plural, "ies"):
		return strings.TrimSuffix(plural, "ies") + "y"
	case strings.HasSuffix(plural, "sses"), strings.HasSuffix(plural, "xes"):
		return strings.TrimSuffix(plural, "es")
	case strings.HasSuffix(plural, "ss"):
		return plural
	}
	return strings.TrimSuffix(plural, "s")
}

// inKey says whether a column is in the primary key of a table.
func inKey(t *schema.Table, column string) bool {
	c := t.Column(column)
	return c != nil && (c.Kind == schema.PartitionKey || c.Kind == schema.Clustering)
}

// single says whether a partition of the table holds one entity only: its identity is in the partition key.
func (r *review) single(t *schema.Table) bool {
	for _, e := range r.entities {
		if len(e.identity) == 0 || !slices.Contains(e.Tables, t.ID) {
			continue
		}
		if !slices.ContainsFunc(e.identity, func(name string) bool {
			c := t.Column(name)
			return c == nil || c.Kind != schema.PartitionKey
		}) {
			return true
		}
	}
	return false
}
