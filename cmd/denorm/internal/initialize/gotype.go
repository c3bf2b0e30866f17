package initialize

import (
	"fmt"
	"math/big"
	"net"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/gocql/gocql"
	"github.com/scylladb/go-reflectx"
	"gopkg.in/inf.v0"

	"github.com/denorm-go/denorm/internal/cql"
	"github.com/denorm-go/denorm/internal/declare"
	"github.com/denorm-go/denorm/schema"
)

// goType is the Go type of a field, as it is written and as the library sees it.
type goType struct {
	text     string
	real     reflect.Type
	inferred bool // the CQL type follows from it
	parts    int  // how many types it is made of
}

// leaves are the Go types of CQL types without parts.
var leaves = map[string]goType{
	"text": leaf[string]("string", true), "varchar": leaf[string]("string", true), "ascii": leaf[string]("string", false),
	"blob": leaf[[]byte]("[]byte", true), "boolean": leaf[bool]("bool", true), "tinyint": leaf[int8]("int8", true),
	"smallint": leaf[int16]("int16", true), "int": leaf[int32]("int32", true), "bigint": leaf[int64]("int64", true),
	"counter": leaf[int64]("int64", false), "float": leaf[float32]("float32", true), "double": leaf[float64]("float64", true),
	"decimal": leaf[inf.Dec]("inf.Dec", true), "varint": leaf[big.Int]("big.Int", true), "uuid": leaf[gocql.UUID]("gocql.UUID", true),
	"timeuuid": leaf[gocql.UUID]("gocql.UUID", false), "inet": leaf[net.IP]("net.IP", true), "timestamp": leaf[time.Time]("time.Time", true),
	"date": leaf[time.Time]("time.Time", false), "time": leaf[time.Duration]("time.Duration", false),
	"duration": leaf[gocql.Duration]("gocql.Duration", true),
}

func leaf[T any](text string, inferred bool) goType {
	return goType{text, reflect.TypeFor[T](), inferred, 1}
}

// imports are the packages that Go types are of, by the text that names them.
var imports = map[string]string{
	"gocql.": "github.com/gocql/gocql", "big.": "math/big", "net.": "net", "time.": "time", "inf.": "gopkg.in/inf.v0",
}

// userType is a user-defined type with its struct.
type userType struct {
	schema.ID
	name   string // of the struct
	fields []field
	goType
}

// field is a field of a struct: of a row or of a user-defined type.
type field struct {
	name, column, cql string
	goType
}

// types makes Go types, and collects the user-defined ones that they need, each after those that it has.
type types struct {
	schema *schema.Schema
	names  names
	user   []*userType
}

// of gives the Go type of a CQL type.
func (t *types) of(keyspace, text string) (goType, error) {
	parsed, err := cql.ParseType(text)
	if err != nil {
		return goType{}, err
	}
	return t.goType(keyspace, parsed)
}

func (t *types) goType(keyspace string, c *cql.Type) (goType, error) {
	none := goType{}
	switch {
	case c.Kind == cql.Native && leaves[c.Name].real != nil:
		return leaves[c.Name], nil
	case c.Kind == cql.UserType:
		u, err := t.userType(schema.ID{Keyspace: keyspace, Name: c.Name})
		if err != nil {
			return none, err
		}
		return goType{u.text, u.real, c.Frozen, u.parts}, nil
	case c.Kind != cql.Collection:
		return none, fmt.Errorf("no Go type for %s", c)
	}
	elem, err := t.goType(keyspace, c.Args[len(c.Args)-1])
	if err != nil {
		return none, err
	}
	if c.Name != "map" {
		return goType{text: "[]" + elem.text, real: reflect.SliceOf(elem.real), parts: elem.parts}, nil
	}
	key, err := t.goType(keyspace, c.Args[0])
	if err != nil {
		return none, err
	}
	if !key.real.Comparable() {
		return none, fmt.Errorf("no Go map has keys of type %s", c.Args[0])
	}
	return goType{
		"map[" + key.text + "]" + elem.text, reflect.MapOf(key.real, elem.real), !c.Frozen && key.inferred && elem.inferred,
		key.parts + elem.parts,
	}, nil
}

