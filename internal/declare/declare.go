// Package declare checks what the options of package tables say, and makes a set of it.
package declare

import (
	"cmp"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/denorm-go/denorm/internal/cql"
	"github.com/denorm-go/denorm/internal/cqltype"
	"github.com/denorm-go/denorm/internal/each"
	"github.com/denorm-go/denorm/internal/layout"
	"github.com/gocql/gocql"
)

// New validates a declaration. It goes on after a fault, so that all are named at once: the error is a
// *[DeclarationError]. faults are those that are known already.
func New(name string, typ reflect.Type, d Declaration, faults ...layout.Fault) (*layout.Set, error) {
	b := &builder{
		Declaration: d, faults: faults,
		set: &layout.Set{Name: name, Go: typ, Declaration: d, Stamp: -1, Expiry: -1, Version: -1, Mark: -1},
		of:  make(map[string]int),
		bad: make(map[*layout.Table]bool),

		cqlTags:   make(map[string]string),
		unparsed:  make(map[int]bool),
		underived: make(map[string]bool),
	}
	if !entityName.MatchString(name) {
		b.fault("", "", "the entity's name must be lower-case letters, digits and _, a letter first, at most 48")
	}
	if typ.Kind() != reflect.Struct {
		b.fault("", "", "rows must be a struct, not %s", typ)
		return nil, b.err()
	}
	if b.readUserTypes(); b.stop {
		return nil, b.err()
	}
	b.readColumns()
	b.readDerived()
	b.readReadOnly()
	b.readTables()
	b.readRules()
	b.checkTypes()
	b.checkCounters()
	b.checkKeys()
	b.checkDerived()
	b.checkConditions()
	b.checkSweep()
	b.checkReadOnly()
	return b.set, b.err()
}

// builder turns a declaration into a set, or into faults.
type builder struct {
	Declaration
	set    *layout.Set
	of     map[string]int         // column name -> position
	bad    map[*layout.Table]bool // its key has a fault: what follows from the key is not looked at
	faults []layout.Fault
	user   cqltype.Types
	stop   bool // after the types were read

	cqlTags   map[string]string // the cql tag of a field -> the field
	misnamed  []layout.Fault    // columns whose field has another name in a cql tag
	unknown   bool              // a rule names a column that there is not
	unparsed  map[int]bool      // columns with a fault in their Type
	underived map[string]bool   // columns with a fault in their Derive
}

func (b *builder) fault(table, column, format string, args ...any) {
	b.faults = append(b.faults, layout.Fault{Table: table, Column: column, Reason: fmt.Sprintf(format, args...)})
}

func (b *builder) err() error {
	if len(b.faults) == 0 {
		b.faults = b.misnamed // others name the tag where it matters
	}
	if len(b.faults) == 0 {
		return nil
	}
	e := &DeclarationError{Entity: b.set.Name, Faults: b.faults}
	if b.unknown {
		e.columns = each.Of(b.set.Columns, func(c layout.Column) string { return c.Name })
	}
	return e
}

// entityName allows reserved words: an entity's name does not go into CQL.
var entityName = regexp.MustCompile(`^[a-z][a-z0-9_]{0,47}$`)

func (b *builder) readTables() {
	if len(b.Tables) == 0 {
		b.fault("", "", "the set has no table")
	}
	seen := make(map[string]bool)
	for n, decl := range b.Tables {
		t := &layout.Table{Name: decl.Name, Keyspace: decl.Keyspace, Hidden: decl.Hidden}
		if !cql.IsTable(decl.Name) {
			advice := ""
			if strings.Contains(decl.Name, ".") {
				advice = ": give the keyspace as Table.Keyspace"
			}
			b.fault(decl.Name, "", "the name of table %d must be %s%s", n+1, cql.TableRule, advice)
		}
		if decl.Keyspace != "" && !cql.IsTable(decl.Keyspace) {
			b.fault(decl.Name, "", "keyspace %q must be %s", decl.Keyspace, cql.TableRule)
		}
		if id := decl.Keyspace + "." + decl.Name; seen[id] {
			b.fault(decl.Name, "", "declared twice: leave one of the two out")
		} else {
			seen[id] = true
		}
		if decl.Hidden && n == 0 {
			b.fault(decl.Name, "", "the base table cannot be Hidden: the others are filled from it")
		}
		b.readKey(t, decl)
		if decl.Unique {
			b.readUnique(t, decl, n == 0)
			continue
		}
		b.readRotation(t, decl)
		b.readTableColumns(t, decl, n == 0)
		b.set.Tables = append(b.set.Tables, t)
	}
}

