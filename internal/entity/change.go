// Package entity is a change of an entity as writer and reconcile see it, and what it becomes by its set, which is
// mutations, conditions and claims, in memory and as bytes. It is pure: no I/O, no session, no clock. Package tables is
// its face.
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
	"github.com/denorm-go/denorm/internal/printable"
	"github.com/denorm-go/denorm/internal/statement"
)

// Kind is the verb of a change.
type Kind uint8

// The verbs; see the methods of [layout.Set].
const (
	Insert Kind = iota + 1
	Update
	Upsert
	Delete
	Add
	Patch
)

var kinds = [...]string{
	Insert: "insert", Update: "update", Upsert: "upsert", Delete: "delete", Add: "add",
	Patch: "patch",
}

func (k Kind) String() string {
	return printable.Enum("Kind", k, kinds[:])
}

// Change is what a tables.Change holds. A row is validated when the change is rendered, so that the write that carries
// it reports the fault.
type Change struct {
	Entity        string
	Kind          Kind
	Before, After any    // of the set's row type; nil where the verb has none
	Edits         []Edit // of a Patch
	Set           *layout.Set
	Frozen        *frozen // what is used of Before if it was encoded earlier
}

// String is the verb and the entity, without values.
func (c Change) String() string { return c.Kind.String() + " " + c.Entity }

// Format prints [Change.String] for every verb: a change printed in full would show its rows.
func (c Change) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, c.String()) }

// MarshalText is [Change.String]: a structured logger would show the rows.
func (c Change) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// Valid says whether the change was made by a set.
func (c Change) Valid() bool { return c.Set != nil }

// Conditional says whether the change is of a [Versioned] or [Compare] set, and so rendered by RenderConditional.
func (c Change) Conditional() bool { return c.Set.Conditional() }

// VersionOf is the version of the before-image, zero if there is none.
func (c Change) VersionOf() gocql.UUID {
	if c.Set.Version < 0 || c.Before == nil {
		return gocql.UUID{}
	}
	v, _ := reflect.ValueOf(c.Before).FieldByIndex(c.Set.Columns[c.Set.Version].Index).Interface().(gocql.UUID)
	return v
}

// StampOf is the stamp of the before-image in microseconds, or the time of its version, 0 if there is none. That of a
// patch is in its row.
func (c Change) StampOf() int64 {
	if c.Kind == Patch {
		c.Before = c.After
	}
	if c.Set.Version < 0 && c.Set.Stamp < 0 || c.Before == nil {
		return 0
	}
	if v := c.VersionOf(); c.Set.Version >= 0 {
		if v.Version() != 1 {
			return 0 // rejected when it is rendered
		}
		return v.Time().UnixMicro()
	}
	return reflect.ValueOf(c.Before).FieldByIndex(c.Set.Columns[c.Set.Stamp].Index).Int()
}

// Key is [layout.Set.EntityKey] of the change's row, empty if the row has no valid base key.
func (c Change) Key() string {
	row := c.After
	if row == nil {
		row = c.Before
	}
	encoded, err := c.Set.Identity(row)
	if err != nil {
		return ""
	}
	return c.Set.EntityKey(encoded)
}

// ErrTwice is two changes of one entity in one write, or two Adds of one row.
func ErrTwice(name string, kind Kind) error {
	if kind == Add {
		return fmt.Errorf("entity %s: two Adds of one row in one write: add them up in one Add", name)
	}
	return fmt.Errorf("entity %s: changed twice in one write: make them one change, or write them one after the other",
		name)
}

// Rendered is a change as mutations.
type Rendered struct {
	Mutations []statement.Mutation // by table in declared order; the row's Put before the Removes
	// Key is [layout.Set.EntityKey]: equal for changes of one entity of one set.
	Key string
}

// String says how many mutations there are, without values.
func (r Rendered) String() string { return fmt.Sprintf("%d mutations", len(r.Mutations)) }

// Format prints [Rendered.String] for every verb: printed in full it would show the key.
func (r Rendered) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, r.String()) }

// MarshalText is [Rendered.String]: a structured logger would show the key.
func (r Rendered) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// Render gives the mutations of a valid change at timestamp, in microseconds. keyspace maps the logical keyspace of a
// table to the physical one; nil leaves them as declared. A row that cannot be written is an [*layout.InvalidError].
func (c Change) Render(timestamp int64, keyspace func(string) string) (Rendered, error) {
	if c.Conditional() {
		return Rendered{}, c.Set.Invalid(nil, "",
			"the base row is written by a lightweight transaction: RenderConditional renders that")
	}
	if err := c.CheckVerb(); err != nil {
		return Rendered{}, err
	}
	r := Renderer{
		Set: c.Set, Kind: c.Kind, Timestamp: timestamp, Keyspace: OrDeclared(keyspace),
		At: cqltype.BigInt(timestamp),
	}
	if err := r.read(c); err != nil {
		return Rendered{}, err
	}
	if len(r.Everywhere()) == 0 && c.Set.Counts {
		return Rendered{}, c.Set.Invalid(nil, "", "every counter of the row is zero: there is nothing to add")
	}
	return Rendered{Mutations: r.Out, Key: c.Set.EntityKey(r.row())}, nil
}

// LeastStamp is a time of 1973 in microseconds, and one of the year 5138 in milliseconds: a stamp below it is in
// another unit. One in nanoseconds is ahead of every clock, which a writer rejects.
const LeastStamp = 100_000_000_000_000

