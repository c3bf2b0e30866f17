package suite

import (
	"bytes"
	"fmt"
	"maps"
	"math/big"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gocql/gocql"
	"gopkg.in/inf.v0"

	"github.com/denorm-go/denorm/internal/cqltype"
	"github.com/denorm-go/denorm/internal/declare"
	"github.com/denorm-go/denorm/internal/describe"
	"github.com/denorm-go/denorm/internal/entity"
	"github.com/denorm-go/denorm/internal/layout"
	"github.com/denorm-go/denorm/internal/testutil/pairs"
	"github.com/denorm-go/denorm/internal/undecoded"
)

// pairTests write and read each pair of a Go and a CQL type that a declaration takes.
type pairTests struct {
	*Place
	set, counters *pairSet
}

// pair is a Go type and a CQL type that has no others inside.
type pair struct {
	goType reflect.Type
	cql    string
	values []pairs.Value
}

func (p pair) String() string { return p.goType.String() + " as " + p.cql }

// positions are where a pair can be: CQL types with C for that of the pair, and Go types with V for that one.
var positions = []struct {
	cql string
	of  func(v reflect.Type) reflect.Type
}{
	{"C", func(v reflect.Type) reflect.Type { return v }},
	{"C", reflect.PointerTo},
	{"frozen<list<C>>", reflect.SliceOf},
	{"set<C>", reflect.SliceOf},
	{"frozen<set<C>>", func(v reflect.Type) reflect.Type { return mapOf(v, reflect.TypeFor[struct{}]()) }},
	{"map<int, C>", func(v reflect.Type) reflect.Type { return mapOf(reflect.TypeFor[int32](), v) }},
	{"frozen<map<C, int>>", func(v reflect.Type) reflect.Type { return mapOf(v, reflect.TypeFor[int32]()) }},
	{"frozen<list<frozen<tuple<C, C>>>>", func(v reflect.Type) reflect.Type {
		return reflect.SliceOf(reflect.StructOf([]reflect.StructField{
			{Name: "A", Type: v},
			{Name: "B", Type: reflect.PointerTo(v)},
		}))
	}},
}

// mapOf is nil for keys that Go does not compare.
func mapOf(key, elem reflect.Type) reflect.Type {
	if !key.Comparable() {
		return nil
	}
	return reflect.MapOf(key, elem)
}

// fill makes a value of Go type t with v wherever it can be.
func fill(t reflect.Type, v reflect.Value) reflect.Value {
	out := reflect.New(t).Elem()
	switch {
	case t == v.Type():
		out.Set(v)
	case t.Kind() == reflect.Pointer:
		out.Set(reflect.New(t.Elem()))
		out.Elem().Set(fill(t.Elem(), v))
	case t.Kind() == reflect.Slice:
		out.Set(reflect.Append(out, fill(t.Elem(), v)))
	case t.Kind() == reflect.Map:
		out.Set(reflect.MakeMap(t))
		out.SetMapIndex(fill(t.Key(), v), fill(t.Elem(), v))
	case t.Kind() == reflect.Struct:
		for i := range t.NumField() {
			out.Field(i).Set(fill(t.Field(i).Type, v))
		}
	}
	return out // the int of a map: 0
}

// pairSet is a set with a row type that is made here.
type pairSet struct {
	*layout.Set
	row     reflect.Type // with the id first, then the columns
	columns []pairColumn
}

func (s *pairSet) Internal() *layout.Set { return s.Set }

// pairColumn is a column with the pair in a position, or a user-defined type with all pairs.
type pairColumn struct {
	pair pair
	key  bool
	user []pair
}

// allPairs are those that a declaration takes, in an order, those of counters or the others.
func allPairs(counters bool) (out []pair) {
	for _, types := range []map[string]reflect.Type{pairs.GoTypes, pairs.Defined} {
		for _, name := range slices.Sorted(maps.Keys(types)) {
			for _, cql := range pairs.CQLTypes {
				if _, ok := pairs.Accepts(types[name], cql); ok && (cql == "counter") == counters {
					out = append(out, pair{types[name], cql, pairs.Values(types[name], cql)})
				}
			}
		}
	}
	return out
}

// pairBuilder makes a set of columns.
type pairBuilder struct {
	fields  []reflect.StructField
	d       declare.Declaration
	columns []pairColumn
}

// field is one of a struct that is made here, for a column, or for a field of a user-defined type.
func field(tag, name string, t reflect.Type) reflect.StructField {
	of := reflect.StructTag(fmt.Sprintf("%s:%q", tag, name))
	return reflect.StructField{Name: strings.ToUpper(name), Type: t, Tag: of}
}

func (b *pairBuilder) add(t reflect.Type, cql string, c pairColumn) (name string) {
	name = fmt.Sprintf("c%d", len(b.columns))
	b.fields = append(b.fields, field("db", name, t))
	b.d.Types = append(b.d.Types, declare.TypeOption{Column: name, CQL: cql})
	b.columns = append(b.columns, c)
	return name
}

