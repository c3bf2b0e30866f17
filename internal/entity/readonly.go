package entity

import (
	"bytes"
	"slices"

	"github.com/denorm-go/denorm/internal/cqltype"
	"github.com/denorm-go/denorm/internal/statement"
)

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
