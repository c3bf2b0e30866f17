package entity

import (
	"bytes"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/internal/cqltype"
	"github.com/denorm-go/denorm/internal/layout"
	"github.com/denorm-go/denorm/internal/statement"
)

// Renderer makes the mutations of one change, from the values of its rows.
type Renderer struct {
	Set       *layout.Set
	Kind      Kind
	Timestamp int64
	version   gocql.UUID // of a Versioned set
	Keyspace  func(string) string

	Before, After []cqltype.Value // by column; nil where the verb has none
	patch         []patched       // of a Patch: by column
	At, below     *cqltype.Value  // the timestamp, and one microsecond less
	// the entity may exist: absent values are sent as null, and its rows under other keys removed
	replacing bool
	expiresAt int64 // milliseconds, 0 is never

	Out  []statement.Mutation
	args []any // backing store of the Args
}

// String says of which set it renders a change.
func (r Renderer) String() string { return r.Kind.String() + " " + r.Set.Name }

// Format prints [Renderer.String] for every verb: printed in full it would show the row.
func (r Renderer) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, r.String()) }

// MarshalText is [Renderer.String].
func (r Renderer) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// read encodes the rows of a change, if it is valid.
func (r *Renderer) read(c Change) error {
	encode := r.encode
	if c.Kind == Patch {
		encode = r.encodePatch
	}
	if err := encode(c); err != nil {
		return err
	}
	if err := r.Check(); err != nil {
		return err
	}
	return r.checkStamp(c)
}

func (r *Renderer) encode(c Change) (err error) {
	s := r.Set
	if c.After != nil {
		own := func(i int) bool { return i != s.Stamp && i != s.Version && i != s.Mark }
		if r.After, err = s.EncodeRow(reflect.ValueOf(c.After), own, all); err != nil {
			return err
		}
		r.fill()
	}
	if c.Before != nil {
		r.Before, err = c.image()
	}
	return err
}

// fill sets the columns whose values are not those of the row.
func (r *Renderer) fill() {
	s := r.Set
	if s.Stamp >= 0 {
		r.After[s.Stamp] = *r.At
	}
	for _, i := range []int{s.Version, s.Mark} {
		if i >= 0 {
			r.After[i] = cqltype.Value{Type: s.Columns[i].CQL, Data: r.version.Bytes()}
		}
	}
}

func all(int) bool { return true }

func none(int) bool { return false }

// Check holds the change against the declaration and decides how it is rendered.
func (r *Renderer) Check() error {
	s := r.Set
	if r.Kind == Upsert && !s.SweepInserts {
		for i := range s.Columns {
			if s.Columns[i].Rule == layout.ClosedDomain {
				return s.Invalid(nil, s.Columns[i].Name,
					"a blind Upsert leaves the row under its former key behind: declare SweepInserts(), or Update from a before-image")
			}
		}
	}
	for i := range s.Columns {
		c := &s.Columns[i]
		if !c.Key || c.Derived != nil {
			continue
		}
		if err := r.checkKey(i, c); err != nil {
			return err
		}
	}
	for _, row := range [][]cqltype.Value{r.Before, r.After} {
		for _, t := range s.Tables {
			if err := r.checkRotated(t, row); err != nil {
				return err
			}
			if size := t.PartitionSize(row); size > statement.MaxKeyBytes {
				return s.Invalid(t, "", fmt.Sprintf("a partition key holds at most %d bytes, this one %d", statement.MaxKeyBytes,
					size))
			}
		}
	}
	if err := r.checkReadOnly(); err != nil {
		return err
	}
	for n, t := range s.Tables {
		err := checkKey(s, t, r.After)
		if n == 0 && err == nil { // a before-image that a query table could not hold has no row in it: see removes
			err = checkKey(s, t, r.Before)
		}
		if err != nil {
			return err
		}
	}
	r.replacing = r.Kind != Insert || s.SweepInserts
	if r.After == nil {
		return nil
	}
	if s.Expiry >= 0 {
		r.expiresAt = expiryOf(&r.After[s.Expiry])
		if r.expiresAt-r.Timestamp/1000 > statement.MaxTTL*1000 {
			return s.Invalid(nil, s.Columns[s.Expiry].Name, "expires more than 20 years from now, which is Cassandra's limit")
		}
	}
	return nil
}