func (b *pairBuilder) build(t *testing.T) *pairSet {
	t.Helper()
	fields := append([]reflect.StructField{field("db", "id", reflect.TypeFor[int64]())}, b.fields...)
	s := &pairSet{row: reflect.StructOf(fields), columns: b.columns}
	s.Set = value(declare.New("pair", s.row, b.d))(t)
	return s
}

// newPairSet has each pair in each position, in the fields of a user-defined type, and in the partition key and the
// clustering columns of a query table.
func newPairSet(t *testing.T, all []pair) *pairSet {
	t.Helper()
	var b pairBuilder
	base := declare.Table{Name: "pairs", PartKey: []string{"id"}}
	keyed := declare.Table{Name: "pairs_by_key", Columns: []string{}}
	var fields []reflect.StructField
	user := declare.UserType{Name: "every"}
	for _, p := range all {
		for _, at := range positions {
			ordered := strings.Contains(at.cql, "set<") || strings.Contains(at.cql, "map<C")
			if of := at.of(p.goType); of != nil && (!ordered || p.cql != "duration") {
				b.add(of, strings.ReplaceAll(at.cql, "C", p.cql), pairColumn{pair: p})
			}
		}
		for _, of := range []reflect.Type{p.goType, reflect.PointerTo(p.goType)} {
			name := fmt.Sprintf("f%d", len(fields))
			fields = append(fields, field("cql", name, of))
			user.Fields.Types = append(user.Fields.Types, declare.TypeOption{Column: name, CQL: p.cql})
		}
		if p.cql == "decimal" || p.cql == "duration" {
			continue // which New rejects in a key
		}
		keyed.PartKey = append(keyed.PartKey, b.add(p.goType, p.cql, pairColumn{pair: p, key: true}))
		keyed.SortKey = append(keyed.SortKey, b.add(p.goType, p.cql, pairColumn{pair: p, key: true}))
	}
	keyed.SortKey = append(keyed.SortKey, "id")
	user.Go = reflect.StructOf(fields)
	b.d.UserTypes = []declare.UserType{user}
	b.add(user.Go, "frozen<every>", pairColumn{user: all})
	b.add(user.Go, "every", pairColumn{user: all})
	b.d.Tables = []declare.Table{base, keyed}
	return b.build(t)
}

// rows is how many rows have all values.
func (s *pairSet) rows() (n int) {
	for _, c := range s.columns {
		n = max(n, len(c.pair.values))
	}
	return n
}

// at is value i of a pair, beginning again after the last one, of those that may be in a key or of all.
func (p pair) at(i int, key bool) pairs.Value {
	values := p.values
	if key {
		values = slices.DeleteFunc(slices.Clone(values), func(v pairs.Value) bool { return !v.Key })
	}
	return values[i%len(values)]
}

// fillRow makes row i. In an absent one all is null that can be.
func (s *pairSet) fillRow(i int, absent bool) reflect.Value {
	row := reflect.New(s.row).Elem()
	row.Field(0).SetInt(int64(i))
	put := func(field reflect.Value, p pair, key bool) {
		v := p.at(i, key)
		if absent && !key {
			v = p.values[0]
		}
		if field.Type() == p.goType || !v.Null && !absent { // null can be in no collection, and is no pointer
			field.Set(fill(field.Type(), v.Go))
		}
	}
	for n, c := range s.columns {
		field := row.Field(n + 1)
		if c.user == nil {
			put(field, c.pair, c.key)
			continue
		}
		for k, p := range c.user {
			put(field.Field(2*k), p, false)
			put(field.Field(2*k+1), p, false)
		}
	}
	return row
}

func openPairs(t *testing.T, shared *Place) pairTests {
	t.Helper()
	all, counted := allPairs(false), allPairs(true)
	set := newPairSet(t, all)
	var b pairBuilder
	for _, p := range counted {
		b.add(p.goType, p.cql, pairColumn{pair: p})
	}
	b.d.Tables = []declare.Table{{Name: "counted_pairs", PartKey: []string{"id"}}}
	counters := b.build(t)
	t.Logf("%d pairs, in %d columns", len(all)+len(counted), len(set.columns)+len(counters.columns))
	return pairTests{shared.open(t, schemaOf(set, counters)), set, counters}
}

// Every value comes back as it was written: inserted, in the place of none, and after none.
func (p pairTests) RoundTrip(t *testing.T) {
	for i := range p.set.rows() {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			row, absent := p.set.fillRow(i, false), p.set.fillRow(i, true)
			for _, c := range []entity.Change{
				{Kind: entity.Insert, After: row.Interface()},
				{Kind: entity.Update, Before: row.Interface(), After: absent.Interface()},
				{Kind: entity.Update, Before: absent.Interface(), After: row.Interface()},
			} {
				p.store(t, p.set, c)
			}
		})
	}
}

