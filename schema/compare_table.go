package schema

import (
	"fmt"
	"slices"
	"strings"

	"github.com/denorm-go/denorm/internal/cql"
	"github.com/denorm-go/denorm/internal/cql/ast"
	"github.com/denorm-go/denorm/internal/dialect"
	"github.com/denorm-go/denorm/internal/fingerprint/compare"
	"github.com/denorm-go/denorm/internal/layout"
)

// compact says by the flags of a table in system_schema.tables whether it is WITH COMPACT STORAGE, and which of its
// columns are internal, as Cassandra's own DESCRIBE does. With allStatic, its clustering and regular columns are, and
// its static ones are its regular columns. Otherwise, a column of type empty is.
func compact(flags []string) (yes, allStatic bool) {
	has := func(flag string) bool { return slices.Contains(flags, flag) }
	allStatic = flags != nil && !has("compound") && !has("dense") && !has("super") // servers that do not know the flags have none
	return allStatic || has("dense") || has("super"), allStatic
}

// visible says what a live column is to CQL, given the flags of its table: its kind, or empty for an internal column.
func visible(flags []string, kind, typ string) string {
	isCompact, allStatic := compact(flags)
	switch {
	case allStatic && kind == "static":
		return "regular"
	case allStatic && kind != "partition_key", isCompact && (typ == "empty" || strings.Contains(typ, "EmptyType")):
		return ""
	}
	return kind
}

const newTable = "the key of a table cannot change: create a table of another name, fill it, and declare that"

// compareColumns compares columns. set is that which declares the table, nil if none does.
func compareColumns(set *layout.Set, declared, live *Table) []Difference {
	var found []Difference
	add := func(column, fix, impossible, reason string, args ...any) {
		found = append(found, Difference{Column: column, Reason: fmt.Sprintf(reason, args...), Fix: fix, Impossible: impossible})
	}
	renamed := make(map[string]bool) // live columns that have another name in the declaration
	for _, d := range declared.Columns {
		alter := "ALTER TABLE " + live.String()
		l := live.Column(d.Name)
		if l == nil {
			was := renamedFrom(declared, live, d)
			switch {
			case was != "":
				renamed[was] = true
				add(d.Name, alter+" RENAME "+cql.Quote(was)+" TO "+cql.Quote(d.Name), "", "is called %s", cql.Quote(was))
			case d.inKey():
				add(d.Name, "", newTable, "does not exist, declared %s column", kindName(d))
			case d.Kind == Static:
				add(d.Name, alter+" ADD "+cql.Quote(d.Name)+" "+d.Type+" static", "", "does not exist")
			default:
				add(d.Name, alter+" ADD "+cql.Quote(d.Name)+" "+d.Type, "", "does not exist")
			}
			continue
		}
		if l.Type != d.Type {
			impossible := "the type of a column cannot change: add a column of another name, copy, and declare that"
			add(d.Name, "", advised(set, "", d.Name, l.Type, impossible), "is %s, declared %s", l.Type, d.Type)
		}
		switch {
		case l.Kind != d.Kind && !l.inKey() && !d.inKey():
			add(d.Name, "", kindAdvice(set, *l), "is a %s column, declared %s", kindName(*l), kindName(d))
		case l.Kind != d.Kind:
			add(d.Name, "", newTable, "is a %s column, declared %s", kindName(*l), kindName(d))
		case d.inKey() && live.position(*l) != declared.position(d):
			add(d.Name, "", newTable, "is %s column %d, declared %d", kindName(d), live.position(*l)+1, declared.position(d)+1)
		}
		if l.Kind == Clustering && d.Kind == Clustering && l.Desc != d.Desc {
			add(d.Name, "", "the order of a table cannot change: create a table of another name, fill it, and declare that",
				"is clustered %s, declared %s", direction(l.Desc), direction(d.Desc))
		}
	}
	for _, l := range live.Columns {
		if declared.Column(l.Name) != nil || renamed[l.Name] {
			continue
		}
		kept := compare.Kept(l.Name, l.Type)
		if compare.Transacts(declared.Fingerprint) { // it is from before, and may be dropped
			kept = ""
		}
		switch {
		case kept != "" && declared.Fingerprint != "":
			other := Difference{Column: l.Name, Reason: kept, Impossible: "it is this declaration that is another one than the others use"}
			if l.Name != layout.Token.Name {
				other.unversioned = true // what else differs follows from it: one that declares what is advised of that would let plain writes pass
				return []Difference{other}
			}
			found = append(found, other)
		case l.inKey():
			add(l.Name, "", newTable, "is a %s column that is not declared", kindName(l))
		default:
			fix := "ALTER TABLE " + live.String() + " DROP " + cql.Quote(l.Name)
			found = append(found, Difference{Column: l.Name, Reason: "is not declared", Fix: fix, Destroys: true, Extra: true})
		}
	}
	return found
}

