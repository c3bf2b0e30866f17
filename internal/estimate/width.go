package estimate

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/denorm-go/denorm/internal/cql/ast"
	"github.com/denorm-go/denorm/schema"
)

// Widths that are assumed where nothing is stated.
const (
	assumedText     = 32 // bytes of a text
	assumedBlob     = 256
	assumedElements = 10 // of a collection
)

// widths knows the sizes of values.
type widths struct {
	schema   *schema.Schema
	keyspace string
	volume   *schema.Volume
	types    map[string]float64 // sizes of user-defined types of whose fields nothing is stated
}

// fixed are the sizes of the types that are stored without their length. The shorter integers, date and time are not
// among them.
var fixed = map[string]float64{
	"boolean": 1, "int": 4, "float": 4, "bigint": 8, "double": 8, "timestamp": 8, "uuid": 16, "timeuuid": 16,
}

// variable are the sizes of the types that are stored with their length, where nothing is stated.
var variable = map[string]float64{
	"tinyint": 1, "smallint": 2, "date": 4, "time": 8, "inet": 4, "decimal": 7, "varint": 4, "duration": 5, "counter": 40,
	"text": assumedText, "ascii": assumedText, "blob": assumedBlob,
}

// stored is the size of a value in a data file, with its length where that is stored.
func (w *widths) stored(column, typ string) float64 {
	name, _, args := ast.TypeParts(typ)
	if size, ok := fixed[name]; ok {
		return size
	}
	size := w.bytes(column, typ)
	if name == "vector" && len(args) == 2 && fixed[args[0]] > 0 {
		return size
	}
	return vint(size) + size
}

// bytes is the size of a value.
func (w *widths) bytes(column, typ string) float64 {
	name, _, args := ast.TypeParts(typ)
	if size, ok := fixed[name]; ok {
		return size
	}
	switch name {
	case "list", "set":
		return 4 + w.elements(column)*(4+w.bytes(column, args[0]))
	case "map":
		key := *w
		key.volume = &schema.Volume{} // a stated width is that of a map's values
		return 4 + w.elements(column)*(8+key.bytes(column, args[0])+w.bytes(column, args[1]))
	case "tuple":
		sum := 0.0
		for _, a := range args {
			sum += 4 + w.bytes(column, a)
		}
		return sum
	case "vector":
		n, _ := strconv.ParseFloat(args[1], 64)
		if fixed[args[0]] > 0 {
			return n * fixed[args[0]]
		}
		return n * (1 + w.bytes(column, args[0]))
	}
	if stated, ok := w.volume.Width[column]; ok {
		return stated
	}
	if size, ok := variable[name]; ok {
		return size
	}
	inside := within(w.volume.Width, column) || within(w.volume.Elements, column)
	if size, ok := w.types[name]; ok && !inside {
		return size
	}
	w.types[name] = assumedText // of a type that holds itself
	sum := 0.0
	for _, f := range w.fields(name) {
		sum += 4 + w.bytes(column+"."+f.Name, f.Type)
	}
	if sum == 0 {
		sum = assumedText
	}
	if w.types[name] = sum; inside {
		delete(w.types, name)
	}
	return sum
}

// within says whether something is stated of a field of a column.
func within(stated map[string]float64, column string) bool {
	for c := range stated {
		if strings.HasPrefix(c, column+".") {
			return true
		}
	}
	return false
}

// fields gives those of a user-defined type.
func (w *widths) fields(name string) []schema.Field {
	i := slices.IndexFunc(w.schema.Types, func(t schema.Type) bool {
		return t.ID == schema.ID{Keyspace: w.keyspace, Name: name}
	})
	if i < 0 {
		return nil
	}
	return w.schema.Types[i].Fields
}

func (w *widths) elements(column string) float64 {
	if n, ok := w.volume.Elements[column]; ok {
		return n
	}
	return assumedElements
}

func (w *widths) filled(column string) float64 {
	if f, ok := w.volume.Filled[column]; ok {
		return min(f, 1)
	}
	return 1
}

// vint is the size of a number in Cassandra's variable encoding: seven bits a byte, nine bytes at most.
func vint(n float64) float64 {
	for bytes := 1.0; bytes < 9; bytes++ {
		if n < math.Pow(2, 7*bytes) {
			return bytes
		}
	}
	return 9
}

// cells is how many cells a column has in a row, and what they take.
func (w *widths) cells(c schema.Column) (count, size float64) {
	name, frozen, args := ast.TypeParts(c.Type)
	filled := w.filled(c.Name)
	if !ast.MultiCellText(c.Type) || frozen {
		return filled, filled * min(1+w.stored(c.Name, c.Type), math.MaxFloat64)
	}
	const deletion = 9 // the tombstone below what is written as a whole, and the number of its cells
	switch name {
	case "list":
		count = w.elements(c.Name)
		size = count * (1 + 17 + w.stored(c.Name, args[0]))
	case "set":
		count = w.elements(c.Name)
		b := w.bytes(c.Name, args[0])
		size = count * (1 + vint(b) + b)
	case "map":
		count = w.elements(c.Name)
		key := *w
		key.volume = &schema.Volume{}
		k := key.bytes(c.Name, args[0])
		size = count * (1 + vint(k) + k + w.stored(c.Name, args[1]))
	default: // a user-defined type that is not frozen: a cell a field
		for _, f := range w.fields(strings.Trim(name, `"`)) {
			count++
			size += 1 + 3 + w.stored(c.Name+"."+f.Name, f.Type)
		}
	}
	return filled * count, filled * min(deletion+size, math.MaxFloat64)
}
