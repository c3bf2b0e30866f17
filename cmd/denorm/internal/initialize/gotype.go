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
	"github.com/denorm-go/denorm/internal/each"
	"github.com/denorm-go/denorm/schema"
)

// goType is the Go type of a field, as it is written and as the library sees it.
type goType struct {
	text     string
	real     reflect.Type
	inferred bool        // the CQL type follows from it
	parts    int         // how many types it is made of
	user     []*userType // which user-defined ones, each after those that it has
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
	return goType{text: text, real: reflect.TypeFor[T](), inferred: inferred, parts: 1}
}

// imports are the packages of Go types, by the text that names them, and the packages of each file.
var imports = []struct{ prefix, path string }{
	{"big.", `"math/big"`},
	{"net.", `"net"`},
	{"time.", `"time"`},
	{},
	{"gocql.", `"github.com/gocql/gocql"`},
	{"inf.", `"gopkg.in/inf.v0"`},
	{},
	{"", `"` + module + `/schema"`},
	{"", `"` + module + `/tables"`},
}

// userType is a user-defined type with its struct.
type userType struct {
	schema.ID
	fields []field
	goType
}

// field is a field of a struct: of a row or of a user-defined type.
type field struct {
	name, column, cql string
	goType
}

// types makes Go types.
type types struct {
	schema *schema.Schema
	names  names
	known  map[schema.ID]*userType // one that is not finished is nil
	tried  int                     // parts of user-defined types in structs that were tried for sets
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
	var parts []goType
	for _, arg := range c.Args {
		if c.Kind != cql.Collection {
			break // of other types they need not be types
		}
		part, err := t.goType(keyspace, arg)
		if err != nil {
			return goType{}, err
		}
		parts = append(parts, part)
	}
	switch {
	case c.Kind == cql.Native && leaves[c.Name].real != nil:
		return leaves[c.Name], nil
	case c.Kind == cql.UserType:
		u, err := t.userType(schema.ID{Keyspace: keyspace, Name: c.Name})
		if err != nil {
			return goType{}, err
		}
		return goType{u.text, u.real, c.Frozen, u.parts, u.user}, nil
	case c.Kind == cql.Collection && c.Name != "map":
		e := parts[0]
		return goType{"[]" + e.text, reflect.SliceOf(e.real), c.Name == "list" && !c.Frozen && e.inferred, e.parts, e.user}, nil
	case c.Kind == cql.Collection && parts[0].real.Comparable():
		k, e := parts[0], parts[1]
		return goType{
			"map[" + k.text + "]" + e.text, reflect.MapOf(k.real, e.real), !c.Frozen && k.inferred && e.inferred,
			k.parts + e.parts, append(slices.Clip(k.user), e.user...),
		}, nil
	}
	return goType{}, fmt.Errorf("no Go type for %s", c)
}

// maxFields bounds the parts of a user-defined type. Each of a few nested types may double them. maxParts bounds them
// in all structs that are tried for sets: each keeps about 1 KB of memory for each part of each column.
const (
	maxFields = 1000
	maxParts  = 100_000
)

func (t *types) userType(id schema.ID) (*userType, error) {
	if u, begun := t.known[id]; u != nil {
		return u, nil
	} else if begun {
		return nil, fmt.Errorf("type %s contains itself", id)
	}
	i := slices.IndexFunc(t.schema.Types, func(s schema.Type) bool { return s.ID == id })
	if i < 0 || !cql.IsTable(id.Name) || len(t.schema.Types[i].Fields) > maxFields {
		return nil, fmt.Errorf("no type %s is created, or its name needs quotes", id)
	}
	u, fields, parts := &userType{ID: id}, newNames(), 1
	var row []reflect.StructField
	t.known[id] = nil
	for _, f := range t.schema.Types[i].Fields {
		of, err := t.of(id.Keyspace, f.Type)
		if err == nil && !cql.IsColumn(f.Name) {
			err = fmt.Errorf("field %s has a name that needs quotes", f.Name)
		}
		if parts += of.parts; err == nil && parts > maxFields {
			err = fmt.Errorf("it has more than %d parts", maxFields)
		}
		if err != nil {
			delete(t.known, id)
			return nil, fmt.Errorf("type %s: %w", id, err)
		}
		tag := `cql:"` + f.Name + `"`
		if len(row) == 0 {
			tag += ` denorm:"` + id.Name + `"` // two types with the same fields are two Go types
		}
		u.fields = append(u.fields, field{fields.take(camel(f.Name)), f.Name, f.Type, of})
		row = append(row, reflect.StructField{Name: u.fields[len(row)].name, Type: of.real, Tag: reflect.StructTag(tag)})
		u.user = append(u.user, of.user...)
	}
	u.goType = goType{t.names.take(camel(id.Name)), reflect.StructOf(row), true, parts, each.Once(append(u.user, u))}
	t.known[id] = u
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

// free gives a name that is free: the one that is wanted, or that with a number.
func (n names) free(name string) string {
	free := name
	for i := 2; n[free]; i++ {
		free = fmt.Sprintf("%s%d", name, i)
	}
	return free
}

// take gives a name that is free, and takes it.
func (n names) take(name string) string {
	free := n.free(name)
	n[free] = true
	return free
}

// initials are words that Go writes in capitals.
var initials = cql.WordSet("acl api ascii cpu css dns eof guid html http https id ip json os ram rpc sku sla sql ssh tcp tls ttl udp ui uid uri url utf8 uuid vm xml")

// words are the words of a name.
func words(name string) []string {
	return strings.FieldsFunc(strings.ToLower(name), func(r rune) bool { return (r < 'a' || r > 'z') && (r < '0' || r > '9') })
}

// camel is a name of CQL as an exported name of Go.
func camel(name string) string {
	var b strings.Builder
	for _, word := range words(name) {
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
