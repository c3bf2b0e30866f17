package entity

import (
	"errors"
	"reflect"
	"slices"
)

// Freeze encodes at once what the update needs of before, a row of the set, and gives what the change that it is for has as Frozen.
func (s *Set) Freeze(before any) func() ([]Value, error) {
	if s == nil {
		return nil
	}
	image, err := s.image(reflect.ValueOf(before))
	return func() ([]Value, error) { return image, err }
}

// image gives the before-image of a change, by column. Of the other columns there is nothing in it.
func (c Change) image() ([]Value, error) {
	if c.Frozen != nil {
		return c.Frozen()
	}
	return c.Set.image(reflect.ValueOf(c.Before))
}

// image encodes what matters of a before-image: its keys, what they follow from, and what Compare compares.
func (s *Set) image(row reflect.Value) ([]Value, error) {
	values, err := s.encodeRow(row, func(i int) bool { return s.columns[i].key || slices.Contains(s.compare, i) }, none)
	var invalid *InvalidError
	if errors.As(err, &invalid) {
		if invalid.Reason == zeroKey {
			invalid.Reason += ": pass the row as it was read, not one made of its id alone"
		}
		invalid.Reason = "before-image: " + invalid.Reason
	}
	if err == nil {
		err = s.derive(values, all)
	}
	return values, err
}