func (r *Renderer) checkKey(i int, c *layout.Column) error {
	s := r.Set
	if c.Rule == layout.Immutable && r.Before != nil && r.After != nil && !bytes.Equal(r.Before[i].Data, r.After[i].Data) {
		if s.Identifies(i) {
			return s.Invalid(nil, c.Name, "the base key identifies the entity and cannot change: Delete the one and Insert "+
				"the other")
		}
		return s.Invalid(nil, c.Name, "a key column is immutable unless the set says how it may change: "+
			"OneOf (a list of values), SingleWriter (one writer at a time) or Versioned (any value)")
	}
	if c.Rule == layout.SingleWriter && r.Kind == Upsert {
		return s.Invalid(nil, c.Name, "a SingleWriter column moves by its before-image, which an Upsert does not have")
	}
	if c.Rule != layout.ClosedDomain {
		return nil
	}
	if r.Before != nil && !InDomain(c, &r.Before[i]) {
		return s.Invalid(nil, c.Name, "before-image: the value is not one of those declared by OneOf")
	}
	if r.After != nil && !InDomain(c, &r.After[i]) {
		return s.Invalid(nil, c.Name, "the value is not one of those declared by OneOf")
	}
	return nil
}

// InDomain says whether a column may have the value by its OneOf. Absent is always allowed.
func InDomain(c *layout.Column, v *cqltype.Value) bool {
	absent := v.Data == nil // only a pointer column can be
	return absent || slices.ContainsFunc(c.Domain, func(of *cqltype.Value) bool { return bytes.Equal(of.Data, v.Data) })
}

// checkKey rejects a row whose key Cassandra would reject in t, when other tables have it: one that was read with a
// value that a write may not give a key column, or one whose clustering columns are too long together. A lightweight
// transaction does not look at the length, and the statements that follow it fail.
func checkKey(s *layout.Set, t *layout.Table, row []cqltype.Value) error {
	size := 0
	for k, i := range t.Key {
		if row == nil || row[i].Data == nil {
			return nil // no row in this table
		}
		if k >= t.Part {
			size += len(row[i].Data)
		}
	}
	if only := row[t.Key[0]].Data; t.Part == 1 && !layout.Holdable(only) {
		return s.Invalid(t, t.KeyNames[0],
			fmt.Sprintf("a partition key holds 1 to %d bytes, in this row %d: correct the base row", statement.MaxKeyBytes,
				len(only)))
	}
	if size <= statement.MaxKeyBytes {
		return nil
	}
	return s.Invalid(t, "", fmt.Sprintf(
		"the clustering columns %s hold at most %d bytes together, in this row %d: make the values shorter, or "+
			"take a column out of the SortKey", strings.Join(t.KeyNames[t.Part:], ", "), statement.MaxKeyBytes, size))
}

// checkRotated rejects a row that no table can be named for.
func (r *Renderer) checkRotated(t *layout.Table, row []cqltype.Value) error {
	if t.Rotation == nil || row == nil {
		return nil
	}
	i := t.Rotation.Clock
	if _, err := t.Rotation.Versions[0].Bucket.Text(row[i].Instant()); err != nil {
		return r.Set.Invalid(t, r.Set.Columns[i].Name, err.Error())
	}
	return nil
}

// readOnly is the reason for which a value of a column of ReadOnly is rejected.
const readOnly = "is ReadOnly, and the change gives it another value: leave it as it was read, or copy it into a " +
	"frozen column (denorm adopt --copy)"

// checkReadOnly rejects a change that would have to write a column of ReadOnly: one that gives it a value, and one that
// moves a row which has it. What the row holds does not matter to a move, as other code may have written the list since
// it was read.
func (r *Renderer) checkReadOnly() error {
	s := r.Set
	for i := range s.Columns {
		c := &s.Columns[i]
		if !c.ReadOnly || r.After == nil {
			continue
		}
		var before []byte
		if r.Before != nil {
			before = r.Before[i].Data
		}
		if !cqltype.Identical(before, r.After[i].Data) {
			return s.Invalid(nil, c.Name, readOnly)
		}
		for _, t := range s.Tables {
			moves := slices.ContainsFunc(t.Key, func(k int) bool {
				return r.Before != nil && !bytes.Equal(r.Before[k].Data, r.After[k].Data)
			})
			if moves && slices.Contains(t.Read, i) && statement.Present(t.KeyOf(r.After)) {
				return s.Invalid(t, c.Name, "is ReadOnly, and the change moves the row, which would lose it: leave it out of the "+
					"Columns of this table, or "+
					"copy it into a frozen column (denorm adopt --copy)")
			}
		}
	}
	return nil
}

// OrDeclared is a map of keyspaces, or that which leaves them as declared.
func OrDeclared(keyspace func(string) string) func(string) string {
	if keyspace == nil {
		return func(name string) string { return name }
	}
	return keyspace
}
