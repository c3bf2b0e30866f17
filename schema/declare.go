package schema

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/denorm-go/denorm/internal/cql"
	"github.com/denorm-go/denorm/internal/describe"
	"github.com/denorm-go/denorm/internal/each"
	"github.com/denorm-go/denorm/internal/fingerprint/compare"
	"github.com/denorm-go/denorm/tables"
)

// Declaration is an argument of [Declare], [Differences] and [Validate]. A *[Schema] is one, too.
type Declaration interface{ declare(*Schema) error }

type declaration func(*Schema) error

func (d declaration) declare(s *Schema) error { return d(s) }

// about is a [Declaration] about a table that another one declares.
type about func(*Schema) error

func (a about) declare(s *Schema) error { return a(s) }

// Declare makes a schema from the declarations of a service, in any order. The error names every fault.
func Declare(parts ...Declaration) (*Schema, error) {
	s := &Schema{}
	var errs []error
	late := func(p Declaration) int { // what says that something is declared twice comes after what may declare it
		switch p.(type) {
		case *Schema:
			return 0
		case about, replicated:
			return 2
		}
		return 1
	}
	for _, p := range slices.SortedStableFunc(slices.Values(parts), func(a, b Declaration) int { return late(a) - late(b) }) {
		if whole, ok := p.(*Schema); p == nil || ok && whole == nil {
			errs = append(errs, errors.New("schema: a declaration is nil"))
			continue
		}
		if err := p.declare(s); err != nil {
			errs = append(errs, fmt.Errorf("schema: %w", err))
		}
	}
	if len(errs) == 0 { // what follows from another fault is not named
		errs = slices.Concat(s.unusedKeyspaces(parts), s.lifetimes())
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	s.resolve()
	return s, nil
}

// unusedKeyspaces rejects keyspaces of [Keyspaces] in which nothing is declared: most likely misspelt, they would be
// created for nothing.
func (s *Schema) unusedKeyspaces(parts []Declaration) []error {
	// The first is that of the session.
	used := append([]string{""}, (&Schema{Tables: s.Tables, Types: s.Types}).names()...)
	if len(used) == 1 { // keyspaces alone, to be created
		return nil
	}
	var errs []error
	for _, p := range parts {
		keyspaces, _ := p.(replicated)
		for _, k := range keyspaces {
			if !slices.Contains(used, k.Name) {
				errs = append(errs, fmt.Errorf("schema: Keyspaces: nothing is declared in keyspace %q%s: name it as tables.Table.Keyspace does", k.Name, cql.Meant(k.Name, used)))
			}
		}
	}
	return errs
}

// lifetimes rejects options under which the tables of a set do not keep what its writes promise.
func (s *Schema) lifetimes() []error {
	var errs []error
	told := make(map[string]bool) // of a table that several sets share
	fail := func(t *Table, format string, args ...any) {
		err := fmt.Errorf("schema: With %s: "+format, append([]any{t.ID}, args...)...)
		if !told[err.Error()] {
			errs = append(errs, err)
		}
		told[err.Error()] = true
	}
	for i := range s.Entities {
		all := s.tablesOf(&s.Entities[i])
		var base *Table
		for _, d := range all {
			t := s.Table(d.id)
			if t == nil || len(all) == 1 {
				continue
			}
			base = cmp.Or(base, t)
			switch {
			case d.Conditional && t.TTL() != 0:
				fail(t, "TTL is %v: rows vanish, and a condition or a unique key of the set with them: leave it out", t.TTL())
			case !d.Conditional && base.TTL() != 0 && (t.TTL() == 0 || t.TTL() > base.TTL()):
				fail(t, "TTL is %v, and the base table %s has %v: base rows vanish, and rows of theirs stay: give this table the TTL of the "+
					"base table, or a shorter one", t.TTL(), base.ID, base.TTL())
			}
			if d.Description.Atomic && t.option(optGCGrace) == "0" && !d.table.Unique {
				fail(t, "GCGrace is none, and the set is Atomic: the batchlog would drop every logged batch it is in")
			}
		}
	}
	return errs
}

// Must returns the schema, or panics with the error: for declarations in package variables.
func Must(s *Schema, err error) *Schema {
	if err != nil {
		panic(err)
	}
	return s
}

// Sets declares the tables of sets, and the user-defined types of their columns.
func Sets(sets ...tables.Described) Declaration {
	return declaration(func(s *Schema) error {
		var errs []error
		for i, set := range sets {
			if set == nil || describe.Of(set.Internal()).Entity == "" {
				errs = append(errs, fmt.Errorf("set %d is nil", i+1))
				continue
			}
			errs = append(errs, s.set(set))
		}
		return errors.Join(errs...)
	})
}

// Sets returns the sets that were declared with [Sets], in that order. A schema that was parsed, or read from a
// cluster, has none.
func (s *Schema) Sets() []tables.Described {
	var out []tables.Described
	for _, e := range s.Entities {
		if e.set != nil {
			out = append(out, e.set)
		}
	}
	return out
}

func (s *Schema) set(set tables.Described) error {
	d := describe.Of(set.Internal())
	e := Entity{Name: d.Entity, Atomic: d.Atomic, Timestamped: !d.Counts && !d.Conditional, ID: d.ID, set: set}
	var shared []error
	for n, t := range d.Tables {
		out := Table{ID: ID{t.Keyspace, t.Name}, Options: map[string]string{}, Fingerprint: t.Fingerprint, rotation: t.Rotation, set: set}
		if d.Transactional {
			out.Options[optTransactions] = cql.Literal("full")
		}
		for _, d := range t.Types {
			fields := each.Of(d.Fields, func(f describe.Field) Field { return Field(f) })
			if err := s.declareType(Type{ID: ID{t.Keyspace, d.Name}, Fields: fields, set: set}); err != nil {
				return err
			}
		}
		for _, c := range t.Columns {
			out.Columns = append(out.Columns, Column{
				Name: c.Name, Type: c.Type, Kind: Kind(c.Kind), Desc: c.Desc, Domain: c.Domain, Derived: c.Derived, Buckets: c.Buckets,
				ReadOnly: c.ReadOnly,
			})
			if c.Changes && n > 0 && Kind(c.Kind) != Regular && !slices.Contains(e.Moves, c.Name) {
				e.Moves = append(e.Moves, c.Name)
			}
		}
		e.Tables = append(e.Tables, out.ID)
		first := s.Table(out.ID)
		switch {
		case first == nil:
			s.Tables = append(s.Tables, out)
		case first.set == nil:
			return fmt.Errorf("table %s is declared twice", out.ID)
		default:
			shared = append(shared, first.share(&out))
		}
	}
	s.Entities = append(s.Entities, e)
	return errors.Join(shared...)
}

// share adds what another set declares of a table that is declared already: its key must be the same, and columns of
// one name have one type.
func (t *Table) share(other *Table) error {
	for _, c := range other.Columns {
		known := t.Column(c.Name)
		switch {
		case known == nil && c.Kind == Regular:
			t.Columns = append(slices.Clip(t.Columns), c) // they may be the caller's
		case known == nil, known.Kind != c.Kind, known.Type != c.Type, known.Desc != c.Desc:
			return fmt.Errorf("table %s is declared twice, and column %s not alike: declare the same key and types in both sets", t.ID, cql.Quote(c.Name))
		}
	}
	for i, c := range t.Columns {
		if c.Kind != Regular && (i >= len(other.Columns) || other.Columns[i].Name != c.Name) {
			return fmt.Errorf("table %s is declared twice, with another key: give each set a table of its own", t.ID)
		}
	}
	return nil
}

// declared finds a table for a declaration about it.
func (s *Schema) declared(declaration, name string) (*Table, error) {
	id := parseID(name)
	if t := s.Table(id); t != nil {
		return t, nil
	}
	meant := ""
	if i := slices.IndexFunc(s.Tables, func(t Table) bool { return t.Name == id.Name }); i >= 0 {
		meant = ": did you mean " + s.Tables[i].String() + "?"
	}
	return nil, fmt.Errorf("%s: no table %q has been declared%s", declaration, name, meant)
}

// With sets the options of a declared table. If the table was declared with a keyspace, table includes it, for example
// "shop.orders_by_id". Use one With for a table.
func With(table string, options Options) Declaration {
	return about(func(s *Schema) error {
		t, err := s.declared("With", table)
		if err != nil {
			return err
		}
		if t.with {
			return fmt.Errorf("With: table %s is given twice: put its options into one", table)
		}
		t.with = true
		literals, err := options.literals()
		if err != nil {
			return fmt.Errorf("table %s: %w", table, err)
		}
		t.Options = maps.Clone(t.Options)
		maps.Copy(t.Options, literals)
		if _, text := compare.Split(t.Comment()); text != "" {
			return fmt.Errorf("table %s: the comment ends in %s: what is in such brackets is the library's own", table, text)
		}
		return nil
	})
}

// Keyspaces declares the replication of keyspaces. If any table or type is declared, a keyspace that has none of them
// is an error of [Declare].
func Keyspaces(keyspaces ...Keyspace) Declaration { return replicated(keyspaces) }

// replicated is the [Declaration] that [Keyspaces] makes.
type replicated []Keyspace

func (r replicated) declare(s *Schema) error {
	for _, k := range r {
		if s.Keyspace(k.Name) != nil {
			return fmt.Errorf("keyspace %s is declared twice", k.Name)
		}
		if len(k.Replication) > 0 {
			k.Replication = normalReplication(k.Replication)
		}
		s.Keyspaces = append(s.Keyspaces, k)
	}
	return nil
}

// Replication returns a NetworkTopologyStrategy with the given number of replicas in each datacentre. Datacentre ""
// stands for all of them.
func Replication(factors map[string]int) map[string]string {
	out := map[string]string{"class": "NetworkTopologyStrategy"}
	for dc, n := range factors {
		if dc == "" {
			dc = "replication_factor"
		}
		out[dc] = strconv.Itoa(n)
	}
	return out
}

func (s *Schema) declare(to *Schema) error {
	for _, t := range s.Tables {
		if to.Table(t.ID) != nil {
			return fmt.Errorf("table %s is declared twice", t.ID)
		}
	}
	for _, k := range s.Keyspaces {
		first := to.Keyspace(k.Name)
		if first != nil && (first.NonDurable != k.NonDurable || !maps.Equal(first.Replication, k.Replication)) {
			return fmt.Errorf("keyspace %s is declared twice, not alike: declare it once, or alike", k.Name)
		}
	}
	for _, t := range s.Types {
		if err := to.declareType(t); err != nil {
			return err
		}
	}
	*to = *Add(to, s)
	return nil
}

// CQL declares the contents of a CQL text, see [Parse]: user-defined types, tables of other code, queries, and notes.
func CQL(text string) Declaration {
	return declaration(func(s *Schema) error {
		p, err := Parse("CQL", text)
		if err != nil {
			return err
		}
		return p.declare(s)
	})
}

// Accept accepts the findings of the lint rule with this code in a table, for a reason; table "" stands for all tables.
// A code that no rule has is an error of [Declare].
func Accept(code, table, reason string) Declaration {
	return declaration(func(s *Schema) error {
		if reason == "" {
			return fmt.Errorf("Accept %s: a reason is missing", code)
		}
		if err := lintRule(code); err != nil {
			return fmt.Errorf("Accept: %w", err)
		}
		s.Ignores = append(s.Ignores, Ignore{Code: code, Table: parseID(table), Reason: reason})
		return nil
	})
}

// Expect states the expected volume of a declared table. A Per or Window of less than a second is an error: it is a
// number without a unit. Columns that the table does not have and impossible numbers, such as a negative Rows, are
// errors too.
func Expect(table string, v Volume) Declaration {
	return about(func(s *Schema) error {
		t, err := s.declared("Expect", table)
		if err != nil {
			return err
		}
		v.Table = t.ID
		if err := cmp.Or(v.columns(t), v.numbers()); err != nil {
			return fmt.Errorf("Expect %s: %w", table, err)
		}
		// A number without a unit is of nanoseconds.
		if v.Per < 0 || v.Window < 0 || v.Per > 0 && v.Per < time.Second || v.Window > 0 && v.Window < time.Second {
			return fmt.Errorf("Expect %s: Per %v, Window %v: less than a second: give a time.Duration, such as 30 * schema.Day",
				table, v.Per, v.Window)
		}
		s.Volumes = append(s.Volumes, v)
		return nil
	})
}

// columns rejects a volume with columns that the table does not have.
func (v *Volume) columns(t *Table) error {
	names := each.Of(t.Columns, func(c Column) string { return c.Name })
	for _, of := range []struct {
		field  string
		values map[string]float64
	}{{"Width", v.Width}, {"Elements", v.Elements}, {"Filled", v.Filled}} {
		for _, name := range slices.Sorted(maps.Keys(of.values)) {
			if !slices.Contains(names, name) {
				return fmt.Errorf("%s names a column %s, which the table does not have%s", of.field, name, cql.Meant(name, names))
			}
		}
	}
	return nil
}

func parseID(s string) ID {
	if keyspace, name, ok := strings.Cut(s, "."); ok {
		return ID{keyspace, name}
	}
	return ID{Name: s}
}

// declareType adds a type, unless it is declared already. With other fields that is an error: there can be only one of
// them, and values of the other would lose fields, or be rejected.
func (s *Schema) declareType(t Type) error {
	known := named(s.Types, t.ID)
	if known == nil {
		s.Types = append(s.Types, t)
		return nil
	}
	if len(compareFields(nil, "", "", known.Fields, t.Fields, true)) == 0 {
		if known.set == nil {
			known.set = t.set
		}
		return nil
	}
	return fmt.Errorf("type %s is declared with different fields, %s as %s, and %s as %s: declare the same ones, or another name", t.ID, known.by(), known.fieldsText(), t.by(), t.fieldsText())
}

// by says what declares a type.
func (t *Type) by() string {
	if t.set == nil {
		return "by CQL"
	}
	return "by set " + describe.Of(t.set.Internal()).Entity
}

func (t *Type) fieldsText() string {
	return "(" + strings.Join(each.Of(t.Fields, Field.text), ", ") + ")"
}

func (f Field) text() string { return cql.Quote(f.Name) + " " + f.Type }
