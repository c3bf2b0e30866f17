package tables_test

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"math/big"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/denorm-go/denorm/internal/cqltype"
	"github.com/denorm-go/denorm/internal/driver"
	"github.com/denorm-go/denorm/tables"
	"github.com/gocql/gocql"

	"gopkg.in/inf.v0"
)

// encoded gives what an Insert of v as a column of type cql binds: hex, "unset" or "null".
func encoded[V any](v V, cql string) (string, error) {
	options := []tables.Option{cells}
	if cql != "" {
		options = append(options, tables.Type("v", cql))
	}
	s, err := tables.New[cell[V]]("cell", options...)
	if err != nil {
		return "", err
	}
	r, err := s.Insert(cell[V]{ID: 1, V: v}).Internal().Render(1, nil)
	if err != nil {
		return "", err
	}
	return shown(r.Mutations[0].Args[1]), nil
}

// shown is an argument in a test's output.
func shown(arg any) string {
	v, ok := arg.(*cqltype.Value)
	switch {
	case !ok && arg == any(gocql.UnsetValue):
		return "unset"
	case !ok:
		return fmt.Sprintf("%T", arg)
	case v.Data == nil:
		return "null"
	}
	return "0x" + hex.EncodeToString(v.Data)
}

type encodeCase struct {
	name      string
	got       string
	err       error
	want      string
	wantFault string
}

func good[V any](name string, v V, cql, want string) encodeCase {
	got, err := encoded(v, cql)
	return encodeCase{name: name, got: got, err: err, want: want}
}

func refused[V any](name string, v V, cql, want string) encodeCase {
	got, err := encoded(v, cql)
	return encodeCase{name: name, got: got, err: err, wantFault: want}
}

func ptr[V any](v V) *V { return &v }

func mustUUID(s string) gocql.UUID {
	id, err := gocql.ParseUUID(s)
	if err != nil {
		panic(err)
	}
	return id
}

var (
	uuid1 = mustUUID("00000000-0001-1000-8000-000000000001") // version 1
	uuid4 = mustUUID("00000000-0004-4000-8000-000000000004") // version 4
)

