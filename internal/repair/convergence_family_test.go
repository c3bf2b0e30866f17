package repair_test

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/denorm-go/denorm/internal/describe"
	"github.com/denorm-go/denorm/internal/driver"
	"github.com/denorm-go/denorm/internal/testutil/bucket"
	"github.com/denorm-go/denorm/tables"
	"github.com/gocql/gocql"
)

// lawFamily is one declared set with the rows that the convergence tests draw from. All rows of a world are of one
// entity, and agree in the immutable key columns.
type lawFamily struct {
	name   string
	names  []string // of the columns, by number
	types  []gocql.Type
	tables []lawTable // the base table first
	worlds [][]lawRow
	set    tables.Described
	stamp  int   // column number, -1 for none
	expiry int   // column number, -1 for none
	moving []int // the OneOf columns

	buckets map[int]func(value func(column int) []byte) []byte // the derived columns, by number

	upserts   bool // has Upsert, and its Insert, if a column moves, sweeps
	clustered bool // a OneOf column stands in a clustering position
	patched   bool // inserts of a part of the columns
	subset    bool // a query table holds a part of the columns

	change func(kind tables.Kind, world, before, after int) tables.Change
}

// lawTable is a table as declared, in column numbers.
type lawTable struct {
	name         string
	key, columns []int // the primary key, and the others
	moving       int   // how many of key are OneOf columns
}

// lawRow is a row in the bytes that a reader must find, encoded by the driver and not by the package under test.
type lawRow struct {
	values [][]byte // by column number, nil where absent
	keys   [][]byte // by table, in the model's encoding; nil if the row has no place there
	absent int      // absent values outside of keys
}

const (
	lawPool  = 64 // rows of a world
	lawEpoch = 1_700_000_000
)

// newFamily makes a family of a set. Every field of T has a db tag. draw gives a random row of a world.
func newFamily[T any](name string, set *tables.Set[T], moving []string, worlds int,
	draw func(r *rand.Rand, world int) T, features ...func(*lawFamily),
) *lawFamily {
	f := &lawFamily{name: name, set: set, stamp: -1, expiry: -1}
	f.describe(describe.Of(set.Internal()), moving)
	for _, feature := range features {
		feature(f)
	}
	r := rand.New(rand.NewPCG(1, 2))
	pools := make([][]T, worlds)
	for w := range pools {
		f.worlds = append(f.worlds, nil)
		for range lawPool {
			row := draw(r, w)
			pools[w] = append(pools[w], row)
			f.worlds[w] = append(f.worlds[w], f.encode(reflect.ValueOf(row)))
		}
	}
	f.change = func(kind tables.Kind, world, before, after int) tables.Change {
		pool := pools[world]
		switch kind {
		case tables.Insert:
			return set.Insert(pool[after])
		case tables.Update:
			return set.Update(pool[before], pool[after])
		case tables.Upsert:
			return set.Upsert(pool[after])
		case tables.Delete:
			return set.Delete(pool[before])
		case tables.Add, tables.Patch:
		}
		panic(kind)
	}
	return f
}

// upserting marks a family whose set takes Upsert.
func upserting(f *lawFamily) { f.upserts = true }

// bucketed marks a family whose column slot is derived, the hash of others.
func bucketed(n uint64, sources ...string) func(*lawFamily) {
	return func(f *lawFamily) {
		if f.buckets == nil {
			f.buckets = make(map[int]func(func(int) []byte) []byte)
		}
		f.buckets[slices.Index(f.names, "slot")] = func(value func(column int) []byte) []byte {
			var values [][]byte
			for _, source := range sources {
				v := value(slices.Index(f.names, source))
				if v == nil {
					return nil
				}
				values = append(values, v)
			}
			return number32(bucket.Hash(n, values...))
		}
	}
}

func (f *lawFamily) describe(d describe.Description, moving []string) {
	for _, c := range d.Tables[0].Columns { // the base table holds all columns
		f.names, f.types = append(f.names, c.Name), append(f.types, lawTypes[c.Type])
	}
	for _, name := range moving {
		f.moving = append(f.moving, slices.Index(f.names, name))
	}
	f.stamp, f.expiry = slices.Index(f.names, "updated_at"), slices.Index(f.names, "expires_at")
	for _, table := range d.Tables {
		t := lawTable{name: table.Name}
		for _, c := range table.Columns {
			i := slices.Index(f.names, c.Name)
			if c.Kind == "regular" {
				t.columns = append(t.columns, i)
				continue
			}
			t.key = append(t.key, i)
			if slices.Contains(f.moving, i) {
				t.moving++
				f.clustered = f.clustered || c.Kind == "clustering"
			}
		}
		f.subset = f.subset || len(t.key)+len(t.columns) < len(f.names)
		f.tables = append(f.tables, t)
	}
}

