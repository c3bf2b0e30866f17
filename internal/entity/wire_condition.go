package entity

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"github.com/denorm-go/denorm/internal/cql"
	"github.com/denorm-go/denorm/internal/cqltype"
	"github.com/denorm-go/denorm/internal/layout"
	"github.com/denorm-go/denorm/internal/printable"
	"github.com/denorm-go/denorm/internal/statement"
	"github.com/denorm-go/denorm/internal/wire"
	"github.com/gocql/gocql"
)

// wireCondition is a condition as it is stored, with its claims. As with [wireMutation] there is no CQL in it.
type wireCondition struct {
	Entity           string
	Kind             Kind
	Versioned, Local bool
	Transactional    bool
	Before, Version  gocql.UUID
	VersionColumn    string // of a Versioned set
	Mark             string // column of Mark, or empty
	Keys             []byte
	Keyspace, Table  string
	// of the columns, the first Key are the primary key, the first Part the partition key
	Key, Part int
	Columns   []statement.Column // the key, then the rest as it is to become
	// as they were: the columns of Compare, or of a Versioned set the columns that keys follow from
	Compared         []statement.Column
	Claims, Releases []wireClaim
}

// wireClaim is a key of a Unique table as it is stored. The columns of the key are among those of the base table; the
// values are here, as those of a release are not in the row any more.
type wireClaim struct {
	Keyspace, Table string
	Part            int
	Columns         []statement.Column
}

// MarshalBinary encodes condition and claims with their bound values; the mutations have encodings of their own.
func (c *Conditional) MarshalBinary() ([]byte, error) {
	cond := c.Condition
	s := cond.base.Set
	w := wireCondition{
		Entity: cond.Entity, Kind: cond.Kind, Versioned: cond.By != layout.Compared, Local: s.LocalSerial, Before: cond.Before,
		Version:       cond.Version,
		Transactional: cond.By == layout.Transactional, Keys: cond.Keys, Keyspace: cond.Keyspace, Table: cond.Table,
		Key: len(cond.base.key), Part: s.Tables[0].Part,
		VersionColumn: s.NameOf(s.Version), Mark: s.NameOf(s.Mark),
	}
	w.Columns = append(wireKey(s.Tables[0].KeyNames, cond.base.key), wireRow(s, cond.base.becomes(cond.after == nil),
		cond.after)...)
	w.Compared = append(wireRow(s, s.Compared, cond.before), wireRow(s, cond.base.imaged(), cond.base.before)...)
	w.Claims, w.Releases = wireClaims(c.Claims), wireClaims(c.Releases)
	return wire.Append(nil, w), nil
}

func wireClaims(claims []*Claim) []wireClaim {
	var out []wireClaim
	for _, c := range claims {
		out = append(out, wireClaim{
			Keyspace: c.Keyspace, Table: c.Table, Part: c.table.Part,
			Columns: wireKey(c.table.KeyNames, c.key),
		})
	}
	return out
}

func wireKey(names []string, key []*cqltype.Value) (out []statement.Column) {
	for k, v := range key {
		out = append(out, statement.ColumnOf(names[k], v))
	}
	return out
}

// wireRow are columns of a row, or nulls where there is none.
func wireRow(s *layout.Set, columns []int, row []cqltype.Value) (out []statement.Column) {
	for _, i := range columns {
		v := &cqltype.Value{Type: s.Columns[i].CQL}
		if row != nil {
			v = &row[i]
		}
		out = append(out, statement.ColumnOf(s.Columns[i].Name, v))
	}
	return out
}

// UnmarshalBinary is the reverse of MarshalBinary. The set is not stored: what another client has left unfinished
// cannot be rolled forward with the condition that it gives.
func (c *Conditional) UnmarshalBinary(data []byte) error {
	return c.Decode(new(statement.Decoder), data)
}

// Decode is [Conditional.UnmarshalBinary] with what was stored together with it.
func (c *Conditional) Decode(d *statement.Decoder, data []byte) error {
	return statement.Decode(d, "condition", data, new(wireCondition), (*wireCondition).conditional, c)
}

