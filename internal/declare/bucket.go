package declare

import (
	"cmp"
	"reflect"
	"slices"
	"time"

	"github.com/denorm-go/denorm/internal/cql"
	"github.com/denorm-go/denorm/internal/cqltype"
	"github.com/denorm-go/denorm/internal/layout"
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
			i = len(b.set.Columns)
			b.of[o.Column] = i
			b.set.Columns = append(b.set.Columns, layout.Column{Name: o.Column})
		case b.set.Columns[i].Derived != nil:
			b.fault("", o.Column, "has two Derive options")
			continue
		}
		b.set.Columns[i].Derived = d
		b.set.Derived = append(b.set.Derived, i)
	}
	for _, i := range b.set.Derived {
		d := b.set.Columns[i].Derived
		for _, s := range d.Sources {
			if b.set.Columns[s].Derived != nil {
				b.fault("", b.set.Columns[i].Name, "follows from %s, which is derived itself: name what that one follows from",
					b.set.Columns[s].Name)
			}
			b.set.Columns[s].Key = true
		}
	}
}

// derivation reads one Derive.
func (b *builder) derivation(o Derive) (*layout.Derivation, bool) {
	d := &layout.Derivation{Clock: -1}
	known := len(b.faults)
	source := func(name, what string) int {
		i, ok := b.column("", name, what)
		if ok && !slices.Contains(d.Sources, i) {
			d.Sources = append(d.Sources, i)
		}
		return i
	}
	clock := func(name, what string) {
		i := source(name, what)
		if d.Clock >= 0 && d.Clock != i {
			b.fault("", o.Column, "its functions go by the times of %s and another column: use one column",
				b.set.Columns[d.Clock].Name)
			return
		}
		d.Clock = i
	}
	timed := 0
	for n, since := range o.Versions {
		if err := since.Bucket.Check(); err != nil {
			b.fault("", o.Column, "Derive: %s", err)
			continue
		}
		if n > 0 && since.Bucket.String() == o.Versions[n-1].Bucket.String() && since.Of == "" {
			b.fault("", o.Column, "function %d is the one before it: leave its Since out", n+1)
		}
		v := layout.Version{Bucket: since.Bucket}
		for _, name := range since.Bucket.Sources {
			what := "Derive(" + o.Column + ")"
			if since.Bucket.Kind == layout.HashBucket {
				v.Sources = append(v.Sources, source(name, what))
			} else {
				clock(name, what)
			}
		}
		if since.Of != "" {
			clock(since.Of, "Since.Of of "+o.Column)
		}
		if n > 0 && !since.Time.IsZero() {
			timed++
			v.From = since.Time.UnixMilli()
			if since.Time.Nanosecond()%int(time.Millisecond) != 0 {
				b.fault("", o.Column, "function %d is valid from a time that is not whole milliseconds", n+1)
			}
			if n > 1 && !since.Time.After(o.Versions[n-1].Time) {
				b.fault("", o.Column, "function %d is not valid from a later time than the one before it", n+1)
			}
		}
		d.Versions = append(d.Versions, v)
	}
	switch {
	case len(b.faults) > known:
	case timed > 0 && timed < len(o.Versions)-1:
		b.fault("", o.Column, "some of its later functions have a time from which on they are valid, and some have not")
	case timed > 0 && d.Clock < 0:
		b.fault("", o.Column, "a later function has a time from which on it is valid, but no column holds the time of a "+
			"row: name it in Of")
	case timed == 0 && d.Clock >= 0 && len(o.Versions) > 1:
		b.fault("", o.Column, "a later function lacks the time from which on it is valid: with it the bucket of a row "+
			"never changes")
	}
	return d, len(b.faults) == known
}

// deriveTypes gives derived columns their types, before those of the fields are inferred.
func (b *builder) deriveTypes() {
	for _, i := range b.set.Derived {
		c := &b.set.Columns[i]
		if c.CQL == nil && c.Go == nil {
			c.CQL = cqltype.Must(c.Derived.Versions[0].Bucket.Type())
		}
		if c.Go == nil {
			c.Go = cmp.Or(goTypes[c.CQL.Kind()], reflect.TypeFor[string]()) // other types are rejected below
		}
	}
}

