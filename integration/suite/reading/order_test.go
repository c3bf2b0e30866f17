package reading_test

import (
	"math"
	"math/big"
	"math/rand/v2"
	"net"
	"slices"
	"testing"
	"time"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/integration/harness/cluster"
	"github.com/denorm-go/denorm/integration/suite/reading"
	"github.com/denorm-go/denorm/reader"
	"github.com/denorm-go/denorm/tables"
)

type keyed[V any] struct {
	Side  string // one: all rows in one bucket; many: spread over five
	Shard int64
	Value V
	ID    int64
}

// The reader merges by an order of its own, which must be the server's, for every type that can be a clustering column. The
// same rows stand in a single partition, sorted by the server, and in buckets, merged by the reader. Values are chosen where orders differ: signs, lengths, bytes that are read signed in a timeuuid.
func TestMergesInTheServersOrder(t *testing.T) {
	t.Parallel()
	cluster.Need(t, 3)
	p := reading.Open(t, 3)
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
	ordered(t, p, "tiny", "tinyint", func() int8 { return int8(rnd.Uint32()) })
	ordered(t, p, "small", "smallint", func() int16 { return int16(rnd.Uint32()) })
	ordered(t, p, "int", "int", func() int32 { return rnd.Int32N(400) - 200 })
	ordered(t, p, "big", "bigint", func() int64 { return int64(rnd.Uint64()) })
	ordered(t, p, "varint", "varint", func() big.Int {
		n := new(big.Int).SetBytes(bytes(1 + rnd.IntN(10)))
		if rnd.IntN(2) == 0 {
			n.Neg(n)
		}
		return *n
	})
	ordered(t, p, "float", "float", func() float32 { return float32(rnd.NormFloat64()) })
	ordered(t, p, "double", "double", func() float64 {
		return []float64{rnd.NormFloat64() * 1e100, rnd.NormFloat64(), math.Inf(1), math.Inf(-1), 0, math.Copysign(0, -1)}[rnd.IntN(6)]
	})
	ordered(t, p, "text", "text", func() string {
		return []string{"a", "A", "é", "ÿ", "z", "\U0001f600", "￿", "aa"}[rnd.IntN(8)] + string(rune(32+rnd.IntN(900)))
	})
	ordered(t, p, "blob", "blob", func() []byte { return bytes(1 + rnd.IntN(3)) })
	ordered(t, p, "boolean", "boolean", func() bool { return rnd.IntN(2) == 0 })
	ordered(t, p, "timestamp", "timestamp", func() time.Time { return now.Add(time.Duration(rnd.Int64N(1e18)-5e17) * 4).UTC() })
	ordered(t, p, "date", "date", func() time.Time { return now.AddDate(0, 0, rnd.IntN(80_000)-40_000).Truncate(24 * time.Hour).UTC() })
	ordered(t, p, "time", "time", func() int64 { return rnd.Int64N(24 * 3600 * 1e9) })
	ordered(t, p, "timeuuid", "timeuuid", func() gocql.UUID { return someUUID(1) })
	ordered(t, p, "uuid", "uuid", func() gocql.UUID { return someUUID(byte([]int{1, 1, 4, 7, 3}[rnd.IntN(5)])) })
	ordered(t, p, "inet", "inet", func() net.IP { return bytes([]int{4, 16}[rnd.IntN(2)]) })
	ordered(t, p, "list", "frozen<list<int>>", func() []int32 {
		out := make([]int32, 1+rnd.IntN(3))
		for i := range out {
			out[i] = rnd.Int32N(4) - 2
		}
		return out
	})
}

func ordered[V any](t *testing.T, p *reading.Place, name, cql string, draw func() V) {
	t.Helper()
	set, err := tables.New[keyed[V]]("keyed",
		tables.Table{Name: "by_" + name, PartKey: []string{"side", "bucket"}, SortKey: []string{"value DESC", "id"}},
		tables.Derive("bucket", tables.Hash(5, "shard")), tables.Type("value", cql))
	if err != nil {
		t.Fatal(err)
	}
	create(t, p, set)
	const count = 60
	var rows []keyed[V]
	for i := range int64(count) {
		v := draw()
		rows = append(rows, keyed[V]{"one", 0, v, i}, keyed[V]{"many", i, v, i})
	}
	insert(t, p, set, rows)
	one, many := reader.From(set, "by_"+name).Eq("side", "one"), reader.From(set, "by_"+name).Eq("side", "many")
	for _, order := range []string{"value DESC", "value ASC"} {
		want := ids(list(t, p, one.OrderBy(order)))
		if len(want) != count {
			t.Fatalf("%s: %d rows, want %d", name, len(want), count)
		}
		if got := ids(list(t, p, many.OrderBy(order))); !slices.Equal(got, want) {
			t.Errorf("%s %s: merged\n%v, the server's order is\n%v", name, order, got, want)
		}
		if got, n := pieces(t, p, many.OrderBy(order), 7); !slices.Equal(ids(got), want) || n != 9 {
			t.Errorf("%s %s: in %d pieces\n%v, want\n%v", name, order, n, ids(got), want)
		}
	}
}

func ids[V any](rows []keyed[V]) (out []int64) {
	for _, r := range rows {
		out = append(out, r.ID)
	}
	return out
}
