package lint

import (
	"slices"
	"strings"

	"github.com/denorm-go/denorm/schema"
)

var keyRules = []Rule{
	{
		Code: "DN201", Name: "missing-unique-column", Severity: Error,
		Doc:   "The key lacks what tells entities apart: two of them share a row, and one overwrites the other.",
		check: missingUnique,
	},
	{
		Code: "DN202", Name: "key-by-clock", Severity: Warning,
		Doc:   "Only a time of a millisecond tells the rows of a partition apart: two events of one moment become one.",
		check: keyByClock,
	},
	{
		Code: "DN203", Name: "incomplete-query-table", Severity: Warning,
		Doc:   "A query table without some columns of the entity: a query that needs them reads a second table.",
		check: incomplete,
	},
}

// lacks gives the columns of the entity's identity that are not in the key of a table of it. Of an entity that is only
// guessed, some other table must have them in its key. A table with one row a key that names the entity in it is no fault
// but a guard of uniqueness, such as users_by_email (email) with the user's id.
func (r *review) lacks(e family, t *schema.Table) []string {
	var missing []string
	for _, name := range e.identity {
		if inKey(t, name) {
			continue
		}
		if e.guessed && !slices.ContainsFunc(e.Tables, func(id schema.ID) bool { return inKey(r.schema.Table(id), name) }) {
			continue
		}
		missing = append(missing, name)
	}
	guard := len(t.Of(schema.Clustering)) == 0 && !slices.ContainsFunc(missing, func(name string) bool { return t.Column(name) == nil })
	if guard {
		return nil
	}
	return missing
}

func missingUnique(r *review) {
	for _, e := range r.entities {
		for _, id := range e.Tables {
			t := r.schema.Table(id)
			if t == nil {
				continue
			}
			if missing := r.lacks(e, t); len(missing) > 0 {
				list := strings.Join(missing, ", ")
				r.finding(t, "add "+list+" to the end of the primary key, in a new table", "the key %s lacks %s of entity %s", t.Key(), list, e.Name)
			}
		}
	}
}

func keyByClock(r *review) {
	for t := range r.clustered {
		clock := ""
		for _, c := range t.Of(schema.Clustering) {
			switch c.Type {
			case "timestamp":
				clock = c.Name
			case "date", "time":
			default:
				clock = "-"
			}
			if clock == "-" {
				break
			}
		}
		if clock == "" || clock == "-" || r.single(t) {
			continue
		}
		r.finding(t, "make it a timeuuid, or add a column that is unique to the end of the key",
			"only %s, a time in milliseconds, tells the rows of a partition apart", clock).Column = clock
	}
}

func incomplete(r *review) {
	for _, e := range r.entities {
		base := r.schema.Table(e.Tables[0])
		if e.guessed || base == nil {
			continue
		}
		for _, id := range e.Tables[1:] {
			t := r.schema.Table(id)
			if t == nil || len(t.Of(schema.Clustering)) == 0 {
				continue // a guard of uniqueness, or one row a key
			}
			var missing []string
			for _, c := range base.Columns {
				if t.Column(c.Name) == nil && !marks(c) {
					missing = append(missing, c.Name)
				}
			}
			if len(missing) > 0 {
				r.finding(t, "add them, or accept that the query reads "+base.String()+" as well",
					"the table has no %s, which entity %s has", strings.Join(missing, ", "), e.Name)
			}
		}
	}
}