// maxFields bounds the parts of a user-defined type. Each of a few nested types may double them.
const maxFields = 1000

func (t *types) userType(id schema.ID) (*userType, error) {
	if i := slices.IndexFunc(t.user, func(u *userType) bool { return u.ID == id }); i >= 0 {
		if t.user[i].real == nil {
			return nil, fmt.Errorf("type %s contains itself", id)
		}
		return t.user[i], nil
	}
	i := slices.IndexFunc(t.schema.Types, func(s schema.Type) bool { return s.ID == id })
	if i < 0 || !cql.IsTable(id.Name) || len(t.schema.Types[i].Fields) > maxFields {
		return nil, fmt.Errorf("no type %s is created, or its name needs quotes", id)
	}
	u, fields, parts := &userType{ID: id}, newNames(), 1
	t.user = append(t.user, u)
	fail := func(err error) (*userType, error) {
		t.user = slices.DeleteFunc(t.user, func(o *userType) bool { return o == u })
		return nil, fmt.Errorf("type %s: %w", id, err)
	}
	for _, f := range t.schema.Types[i].Fields {
		of, err := t.of(id.Keyspace, f.Type)
		if err == nil && !cql.IsColumn(f.Name) {
			err = fmt.Errorf("field %s has a name that needs quotes", f.Name)
		}
		if parts += of.parts; err == nil && parts > maxFields {
			err = fmt.Errorf("it has more than %d parts", maxFields)
		}
		if err != nil {
			return fail(err)
		}
		u.fields = append(u.fields, field{fields.take(camel(f.Name)), f.Name, f.Type, of})
	}
	var row []reflect.StructField
	for n, f := range u.fields {
		tag := `cql:"` + f.column + `"`
		if n == 0 {
			tag += ` denorm:"` + id.Name + `"` // two types with the same fields are two Go types
		}
		row = append(row, reflect.StructField{Name: f.name, Type: f.real, Tag: reflect.StructTag(tag)})
	}
	u.name = t.names.take(camel(id.Name))
	u.goType = goType{u.name, reflect.StructOf(row), true, parts}
	t.user = append(slices.DeleteFunc(t.user, func(o *userType) bool { return o == u }), u)
	return u, nil
}

// declared is what a set that has the type declares of it, with the Type options of its fields.
func (u *userType) declared() declare.UserType {
	out := declare.UserType{Name: u.Name, Go: u.real}
	for _, f := range u.fields {
		if !f.inferred {
			out.Fields.Types = append(out.Fields.Types, declare.TypeOption{Column: f.column, CQL: f.cql})
		}
	}
	return out
}

// names are names of Go that are taken.
type names map[string]bool

func newNames(taken ...string) names {
	n := make(names)
	for _, name := range taken {
		n[name] = true
	}
	return n
}

// take gives a name that is free, and takes it.
func (n names) take(name string) string {
	free := name
	for i := 2; n[free]; i++ {
		free = fmt.Sprintf("%s%d", name, i)
	}
	n[free] = true
	return free
}

// initials are words that Go writes in capitals.
var initials = cql.WordSet("acl api ascii cpu css dns eof guid html http https id ip json os ram rpc sku sla sql ssh tcp tls ttl udp ui uid uri url utf8 uuid vm xml")

// camel is a name of CQL as an exported name of Go.
func camel(name string) string {
	var b strings.Builder
	for _, word := range strings.FieldsFunc(strings.ToLower(name), func(r rune) bool { return r != '_' && (r < 'a' || r > 'z') && (r < '0' || r > '9') || r == '_' }) {
		if initials[word] {
			word = strings.ToUpper(word)
		}
		b.WriteString(strings.ToUpper(word[:1]) + word[1:])
	}
	if out := b.String(); out != "" && out[0] >= 'A' {
		return out
	}
	return "X" + b.String()
}

// tagged says whether a field needs a tag, as its name does not give its column.
func tagged(f field) bool { return reflectx.CamelToSnakeASCII(f.name) != f.column }
