package bulk

import (
	"reflect"
	"time"

	"github.com/denorm-go/denorm/internal/entity"
	"github.com/denorm-go/denorm/internal/layout"
	"github.com/denorm-go/denorm/internal/planned"
)

// This file estimates what rows take in memory.

// measure notes what the rows of an entry take, with its plan.
func (e *entry) measure(w planned.Write) {
	for n := range w.Requests {
		e.bytes += w.Requests[n].Size()
	}
	var condition int
	if w.Decision != nil {
		for _, m := range w.Decision.Mutations {
			e.bytes += m.Size()
		}
		if row := w.Decision.First().After(); row != nil {
			for i := range row.Values {
				condition += len(row.Values[i].Data)
			}
		}
	}
	e.held = e.bytes + condition + unsent(e.Change.Internal())
	for n := range w.Counters {
		e.held += w.Counters[n].Size()
	}
}

// unsent is what those rows of a change take of which not all is sent: the before-image, and the row of a Patch. The
// change has them in full.
func unsent(c entity.Change) int {
	if !c.Valid() {
		return 0
	}
	size := memory(c.Set, c.Before)
	if c.Kind == entity.Patch {
		size += memory(c.Set, c.After)
	}
	return size
}

// memory is what the columns of a row take, 0 if it is nil.
func memory(s *layout.Set, row any) (size int) {
	if row == nil {
		return 0
	}
	v := reflect.ValueOf(row)
	for i := range s.Columns {
		if c := &s.Columns[i]; c.Derived == nil {
			field := v.FieldByIndex(c.Index)
			size += int(field.Type().Size()) + referred(field, mostReferred)
		}
	}
	return size
}

// mostReferred bounds how far references are followed: a type of the service may refer to itself.
const mostReferred = 16

// referred is what a value takes alongside its own size, without allocating, unless there are maps in it.
func referred(v reflect.Value, most int) (size int) {
	if most == 0 {
		return 0
	}
	switch v.Kind() {
	case reflect.String:
		return v.Len()
	case reflect.Slice, reflect.Array:
		elem := v.Type().Elem()
		if v.Kind() == reflect.Slice {
			size = v.Len() * int(elem.Size())
		}
		if elem.Kind() < reflect.Array { // numbers, as of a blob
			return size
		}
		for i := range v.Len() {
			size += referred(v.Index(i), most-1)
		}
	case reflect.Map:
		size = v.Len() * int(v.Type().Key().Size()+v.Type().Elem().Size())
		for r := v.MapRange(); r.Next(); {
			size += referred(r.Key(), most-1) + referred(r.Value(), most-1)
		}
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			size = int(v.Elem().Type().Size()) + referred(v.Elem(), most-1)
		}
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() { // all refer to the same few locations
			return 0
		}
		for i := range v.NumField() {
			size += referred(v.Field(i), most-1)
		}
	}
	return size
}