func (b *builder) readKey(t *layout.Table, decl Table) {
	known, missing := len(b.faults), false
	defer func() { b.bad[t] = missing || len(b.faults) > known }()
	if len(decl.PartKey) == 0 {
		b.fault(decl.Name, "", "PartKey is empty: a table needs a partition key")
	}
	add := func(name string, desc bool, what string) {
		i, ok := b.column(decl.Name, name, what)
		if !ok {
			missing = true
			return
		}
		if slices.Contains(t.Key, i) {
			b.fault(decl.Name, name, "is in the primary key twice")
			return
		}
		b.set.Columns[i].Key = true
		t.Key, t.Desc, t.KeyNames = append(t.Key, i), append(t.Desc, desc), append(t.KeyNames, name)
	}
	for _, name := range decl.PartKey {
		add(name, false, "PartKey")
	}
	t.Part = len(t.Key)
	for _, entry := range decl.SortKey {
		words := strings.Fields(entry)
		desc := len(words) == 2 && strings.EqualFold(words[1], "desc")
		if len(words) == 0 || len(words) > 2 || len(words) == 2 && !desc && !strings.EqualFold(words[1], "asc") {
			b.fault(decl.Name, "", "SortKey entry %q: want a column, optionally followed by ASC or DESC", entry)
			continue
		}
		add(words[0], desc, "SortKey")
	}
}

func (b *builder) readTableColumns(t *layout.Table, decl Table, base bool) {
	t.Read = slices.Clone(t.Key)
	if decl.Columns == nil {
		for i := range b.set.Columns {
			if !slices.Contains(t.Key, i) && b.set.Columns[i].Index != nil {
				t.Read = append(t.Read, i)
			}
		}
	}
	for _, name := range decl.Columns {
		i, ok := b.column(decl.Name, name, "Columns")
		switch {
		case !ok:
		case slices.Contains(t.Read, i) && !slices.Contains(t.Key, i):
			b.fault(decl.Name, name, "is in Columns twice")
		case !slices.Contains(t.Read, i):
			t.Read = append(t.Read, i)
		}
	}
	var missing []string
	for i, c := range b.set.Columns {
		if base && c.Index != nil && !slices.Contains(t.Read, i) {
			missing = append(missing, c.Name)
		}
	}
	if len(missing) > 0 {
		b.fault(decl.Name, "", "the base table holds all columns of the entity, and its Columns lack %s: leave Columns "+
			"empty, or take fields out of the row type with db:\"-\"", strings.Join(missing, ", "))
	}
	b.nameColumns(t)
}

// nameColumns says which of the columns that are read are written, and what they are called.
func (b *builder) nameColumns(t *layout.Table) {
	t.Columns = slices.DeleteFunc(slices.Clone(t.Read), func(i int) bool {
		return b.set.Columns[i].ReadOnly && !slices.Contains(t.Key, i)
	})
	fields := slices.DeleteFunc(slices.Clone(t.Read), func(i int) bool { return b.set.Columns[i].Index == nil })
	t.ColumnNames, t.FieldNames = b.set.Names(t.Columns), b.set.Names(fields)
}

