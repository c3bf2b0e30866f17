// Package guess tells which tables of a schema are of one entity, where nothing declares it, by their names. It is for
// packages lint and diagram, which say that it is a guess.
package guess

import (
	"slices"
	"strings"

	"github.com/denorm-go/denorm/schema"
)

// between are words between what a table holds and what it is found by, as in orders_by_user: also in Spanish,
// Portuguese and German.
var between = []string{"_by_", "_for_", "_por_", "_nach_"}

// Cut gives what a table holds, and what it is found by. If its name does not say so, it holds what it is called.
func Cut(name string) (holds, by string, found bool) {
	for _, word := range between {
		if holds, by, found = strings.Cut(name, word); found {
			return holds, by, true
		}
	}
	return name, "", false
}

// Entities gives the entities that table names suggest: of x_by_y, x_by_z and x, in the singular or the plural, in the
// order of the schema's tables. What is declared of an entity is in none, and a table called x is only with others that
// are called x_by_something. An entity may have one table, or one table twice if the schema has.
func Entities(s *schema.Schema) []schema.Entity {
	declared, named := make(map[schema.ID]bool), make(map[schema.ID]bool)
	for _, e := range s.Entities {
		for _, id := range e.Tables {
			declared[id] = true
		}
	}
	for _, t := range s.Tables {
		if plural, _, ok := Cut(t.Name); ok {
			named[schema.ID{Keyspace: t.Keyspace, Name: Singular(plural)}] = true
		}
	}
	var out []schema.Entity
	at := make(map[schema.ID]int) // where they are in out
	for _, t := range s.Tables {
		plural, _, ok := Cut(t.Name)
		group := schema.ID{Keyspace: t.Keyspace, Name: Singular(plural)}
		if declared[t.ID] || !ok && !named[group] {
			continue
		}
		i, known := at[group]
		if !known {
			i, at[group] = len(out), len(out)
			out = append(out, schema.Entity{Name: Singular(plural)})
		}
		out[i].Tables = append(out[i].Tables, t.ID)
	}
	return out
}

// Base says which of the tables of a guessed entity is its base table: the one that is named like the entity, or found
// by its id. -1 if none is.
func Base(e schema.Entity) int {
	i := slices.IndexFunc(e.Tables, func(id schema.ID) bool { _, _, found := Cut(id.Name); return !found })
	if i < 0 {
		i = slices.IndexFunc(e.Tables, func(id schema.ID) bool {
			_, key, _ := Cut(id.Name)
			return key == "id" || key == e.Name+"_id"
		})
	}
	return i
}

// Singular is the name of one of what a table holds.
func Singular(plural string) string {
	switch {
	case slices.Contains([]string{"movies", "cookies", "calories", "selfies"}, plural):
		return strings.TrimSuffix(plural, "s")
	case plural == "series", plural == "species":
		return plural
	case strings.HasSuffix(plural, "ies"):
		return strings.TrimSuffix(plural, "ies") + "y"
	case strings.HasSuffix(plural, "sses"), strings.HasSuffix(plural, "xes"), strings.HasSuffix(plural, "ches"),
		strings.HasSuffix(plural, "tuses"):
		return strings.TrimSuffix(plural, "es")
	case strings.HasSuffix(plural, "ss"):
		return plural
	}
	return strings.TrimSuffix(plural, "s")
}
