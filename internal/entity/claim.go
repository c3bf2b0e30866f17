package entity

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/internal/cqltype"
	"github.com/denorm-go/denorm/internal/layout"
	"github.com/denorm-go/denorm/internal/statement"
)

// Claim is one key of one [Table.Unique] table, and the entity that wants it. It is immutable.
type Claim struct {
	Keyspace, Table string // physical

	table *layout.Table
	base  *Base
	key   []*cqltype.Value
}

// claims are the keys of Unique tables that the change takes, and those that it gives up.
func (r *Renderer) claims() (taken, freed []*Claim) {
	for _, t := range r.Set.Unique {
		before, after := r.claim(t, r.Before), r.claim(t, r.After)
		if before != nil && after != nil && before.Key() == after.Key() {
			continue
		}
		if after != nil {
			taken = append(taken, after)
		}
		if before != nil {
			freed = append(freed, before)
		}
	}
	return taken, freed
}

// claim is the claim of row in a Unique table, nil if row is nil or has no key there.
func (r *Renderer) claim(t *layout.Table, row []cqltype.Value) *Claim {
	if row == nil {
		return nil
	}
	key := t.KeyOf(row)
	if !statement.Present(key) {
		return nil
	}
	return NewClaim(t, key, NewBase(r.Set, r.Keyspace, row))
}

// ClaimsID says whether an entity is inserted in a Versioned set whose ID is not all of the base key, and the change
// claims the ID, or a part of it: only the claim is in the way of two entities with the ID at a time.
func (c *Conditional) ClaimsID() bool {
	s := c.Condition.base.Set
	return c.Condition.Kind == Insert && c.Condition.By == layout.Versioned && len(s.ID) < len(s.Tables[0].Key) &&
		slices.ContainsFunc(c.Claims, (*Claim).OfID)
}

// OfID says whether the key is the ID of the set, or a part of it. Entities that have it one after the other may share
// rows of query tables.
func (c *Claim) OfID() bool {
	beyond := func(i int) bool { return !slices.Contains(c.base.Set.ID, i) }
	return !slices.ContainsFunc(c.table.Key, beyond)
}

// NewClaim is the claim of an entity, by its base row, to a key of a Unique table.
func NewClaim(t *layout.Table, key []*cqltype.Value, base *Base) *Claim {
	return &Claim{
		Keyspace: base.physical(t.Keyspace), Table: t.Name, table: t, key: key, base: base,
	}
}

// PartitionKey is the encoded partition key.
func (c *Claim) PartitionKey() []byte { return statement.PartitionKey(c.key[:c.table.Part]) }

// Key is the encoded key: equal for claims of one key of one table.
func (c *Claim) Key() string { return statement.EncodedKey(c.key) }

// Self is the encoded base key of the entity that wants it.
func (c *Claim) Self() string { return c.base.Key() }

func (c *Claim) name() string { return statement.Qualified(c.Keyspace, c.Table) }

func (c *Claim) where() statement.Terms { return statement.KeyTerms(c.table.KeyNames, c.key) }

// ownerNames are the columns that hold the base key.
func (c *Claim) ownerNames() []string { return c.base.Set.Tables[0].KeyNames }

// Take is the lightweight transaction that takes a key without an owner.
func (c *Claim) Take(token gocql.UUID) statement.Bound {
	names, args := c.row()
	return statement.InsertNew(c.name(), append(names, layout.Token.Name), append(args, cqltype.TimeUUID(token)))
}

// row is the row that says who has the key, without a token.
func (c *Claim) row() (names []string, args []any) {
	names, args = slices.Clone(c.table.KeyNames), statement.AppendArgs(nil, c.key)
	for k, name := range c.ownerNames() {
		if !slices.Contains(names, name) {
			names, args = append(names, name), append(args, c.base.key[k])
		}
	}
	return names, args
}

// Replace is the one that takes a key over whose token is seen.
func (c *Claim) Replace(token, seen gocql.UUID) statement.Bound {
	var set statement.Terms
	for k, name := range c.ownerNames() {
		if !slices.Contains(c.table.KeyNames, name) {
			set.Equal(name, c.base.key[k])
		}
	}
	set.Equal(layout.Token.Name, cqltype.TimeUUID(token))
	return statement.Bound{Text: "UPDATE " + c.name()}.Set(set).Where(c.where()).OnlyIf(tokenIs(seen))
}

// Free is the one that gives a key up whose token is seen.
func (c *Claim) Free(seen gocql.UUID) statement.Bound {
	return statement.Bound{Text: "DELETE FROM " + c.name()}.Where(c.where()).OnlyIf(tokenIs(seen))
}

// tokenIs is the condition of a token that was seen. A row that other code has made has none.
func tokenIs(seen gocql.UUID) (t statement.Terms) {
	if seen == (gocql.UUID{}) {
		t.Null(layout.Token.Name)
		return t
	}
	t.Equal(layout.Token.Name, cqltype.TimeUUID(seen))
	return t
}

// Holder is who has the key of a claim.
type Holder struct {
	Token gocql.UUID
	Own   bool  // it is the entity of the claim
	Base  *Base // of the holder
}

// Select reads who has the key. dest is what to scan it into; holder gives what was scanned.
func (c *Claim) Select() (s statement.Bound, dest []any, holder func() Holder) {
	names := append(slices.Clone(c.ownerNames()), layout.Token.Name)
	raw := make([]rawValue, len(c.base.key))
	for k := range raw {
		dest = append(dest, &raw[k])
	}
	var out Holder
	dest = append(dest, &out.Token)
	s = statement.Bound{Text: "SELECT " + strings.Join(names, ", ") + " FROM " + c.name()}.Where(c.where())
	return s, dest, func() Holder {
		out.Own = true
		row := make([]cqltype.Value, len(c.base.Set.Columns))
		for k, i := range c.base.Set.Tables[0].Key {
			row[i] = cqltype.Value{Type: c.base.Set.Columns[i].CQL, Data: raw[k].Data}
			out.Own = out.Own && row[i].Type.Same(raw[k].Data, c.base.key[k].Data)
		}
		out.Base = NewBase(c.base.Set, c.base.physical, row)
		out.Base.stored = c.base.stored
		if c.base.whole != nil {
			set := c.base.whole.Set
			out.Base.within(set, c.base.whole.physical, make([]cqltype.Value, len(set.Columns)))
		}
		return out
	}
}

// Holds says whether an entity with the given base row has the key of the claim, be it in the bytes of a declaration
// with fewer fields.
func (c *Claim) Holds(row Row) bool {
	return row.Present && slices.EqualFunc(c.key, c.table.KeyOf(row.Values), func(key, of *cqltype.Value) bool {
		return key.Type.Same(of.Data, key.Data)
	})
}

// Format prints the table for every verb: printed in full a claim would show its key.
func (c Claim) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, c.String()) }

// String says in which table the key is.
func (c Claim) String() string { return "claim in " + c.name() }

// MarshalText is [Claim.String]: a structured logger would show the key.
func (c Claim) MarshalText() ([]byte, error) { return []byte(c.String()), nil }
