package entity

import (
	"cmp"
	"reflect"
	"slices"
	"time"

	"github.com/denorm-go/denorm/internal/cql"
	"github.com/denorm-go/denorm/internal/cqltype"
	"github.com/gocql/gocql"
)

// This file validates derived columns and rotating tables.

// readDerived adds the columns of Derive, and marks what they follow from as key columns.
func (b *builder) readDerived() {
	for _, o := range b.Derived {
		if !cql.IsColumn(o.Column) {
			b.fault("", o.Column, "Derive: the column's name must be %s", cql.ColumnRule)
			continue
		}
		d, ok := b.derivation(o)
		if !ok {
			b.underived[o.Column] = true
			continue
		}
		i, ok := b.of[o.Column]
		switch {
		case !ok:
			i = len(b.set.columns)
			b.of[o.Column] = i
			b.set.columns = append(b.set.columns, column{name: o.Column})
		case b.set.columns[i].derived != nil:
			b.fault("", o.Column, "has two Derive options")
			continue
		}
		b.set.columns[i].derived = d
		b.set.derived = append(b.set.derived, i)
	}
	for _, i := range b.set.derived {
		d := b.set.columns[i].derived
		for _, s := range d.sources {
			if b.set.columns[s].derived != nil {
				b.fault("", b.set.columns[i].name, "follows from %s, which is derived itself: name what that one follows from",
					b.set.columns[s].name)
			}
			b.set.columns[s].key = true
		}
	}
}

// derivation reads one Derive.
func (b *builder) derivation(o Derive) (*derivation, bool) {
	d := &derivation{clock: -1}
	known := len(b.faults)
	source := func(name, what string) int {
		i, ok := b.column("", name, what)
		if ok && !slices.Contains(d.sources, i) {
			d.sources = append(d.sources, i)
		}
		return i
	}
	clock := func(name, what string) {
		i := source(name, what)
		if d.clock >= 0 && d.clock != i {
			b.fault("", o.Column, "its functions go by the time of %s and by that of another column: it must be one",
				b.set.columns[d.clock].name)
			return
		}
		d.clock = i
	}
	timed := 0
	for n, since := range o.Versions {
		if err := since.Bucket.valid(); err != nil {
			b.fault("", o.Column, "Derive: %s", err)
			continue
		}
		if n > 0 && since.Bucket.String() == o.Versions[n-1].Bucket.String() && since.Of == "" {
			b.fault("", o.Column, "function %d is the one before it: leave its Since out", n+1)
		}
		v := version{bucket: since.Bucket}
		for _, name := range since.Bucket.sources {
			what := "Derive(" + o.Column + ")"
			if since.Bucket.kind == hashBucket {
				v.sources = append(v.sources, source(name, what))
			} else {
				clock(name, what)
			}
		}
		if since.Of != "" {
			clock(since.Of, "Since.Of of "+o.Column)
		}
		if n > 0 && !since.Time.IsZero() {
			timed++
			v.from = since.Time.UnixMilli()
			if since.Time.Nanosecond()%int(time.Millisecond) != 0 {
				b.fault("", o.Column, "function %d is valid from a time that is not whole milliseconds", n+1)
			}
			if n > 1 && v.from <= d.versions[n-1].from {
				b.fault("", o.Column, "function %d is not valid from a later time than the one before it", n+1)
			}
		}
		d.versions = append(d.versions, v)
	}
	switch {
	case len(b.faults) > known:
		return nil, false
	case timed > 0 && timed < len(o.Versions)-1:
		b.fault("", o.Column, "some of its later functions have a time from which on they are valid, and some have not")
	case timed > 0 && d.clock < 0:
		b.fault("", o.Column, "a later function has a time from which on it is valid, but no column holds the time of a row: name it in Of")
	case timed == 0 && d.clock >= 0 && len(o.Versions) > 1:
		b.fault("", o.Column, "a later function lacks the time from which on it is valid: with it the bucket of a row never changes")
	}
	return d, len(b.faults) == known
}

