package entity

import (
	"bytes"
	"fmt"
	"io"
	"reflect"
	"slices"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/internal/cqltype"
	"github.com/denorm-go/denorm/internal/layout"
	"github.com/denorm-go/denorm/internal/statement"
)

// This file has the conditions of changes whose base row is written by lightweight transactions: their statements. What
// is sent when is the writer's business.

// Condition is a change of a base row that is made by a lightweight transaction. It does not change once it is part of
// a plan.
type Condition struct {
	Entity          string
	Kind            Kind
	Keyspace, Table string // physical
	PartitionKey    []byte
	By              layout.Decided

	// Before is the version of the before-image, zero for an insert; Version is that of the row afterwards. Both are of
	// versioned sets.
	Before, Version gocql.UUID
	// Keys are the before-image's.
	Keys Keys

	base   *Base
	after  []cqltype.Value // by column; nil for a delete
	before []cqltype.Value // of a set with Compare: by column
}

// Conditional is a change rendered: first the condition, then the mutations, which are of the query tables alone.
type Conditional struct {
	Rendered
	Condition *Condition
	// Claims are the keys of Unique tables that the change takes, and Releases those that it gives up.
	Claims, Releases []*Claim
}

// SetVersion gives the rows of a change another version. The change was just rendered, and nothing of it was sent,
// stored or copied.
func (c *Conditional) SetVersion(version gocql.UUID) {
	s := c.Condition.base.Set
	if c.Condition.By == layout.Versioned {
		version = Linked(version, c.Condition.Before)
	}
	c.Condition.Version = version
	for _, i := range []int{s.Version, s.Mark} {
		if i >= 0 && c.Condition.after != nil {
			c.Condition.after[i].Data = version.Bytes() // the statements point to it
		}
	}
}

// Unimaged is the change without what its before-image says of the columns that keys follow from. It gives up only keys
// that row has, in the same bytes: in others it may be that of another entity.
func (c *Conditional) Unimaged(row Row) *Conditional {
	next, condition := *c, *c.Condition
	condition.base = condition.base.Unimaged()
	next.Condition = &condition
	next.Releases = slices.DeleteFunc(slices.Clone(c.Releases), func(k *Claim) bool {
		key := k.table.KeyOf(row.Values)
		return !statement.Present(key) || statement.EncodedKey(key) != k.Key()
	})
	return &next
}

// Base is the row that the condition is about.
func (c *Condition) Base() *Base { return c.base }

// After is the row that the condition makes, as [Base.Swap] takes it. It is nil for a delete.
func (c *Condition) After() *Row {
	if c.after == nil {
		return nil
	}
	return &Row{Version: c.Version, Present: true, Values: c.after, added: c.Kind == Insert}
}

// Swap is the change in a Versioned set.
func (c *Condition) Swap() Swap {
	return Swap{Before: c.Before, Live: c.Kind != Insert, Version: c.Version, After: c.After(), Keys: c.Keys}
}

// Compare is the lightweight transaction of a change in a set with Compare.
func (c *Condition) Compare() statement.Bound {
	b := c.base
	t := b.Set.Tables[0]
	if c.Kind == Insert {
		args := make([]any, len(t.Columns))
		for n, i := range t.Columns {
			args[n] = bound(&c.after[i], false)
		}
		return statement.InsertNew(b.table(), t.ColumnNames, args)
	}
	var compared statement.Terms
	for _, i := range b.Set.Compared {
		compared.Equal(b.Set.Columns[i].Name, &c.before[i])
	}
	change := statement.Bound{Text: "DELETE FROM " + b.table()}
	if c.Kind == Update {
		var set statement.Terms
		for _, i := range b.Set.Regular() {
			set.Equal(b.Set.Columns[i].Name, &c.after[i])
		}
		change = statement.Bound{Text: "UPDATE " + b.table()}.Set(set)
	}
	return change.Where(b.where()).OnlyIf(compared)
}

// Holds says whether row, or nil for none, is as the condition of a change in a set with Compare wants it: whether the
// server takes the compared columns as equal, as it does 10 and 10.00.
func (c *Condition) Holds(row *Row) bool {
	if row == nil || c.Kind == Insert {
		return row == nil && c.Kind == Insert
	}
	return c.base.Set.Same(c.base.Set.Compared, c.before, row.Values)
}

// Null is the first compared column that is null in row, where the before-image has what a null is read as: the zero
// value of a field that cannot be nil. A change that is made from row cannot hold then. Null is "" without such a column.
func (c *Condition) Null(row *Row) string {
	if row == nil || c.Kind == Insert {
		return ""
	}
	decoded, err := c.base.Decode(*row)
	if err != nil {
		return ""
	}
	image, err := imageOf(c.base.Set, reflect.ValueOf(decoded))
	for _, i := range c.base.Set.Compared {
		null := row.Values[i].Data == nil
		if err == nil && null && image[i].Data != nil && cqltype.Identical(image[i].Data, c.before[i].Data) {
			return c.base.Set.Columns[i].Name
		}
	}
	return ""
}

// Own says whether row was made by this very change, as its [Mark] tells.
func (c *Condition) Own(row Row) bool {
	i := c.base.Set.Mark
	return i >= 0 && bytes.Equal(row.Values[i].Data, c.Version.Bytes())
}

// Statements are the CQL texts of the condition.
func (c *Condition) Statements() []string {
	if c.By == layout.Compared {
		return []string{c.Compare().Text}
	}
	var out []string
	for _, s := range c.base.Swap(c.Swap()) {
		out = append(out, s.Text)
	}
	return out
}

// String says what the condition is about, without values.
func (c Condition) String() string {
	return c.Kind.String() + " " + statement.Qualified(c.Keyspace, c.Table)
}

// Format prints [Condition.String] for every verb: printed in full it would show keys.
func (c Condition) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, c.String()) }

// MarshalText is [Condition.String]: a structured logger would show keys.
func (c Condition) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// String says how many mutations and claims there are.
func (c Conditional) String() string {
	return fmt.Sprintf("condition, %d mutations, %d claims, %d releases", len(c.Mutations), len(c.Claims), len(c.Releases))
}

// Format prints [Conditional.String] for every verb.
func (c Conditional) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, c.String()) }

// MarshalText is [Conditional.String]: a structured logger would show keys. What is stored is MarshalBinary's.
func (c Conditional) MarshalText() ([]byte, error) { return []byte(c.String()), nil }