// checkStamp rejects a before-image that does not say when it was written, in a set with OneOf, which needs to know,
// and one that was written at the very timestamp of the change.
func (r *Renderer) checkStamp(c Change) error {
	s := r.Set
	if s.Stamp < 0 || c.Before == nil && c.Kind != Patch {
		return nil
	}
	name := s.Columns[s.Stamp].Name
	switch stamp := c.StampOf(); {
	case stamp == r.Timestamp && c.Before != nil && !r.repeats(c):
		return s.Invalid(nil, name, "the before-image was written at the timestamp of this write: for a repeat (writer.At) "+
			"pass the first before-image; else give this write a timestamp of its own")
	case stamp != 0 && stamp < LeastStamp:
		return s.Invalid(nil, name, "the stamp of the before-image is too small for microseconds since the Unix epoch: "+
			"pass Result.Timestamp")
	case stamp == 0 && !s.Unstamped && slices.ContainsFunc(s.Columns, func(c layout.Column) bool {
		return c.Rule == layout.ClosedDomain
	}):
		return s.Invalid(nil, name, "the before-image has no stamp: pass the row as it was read, or with Result.Timestamp "+
			"as its stamp (rows from before the library: declare UnstampedRows)")
	}
	return nil
}

// repeats says whether an update leaves all but the stamp as it is: the repeat of a write that reads what its first try
// has written.
func (r *Renderer) repeats(c Change) bool {
	if c.Kind != Update {
		return false
	}
	for i := range r.Set.Columns {
		col := &r.Set.Columns[i]
		if col.Derived != nil || i == r.Set.Stamp {
			continue
		}
		before := r.Before[i]
		if before.Type == nil && c.Frozen != nil && col.InPlace() {
			if before = c.Frozen.memory[i]; before.Type == nil ||
				!bytes.Equal(before.Type.Ordered(before.Data), before.Type.Ordered(r.After[i].Data)) {
				return false
			}
			continue
		}
		if before.Type == nil { // no key
			row, after := reflect.ValueOf(c.Before), reflect.ValueOf(c.After)
			if reflect.DeepEqual(row.FieldByIndex(col.Index).Interface(), after.FieldByIndex(col.Index).Interface()) {
				continue // also maps, whose bytes are in no order
			}
			var err error
			if before, err = r.Set.Encode(row, i); err != nil {
				return false
			}
		}
		if !bytes.Equal(before.Data, r.After[i].Data) {
			return false
		}
	}
	return true
}

// CheckVerb rejects the verbs that the set does not have.
func (c Change) CheckVerb() error {
	switch {
	case c.Set.Counts && c.Kind != Add:
		return c.Set.Invalid(nil, "", fmt.Sprintf(
			"%s of counters: Add is their only verb, as a counter cannot be set, and once deleted it "+
				"cannot safely be used again", c.Kind))
	case !c.Set.Counts && c.Kind == Add:
		return c.Set.Invalid(nil, "", "Add is for sets of counters, and this set has none")
	}
	return nil
}

// RenderConditional is [Change.Render] for a valid change that is [Change.Conditional]. version is a timeuuid whose time
// is timestamp.
func (c Change) RenderConditional(timestamp int64, version gocql.UUID, keyspace func(string) string) (Conditional,
	error,
) {
	s, before := c.Set, c.VersionOf()
	if err := c.checkConditional(before); err != nil {
		return Conditional{}, err
	}
	if s.Decided() == layout.Versioned {
		version = Linked(version, before)
	}
	r := Renderer{
		Set: s, Kind: c.Kind, Timestamp: timestamp, version: version, Keyspace: OrDeclared(keyspace),
		At: cqltype.BigInt(timestamp),
	}
	if err := r.read(c); err != nil {
		return Conditional{}, err
	}
	cond := &Condition{
		Entity: s.Name, Kind: c.Kind, By: s.Decided(), Before: before, Version: version,
		base: NewBase(s, r.Keyspace, r.row()), after: r.After,
	}
	cond.Keyspace, cond.Table, cond.PartitionKey = cond.base.Place()
	out := Conditional{Condition: cond, Rendered: Rendered{Key: s.EntityKey(r.row())}}
	if s.Version < 0 {
		cond.before = r.Before
		// as a server sees it, which takes 10 and 10.00, or {a, b} and {b, a}, as equal
		if c.Kind == Update && s.Same(s.Compared, r.Before, r.After) {
			return Conditional{}, s.Invalid(nil, s.Columns[s.Compared[0]].Name,
				"an update changes none of the compared columns: its condition would "+
					"still hold once it is applied, and sent again after a lost answer it would undo what came in between")
		}
		return out, nil
	}
	cond.Keys = cond.base.noteImage(r.Before)
	for _, t := range s.Tables[1:] {
		r.table(t)
	}
	out.Mutations = r.Out
	out.Claims, out.Releases = r.claims()
	return out, nil
}

// checkConditional rejects what cannot be decided, with the version of the before-image.
func (c Change) checkConditional(before gocql.UUID) error {
	s := c.Set
	switch {
	case c.Kind != Insert && c.Kind != Update && c.Kind != Delete:
		return s.Invalid(nil, "", "in a set with conditions an entity is inserted, or updated or deleted from a "+
			"before-image: no "+c.Kind.String())
	case s.Transactional && c.Before != nil && before == (gocql.UUID{}):
		return s.Invalid(nil, s.Columns[s.Version].Name,
			"the before-image has no version: pass the row as it was read, or with Result.Version as its version")
	case s.Version >= 0 && c.Before != nil && before == (gocql.UUID{}):
		return s.Invalid(nil, s.Columns[s.Version].Name,
			"the before-image has no version: pass the row as it was read, or with Result.Version as its version (rows from "+
				"before versions: denorm adopt)")
	case s.Version >= 0 && c.Before != nil && before.Version() != 1:
		return s.Invalid(nil, s.Columns[s.Version].Name, "before-image: the version is no version 1 UUID")
	}
	return nil
}
