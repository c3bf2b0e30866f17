package declare

import (
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/denorm-go/denorm/internal/cql"
	"github.com/denorm-go/denorm/internal/cqltype"
	"github.com/denorm-go/denorm/internal/each"
	"github.com/denorm-go/denorm/internal/layout"
)

// column gives the position of a column that a rule names.
func (b *builder) column(table, name, what string) (int, bool) {
	i, ok := b.of[name]
	if !ok && !b.underived[name] {
		b.unknown = true
		b.fault(table, name, "%s names a column that is no field of %s%s", what, b.set.Go, b.meant(name))
	}
	return i, ok
}

// meant says which column may be meant by a name that no column has.
func (b *builder) meant(name string) string {
	if field, ok := b.cqlTags[name]; ok {
		return fmt.Sprintf(": field %s has it in a cql tag, and columns are named by the db tag: tag it db:%q", field, name)
	}
	return cql.Meant(name, each.Of(b.set.Columns, func(c layout.Column) string { return c.Name }))
}

// toDeclare says how to declare the CQL type of a Go type from which none follows. otherwise is the advice for one that
// stands for several.
func toDeclare(err error, otherwise string) string {
	var none *cqltype.NoTypeError
	if !errors.As(err, &none) {
		return otherwise
	}
	switch none.Go.Kind() {
	case reflect.Struct:
		if none.Go.PkgPath() == "database/sql" && strings.HasPrefix(none.Go.Name(), "Null") { // the first field is the value
			return fmt.Sprintf("declare the field as *%s; nil is null", none.Go.Field(0).Type)
		}
		if !reflect.PointerTo(none.Go).Implements(layout.MarshalerType) {
			return fmt.Sprintf("declare its user-defined type with UserType[%s](name)", none.Go)
		}
	case reflect.Interface:
		return "give the field the Go type of its values"
	case reflect.Chan, reflect.Func, reflect.UnsafePointer, reflect.Complex64, reflect.Complex128:
		return `leave the field out with db:"-"`
	}
	return otherwise
}

// explain is the error of a CQL type that Go type t was declared with. A struct wants a user-defined type.
func (b *builder) explain(err error, t reflect.Type) string {
	var none *cqltype.NoTypeError
	if t == nil { // a derived column that is no field
		return err.Error()
	}
	if _, noType := b.user.Infer(t); errors.As(noType, &none) && none.Go.Kind() == reflect.Struct {
		if advice := toDeclare(noType, ""); advice != "" {
			return err.Error() + ": " + advice
		}
	}
	return err.Error()
}
