package lint

import (
	"slices"
	"strings"

	"github.com/denorm-go/denorm/schema"
)

// lacks gives the columns of the entity's identity that are not in the key of a table of it. Of an entity that is only
// guessed, some other table must have them in its key. A table with one row a key that names the entity in it is no fault
// but a guard of uniqueness, such as users_by_email (email) with the user's id.
func (e *family) lacks(t *schema.Table) []string {
	var missing []string
	for _, name := range e.identity {
		if inKey(t, name) {
			continue
		}
		if e.guessed && !slices.ContainsFunc(e.tables, func(t *schema.Table) bool { return inKey(t, name) }) {
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
	for e, t := range r.members {
		if missing := e.lacks(t); len(missing) > 0 {
			list := strings.Join(missing, ", ")
			r.finding(t, "add "+list+" to the end of the primary key, in a new table", "the key %s lacks %s of entity %s", t.Key(), list, e.Name)
		}
	}
}

func keyByClock(r *review) {
	for t := range r.clustered {
		clustering := t.Of(schema.Clustering)
		if slices.ContainsFunc(clustering, func(c schema.Column) bool { return !slices.Contains([]string{"timestamp", "date", "time"}, c.Type) }) {
			continue
		}
		for _, clock := range slices.Backward(clustering) {
			if clock.Type == "timestamp" && !r.single(t) {
				r.finding(t, "make it a timeuuid, or add a column that is unique to the end of the key",
					"only %s, a time in milliseconds, tells the rows of a partition apart", clock.Name).Column = clock.Name
				break
			}
		}
	}
}

func incomplete(r *review) {
	for e, t := range r.members {
		base := r.byID[e.Tables[0]]
		if e.guessed || base == nil || t == base || len(t.Of(schema.Clustering)) == 0 {
			continue // the last is a guard of uniqueness, or has one row a key
		}
		missing := slices.DeleteFunc(slices.Clone(base.Columns), func(c schema.Column) bool { return t.Column(c.Name) != nil || marks(c) })
		if len(missing) > 0 {
			r.finding(t, "add them, or accept that the query reads "+base.String()+" as well",
				"the table has no %s, which entity %s has", strings.Join(names(missing), ", "), e.Name)
		}
	}
}
