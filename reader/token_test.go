package reader

import (
	"encoding/base64"
	"encoding/binary"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/denorm-go/denorm/internal/testutil/cost"
	"github.com/denorm-go/denorm/tables"
)

// rated has a clustering column of every type whose values have parts, or are compared as numbers.
type rated struct {
	Shop   string
	N      int32
	Score  float64
	Share  float32
	Prices []float32
	Spans  [][2]float64
	Frames [][]float64
}

// forgeable are queries whose tokens hold a value of each of these columns, then an int.
func forgeable(tb testing.TB) (r *Reader, queries map[string]Query[rated]) {
	tb.Helper()
	queries = make(map[string]Query[rated])
	for _, column := range []string{"score", "share", "prices", "spans", "frames"} {
		table := "rated_by_" + column
		set := tables.Must(tables.New[rated]("rated", tables.Table{
			Name: table, PartKey: []string{"shop"},
			SortKey: []string{column, "n"},
		},
			tables.Type("prices", "frozen<list<float>>"), tables.Type("spans", "frozen<list<frozen<tuple<double, double>>>>"),
			tables.Type("frames", "frozen<list<list<double>>>")))
		queries[column] = From(set, table).Eq("shop", "s").Limit(10)
	}
	return newReader(nil, "shop"), queries
}

// planned is the query after a token that holds the values.
func planned(tb testing.TB, r *Reader, q *Query[rated], values ...[]byte) error {
	tb.Helper()
	p, err := r.plan(&q.query)
	if err != nil {
		tb.Fatal(err)
	}
	forged := position{values, nil}
	after := q.After(forged.token(p.mark))
	_, err = r.plan(&after.query)
	return err
}

// The mark of a token is no secret: whoever was given one can put other values behind it.
func TestForgedTokens(t *testing.T) {
	t.Parallel()
	r, queries := forgeable(t)
	one := []byte{0, 0, 0, 1}
	storable := map[string][]string{"score": {""}, "share": {"", "\xff\xff\xff\xff"}} // by hand: see TestTokenAfterAnyRow
	for column, q := range queries {
		for _, value := range []string{
			"", "\x01", "\x01\x02\x03", "\x00\x00\x00\x01\x00", "\x00\x00\x00\x01\x00\x00\x00\x01\x00",
			"\x00\x00\x00\x01\x00\x00\x00\x09\x00\x00",
			"\xff\xff\xff\xff", "\xff\xff\xff\xff\x00\x00\x00\x00\x00", "\x00\x00\x00\x08\x00\x00\x00\x00\x00",
			"\x00\x00\x00\x02\xff\xff\xff\xff\xff\xff\xff\xff",
		} {
			if err := planned(t, r, &q, []byte(value), one); !errors.Is(err, ErrToken) &&
				!slices.Contains(storable[column], value) {
				t.Errorf("%s: %x: %v, want ErrToken", column, value, err)
			}
			if err := planned(t, r, &q, []byte(value)); !errors.Is(err, ErrToken) {
				t.Errorf("%s: %x alone: %v, want ErrToken", column, value, err)
			}
		}
	}
	for column, value := range map[string]string{
		"score": "\x00\x00\x00\x00\x00\x00\x00\x00", "share": "\x00\x00\x00\x00",
		"prices": "\x00\x00\x00\x01\x00\x00\x00\x04\x00\x00\x00\x00",
		"spans":  "\x00\x00\x00\x01\x00\x00\x00\x08\xff\xff\xff\xff\xff\xff\xff\xff",
		"frames": "\x00\x00\x00\x01\x00\x00\x00\x04\x00\x00\x00\x00",
	} {
		q := queries[column]
		if err := planned(t, r, &q, []byte(value), one); err != nil {
			t.Errorf("%s: %x: %v", column, value, err)
		}
	}
}

// A token of which a client has changed or lost any character is an error, and not another place.
func TestDamagedTokens(t *testing.T) {
	t.Parallel()
	r, queries := forgeable(t)
	q := queries["score"]
	p, err := r.plan(&q.query)
	if err != nil {
		t.Fatal(err)
	}
	whole := string((&position{Key: [][]byte{{0, 0, 0, 0, 0, 0, 0, 0}, {0, 0, 0, 1}}}).token(p.mark))
	const digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
	for i := range whole {
		other := digits[(strings.IndexByte(digits, whole[i])+16)%len(digits)] // 16: in bits that a last digit has, too
		for _, damaged := range []string{whole[:i], whole[:i] + whole[i+1:], whole[:i] + string(other) + whole[i+1:]} {
			again := q.After(Token(damaged))
			if _, err := r.plan(&again.query); damaged != "" && !errors.Is(err, ErrToken) {
				t.Errorf("%s of %s: %v", damaged, whole, err)
			}
		}
	}
}

// A token costs in the order of its length, whatever number of columns it says that it has.
func TestLongTokens(t *testing.T) { //nolint:paralleltest // it counts what is allocated
	const n = 1 << 20
	r, queries := forgeable(t)
	q := queries["score"]
	p, err := r.plan(&q.query)
	if err != nil {
		t.Fatal(err)
	}
	long := binary.AppendUvarint(append([]byte{tokenVersion}, p.mark...), n)
	long = append(long, make([]byte, n+1)...)
	q = q.After(Token(base64.RawURLEncoding.EncodeToString(append(long, checksum(long)...))))
	cost.Bound(t, n, 4, func() { _, err = r.plan(&q.query) })
	if !errors.Is(err, ErrToken) {
		t.Error(err)
	}
}

// FuzzForgedToken puts any bytes behind the mark of a token: the query is planned, or the token is rejected, and
// what either takes grows with the bytes.
func FuzzForgedToken(f *testing.F) {
	f.Add([]byte{0, 0, 0, 1, 0, 0, 0, 4, 0, 0, 0, 0}, []byte{0, 0, 0, 1})
	f.Add([]byte{0xff, 0xff, 0xff, 0xff}, []byte{})
	f.Add([]byte{0, 0, 0, 1, 0, 0, 0, 8, 0, 0, 0, 1, 0, 0, 0, 0}, []byte{1})
	r, queries := forgeable(f)
	f.Fuzz(func(t *testing.T, value, n []byte) {
		for column, q := range queries {
			var err error
			cost.Bound(t, len(value)+len(n), 64, func() { err = planned(t, r, &q, value, n) })
			if err != nil && !errors.Is(err, ErrToken) {
				t.Errorf("%s: %v", column, err)
			}
		}
	})
}