// advised says how to declare a column of another live type, or a field of a user-defined type, where that can be.
func advised(set *layout.Set, userType, column, live, otherwise string) string {
	if set == nil {
		return otherwise
	}
	if advice := typeAdvice(set, userType, column, live); advice != "" {
		return "the declared type " + advice
	}
	return otherwise
}

// kindAdvice says what to declare in place of a column that is static and live is not, or the other way round.
func kindAdvice(set *layout.Set, live Column) string {
	switch {
	case live.Kind != Static:
		return "a column cannot become static: declare it regular, or declare and add a static column of another name"
	case set == nil:
		return "a static column cannot cease to be one: declare it static, or declare and add a column of another name"
	}
	return "a set has no static columns, and a column cannot cease to be one: leave it out of this table, in a query table by Table.Columns and in " +
		"the base table by db:\"-\" at the field, and write it by a statement of the service's own; or give the field a column of another name"
}

// renamedFrom gives the live key column in the place of the declared column d, of the same type under a name
// that is not declared, or "".
func renamedFrom(declared, live *Table, d Column) string {
	for _, l := range live.Columns {
		if d.inKey() && l.Kind == d.Kind && live.position(l) == declared.position(d) && l.Type == d.Type && declared.Column(l.Name) == nil &&
			len(live.Of(d.Kind)) == len(declared.Of(d.Kind)) {
			return l.Name
		}
	}
	return ""
}

func (c Column) inKey() bool { return c.Kind == PartitionKey || c.Kind == Clustering }

// position is where a column is among those of its kind, from 0.
func (t *Table) position(c Column) int {
	return slices.IndexFunc(t.Of(c.Kind), func(o Column) bool { return o.Name == c.Name })
}

func kindName(c Column) string { return strings.ReplaceAll(string(c.Kind), "_", " ") }

func direction(desc bool) string {
	if desc {
		return "descending"
	}
	return "ascending"
}

// compareFields compares the fields of a user-defined type, whose name in CQL is id. With frozen, its values are
// frozen, and inside of these everything is, whether it says so or not.
func compareFields(set *layout.Set, id, name string, declared, live []Field, frozen bool) []Difference {
	var found []Difference
	add := func(field, fix, impossible, reason string, args ...any) {
		found = append(found, Difference{Column: field, Reason: fmt.Sprintf(reason, args...), Fix: fix, Impossible: impossible})
	}
	same := func(a, b string) bool { return a == b || frozen && thawed(a) == thawed(b) }
	at := func(fields []Field, name string) int {
		return slices.IndexFunc(fields, func(f Field) bool { return f.Name == name })
	}
	renamed := func(n int) bool { // the n-th field has another name in the declaration
		return n < len(live) && n < len(declared) && same(live[n].Type, declared[n].Type) &&
			at(declared, live[n].Name) < 0 && at(live, declared[n].Name) < 0
	}
	for n, f := range declared {
		i := at(live, f.Name)
		switch {
		case renamed(n):
			was := cql.Quote(live[n].Name)
			add(f.Name, fmt.Sprintf("ALTER TYPE %s RENAME %s TO %s", id, was, cql.Quote(f.Name)), "", "the field is called %s", was)
		case i < 0:
			add(f.Name, fmt.Sprintf("ALTER TYPE %s ADD %s %s", id, cql.Quote(f.Name), f.Type), "", "the field does not exist")
		case !same(live[i].Type, f.Type):
			impossible := "the type of a field cannot change: make another field or type, and copy"
			add(f.Name, "", advised(set, name, f.Name, live[i].Type, impossible), "the field is %s, declared %s", live[i].Type, f.Type)
		case i != n:
			add(f.Name, "", "the order of fields cannot change: make another type, and copy", "is field %d, declared %d", i+1, n+1)
		}
	}
	for n, f := range live {
		if at(declared, f.Name) < 0 && !renamed(n) {
			found = append(found, Difference{
				Column: f.Name, Reason: "a field that is not declared", Impossible: "a field cannot be dropped: declare it", Extra: true,
			})
		}
	}
	return found
}

// thawed is a type without frozen<...>.
func thawed(text string) string {
	t, err := cql.ParseType(text)
	if err != nil {
		return text
	}
	return ast.Thawed(t).String()
}

// asView is the difference of a table in whose place there is a materialized view.
var asView = Difference{
	Reason:     "is a materialized view, which cannot be written",
	Impossible: "declare a table of another name, create it, write the entities again, and read it in place of the view",
}

// noGrace is the difference of a table whose gc_grace_seconds is 0, in a set of several tables.
func noGrace(server dialect.Server, id ID) Difference {
	d := Difference{
		Reason: "gc_grace_seconds is 0, so the batchlog would drop every logged batch that the table is in",
		Fix:    "ALTER TABLE " + id.String() + " WITH gc_grace_seconds = 864000",
	}
	if server == dialect.CosmosDB {
		d.Note, d.Fix, d.Impossible = true, "", string(server)+" takes no other value, and has no logged batches: give the writer the option Concurrent"
	}
	return d
}
