package transcript_test

import (
	"reflect"
	"testing"

	"github.com/denorm-go/denorm/internal/cassandra/transcript"
)

func TestParse(t *testing.T) {
	t.Parallel()
	one := []transcript.Statement{{Text: "SELECT * FROM t WHERE k = ?", Values: []transcript.Value{{Bytes: []byte{0xff}}}}}
	for _, want := range []transcript.Step{
		{Statements: one},
		{Statements: []transcript.Statement{{Text: "SELECT * FROM t WHERE k = 'x'"}}, Wait: 5, PageSize: 3},
		{Statements: []transcript.Statement{
			{Text: "DELETE FROM t WHERE k = ? AND c = ?", Values: []transcript.Value{{}, {Unset: true}}},
			{Text: "INSERT INTO t (k) VALUES (1)"},
		}, Batch: "UNLOGGED", Timestamp: 6},
		{
			Statements: []transcript.Statement{{Text: "UPDATE t SET v = ?", Values: []transcript.Value{{Bytes: []byte{}}}}},
			Timestamp:  7,
		},
		{Statements: one, PageSize: 2, Level: "LOCAL_SERIAL"},
		{Statements: one, Level: "ANY"},
	} {
		got, err := transcript.Parse(want.String())
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%v\nis read as\n%#v, %v, want\n%#v", want, got, err, want)
		}
	}
}

func TestDifference(t *testing.T) {
	t.Parallel()
	value := func(b ...byte) transcript.Value { return transcript.Value{Bytes: b} }
	reply := func(column string, v transcript.Value) transcript.Reply {
		return transcript.Reply{
			Columns: []transcript.Column{{Name: column, Type: "int"}}, Rows: [][]transcript.Value{{v}},
			Pages: []int{1},
		}
	}
	two := reply("a", value(1))
	two.Pages = []int{1, 0}
	tests := []struct {
		name string
		a, b transcript.Reply
		want string
	}{
		{"alike", reply("a", value(1)), reply("a", value(1)), ""},
		{"value", reply("a", value(1)), reply("a", value(2)), "row 1 has another a"},
		{
			"null and empty", reply("a", transcript.Value{}), reply("a", transcript.Value{Bytes: []byte{}}),
			"row 1 has another a",
		},
		{"name", reply("a", value(1)), reply("b", value(1)), "different columns"},
		{"rows", reply("a", value(1)), transcript.Reply{Columns: reply("a", value()).Columns}, "different numbers of rows"},
		{"pages", reply("a", value(1)), two, "different pages"},
		{"codes", transcript.Reply{Code: 0x2200, Error: "x"}, transcript.Reply{Code: 0x2000, Error: "x"}, "different errors"},
		{"texts", transcript.Reply{Code: 0x2200, Error: "x"}, transcript.Reply{Code: 0x2200, Error: "y"}, ""},
		{"error", transcript.Reply{Code: 0x2200, Error: "x"}, transcript.Reply{}, "different errors"},
		{
			"small timestamps", reply("writetime(a)", value(0, 0, 0, 0, 0, 0, 0, 1)),
			reply("writetime(a)", value(0, 0, 0, 0, 0, 0, 0, 2)), "row 1 has another writetime(a)",
		},
		{
			"timestamps of clocks", reply("writetime(a)", value(0, 5, 0, 0, 0, 0, 0, 1)),
			reply("writetime(a)", value(0, 6, 0, 0, 0, 0, 0, 2)), "",
		},
		{"lifetimes", reply("ttl(a)", value(0, 1, 0, 1)), reply("ttl(a)", value(0, 1, 0, 9)), ""},
		{
			"latest timestamps of clocks", reply("maxwritetime(a)", value(0, 5, 0, 0, 0, 0, 0, 1)),
			reply("maxwritetime(a)", value(0, 6, 0, 0, 0, 0, 0, 2)), "",
		},
		{
			"lifetimes of a list", reply("ttl(a)", value(0, 0, 0, 1, 0, 0, 0, 4, 0, 1, 0, 1)),
			reply("ttl(a)", value(0, 0, 0, 1, 0, 0, 0, 4, 0, 1, 0, 9)), "",
		},
		{
			"an element without one", reply("ttl(a)", value(0, 0, 0, 1, 0, 0, 0, 4, 0, 1, 0, 1)),
			reply("ttl(a)", value(0, 0, 0, 1, 255, 255, 255, 255)), "row 1 has another ttl(a)",
		},
		{
			"other lifetimes", reply("ttl(a)", value(0, 1, 0, 1)), reply("ttl(a)", value(0, 1, 1, 1)),
			"row 1 has another ttl(a)",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := transcript.Difference(tt.a, tt.b); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}
