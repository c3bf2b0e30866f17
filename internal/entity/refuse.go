package entity

import (
	"cmp"
	"fmt"
	"net"
	"reflect"
	"slices"
	"time"

	"github.com/denorm-go/denorm/internal/cqltype"
	"github.com/denorm-go/denorm/internal/undecoded"
	"github.com/gocql/gocql"
)

// This file rejects declarations that Cassandra would take and that would lose or multiply rows.

// maxSweep is the largest number of sweep deletes a change may need.
const maxSweep = 64

func (b *builder) checkTypes() {
	for i := range b.set.columns {
		c := &b.set.columns[i]
		if c.cql == nil || b.unparsed[i] {
			continue // its fault is named already
		}
		if !c.key && c.cql.Kind() == gocql.TypeList && c.cql.MultiCell() {
			b.fault("", c.name, "a non-frozen list doubles when it is written twice at one timestamp, as a retry does: "+
				"declare Type(%q, \"frozen<%s>\")%s", c.name, c.cql, orSet(c))
		}
		if c.cql.Kind() == gocql.TypeTuple {
			b.fault("", c.name, "a tuple cannot be a column: gocql wants each of its elements bound and scanned by itself; put it into a "+
				"user-defined type or a frozen collection, or declare a UserType instead of it")
		}
		if c.key {
			b.checkKeyType(c)
		}
		b.checkEncodes(c)
	}
}

// orSet is the other declaration of a column that cannot be a list, empty if its elements cannot be in a set.
func orSet(c *column) string {
	element := c.cql.Elems()[0]
	if element.Contains(func(t *cqltype.Type) bool { return t.Kind() == gocql.TypeDuration }) {
		return ""
	}
	return fmt.Sprintf(", or Type(%q, \"set<%s>\") if each value may be there once only and their order does not matter", c.name, element)
}

func (b *builder) checkKeyType(c *column) {
	switch {
	case c.cql.MultiCell() && c.cql.User() != nil:
		b.fault("", c.name, "a user-defined type in a key must be frozen: declare Type(%q, \"frozen<%s>\")", c.name, c.cql)
	case c.cql.MultiCell():
		b.fault("", c.name, "a key column cannot be a non-frozen collection")
	case c.cql.Contains(func(t *cqltype.Type) bool { return t.Kind() == gocql.TypeDuration }):
		b.fault("", c.name, "Cassandra has no order for duration and refuses it in a key")
	case c.cql.Contains(func(t *cqltype.Type) bool { return t.Kind() == gocql.TypeDecimal }):
		b.fault("", c.name, "decimal in a key: 1.0 and 1.00 differ in bytes and are one row, so a move between them would erase it")
	case c.cql.Contains(func(t *cqltype.Type) bool { return t.Kind() == gocql.TypeSet || t.Kind() == gocql.TypeMap }):
		b.fault("", c.name, "a frozen set or map in a key: its bytes depend on the order in which Go walks it, Cassandra's comparison does not")
	}
}

// checkEncodes holds the Go type against the CQL type, so that they cannot disagree in the first write.
func (b *builder) checkEncodes(c *column) {
	if elem := deref(c.goType); elem.Kind() == reflect.Pointer {
		b.fault("", c.name, "a pointer to a pointer: one is enough for an absent value")
		return
	}
	if reason := disagree(c.goType, c.cql); reason != "" {
		b.fault("", c.name, "Go type %s cannot be encoded as CQL type %s%s", c.goType, c.cql, reason)
	}
}

// disagree says, after a colon, why the driver cannot encode values of Go type t as CQL type c. It is empty where it can.
func disagree(t reflect.Type, c *cqltype.Type) string {
	const no = ": the driver has no such encoding"
	switch {
	case t.Kind() == reflect.Interface:
		return ": an interface holds values of many types"
	case t.Implements(marshalerType):
		return "" // it decides for itself
	case t.Kind() == reflect.Pointer:
		return disagree(t.Elem(), c)
	case reflect.PointerTo(t).Implements(marshalerType):
		return ": its MarshalCQL has a pointer receiver, and is called for pointers only: declare the field as a pointer"
	}
	elems := c.Elems()
	switch c.Kind() {
	case gocql.TypeUDT, gocql.TypeTuple:
		return disagreeParts(t, c)
	case gocql.TypeList, gocql.TypeSet:
		switch {
		case t.Kind() == reflect.Slice || t.Kind() == reflect.Array:
			return disagree(t.Elem(), elems[0])
		case t.Kind() == reflect.Map && t.Elem().Kind() == reflect.Struct && t.Elem().NumField() == 0:
			return disagree(t.Key(), elems[0])
		}
		return no
	case gocql.TypeMap:
		if t.Kind() != reflect.Map {
			return no
		}
		return cmp.Or(disagree(t.Key(), elems[0]), disagree(t.Elem(), elems[1]))
	}
	signed := t.Kind() >= reflect.Int8 && t.Kind() <= reflect.Int64 // an int is as large as it is
	if signed && (c.Kind() == gocql.TypeVarint || t.Bits() < integerBits[c.Kind()]) {
		return ": the column can hold values that do not fit into it, and a row with such a value could not be read; declare a larger Go type " +
			"(int64 for bigint, big.Int for varint) or a smaller CQL type"
	}
	if bits := integerBits[c.Kind()]; bits != 0 && t.Kind() >= reflect.Uint && t.Kind() <= reflect.Uintptr && t.Bits() >= bits {
		return ": CQL integers are signed, and the driver would store the larger half of its values as negative ones"
	}
	if t.Kind() != reflect.String || !parsed[c.Kind()] {
		data, err := encodeLeaf(c, probe(t, c))
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
		return ": the driver could not read it; declare the field as " + fieldOf[c.String()]
	}
	return ""
}