func TestEncode(t *testing.T) {
	t.Parallel()
	var (
		noTime *time.Time
		noUUID *gocql.UUID
	)
	before1970 := time.Date(1969, 12, 31, 12, 0, 0, 0, time.UTC)
	tests := []encodeCase{
		good("text", "é", "", "0xc3a9"),
		good("text of one's own type", Open, "", "0x6f70656e"),
		good("empty text is a value", "", "", "0x"),
		good("pointer to text", ptr("a"), "", "0x61"),
		good("pointer to empty text", ptr(""), "", "0x"),
		good("nil pointer", (*string)(nil), "", "unset"),
		refused("invalid UTF-8", "a\xff", "", "text is not valid UTF-8"),
		good("ascii", "a~", "ascii", "0x617e"),
		refused("ascii above 127", "é", "ascii", "ascii holds a byte above 127"),

		good("nil blob", []byte(nil), "", "unset"),
		good("empty blob is a value", []byte{}, "", "0x"),
		good("blob may be anything", []byte{0xff, 0}, "", "0xff00"),

		good("zero integer", int64(0), "", "0x0000000000000000"),
		good("negative", int8(-1), "", "0xff"),
		good("int as int", 7, "int", "0x00000007"),
		refused("int too large", int64(1<<40), "int",
			"a value of Go type int64 cannot be encoded as CQL type int: the type is right, this value is not"),
		good("number as text", "-2", "smallint", "0xfffe"),
		refused("text that is no number", "two", "int",
			"a value of Go type string cannot be encoded as CQL type int: the type is right, this value is not"),
		refused("empty text as a number", "", "bigint",
			"a value of Go type string cannot be encoded as CQL type bigint: the type is right, this value is not"),
		good("varint zero", big.Int{}, "", "0x00"),
		good("varint", big.NewInt(-129), "", "0xff7f"),
		good("varint of an int", uint64(128), "varint", "0x0080"),
		good("decimal", inf.NewDec(1995, 2), "", "0x0000000207cb"),
		good("zero decimal", inf.Dec{}, "", "0x0000000000"),
		good("false", false, "", "0x00"),
		good("float", float32(-1), "", "0xbf800000"),
		good("NaN", math.NaN(), "", "0x7ff8000000000001"),

		good("timestamp", time.UnixMilli(1).UTC(), "", "0x0000000000000001"),
		good("timestamp cut to milliseconds", time.Unix(0, 1_999_999), "", "0x0000000000000001"),
		good("timestamp before 1970 cut downwards", time.Unix(0, -1), "", "0xffffffffffffffff"),
		good("epoch", time.Unix(0, 0), "", "0x0000000000000000"),
		// The driver would send an empty value, which is neither null nor a time.
		good("zero time", time.Time{}, "", "unset"),
		good("zero time elsewhere", time.Time{}.In(time.FixedZone("", 3600)), "", "unset"),
		good("nil time", noTime, "", "unset"),
		good("pointer to the zero time", &time.Time{}, "", "unset"),
		good("zero date", time.Time{}, "date", "unset"),
		good("date", time.Date(1970, 1, 2, 23, 59, 0, 0, time.UTC), "date", "0x80000001"),
		good("date in a zone with the clock of UTC", time.Date(1970, 1, 1, 0, 30, 0, 0, time.FixedZone("", 0)), "date",
			"0x80000000"),
		refused("date in another zone", time.Date(1970, 1, 2, 0, 30, 0, 0, time.FixedZone("", 3600)), "date",
			"a date is a day in UTC, and this time is not in UTC: give midnight UTC of its day (tables.Type says how)"),
		// The driver divides, which before 1970 rounds up: noon of the last day of 1969 became 1970.
		good("date before 1970", before1970, "date", "0x7fffffff"),
		good("date at midnight before 1970", before1970.Add(-12*time.Hour), "date", "0x7fffffff"),
		good("pointer to a date before 1970", &before1970, "date", "0x7fffffff"),
		good("date as text", "1969-12-31", "date", "0x7fffffff"),
		refused("empty text as a date", "", "date", "an empty value (the driver makes one of a zero time.Time) is no date"),
		good("time of day", time.Second, "time", "0x000000003b9aca00"),
		good("duration", gocql.Duration{Months: 1, Days: 2, Nanoseconds: 3}, "", "0x020406"),

		good("uuid", uuid4, "", "0x00000000000440008000000000000004"),
		good("zero uuid is a value", gocql.UUID{}, "", "0x00000000000000000000000000000000"),
		good("nil uuid", noUUID, "", "unset"),
		good("uuid as text", uuid1.String(), "uuid", "0x00000000000110008000000000000001"),
		good("uuid as array", [16]byte(uuid1), "", "0x00000000000110008000000000000001"),
		good("timeuuid", uuid1, "timeuuid", "0x00000000000110008000000000000001"),
		refused("timeuuid of version 4", uuid4, "timeuuid", "a timeuuid is a version 1 UUID, this one is version 4"),
		refused("timeuuid zero", gocql.UUID{}, "timeuuid",
			"the zero UUID is no timeuuid; a column that may be absent wants a pointer"),
		good("timeuuid nil", noUUID, "timeuuid", "unset"),
		refused("uuid of 15 bytes", make([]byte, 15), "uuid",
			"a value of Go type []uint8 cannot be encoded as CQL type uuid: the type is right, this value is not"),

		good("IPv4", net.IPv4(127, 0, 0, 1), "", "0x7f000001"),
		good("IPv6", net.IPv6loopback, "", "0x00000000000000000000000000000001"),
		good("no IP", net.IP(nil), "", "unset"),
		good("empty IP", net.IP{}, "", "unset"),
		refused("IP of 5 bytes", net.IP{1, 2, 3, 4, 5}, "", "an IP address has 4 or 16 bytes, this one 5"),
		refused("IP text", "localhost", "inet",
			"a value of Go type string cannot be encoded as CQL type inet: the type is right, this value is not"),

		good("set", map[string]struct{}{"a": {}}, "", "0x000000010000000161"),
		good("map", map[string]int32{"a": 1}, "", "0x0000000100000001610000000400000001"),
		good("nil map", map[string]int32(nil), "", "unset"),
		// An empty non-frozen collection and none are the same in Cassandra.
		good("empty map", map[string]int32{}, "", "unset"),
		good("empty set", []string{}, "set<text>", "unset"),
		good("empty frozen list is a value", []string{}, "frozen<list<text>>", "0x00000000"),
		good("nil frozen list", []string(nil), "frozen<list<text>>", "unset"),
		good("empty text inside", []string{""}, "frozen<list<text>>", "0x0000000100000000"),
		good("nested", [][]string{{"a"}, nil}[:1], "frozen<list<list<text>>>", "0x0000000100000009000000010000000161"),
		refused("nil inside", []*string{nil}, "frozen<list<text>>", "a null inside a collection"),
		refused("nil list inside", [][]string{{"a"}, nil}, "frozen<list<list<text>>>", "a null inside a collection"),
		refused("nil value inside", map[string]*string{"a": nil}, "", "a null inside a collection"),
		refused("invalid UTF-8 inside", []string{"a", "\xff"}, "set<text>", "inside a collection: text is not valid UTF-8"),
		refused("ascii inside", map[string]int32{"é": 1}, "map<ascii, int>",
			"inside a collection: ascii holds a byte above 127"),
		refused("timeuuid inside", []gocql.UUID{uuid1, uuid4}, "set<timeuuid>",
			"inside a collection: a timeuuid is a version 1 UUID, this one is version 4"),
		refused("zero time inside", []time.Time{{}}, "set<timestamp>", "a null inside a collection"),
		refused("date in another zone inside", []time.Time{time.Date(1970, 1, 2, 0, 30, 0, 0, time.FixedZone("", 3600))},
			"set<date>", "a date is a day in UTC, and this time is not in UTC: give midnight UTC of its day (tables.Type says "+
				"how)"),
		good("date before 1970 inside", []time.Time{before1970}, "set<date>", "0x00000001000000047fffffff"),
		good("nil bytes as uuid", []byte(nil), "uuid", "unset"),
		refused("deep inside", map[string][][]string{"a": {{"\xff"}}}, "map<text, frozen<list<list<text>>>>",
			"inside a collection: inside a collection: inside a collection: text is not valid UTF-8"),

		good("Marshaler", token("a"), "text", "0x3c613e"),
		good("Marshaler that gives null", token(""), "text", "unset"),
		good("pointer to a Marshaler", ptr(token("a")), "text", "0x3c613e"),
		good("nil pointer to a Marshaler", (*token)(nil), "text", "unset"),
		good("Marshaler with a pointer", ptr(secret("a")), "text", "0x286129"),
		good("nil Marshaler with a pointer", (*secret)(nil), "text", "unset"),
		refused("Marshaler that fails", ptr(secret("fail")), "text",
			"a value of Go type *tables_test.secret cannot be encoded as CQL type text: the type is right, this value is not"),
		refused("Marshaler of a wrong size", token("a"), "int", "a int has 4 bytes, the encoded value has 3"),
		refused("Marshaler that is no list", token("a"), "frozen<list<int>>", "the encoded value is no frozen<list<int>>"),
		refused("Marshaler that ends early", token("\x00\x00\x00"), "set<int>", "the encoded value is no set<int>"),
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			if tc.wantFault == "" {
				if tc.err != nil {
					t.Fatal(tc.err)
				}
				if tc.got != tc.want {
					t.Errorf("got %s, want %s", tc.got, tc.want)
				}
				return
			}
			invalidAs(t, tc.err, tables.InvalidError{Entity: "cell", Column: "v", Reason: tc.wantFault})
		})
	}
}

