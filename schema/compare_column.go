package schema

import (
	"fmt"
	"slices"

	"github.com/denorm-go/denorm/internal/cql"
	"github.com/denorm-go/denorm/internal/fingerprint"
	"github.com/denorm-go/denorm/tables"
)

const newTable = "the key of a table cannot change: create a table of another name, fill it, and declare that"

func (c *comparison) columns(t, live *Table) {
	add := func(column, fix, impossible, reason string, args ...any) {
		c.add(Difference{
			Keyspace: t.Keyspace, Table: t.Name, Column: column, Reason: fmt.Sprintf(reason, args...), Fix: fix, Impossible: impossible,
		})
	}
	renamed := make(map[string]bool) // live columns that have another name in the declaration
	for _, d := range t.Columns {
		l := live.Column(d.Name)
		if l == nil {
			if was := renamedFrom(t, live, d); was != "" {
				renamed[was] = true
				add(d.Name, fmt.Sprintf("ALTER TABLE %s RENAME %s TO %s", t.ID, cql.Quote(was), cql.Quote(d.Name)), "", "is called %s", cql.Quote(was))
				continue
			}
			if d.Kind == PartitionKey || d.Kind == Clustering {
				add(d.Name, "", newTable, "does not exist, declared %s column", kindName(d.Kind))
				continue
			}
			suffix := ""
			if d.Kind == Static {
				suffix = " static"
			}
			add(d.Name, fmt.Sprintf("ALTER TABLE %s ADD %s %s%s", t.ID, cql.Quote(d.Name), d.Type, suffix), "", "does not exist")
			continue
		}
		if l.Type != d.Type {
			impossible := "the type of a column cannot change: add a column of another name, copy, and declare that"
			add(d.Name, "", advised(t.set, "", d.Name, l.Type, impossible), "is %s, declared %s", l.Type, d.Type)
		}
		at, want := placeOf(live, l), placeOf(t, t.Column(d.Name))
		switch {
		case l.Kind != d.Kind && (l.Kind == Static || l.Kind == Regular) && (d.Kind == Static || d.Kind == Regular):
			add(d.Name, "", "a column cannot become static or cease to be: add a column of another name", "is a %s column, declared %s",
				kindName(l.Kind), kindName(d.Kind))
		case l.Kind != d.Kind:
			add(d.Name, "", newTable, "is a %s column, declared %s", kindName(l.Kind), kindName(d.Kind))
		case at != want:
			add(d.Name, "", newTable, "is %s column %d, declared %d", kindName(d.Kind), at+1, want+1)
		}
		if l.Kind == Clustering && d.Kind == Clustering && l.Desc != d.Desc {
			add(d.Name, "", "the order of a table cannot change: create a table of another name, fill it, and declare that",
				"is clustered %s, declared %s", direction(l.Desc), direction(d.Desc))
		}
	}
	for _, l := range live.Columns {
		if t.Column(l.Name) != nil || renamed[l.Name] {
			continue
		}
		d := Difference{Keyspace: t.Keyspace, Table: t.Name, Column: l.Name, Reason: "is not declared"}
		if kept := fingerprint.Kept(l.Name, l.Type); kept != "" && t.Fingerprint != "" {
			d.Reason, d.Impossible = kept, "it is this declaration that is another one than the others use"
		} else if l.Kind == PartitionKey || l.Kind == Clustering {
			d.Reason, d.Impossible = "is a "+kindName(l.Kind)+" column that is not declared", newTable
		} else {
			d.Fix, d.Destroys, d.Extra = fmt.Sprintf("ALTER TABLE %s DROP %s", t.ID, cql.Quote(l.Name)), true, true
		}
		c.add(d)
	}
}

// advised says how to declare a column of another live type, or a field of a user-defined type, where that can be.
func advised(set tables.Described, userType, column, live, otherwise string) string {
	if set == nil {
		return otherwise
	}
	if advice := set.Internal().TypeAdvice(userType, column, live); advice != "" {
		return "the declared type " + advice
	}
	return otherwise
}

// renamedFrom gives the live key column in the place of the declared column d, of the same type under a name
// that is not declared, or "".
func renamedFrom(t, live *Table, d Column) string {
	if d.Kind != PartitionKey && d.Kind != Clustering {
		return ""
	}
	same := live.Of(d.Kind)
	at := placeOf(t, t.Column(d.Name))
	if at >= len(same) || same[at].Type != d.Type || t.Column(same[at].Name) != nil || len(same) != len(t.Of(d.Kind)) {
		return ""
	}
	return same[at].Name
}

// placeOf is the position of a column in its part of the key, 0 for other columns.
func placeOf(t *Table, c *Column) int {
	if c.Kind != PartitionKey && c.Kind != Clustering {
		return 0
	}
	return slices.IndexFunc(t.Of(c.Kind), func(o Column) bool { return o.Name == c.Name })
}

func kindName(k Kind) string {
	if k == PartitionKey {
		return "partition key"
	}
	return string(k)
}

func direction(desc bool) string {
	if desc {
		return "descending"
	}
	return "ascending"
}