var lawTypes = map[string]gocql.Type{
	"text": gocql.TypeVarchar, "int": gocql.TypeInt, "bigint": gocql.TypeBigInt, "uuid": gocql.TypeUUID,
	"timeuuid": gocql.TypeTimeUUID, "decimal": gocql.TypeDecimal, "timestamp": gocql.TypeTimestamp,
	"boolean": gocql.TypeBoolean,
}

func (f *lawFamily) encode(row reflect.Value) lawRow {
	out := lawRow{values: make([][]byte, len(f.names)), keys: make([][]byte, len(f.tables))}
	for i := range row.NumField() {
		column := slices.Index(f.names, row.Type().Field(i).Tag.Get("db"))
		field := row.Field(i)
		moment, isTime := field.Interface().(time.Time)
		if field.Kind() == reflect.Pointer && field.IsNil() || isTime && moment.IsZero() {
			continue
		}
		data, err := gocql.Marshal(driver.NativeType(f.types[column]), field.Interface())
		if err != nil || data == nil {
			panic(fmt.Sprintf("family %s, column %s: %x, %v", f.name, f.names[column], data, err))
		}
		out.values[column] = data
	}
	var keys []int
	for n, t := range f.tables {
		keys = append(keys, t.key...)
		out.keys[n] = f.key(nil, &f.tables[n], func(column int) []byte { return out.values[column] })
	}
	for column, v := range out.values {
		if v == nil && !slices.Contains(keys, column) {
			out.absent++
		}
	}
	return out
}

// key appends the model's key of a row of the table to buffer; nil if a key column is absent.
func (f *lawFamily) key(buffer []byte, t *lawTable, value func(column int) []byte) []byte {
	for _, column := range t.key {
		v := value(column)
		if v == nil {
			return nil
		}
		buffer = appendKey(buffer, v)
	}
	return buffer
}

func appendKey(buffer, value []byte) []byte {
	return append(binary.BigEndian.AppendUint16(buffer, uint16(len(value))), value...)
}

// sparse says whether some table has no row for this one.
func (f *lawFamily) sparse(row *lawRow) bool {
	for _, key := range row.keys {
		if key == nil {
			return true
		}
	}
	return false
}

// moved says whether the two rows differ in a OneOf column.
func (f *lawFamily) moved(a, b *lawRow) bool {
	for _, i := range f.moving {
		if string(a.values[i]) != string(b.values[i]) || (a.values[i] == nil) != (b.values[i] == nil) {
			return true
		}
	}
	return false
}

// text prints a row.
func (f *lawFamily) text(row *lawRow) string {
	var b strings.Builder
	for i, v := range row.values {
		if i == f.stamp {
			continue
		}
		fmt.Fprintf(&b, " %s=%s", f.names[i], lawValue(f.types[i], v))
	}
	return "{" + strings.TrimSpace(b.String()) + "}"
}

// keyText prints the model's key of a row.
func (f *lawFamily) keyText(table int, key string) string {
	var b strings.Builder
	rest := []byte(key)
	for _, column := range f.tables[table].key {
		n := binary.BigEndian.Uint16(rest)
		fmt.Fprintf(&b, " %s=%s", f.names[column], lawValue(f.types[column], rest[2:2+n]))
		rest = rest[2+n:]
	}
	return strings.TrimSpace(b.String())
}

func lawValue(t gocql.Type, v []byte) string {
	switch {
	case v == nil:
		return "null"
	case t == gocql.TypeVarchar:
		return fmt.Sprintf("%q", v)
	case t == gocql.TypeInt:
		return fmt.Sprint(int32(binary.BigEndian.Uint32(v)))
	case t == gocql.TypeBigInt:
		return lawTime(int64(binary.BigEndian.Uint64(v)))
	case len(v) == 16:
		return fmt.Sprintf("..%x", v[14:])
	}
	return fmt.Sprintf("0x%x", v)
}

// lawTime prints a timestamp as its distance from the first one that the tests use.
func lawTime(micros int64) string { return fmt.Sprintf("T%+d", micros-lawEpoch*1_000_000) }