// invalidAs wants exactly this error.
func invalidAs(t *testing.T, err error, want tables.InvalidError) {
	t.Helper()
	var invalid *tables.InvalidError
	if !errors.As(err, &invalid) {
		t.Fatalf("got error %v, want an *InvalidError: %s", err, want.Reason)
	}
	if *invalid != want {
		t.Errorf("got  %+v\nwant %+v", *invalid, want)
	}
}

// TestAliases: the driver hands out the memory of a []byte as its encoding, and a service that reuses its buffer would
// send one row to one table and another one to the next.
func TestAliases(t *testing.T) {
	t.Parallel()
	type row struct {
		ID     []byte
		Raw    []byte
		ByUUID []byte
		IP     net.IP
		Big    *big.Int
		Dec    *inf.Dec
		Map    map[string]string
		List   [][]byte
		Text   *string
		At     *time.Time
		Own    *owned
	}
	text, at, own := "text", time.UnixMilli(5), owned("own")
	r := row{
		ID: []byte("key"), Raw: []byte("raw"), ByUUID: bytes.Repeat([]byte{7}, 16), IP: net.IP{1, 2, 3, 4},
		Big: big.NewInt(77),
		Dec: inf.NewDec(5, 1), Map: map[string]string{"a": "b"}, List: [][]byte{[]byte("x")}, Text: &text, At: &at, Own: &own,
	}
	s := tables.Must(tables.New[row]("thing", tables.Table{Name: "things", PartKey: []string{"id"}},
		tables.Table{Name: "things_by_raw", PartKey: []string{"raw", "id"}},
		tables.Type("by_uuid", "uuid"), tables.Type("list", "frozen<list<blob>>"), tables.Type("own", "blob")))
	rendered, err := s.Insert(r).Internal().Render(1, nil)
	if err != nil {
		t.Fatal(err)
	}
	before := dump(rendered)
	r.ID[0], r.Raw[0], r.ByUUID[0], r.IP[0], r.List[0][0] = 'X', 'X', 'X', 9, 'X'
	r.Big.SetInt64(1)
	r.Dec.SetUnscaled(1)
	r.Map["a"] = "c"
	text, at = "changed", time.UnixMilli(6)
	own[0] = 'X'
	if after := dump(rendered); after != before {
		t.Errorf("the mutations changed with the row:\n%s\nbefore\n%s", after, before)
	}

	domain := []byte("a")
	byOwner := tables.Must(tables.New[struct {
		ID, Owner []byte
		At        int64
	}]("thing", tables.Table{Name: "things", PartKey: []string{"id"}},
		tables.Table{Name: "by_owner", PartKey: []string{"owner", "id"}},
		tables.OneOf("owner", domain, []byte("b")), tables.Stamp("at")))
	domain[0] = 'X'
	if _, err := byOwner.Delete(struct {
		ID, Owner []byte
		At        int64
	}{ID: []byte("1"), Owner: []byte("a"), At: now}).Internal().Render(now+1, nil); err != nil {
		t.Errorf("the domain changed with the slice it was declared with: %v", err)
	}
}

