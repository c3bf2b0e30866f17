package declare

import (
	"cmp"
	"fmt"
	"net"
	"reflect"
	"slices"
	"time"

	"github.com/denorm-go/denorm/internal/cqltype"
	"github.com/denorm-go/denorm/internal/layout"
	"github.com/denorm-go/denorm/internal/undecoded"
	"github.com/gocql/gocql"
)

// This file rejects declarations that Cassandra would take and that would lose or multiply rows.

// maxSweep is the largest number of sweep deletes a change may need.
const maxSweep = 64

func (b *builder) checkTypes() {
	for i := range b.set.Columns {
		c := &b.set.Columns[i]
		if c.CQL == nil || b.unparsed[i] {
			continue // its fault is named already
		}
		b.checkList(c)
		if c.CQL.Kind() == gocql.TypeTuple {
			b.fault("", c.Name, "a tuple cannot be a column: gocql wants each of its elements bound and scanned by itself; "+
				"put it into a user-defined type or a frozen collection, or declare a UserType instead of it")
		}
		if c.Key {
			b.checkKeyType(c)
		}
		b.checkEncodes(c)
	}
}

func (b *builder) checkKeyType(c *layout.Column) {
	switch {
	case c.CQL.MultiCell() && c.CQL.User() != nil:
		b.fault("", c.Name, "a user-defined type in a key must be frozen: declare Type(%q, \"frozen<%s>\")", c.Name, c.CQL)
	case c.CQL.MultiCell():
		b.fault("", c.Name, "a key column cannot be a non-frozen collection")
	case c.CQL.Contains(gocql.TypeDuration):
		b.fault("", c.Name, "Cassandra has no order for duration and refuses it in a key")
	case c.CQL.Contains(gocql.TypeDecimal):
		b.fault("", c.Name, "decimal in a key: 1.0 and 1.00 differ in bytes and are one row, so a move between them would "+
			"erase it")
	case c.CQL.Contains(gocql.TypeSet, gocql.TypeMap):
		b.fault("", c.Name, "a frozen set or map in a key: its bytes depend on the order in which Go walks it, Cassandra's "+
			"comparison does not")
	}
}

// checkEncodes holds the Go type against the CQL type, so that they cannot disagree in the first write.
func (b *builder) checkEncodes(c *layout.Column) {
	if elem := layout.Deref(c.Go); elem.Kind() == reflect.Pointer {
		b.fault("", c.Name, "a pointer to a pointer: one is enough for an absent value")
		return
	}
	if reason := Disagree(c.Go, c.CQL); reason != "" {
		b.fault("", c.Name, "Go type %s cannot be encoded as CQL type %s%s", c.Go, c.CQL, reason)
	}
}

// Disagree says, after a colon, why the driver cannot encode values of Go type t as CQL type c. It is empty where it
// can.
func Disagree(t reflect.Type, c *cqltype.Type) string {
	const no = ": the driver has no such encoding"
	switch {
	case t.Kind() == reflect.Interface:
		return ": an interface holds values of many types"
	case t.Implements(layout.MarshalerType):
		return "" // it decides for itself
	case t.Kind() == reflect.Pointer:
		return Disagree(t.Elem(), c)
	case reflect.PointerTo(t).Implements(layout.MarshalerType):
		return ": its MarshalCQL has a pointer receiver, and is called for pointers only: declare the field as a pointer"
	}
	elems := c.Elems()
	switch c.Kind() {
	case gocql.TypeUDT, gocql.TypeTuple:
		return disagreeParts(t, c)
	case gocql.TypeList, gocql.TypeSet:
		switch {
		case t.Kind() == reflect.Slice || t.Kind() == reflect.Array:
			return Disagree(t.Elem(), elems[0])
		case t.Kind() == reflect.Map && t.Elem().Kind() == reflect.Struct && t.Elem().NumField() == 0:
			return Disagree(t.Key(), elems[0])
		}
		return no
	case gocql.TypeMap:
		if t.Kind() != reflect.Map {
			return no
		}
		return cmp.Or(Disagree(t.Key(), elems[0]), Disagree(t.Elem(), elems[1]))
	}
	signed := t.Kind() >= reflect.Int8 && t.Kind() <= reflect.Int64 // an int is as large as it is
	if signed && (c.Kind() == gocql.TypeVarint || t.Bits() < integerBits[c.Kind()]) {
		return ": the column can hold values that do not fit into it, and a row with such a value could not be read; " +
			"declare a larger Go type (int64 for bigint, big.Int for varint) or a smaller CQL type"
	}
	if bits := integerBits[c.Kind()]; bits != 0 && t.Kind() >= reflect.Uint && t.Kind() <= reflect.Uintptr &&
		t.Bits() >= bits {
		return ": CQL integers are signed, and the driver would store the larger half of its values as negative ones"
	}
	if t.Kind() != reflect.String || !layout.Parsed[c.Kind()] {
		data, err := layout.EncodeLeaf(c, probe(t, c))
		switch size := c.Size(); {
		case err != nil:
			return no
		case size > 0 && len(data) != size:
			return no // big.Int as bigint: as many bytes as the number needs
		case t == reflect.TypeFor[net.IP]() && (c.Kind() == gocql.TypeVarchar || c.Kind() == gocql.TypeAscii):
			return no // its bytes, which are no text
		}
	}
	if undecoded.Decode("", c.Info(), nil, reflect.New(t).Interface()) != nil {
		return ": the driver could not read it; declare the field as " + FieldOf[c.String()]
	}
	return ""
}

