// Package entity is a change of an entity as writer and reconcile see it, and what it becomes by its set, which is
// mutations, conditions and claims, in memory and as bytes. It is pure: no I/O, no session, no clock. Package tables is
// its face.
package entity

import (
	"fmt"
	"io"

	"github.com/denorm-go/denorm/internal/layout"
	"github.com/denorm-go/denorm/internal/printable"
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

// Decided is how the change is decided.
func (c Change) Decided() layout.Decided { return c.Set.Decided() }

// Atomic says whether the set was declared [Atomic].
func (c Change) Atomic() bool { return c.Set != nil && c.Set.Atomic }