// deriveTypes gives derived columns their types, before those of the fields are inferred.
func (b *builder) deriveTypes() {
	for _, i := range b.set.derived {
		c := &b.set.columns[i]
		if c.cql == nil && c.goType == nil {
			c.cql, _ = cqltype.Parse(c.derived.versions[0].bucket.typ()) // one of this package's own
		}
		if c.goType == nil {
			c.goType = cmp.Or(goTypes[c.cql.Kind()], reflect.TypeFor[string]()) // other types are rejected below
		}
	}
}

// goTypes are those of derived columns that are no field.
var goTypes = map[gocql.Type]reflect.Type{
	gocql.TypeTinyInt: reflect.TypeFor[int8](), gocql.TypeSmallInt: reflect.TypeFor[int16](), gocql.TypeInt: reflect.TypeFor[int32](),
	gocql.TypeBigInt: reflect.TypeFor[int64](), gocql.TypeVarchar: reflect.TypeFor[string](), gocql.TypeDate: reflect.TypeFor[time.Time](),
}

// checkDerived holds the derived columns against the types and rules of all columns.
func (b *builder) checkDerived() {
	for _, i := range b.set.derived {
		c := &b.set.columns[i]
		if c.cql == nil {
			continue // its fault is named already
		}
		c.derived.typ = c.cql
		if !c.key {
			b.fault("", c.name, "is derived, and in the key of no table: it would be of no use")
		}
		for _, v := range c.derived.versions {
			if err := v.bucket.fits(c.cql); err != nil {
				b.fault("", c.name, "%s: %s", v.bucket, err)
			}
			for _, s := range v.sources {
				if t := b.set.columns[s].cql; t != nil && t.Contains(func(t *cqltype.Type) bool { return t.User() != nil }) {
					b.fault("", c.name, "%s: %s is of a user-defined type, of which the hash is another one once the type gets a field: "+
						"take a field of it as a column of its own", v.bucket, b.set.columns[s].name)
				}
			}
		}
		if c.derived.clock >= 0 {
			b.checkClock(c.derived.clock)
		}
	}
	for n, t := range b.set.tables {
		b.checkRotation(t)
		if b.bad[t] {
			continue
		}
		for k, i := range t.key {
			if b.set.columns[i].derived != nil {
				b.checkDerivedKey(t, k, n == 0)
			}
		}
	}
}

// checkClock rejects a column that cannot be the time of a row.
func (b *builder) checkClock(i int) {
	c := &b.set.columns[i]
	switch {
	case c.cql == nil:
	case c.cql.Kind() != gocql.TypeTimestamp && c.cql.Kind() != gocql.TypeTimeUUID:
		b.fault("", c.name, "is the time of a bucket, and %s: it must be timestamp or timeuuid", c.cql)
	case c.rule == oneOf:
		b.fault("", c.name, "is the time of a bucket, and OneOf: that is for hash buckets")
	}
}

// checkDerivedKey looks at the derived column at position k of the key of t, and says how its rows are found again.
func (b *builder) checkDerivedKey(t *table, k int, base bool) {
	c := &b.set.columns[t.key[k]]
	d := c.derived
	if base && d.swept() {
		b.fault(t.name, c.name, "rows may be stored under several functions, and the base row is read by one key: give the functions "+
			"a time from which on they are valid, or choose another base table")
	}
	follows, moves := false, false
	for _, s := range d.sources {
		source := &b.set.columns[s]
		if base && source.goType.Kind() == reflect.Pointer {
			b.fault(t.name, c.name, "follows from %s, a pointer: a column of the base key cannot be absent", source.name)
		}
		switch source.rule {
		case oneOf:
			follows = true
			if !slices.Contains(t.key, s) {
				b.fault(t.name, c.name, "follows from %s, which is OneOf and not in the key: its former rows could not be distinguished",
					source.name)
			}
		case singleWriter:
			moves = true
		case immutable:
		}
	}
	if follows && moves {
		b.fault(t.name, c.name, "follows from a OneOf and from a SingleWriter column: one of them must do")
	}
	if moves {
		t.moves = append(t.moves, k)
	}
	if follows || d.swept() {
		t.follows = append(t.follows, k)
	}
}