// FieldOf are the Go types of the fields that columns of CQL types want.
var FieldOf = map[string]string{
	"text": "string", "ascii": "string", "blob": "[]byte", "boolean": "bool", "tinyint": "int8", "smallint": "int16",
	"int": "int32", "bigint": "int64", "float": "float32", "double": "float64", "decimal": "inf.Dec", "varint": "big.Int",
	"uuid": "gocql.UUID", "timeuuid": "gocql.UUID", "inet": "net.IP", "timestamp": "time.Time", "date": "time.Time",
	"duration": "gocql.Duration",
}

var integerBits = map[gocql.Type]int{
	gocql.TypeTinyInt: 8, gocql.TypeSmallInt: 16, gocql.TypeInt: 32, gocql.TypeBigInt: 64,
}

// probe is a value of Go type t to try the driver with.
func probe(t reflect.Type, c *cqltype.Type) any {
	if t == reflect.TypeFor[time.Time]() { // the zero time is null
		return time.Unix(0, 0).UTC()
	}
	if t.Kind() == reflect.Slice { // nil would encode as null whatever the type
		return reflect.MakeSlice(t, c.Size(), c.Size()).Interface()
	}
	return reflect.Zero(t).Interface()
}

// checkKeys rejects keys that do not identify the entity.
func (b *builder) checkKeys() {
	if len(b.set.Tables) == 0 {
		return
	}
	base := b.set.Tables[0]
	for _, i := range base.Key {
		if c := &b.set.Columns[i]; c.Derived == nil && c.Go.Kind() == reflect.Pointer {
			b.fault(base.Name, c.Name, "a column of the base key cannot be a pointer: every entity has a base row")
		}
	}
	b.readID(base)
	for n, t := range slices.Concat(b.set.Tables[1:], b.set.Unique) {
		if b.bad[base] || b.bad[t] || b.set.Counts {
			continue
		}
		if n < len(b.set.Tables)-1 {
			b.checkIdentity(t, base)
		}
		b.leads(t, base)
	}
	for _, t := range b.set.Tables {
		for k, i := range t.Key {
			switch b.set.Columns[i].Rule {
			case layout.ClosedDomain:
				t.Sweeps = append(t.Sweeps, k)
			case layout.SingleWriter:
				t.Moves = append(t.Moves, k)
			case layout.Immutable:
			}
		}
	}
}

// readID reads ID. Without it the base key as a whole tells entities apart.
func (b *builder) readID(base *layout.Table) {
	b.set.ID = base.Key
	var id []int
	for _, name := range b.IDs {
		i, ok := b.column("", name, "ID")
		switch {
		case !ok, b.bad[base]:
		case slices.Contains(id, i):
			b.fault("", name, "is in ID twice")
		case !slices.Contains(base.Key, i):
			b.fault(base.Name, name, "ID must be in the key of the base table: add it to PartKey or SortKey")
		case b.set.Columns[i].Derived != nil:
			b.fault("", name, "ID cannot be derived: name what it follows from")
		default:
			id = append(id, i)
		}
	}
	if len(id) > 0 {
		b.set.ID = id
	}
}

// checkIdentity rejects a query table in which two entities could share a row, or whose rows do not lead to base rows.
func (b *builder) checkIdentity(t, base *layout.Table) {
	for _, i := range base.Key {
		name := b.set.Columns[i].Name
		switch {
		case !slices.Contains(b.set.ID, i) && !b.determines(t.Columns, i):
			what := "it"
			if b.set.Columns[i].Derived != nil {
				what = "what it follows from"
			}
			b.fault(t.Name, name, "is in the base key, and this table lacks it, so its rows do not lead to base rows: "+
				"add %s to Columns", what)
		case !slices.Contains(b.set.ID, i), b.determines(t.Key, i):
		case len(b.IDs) > 0:
			b.fault(t.Name, name, "ID must be in the key of each query table, or two entities could share a row: "+
				"add it to SortKey")
		default:
			b.fault(t.Name, name, "the key of a query table must contain the base key, or two entities could share a row: "+
				"add it%s; if no two may have one key, declare the table Unique", b.orID(base))
		}
	}
}

