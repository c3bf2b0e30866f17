package layout

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/denorm-go/denorm/internal/cqltype"
	"github.com/denorm-go/denorm/internal/statement"
	"github.com/gocql/gocql"
)

// Derivation is a validated Derive.
type Derivation struct {
	Versions []Version // by time; not by time, the one in use is the last
	Clock    int       // column of the row's time, which chooses the version; -1 without one
	Sources  []int     // all columns it follows from
	Type     *cqltype.Type
}

// Version is one bucket function of a derived column, and from when on it is used.
type Version struct {
	From    int64 // milliseconds
	Bucket  Bucket
	Sources []int
}

// Swept says whether rows may be stored under several functions.
func (d *Derivation) Swept() bool { return d.Clock < 0 && len(d.Versions) > 1 }

// At is the one in use for a row of time t, in milliseconds.
func (d *Derivation) At(t int64) *Version {
	for i := len(d.Versions) - 1; i > 0; i-- {
		if d.Clock < 0 || d.Versions[i].From <= t {
			return &d.Versions[i]
		}
	}
	return &d.Versions[0]
}

// Latest is the last of the functions.
func (d *Derivation) Latest() Bucket { return d.Versions[len(d.Versions)-1].Bucket }

// ErrAbsent says that a source is null: the row has no place in tables keyed by the derived column.
var ErrAbsent = errors.New("a column that it follows from is absent")

// Value is the encoded value for a row. of gives the columns of the row.
func (d *Derivation) Value(of func(column int) *cqltype.Value) ([]byte, error) {
	var t int64
	if d.Clock >= 0 {
		v := of(d.Clock)
		if len(v.Data) == 0 { // also the empty value that the driver by itself makes of a zero time.Time
			return nil, ErrAbsent
		}
		t = InstantOf(v)
	}
	return d.Under(d.At(t), t, of)
}

// Under is value under one version.
func (d *Derivation) Under(v *Version, t int64, of func(column int) *cqltype.Value) ([]byte, error) {
	if v.Bucket.Kind != HashBucket {
		return EncodeBucket(v.Bucket, d.Type, t)
	}
	var array [4]*cqltype.Value
	values := array[:0]
	for _, i := range v.Sources {
		source := of(i)
		if source.Data == nil {
			return nil, ErrAbsent
		}
		values = append(values, source)
	}
	sum := sha256.Sum256(statement.PartitionKey(values))
	return EncodeNumber(d.Type, int64(binary.BigEndian.Uint64(sum[:8])%uint64(v.Bucket.N))) // n fits into the type
}

// InstantOf is the time of an encoded timestamp or timeuuid, in milliseconds since 1970, floored.
func InstantOf(v *cqltype.Value) int64 {
	if v.Type.Kind() == gocql.TypeTimestamp {
		return int64(binary.BigEndian.Uint64(v.Data)) // two's complement
	}
	return FloorDiv(cqltype.Ticks(v.Data)-UnixTicks, TicksPerMilli)
}

// Times of timeuuids count 100 ns.
const (
	UnixTicks     = 0x01B21DD213814000 // from October 15th, 1582, where timeuuid begins, to 1970
	TicksPerMilli = 10_000
)

// EncodeBucket is the time bucket of t as a value of type typ.
func EncodeBucket(b Bucket, typ *cqltype.Type, t int64) ([]byte, error) {
	switch typ.Kind() {
	case gocql.TypeVarchar:
		text, err := b.Text(t)
		return []byte(text), err
	case gocql.TypeDate:
		days := FloorDiv(b.Start(b.Number(t)), day.Milliseconds()) + 1<<31
		if days < 0 || days > math.MaxUint32 {
			return nil, errors.New("its bucket is beyond what a date can hold")
		}
		return binary.BigEndian.AppendUint32(nil, uint32(days)), nil
	}
	return EncodeNumber(typ, b.Number(t))
}

// EncodeNumber is a number as a value of type typ.
func EncodeNumber(typ *cqltype.Type, n int64) ([]byte, error) {
	size := typ.Size()
	if bits := 8*size - 1; bits < 63 && (n < -1<<bits || n > 1<<bits-1) {
		return nil, fmt.Errorf("its bucket is beyond what a CQL %s can hold", typ)
	}
	return cqltype.Int64(n)[8-size:], nil
}

// Derive fills the derived columns of an encoded row, those that wanted says.
func (s *Set) Derive(row []cqltype.Value, wanted func(i int) bool) error {
	for _, i := range s.Derived {
		if !wanted(i) {
			continue
		}
		c := &s.Columns[i]
		row[i].Type = c.CQL
		data, err := c.Derived.Value(func(i int) *cqltype.Value { return &row[i] })
		switch {
		case errors.Is(err, ErrAbsent):
		case err != nil:
			return s.Invalid(nil, c.Name, err.Error())
		default:
			row[i].Data = data
		}
	}
	return nil
}

// Identifies says whether column i is part of what identifies an entity: of the base key, or of what a column of the
// base key follows from.
func (s *Set) Identifies(i int) bool {
	for _, k := range s.Tables[0].Key {
		if d := s.Columns[k].Derived; k == i || d != nil && slices.Contains(d.Sources, i) {
			return true
		}
	}
	return s.Tables[0].Rotation != nil && slices.Contains(s.Tables[0].Rotation.Sources, i)
}
