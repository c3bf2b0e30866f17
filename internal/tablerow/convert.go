package tablerow

import (
	"bytes"
	"reflect"
	"slices"

	"github.com/denorm-go/denorm/internal/layout"
	"github.com/denorm-go/denorm/internal/undecoded"
	"github.com/gocql/gocql"
)

// Convert is the value of a column as one of another column, whose Go type fits it; nil for null. A set has each
// element once.
func (r Row) Convert(from, to string) ([]byte, error) {
	data, _ := r.Value(from)
	if data == nil {
		return nil, nil
	}
	of, into := r.layout.Column(from), r.layout.Column(to)
	field := reflect.New(layout.Deref(into.Go))
	if err := undecoded.Decode(from, of.CQL.Info(), data, field.Interface()); err != nil {
		return nil, err
	}
	data, err := layout.EncodeAs(into, field.Elem())
	if err != nil || data == nil || into.CQL.Kind() != gocql.TypeSet {
		return data, err
	}
	parts, ok := into.CQL.Parts(into.CQL.Ordered(data))
	if !ok {
		return data, nil
	}
	return into.CQL.Join(slices.CompactFunc(parts, bytes.Equal)), nil
}

// Fillable says whether values may be put into a column of the table by themselves: it is written, in no key and not
// compared, and the library does not fill it.
func Fillable(l Layout, column string) bool {
	c, s := l.Column(column), l.Set
	filled := append(s.Names(s.Compared), s.NameOf(s.Stamp), s.NameOf(s.Version), s.NameOf(s.Mark))
	return c != nil && !c.ReadOnly && !c.Key && !slices.Contains(filled, column)
}

// Holds says whether the server takes a value of a column of the row as equal to this one.
func (r Row) Holds(column string, value []byte) bool {
	data, _ := r.Value(column)
	return r.layout.Column(column).CQL.Same(data, value)
}