// leads finds the columns alongside the key of t that lead from its rows to their base rows.
func (b *builder) leads(t, base *layout.Table) {
	for _, i := range base.Key {
		from := []int{i}
		switch d := b.set.Columns[i].Derived; {
		case b.determines(t.Key, i):
			continue
		case d != nil && !slices.Contains(t.Columns, i):
			from = d.Sources
		}
		for _, i := range from {
			if slices.Contains(t.Columns, i) && !slices.Contains(t.Key, i) && !slices.Contains(t.Leads, i) {
				t.Leads = append(t.Leads, i)
			}
		}
	}
}

// orID is how else to declare tables of which one lacks columns of the base key in its key.
func (b *builder) orID(base *layout.Table) string {
	if len(base.Key) == 1 { // it is the id
		return ""
	}
	for _, i := range slices.Backward(base.Key) { // an id is the last column of most keys
		if b.set.Columns[i].Derived == nil &&
			!slices.ContainsFunc(b.set.Tables, func(t *layout.Table) bool { return !slices.Contains(t.Key, i) }) {
			return fmt.Sprintf("; or declare ID(%q), if no two entities have one", b.set.Columns[i].Name)
		}
	}
	return "; or add an id to all keys, and declare ID"
}

// determines says whether columns settle the value of column i: they have it, or all that it follows from.
func (b *builder) determines(columns []int, i int) bool {
	d := b.set.Columns[i].Derived
	return slices.Contains(columns, i) ||
		d != nil && !slices.ContainsFunc(d.Sources, func(s int) bool { return !slices.Contains(columns, s) })
}

// checkSweep bounds what one change deletes.
func (b *builder) checkSweep() {
	total := 0
	for _, t := range b.set.Tables {
		t.Swept = slices.Concat(t.Sweeps, t.Follows)
		product := 1
		for _, k := range t.Sweeps {
			product = min(product*max(1, len(b.set.Columns[t.Key[k]].Domain)), 1<<20)
		}
		if len(t.Moves) > 0 {
			product *= 2 // the rows under the former key, and under the new one
		}
		for _, k := range t.Follows {
			product = min(product*len(b.set.Columns[t.Key[k]].Derived.Versions), 1<<20)
		}
		if len(t.Swept) > 0 {
			total += product - 1
		}
	}
	if total > maxSweep {
		b.fault("", "", "one change would sweep %d rows, more than %d: narrow the domains of OneOf, or the tables whose "+
			"keys hold them", total, maxSweep)
	}
}

// rule is an option of a set, if it is there, and why it cannot be combined with conditions and with counters, or "".
type rule struct {
	name                 string
	there                bool
	conditions, counters string
}

func (b *builder) rules() []rule {
	const unmoved = "a row of counters cannot move, as what it has counted cannot be set elsewhere"
	return []rule{
		{
			"OneOf", len(b.OneOf) > 0, "its key columns may change already, and a sweep is for writers without conditions",
			unmoved,
		},
		{"SingleWriter", len(b.SingleWriters) > 0, "its key columns may change already", unmoved},
		{
			"Stamp", len(b.Stamps) > 0, "the condition orders the writes",
			"Cassandra gives counters their timestamps itself, and nothing orders additions",
		},
		{
			"ExpiresAt", len(b.Expiries) > 0,
			"a TTL covers all that a conditional statement sets, and would take the condition's columns with it; " +
				"delete the entity instead", "Cassandra rejects a TTL on counters",
		},
		{"Versioned", len(b.Versions) > 0, "", "Cassandra rejects conditions on counters"},
		{"Compare", len(b.Compare) > 0, "", "Cassandra rejects conditions on counters"},
		{"ID", len(b.IDs) > 0, "", "their rows are sums, and lead to no base row"},
		{"SweepInserts", b.SweepInserts, "an insert is conditional", "counters are never inserted, only added to"},
		{
			"Atomic", b.Atomic, "what a client that died has not written, the next one writes",
			"Cassandra rejects counters in a logged batch, whose replay would count twice",
		},
	}
}

// disagreeParts is Disagree for tuples and user-defined types.
func disagreeParts(t reflect.Type, c *cqltype.Type) string {
	if u := c.User(); u != nil {
		if t == u.Go {
			return ""
		}
		return fmt.Sprintf(": its values are of Go type %s", u.Go)
	}
	elems := c.Elems()
	var parts []reflect.Type
	switch {
	case t.Kind() == reflect.Struct && t.NumField() == len(elems):
		for i := range elems {
			if !t.Field(i).IsExported() {
				return fmt.Sprintf(": its field %s is not exported", t.Field(i).Name)
			}
			parts = append(parts, t.Field(i).Type)
		}
	case t.Kind() == reflect.Array && t.Len() == len(elems) || t.Kind() == reflect.Slice:
		parts = slices.Repeat([]reflect.Type{t.Elem()}, len(elems))
	default:
		return fmt.Sprintf(": a tuple is a struct of %d fields, an array or a slice", len(elems))
	}
	for i, e := range elems {
		if reason := Disagree(parts[i], e); reason != "" {
			return reason
		}
	}
	return ""
}