// goTypes are those of derived columns that are no field, where they are not string.
var goTypes = map[gocql.Type]reflect.Type{
	gocql.TypeTinyInt: reflect.TypeFor[int8](), gocql.TypeSmallInt: reflect.TypeFor[int16](),
	gocql.TypeInt: reflect.TypeFor[int32](), gocql.TypeBigInt: reflect.TypeFor[int64](),
	gocql.TypeDate: reflect.TypeFor[time.Time](),
}

// checkDerived holds the derived columns against the types and rules of all columns.
func (b *builder) checkDerived() {
	for _, i := range b.set.Derived {
		c := &b.set.Columns[i]
		if c.CQL == nil {
			continue // its fault is named already
		}
		c.Derived.Type = c.CQL
		if !c.Key {
			b.fault("", c.Name, "is derived, and in the key of no table: it would be of no use")
		}
		for _, v := range c.Derived.Versions {
			if err := v.Bucket.Fits(c.CQL); err != nil {
				b.fault("", c.Name, "%s: %s", v.Bucket, err)
			}
			for _, s := range v.Sources {
				if t := b.set.Columns[s].CQL; t != nil && t.Contains(gocql.TypeUDT) {
					b.fault("", c.Name, "%s: %s is of a user-defined type, of which the hash is another one once the type gets a "+
						"field: take a field of it as a column of its own", v.Bucket, b.set.Columns[s].Name)
				}
			}
		}
		if c.Derived.Clock >= 0 {
			b.checkClock(c.Derived.Clock)
		}
	}
	for n, t := range b.set.Tables {
		b.checkRotation(t)
		if b.bad[t] {
			continue
		}
		for k, i := range t.Key {
			if b.set.Columns[i].Derived != nil {
				b.checkDerivedKey(t, k, n == 0)
			}
		}
	}
}

// checkClock rejects a column that cannot be the time of a row.
func (b *builder) checkClock(i int) {
	c := &b.set.Columns[i]
	switch {
	case c.CQL == nil:
	case c.CQL.Kind() != gocql.TypeTimestamp && c.CQL.Kind() != gocql.TypeTimeUUID:
		b.fault("", c.Name, "is the time of a bucket, and %s: it must be timestamp or timeuuid", c.CQL)
	case c.Rule == layout.ClosedDomain:
		b.fault("", c.Name, "is the time of a bucket, and OneOf: that is for hash buckets")
	}
}

// checkDerivedKey looks at the derived column at position k of the key of t, and says how its rows are found again.
func (b *builder) checkDerivedKey(t *layout.Table, k int, base bool) {
	c := &b.set.Columns[t.Key[k]]
	d := c.Derived
	if base && d.Swept() {
		b.fault(t.Name, c.Name, "rows may be stored under several functions, and the base row is read by one key: give the "+
			"functions a time from which on they are valid, or choose another base table")
	}
	follows, moves := false, false
	for _, s := range d.Sources {
		source := &b.set.Columns[s]
		if base && source.Go.Kind() == reflect.Pointer {
			b.fault(t.Name, c.Name, "follows from %s, a pointer: a column of the base key cannot be absent", source.Name)
		}
		switch source.Rule {
		case layout.ClosedDomain:
			follows = true
			if !slices.Contains(t.Key, s) {
				b.fault(t.Name, c.Name, "follows from %s, which is OneOf and not in the key: its former rows could not be "+
					"distinguished", source.Name)
			}
		case layout.SingleWriter:
			moves = true
		case layout.Immutable:
		}
	}
	if follows && moves {
		b.fault(t.Name, c.Name, "follows from a OneOf and from a SingleWriter column: one of them must do")
	}
	if moves {
		t.Moves = append(t.Moves, k)
	}
	if follows || d.Swept() {
		t.Follows = append(t.Follows, k)
	}
}