// Check rejects what no change renders.
func (w *wireCondition) Check() error {
	of := make(map[string]int, len(w.Columns))
	column := func(c statement.Column) bool { return cql.IsColumn(c.Name) && c.Bound() }
	has := func(name string) bool {
		_, ok := of[name]
		return ok
	}
	same := func(c statement.Column) bool { return has(c.Name) && c.Type == w.Columns[of[c.Name]].Type }
	for i, c := range w.Columns {
		if !column(c) || has(c.Name) {
			return fmt.Errorf("columns must be %s, each once", cql.ColumnRule)
		}
		of[c.Name] = i
	}
	switch {
	case w.Kind != Insert && w.Kind != Update && w.Kind != Delete:
		return errors.New("of an unknown kind")
	case w.Part < 1 || w.Part > w.Key || w.Key > len(w.Columns):
		return errors.New("incomplete")
	case !cql.IsTable(w.Keyspace) || !cql.IsTable(w.Table):
		return fmt.Errorf("keyspace and table must be %s", cql.TableRule)
	case w.Versioned && (!cql.IsColumn(w.VersionColumn) || has(w.VersionColumn) || w.Version.Version() != 1 ||
		!w.Transactional && w.Version != Linked(w.Version, w.Before)):
		return errors.New("a version that is not one")
	case w.Transactional && (!w.Versioned || w.Local):
		return errors.New("incomplete")
	case w.Mark != "" && !has(w.Mark):
		return errors.New("a mark that is no column")
	case !w.Versioned && (len(w.Compared) == 0 || len(w.Claims)+len(w.Releases)+len(w.Keys) > 0):
		return errors.New("incomplete")
	case w.Versioned && w.Before != gocql.UUID{} && !w.Version.Time().After(w.Before.Time()):
		return errors.New("a version that is not later than the one before")
	case w.Versioned && (w.Kind == Insert) != (len(w.Keys) == 0):
		return errors.New("an insert with the keys of a row before it, or another change without them")
	case w.Versioned && (w.Kind == Insert) != (w.Before == gocql.UUID{}):
		return errors.New("an insert with the version of a row before it, or another change without it")
	}
	for _, c := range w.Compared {
		if !same(c) || !column(c) || of[c.Name] < w.Key {
			return errors.New("a condition on a column that is not there")
		}
	}
	for _, k := range slices.Concat(w.Claims, w.Releases) {
		if !cql.IsTable(k.Keyspace) || !cql.IsTable(k.Table) || k.Part < 1 || k.Part > len(k.Columns) {
			return errors.New("a claim that is incomplete")
		}
		for _, c := range k.Columns {
			if !same(c) || !c.Valued() {
				return errors.New("a claim on a column that is not there")
			}
		}
	}
	return nil
}

