package catalog_test

import (
	"bytes"
	"encoding/binary"
	"testing"
	"time"

	"github.com/denorm-go/denorm/internal/cassandra/catalog"
	"github.com/denorm-go/denorm/internal/literal"
)

// The text of a value is one that an INSERT takes, and gives the same bytes.
func TestLiteralsCanBeInserted(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ typ, literal, want string }{
		{"text", "'it''s'", ""},
		{"int", "-5", ""},
		{"varint", "-99999999999999999999999999", ""},
		{"decimal", "12.50", ""},
		{"decimal", "-1E10", ""},
		{"decimal", "1E-2000000000", ""},
		{"float", "1.5", ""},
		{"float", "-Infinity", ""},
		{"double", "Infinity", ""},
		{"double", "NaN", ""},
		{"double", "1e+300", ""},
		{"boolean", "true", ""},
		{"blob", "0xca", ""},
		{"uuid", "6ab09bec-e68e-48d9-a5f8-97e6fb4c9b47", ""},
		{"date", "'2026-11-26'", ""},
		{"date", "0", ""},
		{"time", "'08:12:54.000000123'", ""},
		{"timestamp", "'2026-11-26 08:12:54.123Z'", ""},
		{"duration", "-1mo2d3ns", ""},
		{"duration", "0ns", ""},
		{"inet", "'127.0.0.1'", ""},
		{"inet", "'2001:db8::1'", ""},
		{"list<int>", "[1, 2]", ""},
		{"set<text>", "{'a', 'b'}", ""},
		{"map<text, int>", "{'k': 1, 'l': 2}", ""},
		{"frozen<list<frozen<list<text>>>>", "[['a'], []]", ""},
		{"frozen<map<text, frozen<set<int>>>>", "{'k': {1, 2}}", ""},
		{"frozen<set<text>>", "{}", ""},
		{"frozen<tuple<int, text, date>>", "(1, null, '2026-11-26')", ""},
		{"frozen<geo>", "{lat: 1.5, name: 'x'}", ""},
		{"frozen<geo>", "{lat: 1.5, name: null}", ""},
		{"frozen<list<frozen<geo>>>", "[{lat: null, name: 'x'}]", ""},
		{"frozen<geo>", "{name: 'x'}", "{lat: null, name: 'x'}"},
	} {
		typ := parseType(t, c.typ)
		data, err := catalog.Encode(typ, term(t, c.literal), "n")
		if err != nil {
			t.Errorf("%s: %s: %v", c.typ, c.literal, err)
			continue
		}
		want := c.literal
		if c.want != "" {
			want = c.want
		}
		got := literal.Of(typ, data)
		if got != want {
			t.Errorf("%s: %s, want %s", c.typ, got, want)
		}
		if again, err := catalog.Encode(typ, term(t, got), "n"); err != nil || !bytes.Equal(again, data) {
			t.Errorf("%s: %s: %x, want %x: %v", c.typ, got, again, data, err)
		}
	}
}

// What is no value of the type is given by its bytes.
func TestLiteralsOfOtherValues(t *testing.T) {
	t.Parallel()
	for typ, data := range map[string][]byte{
		"int": {}, "date": {1}, "list<int>": {0, 0, 0, 1}, "frozen<tuple<int>>": {0, 0, 0, 9, 1},
		"frozen<geo>": bytes.Repeat([]byte{255, 255, 255, 255}, 3), // a field more
	} {
		if got := literal.Of(parseType(t, typ), data); got[:2] != "0x" {
			t.Errorf("%s: %s", typ, got)
		}
	}
	// Cassandra reads the text of a time before 1583 by the Julian calendar.
	for at, want := range map[time.Time]string{
		{}: "-62135596800000", time.Date(1582, 12, 31, 0, 0, 0, 0, time.UTC): "-12212640000000",
		time.Date(1583, 1, 1, 0, 0, 0, 0, time.UTC): "'1583-01-01 00:00:00.000Z'",
	} {
		data := binary.BigEndian.AppendUint64(nil, uint64(at.UnixMilli()))
		if got := literal.Of(parseType(t, "timestamp"), data); got != want {
			t.Errorf("%v: %s", at, got)
		}
	}
}
