package declare

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/denorm-go/denorm/internal/cql"
	"github.com/denorm-go/denorm/internal/cqltype"
	"github.com/denorm-go/denorm/internal/layout"
	"github.com/scylladb/go-reflectx"
)

// mapper names columns as gocqlx does. It is our own: gocqlx.DefaultMapper is a variable that anyone may set.
var mapper = reflectx.NewMapperFunc("db", columnName)

// columnName is the column of a struct field without a tag. A field that is not ASCII keeps its name: CamelToSnakeASCII
// panics at such a name, also where a tag gives another one or leaves the field out. If the name is used, what checks
// column names rejects it.
func columnName(field string) string {
	if strings.ContainsFunc(field, func(r rune) bool { return r >= utf8.RuneSelf }) {
		return field
	}
	return reflectx.CamelToSnakeASCII(field)
}

// readColumns finds the columns in the fields of the row type.
func (b *builder) readColumns() {
	var embedded []*reflectx.FieldInfo
	filled := make(map[*reflectx.FieldInfo]bool) // embedded fields with columns in them
	for _, f := range mapper.TypeMap(b.set.Go).Index {
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
		if !cql.IsColumn(name) {
			b.fault("", name, "%s", unusable(f.Field, "db"))
		} else if other, ok := b.of[name]; ok {
			b.fault("", name, "two fields have this column name: %s and %s", b.set.Go.FieldByIndex(b.set.Columns[other].Index).
				Name, f.Field.Name)
			continue
		}
		if tag, _, _ := strings.Cut(f.Field.Tag.Get("cql"), ","); tag != "" {
			b.cqlTags[tag] = f.Field.Name
			if tag != name && f.Field.Tag.Get("db") == "" {
				b.misnamed = append(b.misnamed,
					layout.Fault{Column: name, Reason: fmt.Sprintf("field %s has the name %q in a cql tag, and columns are "+
						"named by the db tag: tag it db:%q, or db:%q if that is its column", f.Field.Name, tag, tag, name)})
			}
		}
		b.of[name] = len(b.set.Columns)
		b.set.Columns = append(b.set.Columns, layout.Column{Name: name, Index: f.Index, Go: f.Field.Type})
	}
	for _, f := range embedded {
		b.checkEmbedded(f, filled[f])
	}
	if len(b.set.Columns) == 0 {
		b.fault("", "", "row type %s has no exported field", b.set.Go)
	}
}

// unusable is the fault of a field whose name CQL does not take as it is. tag is what names it.
func unusable(f reflect.StructField, tag string) string {
	if f.Tag.Get(tag) != "" {
		return fmt.Sprintf("field %s has an unusable name in its %s tag: it must be %s", f.Name, tag, cql.ColumnRule)
	}
	return fmt.Sprintf("field %s has no usable name: %s; name it with a %s tag", f.Name, cql.ColumnRule, tag)
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
		b.fault("", "", "embedded field %s has no columns in it: give the field a name of its own, or leave it out with "+
			"db:\"-\"", f.Field.Name)
	case f.Field.Tag.Get("db") != "":
		b.fault("", "", "embedded field %s has a db tag, with which its columns could not be read: remove the tag",
			f.Field.Name)
	}
}

func (b *builder) inferTypes() {
	for i := range b.set.Columns {
		c := &b.set.Columns[i]
		if c.CQL == nil {
			cql, err := b.user.Infer(c.Go)
			switch {
			case err == nil || b.unparsed[i]:
			case slices.Contains(b.Stamps, c.Name):
				b.fault("", c.Name, "Stamp wants a Go int64 and CQL bigint, this is Go type %s", c.Go)
			default:
				b.fault("", c.Name, "%s: %s", err, toDeclare(err, declareUnsigned(c)))
			}
			if err != nil {
				continue
			}
			c.CQL = cql
		}
		elem := layout.Deref(c.Go)
		c.IsTime = elem == reflect.TypeFor[time.Time]()
		c.Marshals = c.Go.Implements(layout.MarshalerType)
		c.Composed = len(c.CQL.Elems()) > 0 && !c.Marshals
		c.Aliases = elem.Kind() == reflect.Slice && !c.Composed || c.Marshals
	}
}

// declareUnsigned says which CQL types a column of unsigned integers can be declared with.
func declareUnsigned(c *layout.Column) string {
	var fit []string
	if t := layout.Deref(c.Go); reflect.Uint <= t.Kind() && t.Kind() <= reflect.Uintptr {
		for _, name := range []string{"smallint", "int", "bigint", "varint"} {
			if Disagree(t, cqltype.Must(name)) == "" {
				fit = append(fit, name)
			}
		}
	}
	if len(fit) == 0 {
		return "declare it with Type"
	}
	fit[0] = fmt.Sprintf("declare Type(%q, %q)", c.Name, fit[0])
	if len(fit) > 1 {
		fit[1] = "or " + fit[1]
	}
	return strings.Join(fit, ", ")
}