var integerBits = map[gocql.Type]int{gocql.TypeTinyInt: 8, gocql.TypeSmallInt: 16, gocql.TypeInt: 32, gocql.TypeBigInt: 64}

// parsed are the types that the driver reads out of a Go string; an empty one would not do as a probe.
var parsed = map[gocql.Type]bool{
	gocql.TypeUUID: true, gocql.TypeTimeUUID: true, gocql.TypeInet: true, gocql.TypeDate: true, gocql.TypeTinyInt: true,
	gocql.TypeSmallInt: true, gocql.TypeInt: true, gocql.TypeBigInt: true, gocql.TypeVarint: true,
	gocql.TypeDuration: true,
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
	if len(b.set.tables) == 0 {
		return
	}
	base := b.set.tables[0]
	for _, i := range base.key {
		if c := &b.set.columns[i]; c.derived == nil && c.goType.Kind() == reflect.Pointer {
			b.fault(base.name, c.name, "a column of the base key cannot be a pointer: every entity has a base row")
		}
	}
	for _, t := range b.set.tables[1:] {
		if b.bad[base] || b.bad[t] || b.set.counts {
			continue
		}
		for _, i := range base.key {
			if !b.determines(t, i) {
				b.fault(t.name, b.set.columns[i].name, "the key of a query table must contain the base key: "+
					"without this column two entities share a row, and one overwrites the other; if two entities must not have one key, declare the table Unique in a Versioned set")
			}
		}
	}
	for _, t := range b.set.tables {
		for k, i := range t.key {
			switch b.set.columns[i].rule {
			case oneOf:
				t.sweeps = append(t.sweeps, k)
			case singleWriter:
				t.moves = append(t.moves, k)
			case immutable:
			}
		}
	}
}

// determines says whether the key of t settles the value of column i: it holds the column, or all that it follows from.
func (b *builder) determines(t *table, i int) bool {
	d := b.set.columns[i].derived
	return slices.Contains(t.key, i) ||
		d != nil && !slices.ContainsFunc(d.sources, func(s int) bool { return !slices.Contains(t.key, s) })
}

// checkSweep bounds what one change deletes.
func (b *builder) checkSweep() {
	total := 0
	for _, t := range b.set.tables {
		t.swept = slices.Concat(t.sweeps, t.follows)
		product := 1
		for _, k := range t.sweeps {
			product = min(product*max(1, len(b.set.columns[t.key[k]].domain)), 1<<20)
		}
		if len(t.moves) > 0 {
			product *= 2 // the rows under the former key, and under the new one
		}
		for _, k := range t.follows {
			product = min(product*len(b.set.columns[t.key[k]].derived.versions), 1<<20)
		}
		if len(t.swept) > 0 {
			total += product - 1
		}
	}
	if total > maxSweep {
		b.fault("", "", "one change would sweep %d rows, more than %d: narrow the domains of OneOf, or the tables whose keys hold them",
			total, maxSweep)
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
		{"OneOf", len(b.OneOf) > 0, "its key columns may change already, and a sweep is for writers without conditions", unmoved},
		{"SingleWriter", len(b.SingleWriters) > 0, "its key columns may change already", unmoved},
		{
			"Stamp", len(b.Stamps) > 0, "the condition orders the writes",
			"Cassandra gives counters their timestamps itself, and nothing orders additions",
		},
		{
			"ExpiresAt", len(b.Expiries) > 0, "a TTL covers all that a conditional statement sets, and would take the condition's columns with it; " +
				"delete the entity instead", "Cassandra rejects a TTL on counters",
		},
		{"Versioned", len(b.Versions) > 0, "", "Cassandra rejects conditions on counters"},
		{"Compare", len(b.Compare) > 0, "", "Cassandra rejects conditions on counters"},
		{"SweepInserts", b.SweepInserts, "an insert is conditional", "counters are never inserted, only added to"},
		{
			"Atomic", b.Atomic, "what a client that died has not written, the next one writes",
			"Cassandra rejects counters in a logged batch, whose replay would count twice",
		},
	}
}
