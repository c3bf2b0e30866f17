package reader_test

import (
	"fmt"
	"math/big"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/denorm-go/denorm/cassandratest"
	"github.com/denorm-go/denorm/reader"
	"github.com/denorm-go/denorm/tables"
	"github.com/gocql/gocql"
)

// encoded is a value as the server stores it, which the driver need not be able to make.
type encoded string

var _ gocql.Marshaler = encoded("")

func (e encoded) MarshalCQL(gocql.TypeInfo) ([]byte, error) { return []byte(e), nil }

type sorted[V any] struct {
	Shop  string
	Value V
	N     int32
}

// spot is a user-defined type, which has got fields one after the other.
type spot struct {
	Street string `cql:"street"`
	City   string `cql:"city"`
}

// Whatever the server returns in clustering columns, a token goes on after it: somebody may have written a row by hand,
// with what the library rejects in a key, or while a type had other fields than are declared.
func TestTokenAfterAnyRow(t *testing.T) {
	t.Parallel()
	const one, a, nan encoded = "\x3f\x80\x00\x00", "\x00\x00\x00\x01a", "\x7f\xc0\x00\x00"
	repeat := func(s string, n int) encoded { return encoded(strings.Repeat(s, n)) }
	zero := func(n int) encoded { return repeat("\x00", n) }
	for kind, test := range map[string]func(t *testing.T, kind string){
		"text":      afterAny[string]("", "a"),
		"ascii":     afterAny[string]("", "a"),
		"blob":      afterAny[[]byte]("", "\x00"),
		"varint":    afterAny[big.Int]("", "\x00"),
		"boolean":   afterAny[bool]("", "\x00"),
		"int":       afterAny[int32]("", zero(4)),
		"bigint":    afterAny[int64]("", zero(8)),
		"timestamp": afterAny[time.Time]("", zero(8)), // the driver by itself makes an empty value of a zero time.Time
		"uuid":      afterAny[gocql.UUID]("", zero(16), repeat("A", 16)),
		"timeuuid":  afterAny[gocql.UUID]("", repeat("\x11", 16)),
		"float":     afterAny[float32]("", one, nan),
		"double":    afterAny[float64]("", zero(8), "\x7f\xf8"+zero(6)),

		"frozen<list<float>>": afterAny[[]float32](zero(4), "\x00\x00\x00\x01"+zero(4), "\x00\x00\x00\x01\x00\x00\x00\x04"+
			nan),
		"frozen<spot>": afterAny[spot]("", a, a+"\xff\xff\xff\xff"+a, a+a, a+a+a),
	} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			test(t, kind)
		})
	}
}

// afterAny reads rows with each of the values a few at a time, in both directions.
func afterAny[V any](values ...encoded) func(t *testing.T, kind string) {
	return func(t *testing.T, kind string) {
		t.Helper()
		options := []tables.Option{
			tables.Table{Name: "sorted", PartKey: []string{"shop"}, SortKey: []string{"value", "n"}}, tables.Type("value", kind),
		}
		if kind == "frozen<spot>" {
			options = append(options, tables.UserType[spot]("spot"))
		}
		set := tables.Must(tables.New[sorted[V]]("sorted", options...))
		cassandratest.Test(t, 1, func(t *testing.T, c *cassandratest.Cluster) {
			s, r := byHand(t, c, []string{
				"CREATE TYPE shop.spot (street text, city text, country text)",
				"CREATE TABLE shop.sorted (shop text, value " + kind + ", n int, PRIMARY KEY (shop, value, n))",
			})
			for _, v := range values {
				for n := range 2 {
					if err := s.Writes().Query("INSERT INTO sorted (shop, value, n) VALUES ('a', ?, ?)", v, n).Exec(); err != nil {
						t.Fatalf("%x: %v", v, err)
					}
				}
			}
			text := func(rows []sorted[V]) (out []string) {
				for _, row := range rows {
					out = append(out, fmt.Sprint(row.Value, " ", row.N))
				}
				return out
			}
			for _, order := range []string{"value ASC", "value DESC"} {
				q := reader.From(set, "sorted").Eq("shop", "a").OrderBy(order)
				all := pages(t, r, q, 0)
				if len(all) != 2*len(values) {
					t.Errorf("%s: %d rows of %d", order, len(all), 2*len(values))
				}
				for limit := range 4 {
					if rows := pages(t, r, q, limit); !slices.Equal(text(rows), text(all)) {
						t.Errorf("%s, %d at a time: %q, want %q", order, limit, text(rows), text(all))
					}
				}
			}
		})
	}
}
