package entity

import (
	"reflect"
	"strings"
	"time"

	"github.com/denorm-go/denorm/internal/cql"
	"github.com/scylladb/go-reflectx"
)

// mapper names columns as gocqlx does. It is our own: gocqlx.DefaultMapper is a variable that anyone may set.
var mapper = reflectx.NewMapperFunc("db", reflectx.CamelToSnakeASCII)

// readColumns finds the columns in the fields of the row type.
func (b *builder) readColumns() {
	var embedded []*reflectx.FieldInfo
	filled := make(map[*reflectx.FieldInfo]bool) // embedded fields with columns in them
	for _, f := range mapper.TypeMap(b.set.typ).Index {
		if insideValue(f) {
			continue
		}
		if f.Embedded {
			embedded = append(embedded, f)
			continue
		}
		for p := f.Parent; p != nil; p = p.Parent {
			filled[p] = true
		}
		name := f.Name
		switch {
		case !cql.IsColumn(name):
			b.fault("", name, "field %s has no usable column name: %s; name it with a db tag", f.Field.Name, cql.ColumnRule)
		default:
			if other, ok := b.of[name]; ok {
				b.fault("", name, "two fields have this column name: %s and %s", b.set.typ.FieldByIndex(b.set.columns[other].index).Name,
					f.Field.Name)
				continue
			}
		}
		if tag, _, _ := strings.Cut(f.Field.Tag.Get("cql"), ","); tag != "" {
			b.cqlTags[tag] = f.Field.Name
		}
		b.of[name] = len(b.set.columns)
		b.set.columns = append(b.set.columns, column{name: name, index: f.Index, goType: f.Field.Type})
	}
	for _, f := range embedded {
		b.checkEmbedded(f, filled[f])
	}
	if len(b.set.columns) == 0 {
		b.fault("", "", "row type %s has no exported field", b.set.typ)
	}
}

// insideValue says whether f is a field of a struct that is the value of a column.
func insideValue(f *reflectx.FieldInfo) bool {
	for p := f.Parent; p != nil && p.Field.Type != nil; p = p.Parent {
		if !p.Embedded {
			return true
		}
	}
	return false
}

// checkEmbedded rejects embedded fields whose columns gocqlx and this package would see differently.
func (b *builder) checkEmbedded(f *reflectx.FieldInfo, filled bool) {
	switch {
	case f.Field.Type.Kind() == reflect.Pointer:
		b.fault("", "", "embedded field %s is a pointer: its columns could not be set; embed the struct itself", f.Field.Name)
	case !filled:
		b.fault("", "", "embedded field %s has no columns in it: give the field a name of its own, or leave it out with db:\"-\"",
			f.Field.Name)
	case f.Field.Tag.Get("db") != "":
		b.fault("", "", "embedded field %s has a db tag, with which its columns could not be read: remove the tag", f.Field.Name)
	}
}

func (b *builder) inferTypes() {
	for i := range b.set.columns {
		c := &b.set.columns[i]
		if c.cql == nil {
			cql, err := b.user.Infer(c.goType)
			if err != nil && !b.unparsed[i] {
				b.fault("", c.name, "%s: %s", err, toDeclare(err, "declare it with Type"))
			}
			if err != nil {
				continue
			}
			c.cql = cql
		}
		elem := deref(c.goType)
		c.isTime = elem == reflect.TypeFor[time.Time]()
		c.aliases = elem.Kind() == reflect.Slice || c.goType.Implements(marshalerType)
		c.marshals = c.goType.Implements(marshalerType)
		c.composed = composed(c.cql) && !c.marshals
	}
}

func deref(t reflect.Type) reflect.Type {
	if t.Kind() == reflect.Pointer {
		return t.Elem()
	}
	return t
}
