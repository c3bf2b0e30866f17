package declare

import (
	"reflect"
	"strings"

	"github.com/denorm-go/denorm/internal/cql"
	"github.com/denorm-go/denorm/internal/cqltype"
	"github.com/gocql/gocql"
)

// readUserTypes makes the user-defined types known to the columns.
func (b *builder) readUserTypes() {
	read := make([]*cqltype.UserType, len(b.UserTypes)) // nil is one with a fault
	for i := range b.UserTypes {
		o := &b.UserTypes[i]
		switch {
		case !cql.IsTable(o.Name):
			b.fault("", "", "the name of user-defined type %q must be %s", o.Name, cql.TableRule)
		case o.Go.Kind() != reflect.Struct:
			b.fault("", "", "user-defined type %s: its values must be a struct, not %s", o.Name, o.Go)
		case b.user.Named(o.Name) != nil:
			b.fault("", "", "user-defined type %s is declared twice", o.Name)
		case b.user.Of(o.Go) != nil:
			b.fault("", "", "user-defined type %s: Go type %s is type %s already", o.Name, o.Go, b.user.Of(o.Go).Name)
		default:
			read[i] = &cqltype.UserType{Name: o.Name, Go: o.Go}
			b.user.Add(read[i])
		}
	}
	for i, u := range read { // types may refer to one another, in any order
		if u != nil {
			b.readFields(u, &b.UserTypes[i].Fields)
		}
	}
	for _, u := range read {
		if u == nil {
			continue
		}
		if _, cyclic := u.Uses(); cyclic {
			b.fault("", "", "user-defined type %s contains itself, which Cassandra does not know", u.Name)
			b.stop = true // whatever walks through the type would not come to an end
		}
	}
}

// readFields finds the fields of a user-defined type in those of the struct.
func (b *builder) readFields(u *cqltype.UserType, options *Declaration) {
	fault := func(field, format string, args ...any) {
		b.fault("", "", "user-defined type "+u.Name+": field "+field+" "+format, args...)
	}
	types, unparsed := make(map[string]*cqltype.Type), make(map[string]error)
	for _, o := range options.Types {
		t, err := b.user.Parse(o.CQL)
		if err != nil {
			unparsed[o.Column] = err
		}
		types[o.Column] = t
	}
	others := *options
	if others.Types = nil; !reflect.ValueOf(others).IsZero() {
		b.fault("", "", "user-defined type %s: only Type options can be given for its fields", u.Name)
	}
	for i := range u.Go.NumField() {
		f := u.Go.Field(i)
		name, ok := fieldName(f)
		if !ok {
			continue
		}
		if f.Anonymous {
			fault(f.Name, "is embedded: the driver does not look for fields in it")
			continue
		}
		if !cql.IsColumn(name) {
			b.fault("", "", "user-defined type %s: %s", u.Name, unusable(f, "cql"))
			continue
		}
		if u.Field(name) >= 0 {
			fault(name, "is in it twice")
			continue
		}
		if f.Tag.Get("cql") != name && !reads(u.Go) {
			fault(name, "has no cql tag: gocql reads fields by it, and would leave this one empty; tag it cql:%q", name)
		}
		t := types[name]
		delete(types, name)
		if err := unparsed[name]; err != nil {
			fault(name+":", "%s", b.explain(err, f.Type))
			continue
		}
		if t == nil {
			var err error
			if t, err = b.user.Infer(f.Type); err != nil {
				fault(name+":", "%s: %s", err, toDeclare(err, "declare it with Type in UserType"))
				continue
			}
		}
		if t.Contains(gocql.TypeCounter) {
			fault(name, "is a counter, which must be a column of its own")
		} else if reason := Disagree(f.Type, t); reason != "" {
			fault(name, "of Go type %s cannot be encoded as CQL type %s%s", f.Type, t, reason)
		}
		u.Add(name, t, i)
	}
	for name := range types {
		fault(name, "is named by Type, and is no field of %s", u.Go)
	}
	if len(u.Fields) == 0 {
		b.fault("", "", "user-defined type %s has no fields", u.Name)
	}
}

// fieldName is that of a field of a user-defined type, and whether the struct field is one. The marker gocqlx.UDT is
// none.
func fieldName(f reflect.StructField) (name string, ok bool) {
	if !f.IsExported() && !f.Anonymous || f.Anonymous && f.Type.Kind() == reflect.Interface {
		return "", false
	}
	for _, tag := range []string{"cql", "db"} {
		name, _, _ := strings.Cut(f.Tag.Get(tag), ",")
		if name == "-" {
			return "", false
		}
		if name != "" {
			return name, true
		}
	}
	return columnName(f.Name), true
}

// reads says whether values of a Go type read themselves.
func reads(t reflect.Type) bool {
	p := reflect.PointerTo(t)
	return p.Implements(reflect.TypeFor[gocql.UDTUnmarshaler]()) || p.Implements(reflect.TypeFor[gocql.Unmarshaler]())
}
