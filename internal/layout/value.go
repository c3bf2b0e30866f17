package layout

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"reflect"
	"time"

	"github.com/denorm-go/denorm/internal/cqltype"
	"github.com/denorm-go/denorm/internal/statement"
	"github.com/gocql/gocql"
)

// MarshalerType is what values implement that encode themselves.
var MarshalerType = reflect.TypeFor[gocql.Marshaler]()

// Encode reads column i of row and encodes it. Null is what the set calls absent. A bound key must have a value.
func (s *Set) Encode(row reflect.Value, i int) (cqltype.Value, error) {
	c := &s.Columns[i]
	v := cqltype.Value{Type: c.CQL}
	data, err := encodeField(c, row.FieldByIndex(c.Index))
	if err != nil {
		return v, s.Invalid(nil, c.Name, err.Error())
	}
	v.Data = data
	if c.Key {
		if reason := KeyFault(c, data); reason != "" {
			return v, s.Invalid(nil, c.Name, reason)
		}
	}
	return v, nil
}

// encodeField encodes a field of column c. A nil pointer is null. The texts of its errors hold no value.
func encodeField(c *Column, field reflect.Value) ([]byte, error) {
	if field.Kind() == reflect.Pointer {
		if field.IsNil() {
			return nil, nil
		}
		if !c.Marshals {
			field = field.Elem()
		}
	}
	encode := EncodeLeaf
	if c.Composed {
		encode = func(t *cqltype.Type, value any) ([]byte, error) { return EncodeParts(t, reflect.ValueOf(value)) }
	}
	data, err := encode(c.CQL, field.Interface())
	if err != nil || data == nil {
		return nil, err
	}
	if c.Aliases {
		data = bytes.Clone(data)
	}
	if c.Key && c.CQL.ZeroUUID(data) {
		return nil, errors.New(ZeroKey)
	}
	if reason := c.CQL.Malformed(data); reason != "" {
		return nil, errors.New(reason)
	}
	if c.CQL.MultiCell() && (c.CQL.User() == nil && len(data) == 4 || c.CQL.User() != nil && cqltype.AllNull(data)) {
		return nil, nil // an empty non-frozen collection and none are the same in Cassandra, as is a value of null fields
	}
	return data, nil
}

// holds says whether a time is in the range of a timestamp or date. The driver counts on into other times without an
// error.
func holds(kind gocql.Type, t time.Time) bool {
	seconds := t.Unix()
	switch kind {
	case gocql.TypeTimestamp: // milliseconds, in 64 bits
		return time.UnixMilli(t.UnixMilli()).Unix() == seconds
	case gocql.TypeDate: // days, in 32
		days := FloorDiv(seconds, int64(day/time.Second))
		return days >= math.MinInt32 && days <= math.MaxInt32
	}
	return true
}

// KeyFault says why data, which is not malformed, is no value of a key column, or "".
func KeyFault(c *Column, data []byte) string {
	switch {
	case data == nil && c.Go.Kind() == reflect.Pointer:
		return "" // no row in the tables keyed by it
	case data == nil && c.IsTime:
		return "a key column must not be the zero time"
	case len(data) == 0:
		return "a key column must not be empty"
	case len(data) > statement.MaxKeyBytes:
		return fmt.Sprintf("a key column holds at most %d bytes, this one %d", statement.MaxKeyBytes, len(data))
	case c.CQL.ZeroUUID(data):
		return ZeroKey
	case c.CQL.HoldsNaN(data):
		return "a key column must not be NaN: there are many of them in bytes, and as clustering key they are one row, so " +
			"a move between two would erase it"
	}
	return ""
}

// ZeroKey is the reason for which a zero UUID in a key is rejected.
const ZeroKey = "a key column must not be the zero UUID"

// Deref is the type that a pointer points to, and t itself if it is none.
func Deref(t reflect.Type) reflect.Type {
	if t.Kind() == reflect.Pointer {
		return t.Elem()
	}
	return t
}

// InPlace says whether the value of a field may change with that of its copy.
func (c *Column) InPlace() bool {
	switch c.Go.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Map, reflect.Interface:
		return true
	case reflect.Struct:
		return !c.IsTime
	default:
		return false
	}
}

// EncodeAs encodes v as a value of column c, to whose Go type it can be converted.
func EncodeAs(c *Column, v reflect.Value) ([]byte, error) {
	field := reflect.New(Deref(c.Go))
	field.Elem().Set(v.Convert(field.Type().Elem()))
	if c.Go.Kind() != reflect.Pointer {
		field = field.Elem()
	}
	return encodeField(c, field)
}

// Like says whether v can stand for a value of type want: it is of its kind, or a whole number that fits.
func Like(v reflect.Value, want reflect.Type) bool {
	if v.Type() == want || v.Kind() == want.Kind() && v.CanConvert(want) {
		return true
	}
	return v.CanInt() && want.Kind() >= reflect.Int && want.Kind() <= reflect.Int64 && !reflect.New(want).Elem().
		OverflowInt(v.Int())
}