// owned gives its own memory away.
type owned []byte

func (o *owned) MarshalCQL(gocql.TypeInfo) ([]byte, error) { return *o, nil }

func TestKeyLimits(t *testing.T) {
	t.Parallel()
	type row struct {
		ID   string
		User *string
		Ref  gocql.UUID
		Day  time.Time
	}
	s := tables.Must(tables.New[row]("thing", tables.Table{Name: "things", PartKey: []string{"id"}},
		tables.Table{Name: "by_user", PartKey: []string{"user", "id"}},
		tables.Table{Name: "by_ref", PartKey: []string{"id"}, SortKey: []string{"ref", "day"}}))
	long := func(n int) string { return strings.Repeat("x", n) }
	day := time.UnixMilli(1)
	tests := []struct {
		name string
		row  row
		want tables.InvalidError
	}{
		{"longest", row{ID: long(65535), Ref: uuid1, Day: day}, tables.InvalidError{}},
		{"longest of two", row{ID: long(65535 - 3 - 3 - 1), User: ptr("u"), Ref: uuid1, Day: day}, tables.InvalidError{}},
		{"too long", row{ID: long(65536), Ref: uuid1, Day: day}, tables.InvalidError{
			Column: "id", Reason: "a key column holds at most 65535 bytes, this one 65536",
		}},
		{"too long together", row{ID: long(65535 - 3 - 3), User: ptr("u"), Ref: uuid1, Day: day}, tables.InvalidError{
			Table: "by_user", Reason: "a partition key holds at most 65535 bytes, this one 65536",
		}},
		{"empty", row{Ref: uuid1, Day: day}, tables.InvalidError{Column: "id", Reason: "a key column must not be empty"}},
		{"empty behind a pointer", row{ID: "1", User: ptr(""), Ref: uuid1, Day: day}, tables.InvalidError{
			Column: "user", Reason: "a key column must not be empty",
		}},
		{
			"zero UUID",
			row{ID: "1", Day: day},
			tables.InvalidError{Column: "ref", Reason: "a key column must not be the zero UUID"},
		},
		{
			"zero time",
			row{ID: "1", Ref: uuid1},
			tables.InvalidError{Column: "day", Reason: "a key column must not be the zero time"},
		},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			_, err := s.Insert(tc.row).Internal().Render(1, nil)
			if tc.want.Reason == "" {
				if err != nil {
					t.Fatal(err)
				}
				return
			}
			tc.want.Entity = "thing"
			invalidAs(t, err, tc.want)
			if _, err := s.Delete(tc.row).Internal().Render(1, nil); err == nil {
				t.Error("a Delete takes the key that an Insert refuses")
			} else if tc.want.Table == "" {
				tc.want.Reason = "before-image: " + tc.want.Reason
				if strings.HasSuffix(tc.want.Reason, "zero UUID") {
					tc.want.Reason += ": pass the row as it was read, not one made of its id alone"
				}
				invalidAs(t, err, tc.want)
			}
		})
	}
}

func TestValueMarshalCQL(t *testing.T) {
	t.Parallel()
	r, err := orders(t).Insert(order()).Internal().Render(1, nil)
	if err != nil {
		t.Fatal(err)
	}
	id := r.Mutations[0].Args[0].(*cqltype.Value)
	if id.Type.String() != "timeuuid" {
		t.Fatalf("type %s", id.Type.String())
	}
	data, err := id.MarshalCQL(driver.NativeType(gocql.TypeTimeUUID))
	if err != nil || !bytes.Equal(data, id.Data) || len(data) != 16 {
		t.Errorf("%x, %v", data, err)
	}
	_, err = id.MarshalCQL(driver.NativeType(gocql.TypeUUID))
	var marshal driver.MarshalError
	if !errors.As(err, &marshal) || err.Error() != "the live column is of type uuid, declared is timeuuid" {
		t.Errorf("a column of another type was taken: %v", err)
	}
	if through, err := gocql.Marshal(driver.NativeType(gocql.TypeTimeUUID), id); err != nil ||
		!bytes.Equal(through, data) {
		t.Errorf("the driver encodes %x, %v", through, err)
	}
}