// A counter counts to the extremes.
func (p pairTests) Counters(t *testing.T) {
	for i := 1; i < p.counters.rows(); i++ { // value 0 is zero, which adds nothing
		p.store(t, p.counters, entity.Change{Kind: entity.Add, After: p.counters.fillRow(i, false).Interface()})
	}
}

// store writes a change, and reads its row back from each table.
func (p pairTests) store(t *testing.T, set *pairSet, c entity.Change) {
	t.Helper()
	c.Entity, c.Set = set.Entity(), set.Set
	r := value(c.Render(time.Now().UnixMicro(), nil))(t)
	query := func(text string, args ...any) *gocql.Query {
		return p.Session.Reads().Query(text, args...).WithContext(t.Context())
	}
	for n, m := range r.Mutations {
		if err := query(m.Statement, m.Args...).Exec(); err != nil {
			t.Fatalf("%s: %v", m, err)
		}
		var names, where []string
		var keys, into []any
		got := reflect.New(set.row).Elem()
		for _, c := range describe.Of(set.Set).Tables[n].Columns {
			names = append(names, c.Name)
			into = append(into, &undecoded.Cell{Column: c.Name, Into: got.FieldByName(strings.ToUpper(c.Name)).Addr().
				Interface()})
			if c.Kind != "regular" {
				where, keys = append(where, c.Name+" = ?"), append(keys, m.Args[slices.Index(m.Names, c.Name)])
			}
		}
		err := query("SELECT "+strings.Join(names, ", ")+" FROM "+m.Table+" WHERE "+strings.Join(where, " AND "), keys...).
			Scan(into...)
		if err != nil {
			t.Errorf("%s: %v", m, err)
			continue
		}
		set.compare(t, m.String(), names, got, reflect.ValueOf(c.After))
	}
	if c.Kind == entity.Add {
		return
	}
	b := value(entity.BaseOf(set.Set, c.After, func(string) string { return p.Keyspace }))(t)
	s, into, read := b.Select()
	must(t, query(s.Text, s.Args...).Scan(into...))
	var names []string
	for n := range set.columns {
		names = append(names, fmt.Sprintf("c%d", n))
	}
	got := value(b.Decode(value(read())(t)))(t)
	set.compare(t, "base row", names, reflect.ValueOf(got), reflect.ValueOf(c.After))
}

// compare compares columns that were read: by the bytes that they are written as again, and by the values where equal
// ones are identical.
func (s *pairSet) compare(t *testing.T, what string, names []string, got, want reflect.Value) {
	t.Helper()
	again := reflect.New(s.row).Elem()
	again.Set(want)
	for n, c := range s.columns {
		if !slices.Contains(names, fmt.Sprintf("c%d", n)) {
			continue
		}
		g, w := got.Field(n+1), want.Field(n+1)
		again.Field(n + 1).Set(g)
		if c.user == nil {
			same(t, what, c.pair, g, w)
		}
		for k, p := range c.user {
			same(t, what+", user-defined type", p, g.Field(2*k), w.Field(2*k))
			same(t, what+", user-defined type", p, g.Field(2*k+1), w.Field(2*k+1))
		}
	}
	first := value(s.encoded(want))(t)
	second, err := s.encoded(again)
	if err != nil {
		t.Fatalf("%s: what was read cannot be written: %v", what, err)
	}
	for name, data := range first {
		wrong(t, !bytes.Equal(data, second[name]) || (data == nil) != (second[name] == nil),
			"%s: column %s: written 0x%x, read, and written again 0x%x", what, name, data, second[name])
	}
}

// same compares values, unless equal ones may differ to Go: NaN, and numbers that are pointers inside.
func same(t *testing.T, what string, p pair, got, want reflect.Value) {
	t.Helper()
	inexact := []reflect.Type{reflect.TypeFor[big.Int](), reflect.TypeFor[inf.Dec]()}
	if kind := p.goType.Kind(); kind == reflect.Float32 || kind == reflect.Float64 || slices.Contains(inexact, p.goType) {
		return
	}
	wrong(t, !reflect.DeepEqual(got.Interface(), want.Interface()), "%s: %s in %s: read %#v, written %#v", what, p,
		got.Type(), got, want)
}

// encoded is what an insert of the row binds to the columns of the base table.
func (s *pairSet) encoded(row reflect.Value) (map[string][]byte, error) {
	kind := entity.Insert
	if describe.Of(s.Set).Counts {
		kind = entity.Add
	}
	r, err := entity.Change{Entity: s.Entity(), Set: s.Set, Kind: kind, After: row.Interface()}.Render(1, nil)
	if err != nil {
		return nil, err
	}
	out := make(map[string][]byte)
	for i, name := range r.Mutations[0].Names {
		if v, ok := r.Mutations[0].Args[i].(*cqltype.Value); ok {
			out[name] = v.Data
		}
	}
	return out, nil
}
