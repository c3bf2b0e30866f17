package declare

import (
	"reflect"
	"time"

	"github.com/denorm-go/denorm/internal/layout"
)

// Declaration is what the options of package tables say, before it is validated. An option that may be given once is a
// list here, so that a second one is an error.
type Declaration struct {
	Tables        []Table
	Types         []TypeOption
	UserTypes     []UserType
	OneOf         []OneOf
	SingleWriters []string
	Stamps        []string
	UnstampedRows bool
	Expiries      []string
	Derived       []Derive
	IDs           []string
	SweepInserts  bool
	Atomic        bool
	ReadOnly      []string
	Versions      []string
	Compare       []string
	Marks         []string
	LocalSerial   bool
	Transactional bool
}

// Table is a tables.Table.
type Table struct {
	Name, Keyspace   string
	PartKey, SortKey []string
	Columns          []string
	Rotate           layout.Bucket
	Unique, Hidden   bool
}

// TypeOption is a tables.Type.
type TypeOption struct{ Column, CQL string }

// OneOf is a tables.OneOf.
type OneOf struct {
	Column string
	Values []any
}

// UserType is a tables.UserType.
type UserType struct {
	Name   string
	Go     reflect.Type
	Fields Declaration // of the Type options of its fields
}

// Derive is a tables.Derive: the function, and those that came after it.
type Derive struct {
	Column   string
	Versions []Since
}

// Since is a tables.Since.
type Since struct {
	Time   time.Time
	Of     string
	Bucket layout.Bucket
}
