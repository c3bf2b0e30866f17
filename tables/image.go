package tables

import (
	"errors"
	"reflect"
	"slices"
)

// Updating is [Set.Update] in two steps: what it needs of before is encoded at once, and the function that it returns takes the
// row afterwards. So after may be made by changing before in place: the memory that the two share, behind pointers, slices and
// maps, does not change what the row was.
func (s *Set[T]) Updating(before T) func(after T) Change {
	if s.empty() {
		return func(after T) Change { return s.Update(before, after) }
	}
	image, err := s.def.image(reflect.ValueOf(before))
	return func(after T) Change {
		c := s.Update(before, after)
		c.frozen = &frozen{image, err}
		return c
	}
}

// frozen is the before-image of a change, encoded before the row afterwards was made.
type frozen struct {
	values []Value
	err    error
}

// image gives the before-image of a change, by column. Of the other columns there is nothing in it.
func (c Change) image() ([]Value, error) {
	if c.frozen != nil {
		return c.frozen.values, c.frozen.err
	}
	return c.set.image(reflect.ValueOf(c.Before))
}

// image encodes what matters of a before-image: its keys, what they follow from, and what Compare compares.
func (s *set) image(row reflect.Value) ([]Value, error) {
	values := make([]Value, len(s.columns))
	for i := range s.columns {
		if c := &s.columns[i]; c.derived != nil || !c.key && !slices.Contains(s.compare, i) {
			continue
		}
		v, err := s.encode(row, i)
		if err != nil {
			var invalid *InvalidError
			if errors.As(err, &invalid) {
				invalid.Reason = "before-image: " + invalid.Reason
			}
			return nil, err
		}
		values[i] = v
	}
	return values, s.derive(values, all)
}
