package tables

import (
	"fmt"
	"io"

	"github.com/denorm-go/denorm/internal/entity"
	"github.com/denorm-go/denorm/internal/statement"
)

// Kind is the verb of a change.
type Kind uint8

// The verbs; see the methods of [Set].
const (
	Insert Kind = Kind(entity.Insert)
	Update Kind = Kind(entity.Update)
	Upsert Kind = Kind(entity.Upsert)
	Delete Kind = Kind(entity.Delete)
	Add    Kind = Kind(entity.Add)
	Patch  Kind = Kind(entity.Patch)
)

func (k Kind) String() string { return entity.Kind(k).String() }

// Change is one verb on one entity, made by a [Set]. Its rows are encoded by the write: what they point to, such as a
// slice, must not change until the write has returned. A row is validated when it is encoded, so the write that carries
// it reports the fault.
//
// A unit test that fakes the writer reads with the methods what the service asked for. A Change is printed and logged
// without values.
type Change struct{ change entity.Change }

// Entity is the name of the set.
func (c Change) Entity() string { return c.change.Entity }

// Kind is the verb.
func (c Change) Kind() Kind { return Kind(c.change.Kind) }

// Before is the row before the change, of the set's row type, and nil if the verb has none.
func (c Change) Before() any { return c.change.Before }

// After is the row of the verb, of the set's row type, and nil for a delete.
func (c Change) After() any { return c.change.After }

// Edits returns the edits of a Patch.
func (c Change) Edits() []Edit {
	var out []Edit
	for _, e := range c.change.Edits {
		out = append(out, Edit{e})
	}
	return out
}

// String is the verb and the entity, without values.
func (c Change) String() string { return c.change.String() }

// Format prints [Change.String] for every verb: a change printed in full would show its rows.
func (c Change) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, c.String()) }

// MarshalText is [Change.String]: a structured logger would show the rows.
func (c Change) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// Internal is what the other packages of this module see of the change; its type has no promise of compatibility.
func (c Change) Internal() entity.Change { return c.change }

// Edit says what a [Set.Patch] does to a column. It is printed and logged without values.
type Edit struct{ edit entity.Edit }

// Column writes what the row holds in the column. An absent value is sent as null. A map, a set or a user-defined type
// that is not frozen is replaced as a whole, which costs a range tombstone.
func Column(name string) Edit { return Edit{entity.Edit{Column: name, Kind: statement.PutColumn}} }

// Elements writes the elements that the row's map or set holds, and leaves the others alone. It costs no tombstone.
// [Without] may remove other elements of the same column in the same patch.
func Elements(name string) Edit { return Edit{entity.Edit{Column: name, Kind: statement.PutElements}} }

// Without removes elements of a map, by key, or of a set. Each costs a tombstone, whether it was there or not.
func Without[K any](name string, keys ...K) Edit {
	e := entity.Edit{Column: name, Kind: statement.RemoveElements}
	for _, k := range keys {
		e.Keys = append(e.Keys, k)
	}
	return Edit{e}
}

// String says what is done to which column.
func (e Edit) String() string { return e.edit.String() }

// Format prints [Edit.String] for every verb: an edit printed in full would show the keys of elements.
func (e Edit) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, e.String()) }

// MarshalText is [Edit.String]: a structured logger would show the keys.
func (e Edit) MarshalText() ([]byte, error) { return []byte(e.String()), nil }
