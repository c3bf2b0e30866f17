package entity

import (
	"errors"
	"reflect"
	"slices"

	"github.com/denorm-go/denorm/internal/cqltype"
	"github.com/denorm-go/denorm/internal/layout"
)

// frozen is what an update uses of a before-image that was encoded before the row was changed, perhaps in place.
type frozen struct {
	image []cqltype.Value
	err   error
	// memory has, by column, those of the others that are behind pointers or in slices and maps, by which the repeat of a
	// write is known.
	memory []cqltype.Value
}

// Freeze encodes at once what the update needs of before, a row of the set, and gives what the change that it is for
// has as Frozen.
func Freeze(s *layout.Set, before any) *frozen {
	if s == nil {
		return nil
	}
	row := reflect.ValueOf(before)
	out := new(frozen)
	if out.image, out.err = imageOf(s, row); out.err != nil || s.Stamp < 0 {
		return out
	}
	for i := range s.Columns {
		if c := &s.Columns[i]; c.Derived != nil || out.image[i].Type != nil || !c.InPlace() {
			continue
		}
		if out.memory == nil {
			out.memory = make([]cqltype.Value, len(s.Columns))
		}
		if v, err := s.Encode(row, i); err == nil { // else the update fails at this column, or is no repeat
			out.memory[i] = v
		}
	}
	return out
}

// image gives the before-image of a change, by column. Of the other columns there is nothing in it.
func (c Change) image() ([]cqltype.Value, error) {
	if c.Frozen != nil {
		return c.Frozen.image, c.Frozen.err
	}
	return imageOf(c.Set, reflect.ValueOf(c.Before))
}

// image encodes what matters of a before-image: its keys, what they follow from, what Compare compares, and what is
// only read.
func imageOf(s *layout.Set, row reflect.Value) ([]cqltype.Value, error) {
	values, err := s.EncodeRow(row, func(i int) bool {
		return s.Columns[i].Key || s.Columns[i].ReadOnly || slices.Contains(s.Compared, i)
	}, none)
	var invalid *layout.InvalidError
	if errors.As(err, &invalid) {
		if invalid.Reason == layout.ZeroKey {
			invalid.Reason += ": pass the row as it was read, not one made of its id alone"
		}
		invalid.Reason = "before-image: " + invalid.Reason
	}
	if err == nil {
		err = s.Derive(values, all)
	}
	return values, err
}