// conditional makes a set of just what is stored.
func (w *wireCondition) conditional(d *statement.Decoder) (*Conditional, error) {
	s := &layout.Set{
		Name: printable.Line(w.Entity), Stamp: -1, Expiry: -1, Version: -1, Mark: -1, LocalSerial: w.Local,
		Transactional: w.Transactional,
	}
	base := &layout.Table{Name: w.Table, Keyspace: w.Keyspace, Part: w.Part}
	s.Tables = []*layout.Table{base}
	of := make(map[string]int)
	row := make([]cqltype.Value, 0, len(w.Columns)+1)
	for i, c := range w.Columns {
		v, err := c.Value(d)
		if err != nil {
			return nil, err
		}
		if i < w.Key {
			if !statement.FitsKey(v) {
				return nil, statement.ErrKeyValue
			}
			base.Key, base.KeyNames = append(base.Key, i), append(base.KeyNames, c.Name)
		}
		of[c.Name] = i
		row = append(row, *v)
		s.Columns = append(s.Columns, layout.Column{Name: c.Name, CQL: v.Type, Key: i < w.Key})
		base.Columns = append(base.Columns, i)
	}
	if w.Versioned {
		s.Version = len(s.Columns)
		s.Columns = append(s.Columns, layout.Column{Name: w.VersionColumn, CQL: TimeUUID})
		row = append(row, cqltype.Value{Type: TimeUUID})
		base.Columns = append(base.Columns, s.Version)
	}
	s.ID = base.Key // the ID is not stored: what is known of its claim is
	base.Read, base.ColumnNames = base.Columns, s.Names(base.Columns)
	if w.Mark != "" {
		s.Mark = of[w.Mark]
	}
	if err := checkKeys(s, w.Keys, of); err != nil {
		return nil, err
	}
	b := NewBase(s, func(name string) string { return name }, row)
	b.stored = true
	out := &Conditional{Condition: &Condition{
		Entity: s.Name, Kind: w.Kind, Keyspace: w.Keyspace, Table: w.Table,
		PartitionKey: statement.PartitionKey(b.key[:w.Part]),
		Before:       w.Before, Version: w.Version, Keys: bytes.Clone(w.Keys), base: b,
	}}
	out.Key = b.Key()
	if w.Kind != Delete {
		out.Condition.after = row
	}
	before := make([]cqltype.Value, len(row))
	for _, c := range w.Compared {
		v, err := c.Value(d)
		if err != nil {
			return nil, err
		}
		before[of[c.Name]] = *v
		if !w.Versioned {
			s.Compared = append(s.Compared, of[c.Name])
		}
	}
	out.Condition.By = s.Decided()
	if w.Versioned {
		b.before = before
	} else {
		out.Condition.before = before
	}
	var err error
	if out.Claims, err = b.claims(d, w.Claims, of); err != nil {
		return nil, err
	}
	if out.Releases, err = b.claims(d, w.Releases, of); err != nil {
		return nil, err
	}
	return out, out.checkClaims()
}

// checkClaims checks stored claims and releases: of a Unique table a change takes the key that its row has afterwards,
// and gives up one that the row has no more.
func (c *Conditional) checkClaims() error {
	after := c.Condition.after
	for n, list := range [][]*Claim{c.Claims, c.Releases} {
		seen := make(map[string]bool)
		for _, k := range list {
			kept := after != nil && slices.EqualFunc(k.table.KeyOf(after), k.key, func(a, b *cqltype.Value) bool {
				return cqltype.Identical(a.Data, b.Data)
			})
			if seen[k.name()] || kept != (n == 0) || n == 1 && c.Condition.By == layout.Transactional && !c.had(k) {
				return errors.New("a claim of another row")
			}
			seen[k.name()] = true
		}
	}
	return nil
}

// had says whether the before-image of the change has a key.
func (c *Conditional) had(k *Claim) bool {
	b := c.Condition.base
	return slices.EqualFunc(k.table.Key, k.key, func(i int, v *cqltype.Value) bool {
		was := b.before[i]
		if b.Set.Columns[i].Key { // the entity has it for good
			was = b.row[i]
		}
		return was.Type != nil && bytes.Equal(was.Data, v.Data)
	})
}

// checkKeys checks the keys of a stored condition, which [Base.Swap] leaves in the row for other writers: they are
// values of columns of s, a set that was made of what is stored.
func checkKeys(s *layout.Set, keys []byte, of map[string]int) error {
	seen := make(map[string]bool)
	return cutKeys(keys, func(name string, value []byte) error {
		i, ok := of[name]
		if !ok || s.Columns[i].Key || seen[name] || len(value) == 0 || s.Columns[i].CQL.Malformed(value) != "" {
			return errors.New("keys that no row before the change has")
		}
		seen[name] = true
		return nil
	})
}

func (b *Base) claims(d *statement.Decoder, stored []wireClaim, of map[string]int) ([]*Claim, error) {
	var out []*Claim
	for _, w := range stored {
		c := &Claim{Keyspace: w.Keyspace, Table: w.Table, table: &layout.Table{Name: w.Table, Part: w.Part}, base: b}
		for _, column := range w.Columns {
			v, err := column.Value(d)
			if err != nil {
				return nil, err
			}
			if !statement.FitsKey(v) {
				return nil, statement.ErrKeyValue
			}
			c.key = append(c.key, v)
			c.table.Key, c.table.KeyNames = append(c.table.Key, of[column.Name]), append(c.table.KeyNames, column.Name)
		}
		out = append(out, c)
	}
	return out, nil
}
