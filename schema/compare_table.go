package schema

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/denorm-go/denorm/internal/cql"
	"github.com/denorm-go/denorm/internal/describe"
	"github.com/denorm-go/denorm/internal/dialect"
	"github.com/denorm-go/denorm/internal/fingerprint"
	"github.com/denorm-go/denorm/internal/fingerprint/compare"
	"github.com/denorm-go/denorm/internal/layout"
)

// compared is a declared or a live table.
type compared struct {
	Name        string // as written in CQL
	Columns     []describe.Column
	Fingerprint string
	Comment     string // the service's own
}

// compact says by the flags of a table in system_schema.tables whether it is WITH COMPACT STORAGE, and which of its columns are internal, as Cassandra's own
// DESCRIBE does. With allStatic, its clustering and regular columns are, and its static ones are its regular columns. Otherwise, a column of type empty is.
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

// column gives the column of a name, or nil.
func (t *compared) column(name string) *describe.Column {
	i := slices.IndexFunc(t.Columns, func(c describe.Column) bool { return c.Name == name })
	if i < 0 {
		return nil
	}
	return &t.Columns[i]
}

const newTable = "the key of a table cannot change: create a table of another name, fill it, and declare that"

// compareColumns compares columns. set is that which declares the table, nil if none does.
func compareColumns(set *layout.Set, declared, live compared) []Difference {
	var found []Difference
	add := func(column, fix, impossible, reason string, args ...any) {
		found = append(found, Difference{Column: column, Reason: fmt.Sprintf(reason, args...), Fix: fix, Impossible: impossible})
	}
	renamed := make(map[string]bool) // live columns that have another name in the declaration
	for _, d := range declared.Columns {
		alter := "ALTER TABLE " + declared.Name
		l := live.column(d.Name)
		if l == nil {
			was := renamedFrom(declared, live, d)
			switch {
			case was != "":
				renamed[was] = true
				add(d.Name, alter+" RENAME "+cql.Quote(was)+" TO "+cql.Quote(d.Name), "", "is called %s", cql.Quote(was))
			case inKey(d):
				add(d.Name, "", newTable, "does not exist, declared %s column", kindName(d))
			case d.Kind == "static":
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
		case l.Kind != d.Kind && !inKey(*l) && !inKey(d):
			add(d.Name, "", kindAdvice(set, *l), "is a %s column, declared %s", kindName(*l), kindName(d))
		case l.Kind != d.Kind:
			add(d.Name, "", newTable, "is a %s column, declared %s", kindName(*l), kindName(d))
		case inKey(d) && l.Position != d.Position:
			add(d.Name, "", newTable, "is %s column %d, declared %d", kindName(d), l.Position+1, d.Position+1)
		}
		if l.Kind == "clustering" && d.Kind == "clustering" && l.Desc != d.Desc {
			add(d.Name, "", "the order of a table cannot change: create a table of another name, fill it, and declare that",
				"is clustered %s, declared %s", direction(l.Desc), direction(d.Desc))
		}
	}
	for _, l := range live.Columns {
		if declared.column(l.Name) != nil || renamed[l.Name] {
			continue
		}
		kept := compare.Kept(l.Name, l.Type)
		if compare.Transacts(declared.Fingerprint) { // it is from before, and may be dropped
			kept = ""
		}
		switch {
		case kept != "" && declared.Fingerprint != "":
			other := Difference{Column: l.Name, Reason: kept, Impossible: "it is this declaration that is another one than the others use"}
			if l.Name == fingerprint.PendingColumn {
				other.unversioned = true // what else differs follows from it: one that declares what is advised of that would let plain writes pass
				return []Difference{other}
			}
			found = append(found, other)
		case inKey(l):
			add(l.Name, "", newTable, "is a %s column that is not declared", kindName(l))
		default:
			fix := "ALTER TABLE " + declared.Name + " DROP " + cql.Quote(l.Name)
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
	if advice := set.TypeAdvice(userType, column, live); advice != "" {
		return "the declared type " + advice
	}
	return otherwise
}

// kindAdvice says what to declare in place of a column that is static and live is not, or the other way round.
func kindAdvice(set *layout.Set, live describe.Column) string {
	switch {
	case live.Kind != "static":
		return "a column cannot become static: declare it regular, or declare and add a static column of another name"
	case set == nil:
		return "a static column cannot cease to be one: declare it static, or declare and add a column of another name"
	}
	return "a set has no static columns, and a column cannot cease to be one: leave it out of this table, in a query table by Table.Columns and in " +
		"the base table by db:\"-\" at the field, and write it by a statement of the service's own; or give the field a column of another name"
}

// renamedFrom gives the live key column in the place of the declared column d, of the same type under a name
// that is not declared, or "".
func renamedFrom(declared, live compared, d describe.Column) string {
	number := func(t compared) (n int) {
		for _, c := range t.Columns {
			if c.Kind == d.Kind {
				n++
			}
		}
		return n
	}
	for _, l := range live.Columns {
		if inKey(d) && l.Kind == d.Kind && l.Position == d.Position && l.Type == d.Type && declared.column(l.Name) == nil &&
			number(live) == number(declared) {
			return l.Name
		}
	}
	return ""
}

func inKey(c describe.Column) bool {
	return c.Kind == "partition_key" || c.Kind == "clustering"
}

func kindName(c describe.Column) string { return strings.ReplaceAll(c.Kind, "_", " ") }

func direction(desc bool) string {
	if desc {
		return "descending"
	}
	return "ascending"
}

// compareFields compares the fields of a user-defined type, whose name in CQL is id. With frozen, its values are frozen, and inside of these
// everything is, whether it says so or not.
func compareFields(set *layout.Set, id, name string, declared, live []describe.Field, frozen bool) []Difference {
	var found []Difference
	add := func(field, fix, impossible, reason string, args ...any) {
		found = append(found, Difference{Column: field, Reason: fmt.Sprintf(reason, args...), Fix: fix, Impossible: impossible})
	}
	same := func(a, b string) bool { return a == b || frozen && thawed(a) == thawed(b) }
	at := func(fields []describe.Field, name string) int {
		return slices.IndexFunc(fields, func(f describe.Field) bool { return f.Name == name })
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
	return t.Thawed().String()
}

// compareFingerprint compares what a set declares of a table with what the processes declare that write it.
func compareFingerprint(declared, live compared, now time.Time) []Difference {
	var found []Difference
	for _, f := range compare.Check(declared.Fingerprint, live.Fingerprint, now) {
		d := Difference{Column: f.Column, Reason: f.Reason, Note: f.Note, Impossible: f.Do}
		if f.Write != "" {
			d.Begun = f.Begun
			d.Fix, d.Impossible = compare.Statement(declared.Name, declared.Comment, f.Write)
		}
		found = append(found, d)
	}
	return found
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
