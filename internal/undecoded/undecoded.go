// Package undecoded says what the driver could not decode, without the value, which the texts of the driver's errors hold.
package undecoded

import (
	"errors"
	"fmt"
	"reflect"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/internal/driver"
)

// Error takes the place of an error of the driver. It names column and types only.
type Error struct {
	Column string // empty if it is not known which
	CQL    string // a type
	Into   string // a Go type
}

func (e *Error) Error() string {
	if e.Column == "" {
		return "a column cannot be decoded into the Go type of its field: the live table is not as it is declared, or holds values that do not fit"
	}
	return fmt.Sprintf("column %s of CQL type %s cannot be decoded into Go type %s: the live table is not as it is declared, or the value does not fit",
		e.Column, e.CQL, e.Into)
}

// Format prints the message for every verb.
func (e *Error) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte(e.Error())) }

// Decode decodes data into a pointer. What the driver panics at, as a list of fewer than no elements, cannot be decoded either: it may be
// in a row, and a panic in a goroutine of this module would end the process.
func Decode(column string, info gocql.TypeInfo, data []byte, into any) (err error) {
	defer func() {
		if recover() != nil {
			err = As(column, info, into)
		}
	}()
	if decode(info, data, reflect.ValueOf(into).Elem()) != nil {
		return As(column, info, into)
	}
	return nil
}

// As is the error of a column that cannot be decoded into a pointer.
func As(column string, info gocql.TypeInfo, into any) error {
	return &Error{Column: column, CQL: driver.TypeString(info), Into: fmt.Sprintf("%T", into)}
}

// Cell scans a column into a pointer. What its type says of a value that it cannot decode may hold the value, so it is not passed on.
type Cell struct {
	Column string
	Into   any
}

var _ gocql.Unmarshaler = (*Cell)(nil)

// UnmarshalCQL implements [gocql.Unmarshaler].
func (c *Cell) UnmarshalCQL(info gocql.TypeInfo, data []byte) error {
	return Decode(c.Column, info, data, c.Into)
}

// Hide gives err, or what takes its place if it is the driver's and may hold a value.
func Hide(err error) error {
	var failed *Error
	var unmarshal gocql.UnmarshalError
	if !errors.As(err, &failed) && errors.As(err, &unmarshal) {
		return &Error{}
	}
	return err
}
