package tables

import (
	"fmt"
	"io"

	"github.com/denorm-go/denorm/internal/each"
	"github.com/denorm-go/denorm/internal/entity"
	"github.com/denorm-go/denorm/internal/statement"
)

// Kind names the verb of a change.
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

// Change is one verb on one entity, made by a [Set]. The write encodes its rows: do not modify what they point to, such
// as a slice, until the write has returned. The write also validates the rows, and reports their faults.
//
// In a unit test with a fake writer, the methods show what the service asked for. A Change is printed and logged
// without values.
type Change struct{ change entity.Change }

// Entity returns the name of the set.
func (c Change) Entity() string { return c.change.Entity }

// Kind returns the verb.
func (c Change) Kind() Kind { return Kind(c.change.Kind) }

// Before returns the row before the change, of the set's row type; nil if the verb takes none.
func (c Change) Before() any { return c.change.Before }

// After returns the row to write, of the set's row type; nil for a delete.
func (c Change) After() any { return c.change.After }

// Edits returns the edits of a Patch.
func (c Change) Edits() []Edit {
	return each.Of(c.change.Edits, func(e entity.Edit) Edit { return Edit{e} })
}

// String returns the verb and the entity.
func (c Change) String() string { return c.change.String() }

// Format prints [Change.String] for every format of fmt.
func (c Change) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, c.String()) }

// MarshalText returns [Change.String], for structured loggers.
func (c Change) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// Internal is for the other packages of this module. Its type has no promise of compatibility.
func (c Change) Internal() entity.Change { return c.change }

// Edit says what a [Set.Patch] does to a column. It is printed and logged without values.
type Edit struct{ edit entity.Edit }

// Column writes the row's value in the column, as null if it is absent. A map, a set or a user-defined type that is not
// frozen is replaced as a whole, which costs a range tombstone.
func Column(name string) Edit { return Edit{entity.Edit{Column: name, Kind: statement.PutColumn}} }

// Elements writes the elements that the row's map or set holds, and leaves other elements alone. It costs no tombstone.
// The same patch may remove other elements of the column by [Without].
func Elements(name string) Edit { return Edit{entity.Edit{Column: name, Kind: statement.PutElements}} }

// Without removes elements of a map, by key, or of a set. Each costs a tombstone, even if there is no such element.
func Without[K any](name string, keys ...K) Edit {
	values := each.Of(keys, func(k K) any { return k })
	return Edit{entity.Edit{Column: name, Kind: statement.RemoveElements, Keys: values}}
}

// String returns the column and what is done to it.
func (e Edit) String() string { return e.edit.String() }

// Format prints [Edit.String] for every format of fmt.
func (e Edit) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, e.String()) }

// MarshalText returns [Edit.String], for structured loggers.
func (e Edit) MarshalText() ([]byte, error) { return []byte(e.String()), nil }
