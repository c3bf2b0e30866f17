package ast

import (
	"errors"
	"strings"
	"testing"

	"github.com/denorm-go/denorm/internal/cql"
)

func TestTerms(t *testing.T) {
	t.Parallel()
	const uuid = "123e4567-E89b-12d3-a456-426614174000"
	for _, c := range []struct {
		text string
		want Term
	}{
		{"'it''s'", text("it's")},
		{"''", text("")},
		{"$$it's $5$$", text("it's $5")},
		{"-12", number("-12")},
		{"1.5e-3", Term{Kind: Float, Text: "1.5e-3"}},
		{"1.", Term{Kind: Float, Text: "1."}},
		{"-1E5", Term{Kind: Float, Text: "-1E5"}},
		{"NaN", Term{Kind: Float, Text: "NaN"}},
		{"-nan", Term{Kind: Float, Text: "NaN"}},
		{"infinity", Term{Kind: Float, Text: "Infinity"}},
		{"-Infinity", Term{Kind: Float, Text: "-Infinity"}},
		{"TRUE", Term{Kind: Boolean, Text: "true"}},
		{"false", Term{Kind: Boolean, Text: "false"}},
		{uuid, Term{Kind: UUID, Text: uuid}},
		{"abcdef01-0000-0000-0000-000000000000", Term{Kind: UUID, Text: "abcdef01-0000-0000-0000-000000000000"}},
		{"0xCAfe", Term{Kind: Blob, Text: "CAfe"}},
		{"0X", Term{Kind: Blob}},
		{"1h30m", Term{Kind: Duration, Text: "1h30m"}},
		{"-1Y2mo3w4d5h6M7s8ms9us1µs2ns", Term{Kind: Duration, Text: "-1Y2mo3w4d5h6M7s8ms9us1µs2ns"}},
		{"P1Y2M3DT4H5M6S", Term{Kind: Duration, Text: "P1Y2M3DT4H5M6S"}},
		{"-P3W", Term{Kind: Duration, Text: "-P3W"}},
		{"PT5M", Term{Kind: Duration, Text: "PT5M"}},
		{"P0001-02-03T04:05:06", Term{Kind: Duration, Text: "P0001-02-03T04:05:06"}},
		{"[]", Term{Kind: List}},
		{"[1, ?]", Term{Kind: List, Elems: []Term{number("1"), mark(0)}}},
		{"{}", Term{Kind: Set}},
		{"{?, ?}", Term{Kind: Set, Elems: []Term{mark(0), mark(1)}}},
		{"{'a': 1, :k: [2]}", Term{Kind: Map, Elems: []Term{
			text("a"), number("1"), {Kind: Mark, Text: "k"}, {Kind: List, Elems: []Term{number("2")}},
		}}},
		{"{Street: 'x', \"City\": null}", Term{
			Kind: User, Fields: []string{"street", "City"},
			Elems: []Term{text("x"), {Kind: Null}},
		}},
		{"{now(): 1}", Term{Kind: Map, Elems: []Term{{Kind: Call, Text: "now"}, number("1")}}},
		{"(1, (2))", Term{Kind: Tuple, Elems: []Term{number("1"), {Kind: Tuple, Elems: []Term{number("2")}}}}},
		{"minTimeuuid(toTimestamp(?))", Term{Kind: Call, Text: "mintimeuuid", Elems: []Term{
			{Kind: Call, Text: "totimestamp", Elems: []Term{mark(0)}},
		}}},
		{"\"F\"(1)", Term{Kind: Call, Text: "F", Elems: []Term{number("1")}}},
		{"ks.f()", Term{Kind: Call, Text: "ks.f"}},
		{"text(1)", Term{Kind: Call, Text: "text", Elems: []Term{number("1")}}},
		{"(Text) 'x'", Term{Kind: Cast, Text: "text", Elems: []Term{text("x")}}},
		{"(set<INT>) {}", Term{Kind: Cast, Text: "set<int>", Elems: []Term{{Kind: Set}}}},
		{"(\"U\") ?", Term{Kind: Cast, Text: `"U"`, Elems: []Term{mark(0)}}},
		{"(ks.u) ?", Term{Kind: Cast, Text: "ks.u", Elems: []Term{mark(0)}}},
		{"(now(), 1)", Term{Kind: Tuple, Elems: []Term{{Kind: Call, Text: "now"}, number("1")}}},
	} {
		compare(t, []parsed{{
			"INSERT INTO t (a) VALUES (" + c.text + ")",
			&Insert{Into: cql.Name{Keyspace: "", Name: "t"}, Columns: []string{"a"}, Values: []Term{c.want}},
		}})
	}
}

// What looks like the beginning of a literal may be a name.
func TestNoLiterals(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"p1y", "P", "P1Yx", "p1d", "abcdef01", "e5", "nano", "truest", "x0f", "PT"} {
		compare(t, []parsed{{"SELECT " + name + " FROM t", &Select{
			From:    cql.Name{Keyspace: "", Name: "t"},
			Columns: columns(strings.ToLower(name)),
		}}})
	}
}

func TestNesting(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ head, open, middle, closing, tail string }{
		{"INSERT INTO t (a) VALUES (", "[", "1", "]", ")"},
		{"INSERT INTO t (a) VALUES (", "{", "1", "}", ")"},
		{"INSERT INTO t (a) VALUES (", "(int)", "1", "", ")"},
		{"INSERT INTO t (a) VALUES (", "f(", "1", ")", ")"},
		{"SELECT ", "f(", "a", ")", " FROM t"},
		{"SELECT * FROM t WHERE ", "(", "a = 1", ")", ""},
		{"CREATE TABLE t (k int PRIMARY KEY, a ", "frozen<", "u", ">", ")"},
	} {
		nest := func(n int) error {
			_, err := Parse(c.head + strings.Repeat(c.open, n) + c.middle + strings.Repeat(c.closing, n) + c.tail)
			return err
		}
		if err := nest(cql.MaxDepth - 2); err != nil {
			t.Errorf("%s: %v", c.open, err)
		}
		for _, n := range []int{cql.MaxDepth + 1, 100_000} {
			if err := nest(n); err == nil || errors.Is(err, nil) || err.Error() != "nested deeper than 100" {
				t.Errorf("%s %d times: %v", c.open, n, err)
			}
		}
	}
}
