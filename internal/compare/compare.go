// Package compare compares what is declared of a table, or of a user-defined type, with what a cluster has of it. Package schema compares
// schemas with it, and package writer the tables of sets.
package compare

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/denorm-go/denorm/internal/cql"
	"github.com/denorm-go/denorm/internal/entity"
	"github.com/denorm-go/denorm/internal/fingerprint"
	"github.com/denorm-go/denorm/internal/printable"
)

// Difference is one disagreement of a live table or type with what is declared.
type Difference struct {
	Column                  string // or field; empty if the table as a whole is meant
	Reason, Fix, Impossible string
	Destroys, Extra, Note   bool

	Begun       bool // Fix is only right if no process without a Since has written rows of since it began
	EndsExpiry  bool // Fix makes rows stay that vanish now
	Unversioned bool // the table is of a Versioned set, and the set at hand is not: there is no more to say of its tables
}

// Table is a declared or a live table.
type Table struct {
	Name        string // as written in CQL
	Columns     []entity.ColumnDescription
	Fingerprint string
	Comment     string // the service's own
}

// Compact says by the flags of a table in system_schema.tables whether it is WITH COMPACT STORAGE, and which of its columns are internal, as Cassandra's own
// DESCRIBE does. With allStatic, its clustering and regular columns are, and its static ones are its regular columns. Otherwise, a column of type empty is.
func Compact(flags []string) (compact, allStatic bool) {
	has := func(flag string) bool { return slices.Contains(flags, flag) }
	allStatic = flags != nil && !has("compound") && !has("dense") && !has("super") // servers that do not know the flags have none
	return allStatic || has("dense") || has("super"), allStatic
}

// Visible says what a live column is to CQL, given the flags of its table: its kind, or empty for an internal column.
func Visible(flags []string, kind, typ string) string {
	compact, allStatic := Compact(flags)
	switch {
	case allStatic && kind == "static":
		return "regular"
	case allStatic && kind != "partition_key", compact && (typ == "empty" || strings.Contains(typ, "EmptyType")):
		return ""
	}
	return kind
}

// column gives the column of a name, or nil.
func (t *Table) column(name string) *entity.ColumnDescription {
	i := slices.IndexFunc(t.Columns, func(c entity.ColumnDescription) bool { return c.Name == name })
	if i < 0 {
		return nil
	}
	return &t.Columns[i]
}

const newTable = "the key of a table cannot change: create a table of another name, fill it, and declare that"

// Columns compares columns. set is that which declares the table, nil if none does.
func Columns(set *entity.Set, declared, live Table) []Difference {
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
		kept := fingerprint.Kept(l.Name, l.Type)
		if fingerprint.Transacts(declared.Fingerprint) { // it is from before, and may be dropped
			kept = ""
		}
		switch {
		case kept != "" && declared.Fingerprint != "":
			other := Difference{Column: l.Name, Reason: kept, Impossible: "it is this declaration that is another one than the others use"}
			if l.Name == fingerprint.PendingColumn {
				other.Unversioned = true // what else differs follows from it: one that declares what is advised of that would let plain writes pass
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
func advised(set *entity.Set, userType, column, live, otherwise string) string {
	if set == nil {
		return otherwise
	}
	if advice := set.TypeAdvice(userType, column, live); advice != "" {
		return "the declared type " + advice
	}
	return otherwise
}

// kindAdvice says what to declare in place of a column that is static and live is not, or the other way round.
func kindAdvice(set *entity.Set, live entity.ColumnDescription) string {
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
func renamedFrom(declared, live Table, d entity.ColumnDescription) string {
	number := func(t Table) (n int) {
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

func inKey(c entity.ColumnDescription) bool {
	return c.Kind == "partition_key" || c.Kind == "clustering"
}

func kindName(c entity.ColumnDescription) string { return strings.ReplaceAll(c.Kind, "_", " ") }

func direction(desc bool) string {
	if desc {
		return "descending"
	}
	return "ascending"
}

// Fields compares the fields of a user-defined type, whose name in CQL is id. With frozen, its values are frozen, and inside of these
// everything is, whether it says so or not.
func Fields(set *entity.Set, id, name string, declared, live []entity.FieldDescription, frozen bool) []Difference {
	var found []Difference
	add := func(field, fix, impossible, reason string, args ...any) {
		found = append(found, Difference{Column: field, Reason: fmt.Sprintf(reason, args...), Fix: fix, Impossible: impossible})
	}
	same := func(a, b string) bool { return a == b || frozen && thawed(a) == thawed(b) }
	at := func(fields []entity.FieldDescription, name string) int {
		return slices.IndexFunc(fields, func(f entity.FieldDescription) bool { return f.Name == name })
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

// Fingerprint compares what a set declares of a table with what the processes declare that write it.
func Fingerprint(declared, live Table, now time.Time) []Difference {
	var found []Difference
	for _, f := range fingerprint.Check(declared.Fingerprint, live.Fingerprint, now) {
		d := Difference{Column: f.Column, Reason: f.Reason, Note: f.Note, Impossible: f.Do}
		if f.Write != "" {
			d.Begun = f.Begun
			d.Fix, d.Impossible = fingerprint.Statement(declared.Name, declared.Comment, f.Write)
		}
		found = append(found, d)
	}
	return found
}

// View is the difference of a table in whose place there is a materialized view.
var View = Difference{
	Reason:     "is a materialized view, which cannot be written",
	Impossible: "declare a table of another name, create it, write the entities again, and read it in place of the view",
}

// NoGrace is the difference of a table of this name in CQL whose gc_grace_seconds is 0, in logged batches.
func NoGrace(table string) Difference {
	return Difference{
		Reason: "gc_grace_seconds is 0, so the batchlog would drop every logged batch that the table is in",
		Fix:    "ALTER TABLE " + table + " WITH gc_grace_seconds = 864000",
	}
}

// Text is a difference for people: what cannot be printed is written as an escape, so a terminal obeys nothing of it.
func Text(keyspace, table, column, reason, fix, impossible string) string {
	where := "keyspace " + keyspace
	if table != "" {
		where = cql.Name{Keyspace: keyspace, Name: table}.String()
	}
	if column != "" {
		where += ": column " + cql.Quote(column)
	}
	text := printable.Line(where + ": " + reason)
	switch {
	case fix != "":
		return text + "\n\t\tfix: " + strings.ReplaceAll(printable.Lines(fix), "\n", "\n\t\t") + ";"
	case impossible != "":
		return text + "\n\t\tno statement fixes it: " + printable.Line(impossible)
	}
	return text
}

// Texts lists differences.
func Texts[D fmt.Stringer](differences []D) string {
	var b strings.Builder
	fmt.Fprintf(&b, "schema: %d difference(s) between declared and live", len(differences))
	for _, d := range differences {
		b.WriteString("\n\t" + d.String())
	}
	return b.String()
}