func (b *builder) readRules() {
	s := b.set
	s.Atomic, s.SweepInserts, s.Unstamped = b.Atomic, b.SweepInserts, b.UnstampedRows
	for _, o := range b.Types {
		i, ok := b.column("", o.Column, "Type")
		if !ok {
			continue
		}
		cql, err := b.user.Parse(o.CQL)
		if err != nil {
			if isCounterType(o.CQL) {
				err = fmt.Errorf("%w: a counter is a column of its own, not in a collection and not frozen", err)
			}
			b.unparsed[i] = true
			b.fault("", o.Column, "%s", b.explain(err, s.Columns[i].Go))
			continue
		}
		if s.Columns[i].CQL != nil {
			b.fault("", o.Column, "has two Type options")
		}
		s.Columns[i].CQL = cql
	}
	b.deriveTypes()
	b.inferTypes()
	for _, o := range b.OneOf {
		if i, ok := b.changing(o.Column, "OneOf"); ok {
			s.Columns[i].Rule = layout.ClosedDomain
			b.readDomain(i, o.Values)
		}
	}
	for _, name := range b.SingleWriters {
		if i, ok := b.changing(name, "SingleWriter"); ok {
			s.Columns[i].Rule = layout.SingleWriter
		}
	}
	s.Stamp = b.special(b.Stamps, "Stamp", "a Go int64 and CQL bigint", func(c *layout.Column) bool {
		return c.Go.Kind() == reflect.Int64 && c.CQL.Kind() == gocql.TypeBigInt
	})
	s.Expiry = b.special(b.Expiries, "ExpiresAt", "a Go time.Time or *time.Time and CQL timestamp",
		func(c *layout.Column) bool {
			return c.IsTime && c.CQL.Kind() == gocql.TypeTimestamp
		})
	if len(b.OneOf) > 0 && len(b.Stamps) == 0 && len(b.Versions) == 0 && len(b.Compare) == 0 {
		b.fault("", "", "OneOf needs Stamp(column): without the stamp of the row that was read, a writer whose clock is "+
			"behind loses its update")
	}
	b.readConditions()
	may := func(i int) bool { return s.Columns[i].Rule != layout.Immutable }
	for i := range s.Columns {
		d := s.Columns[i].Derived
		s.Columns[i].Changes = may(i) || d != nil && slices.ContainsFunc(d.Sources, may)
	}
	if b.SweepInserts && len(b.OneOf) == 0 {
		b.fault("", "", "SweepInserts without a OneOf column has nothing to sweep")
	}
	if b.UnstampedRows && len(b.OneOf) == 0 {
		b.fault("", "", "UnstampedRows without a OneOf column changes nothing: only a set with OneOf rejects a "+
			"before-image without a stamp")
	}
}

// changing is the column of a OneOf or SingleWriter option.
func (b *builder) changing(name, what string) (int, bool) {
	i, ok := b.column("", name, what)
	if !ok {
		return 0, false
	}
	c := &b.set.Columns[i]
	switch {
	case c.Rule != layout.Immutable:
		b.fault("", name, "has more than one OneOf or SingleWriter")
	case !c.Key:
		b.fault("", name, "%s concerns key columns, and no table has this one in its key", what)
	case c.Derived != nil:
		b.fault("", name, "is derived, and changes as the columns can that it follows from: %s is for those", what)
	case len(b.set.Tables) > 0 && b.set.Identifies(i):
		b.fault(b.set.Tables[0].Name, name, "the base key identifies the entity and cannot change, so %s is rejected", what)
	default:
		return i, true
	}
	return 0, false
}

func (b *builder) readDomain(i int, values []any) {
	c := &b.set.Columns[i]
	if len(values) == 0 {
		b.fault("", c.Name, "OneOf lists no value")
	}
	if c.CQL == nil {
		return
	}
	want := layout.Deref(c.Go)
	seen := make(map[string]bool, len(values))
	for n, value := range values {
		v := reflect.ValueOf(value)
		if value == nil || v.Type() != want && (v.Kind() != want.Kind() || !v.CanConvert(want)) {
			b.fault("", c.Name, "value %d of OneOf is of Go type %T, it must be %s", n+1, value, want)
			continue
		}
		data, err := layout.EncodeAs(c, v)
		reason := layout.KeyFault(c, data)
		switch {
		case err != nil:
			b.fault("", c.Name, "value %d of OneOf: %s", n+1, err)
		case reason != "" || data == nil:
			b.fault("", c.Name, "value %d of OneOf: %s", n+1,
				cmp.Or(reason, "nil is not listed: a pointer column may always be nil"))
		case seen[string(data)]:
			b.fault("", c.Name, "value %d of OneOf is given twice", n+1)
		default:
			seen[string(data)] = true
			c.Domain = append(c.Domain, &cqltype.Value{Type: c.CQL, Data: data})
		}
	}
}

// special is the column of Stamp or ExpiresAt.
func (b *builder) special(names []string, what, want string, fits func(*layout.Column) bool) int {
	if len(names) > 1 {
		b.fault("", "", "%s is declared %d times", what, len(names))
	}
	if len(names) == 0 {
		return -1
	}
	i, ok := b.column("", names[0], what)
	if !ok {
		return -1
	}
	c := &b.set.Columns[i]
	switch {
	case c.Key:
		b.fault("", c.Name, "%s cannot be a key column: it changes with every write", what)
	case c.CQL != nil && !fits(c):
		b.fault("", c.Name, "%s wants %s, this is Go type %s and CQL type %s", what, want, c.Go, c.CQL)
	}
	return i
}
