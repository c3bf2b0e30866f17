package suite

import (
	"math"
	"math/big"
	"math/rand/v2"
	"net"
	"slices"
	"testing"
	"time"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/reader"
	"github.com/denorm-go/denorm/tables"
)

type readTests struct{ *Place }

type keyed[V any] struct {
	Side  string // one: all rows in one bucket; many: spread over five
	Shard int64
	Value V
	ID    int64
}

// The reader merges by an order of its own, which must be the server's, for every type that can be a clustering column. The
// same rows stand in a single partition, sorted by the server, and in buckets, merged by the reader. Values are chosen where orders differ: signs, lengths, bytes that are read signed in a timeuuid.
func (p readTests) MergesInTheServersOrder(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 1))
	bytes := func(n int) []byte {
		b := make([]byte, n)
		for i := range b {
			b[i] = byte(rnd.Uint32())
		}
		return b
	}
	someUUID := func(version byte) (u gocql.UUID) {
		copy(u[:], bytes(16))
		u[0], u[6] = u[0]%4, u[6]&0x0f|version<<4 // equal times now and then
		if version == 1 && rnd.IntN(2) == 0 {
			copy(u[:8], []byte{1, 2, 3, 4, 5, 6, 0x11, 8})
		}
		return u
	}
	now := time.Now().Truncate(time.Millisecond)
	columns := []orderedColumn{
		ordered("tiny", "tinyint", func() int8 { return int8(rnd.Uint32()) }),
		ordered("small", "smallint", func() int16 { return int16(rnd.Uint32()) }),
		ordered("int", "int", func() int32 { return rnd.Int32N(400) - 200 }),
		ordered("big", "bigint", func() int64 { return int64(rnd.Uint64()) }),
		ordered("varint", "varint", func() big.Int {
			n := new(big.Int).SetBytes(bytes(1 + rnd.IntN(10)))
			if rnd.IntN(2) == 0 {
				n.Neg(n)
			}
			return *n
		}),
		ordered("float", "float", func() float32 { return float32(rnd.NormFloat64()) }),
		ordered("double", "double", func() float64 {
			return []float64{rnd.NormFloat64() * 1e100, rnd.NormFloat64(), math.Inf(1), math.Inf(-1), 0, math.Copysign(0, -1)}[rnd.IntN(6)]
		}),
		ordered("text", "text", func() string {
			return []string{"a", "A", "é", "ÿ", "z", "\U0001f600", "￿", "aa"}[rnd.IntN(8)] + string(rune(32+rnd.IntN(900)))
		}),
		ordered("blob", "blob", func() []byte { return bytes(1 + rnd.IntN(3)) }),
		ordered("boolean", "boolean", func() bool { return rnd.IntN(2) == 0 }),
		ordered("timestamp", "timestamp", func() time.Time { return now.Add(time.Duration(rnd.Int64N(1e18)-5e17) * 4).UTC() }),
		ordered("date", "date", func() time.Time { return now.AddDate(0, 0, rnd.IntN(80_000)-40_000).Truncate(24 * time.Hour).UTC() }),
		ordered("time", "time", func() int64 { return rnd.Int64N(24 * 3600 * 1e9) }),
		ordered("timeuuid", "timeuuid", func() gocql.UUID { return someUUID(1) }),
		ordered("uuid", "uuid", func() gocql.UUID { return someUUID(byte([]int{1, 1, 4, 7, 3}[rnd.IntN(5)])) }),
		ordered("inet", "inet", func() net.IP { return bytes([]int{4, 16}[rnd.IntN(2)]) }),
		ordered("list", "frozen<list<int>>", func() []int32 {
			out := make([]int32, 1+rnd.IntN(3))
			for i := range out {
				out[i] = rnd.Int32N(4) - 2
			}
			return out
		}),
	}
	var sets []tables.Described
	for _, c := range columns {
		sets = append(sets, c.set)
	}
	Create(t, p.Place, sets...)
	for _, c := range columns {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.test(t, p.Place)
		})
	}
}

// orderedColumn is a set with a clustering column of a type, and the test of its order.
type orderedColumn struct {
	name string
	set  tables.Described
	test func(t *testing.T, p *Place)
}

func ordered[V any](name, cql string, draw func() V) orderedColumn {
	set := tables.Must(tables.New[keyed[V]]("keyed",
		tables.Table{Name: "by_" + name, PartKey: []string{"side", "bucket"}, SortKey: []string{"value DESC", "id"}},
		tables.Derive("bucket", tables.Hash(5, "shard")), tables.Type("value", cql)))
	var rows []keyed[V]
	for i := range int64(count) {
		v := draw()
		rows = append(rows, keyed[V]{"one", 0, v, i}, keyed[V]{"many", i, v, i})
	}
	return orderedColumn{name, set, func(t *testing.T, p *Place) { inOrder(t, p, set, name, rows) }}
}

const count = 60 // values of a column

func inOrder[V any](t *testing.T, p *Place, set *tables.Set[keyed[V]], name string, rows []keyed[V]) {
	t.Helper()
	Insert(t, p, set, rows)
	one, many := reader.From(set, "by_"+name).Eq("side", "one"), reader.From(set, "by_"+name).Eq("side", "many")
	for _, order := range []string{"value DESC", "value ASC"} {
		want := ids(List(t, p, one.OrderBy(order)))
		if len(want) != count {
			t.Fatalf("%s: %d rows, want %d", name, len(want), count)
		}
		got := ids(List(t, p, many.OrderBy(order)))
		wrong(t, !slices.Equal(got, want), "%s %s: merged\n%v, the server's order is\n%v", name, order, got, want)
		pieces, n := Pieces(t, p, many.OrderBy(order), 7)
		wrong(t, !slices.Equal(ids(pieces), want) || n != 9, "%s %s: in %d pieces\n%v, want\n%v", name, order, n, ids(pieces), want)
	}
}

func ids[V any](rows []keyed[V]) []int64 {
	return each(rows, func(r keyed[V]) int64 { return r.ID })
}
