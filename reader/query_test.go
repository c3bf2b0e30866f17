package reader

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/denorm-go/denorm/internal/describe"
	"github.com/denorm-go/denorm/internal/testutil/testsession"
	"github.com/denorm-go/denorm/session"
	"github.com/denorm-go/denorm/tables"
	"github.com/gocql/gocql"
)

// Every query that Cassandra could only answer by filtering, or not at all, is rejected before anything is sent, with
// the name of the column that it lacks or cannot have.
func TestRefusedQueries(t *testing.T) {
	t.Parallel()
	set, f := filled(t, 1)
	hidden := tables.Must(tables.New[line]("line", tables.Table{
		Name: "lines", PartKey: []string{"host"},
		SortKey: []string{"at", "n"},
	},
		tables.Table{Name: "new_lines", PartKey: []string{"host"}, SortKey: []string{"n", "at"}, Hidden: true}))
	byN := tables.Must(tables.New[line]("line", tables.Derive("hour", tables.Hour("at")),
		tables.Table{Name: "lines_by_n", PartKey: []string{"host", "hour"}, SortKey: []string{"n", "at"}}))
	all := From(set, "logs").Eq("host", "h").GtOrEq("at", midnight).Lt("at", midnight.Add(time.Hour))
	tests := []struct {
		name string
		q    Query[line]
		want string
	}{
		{"no table", From(set, "log"), "table log: no table of this name is declared in the set"},
		{
			"no partition key", From(set, "logs").GtOrEq("at", midnight).Lt("at", midnight),
			"table logs: column host: is missing: a query gives every column of the partition key with Eq",
		},
		{
			"no lower bound", From(set, "logs").Eq("host", "h").Lt("at", midnight),
			"table logs: column at: a lower bound is missing: which buckets hold the rows follows from it",
		},
		{
			"no upper bound", From(set, "logs").Eq("host", "h").Gt("at", midnight),
			"table logs: column at: an upper bound is missing: which buckets hold the rows follows from it",
		},
		{
			"range of another column", From(byN, "lines_by_n").Eq("host", "h").Gt("n", int32(1)).Lt("n", int32(9)),
			"table lines_by_n: column at: a lower bound is missing: which buckets hold the rows follows from it",
		},
		{
			"no key column", all.Eq("text", "x"),
			"table logs: column text: is no key column of the table, so rows would have to be filtered",
		},
		{"unknown column", all.Eq("nonsense", "x"), "table logs: column nonsense: is no column of the table"},
		{
			"misspelt column", all.Eq("Bucket_", "x"),
			"table logs: column Bucket_: is no column of the table: did you mean bucket?",
		},
		{
			"range of the partition key", all.Gt("host", "a"),
			"table logs: column host: is a column of the partition key, which has no order",
		},
		{"two values", all.Eq("host", "a"), "table logs: column host: has two conditions, one of them Eq"},
		{
			"range of a bucket", From(set, "logs").Eq("host", "h").Gt("hour", "a"),
			"table logs: column hour: is a column of the partition key, which has no order",
		},
		{
			"second range", all.Gt("n", int32(1)),
			"table logs: column n: has a range, and at has one too: rows would have to be filtered",
		},
		{
			"gap", From(set, "logs").Eq("host", "h").Eq("hour", "2024-05-01-00").Eq("n", int32(1)),
			"table logs: column at: is missing: it comes before n in the clustering key",
		},
		{
			"gap before a range", From(set, "logs").Eq("host", "h").Eq("hour", "2024-05-01-00").Gt("n", int32(1)),
			"table logs: column at: is missing: it comes before n in the clustering key",
		},
		{"twice", all.Gt("at", midnight), "table logs: column at: has two conditions of one kind"},
		{"value and range", all.Eq("at", midnight), "table logs: column at: has a value and a range"},
		{
			"swapped bounds", From(set, "logs").Eq("host", "h").GtOrEq("at", midnight.Add(time.Hour)).Lt("at", midnight),
			"table logs: column at: the lower bound is above the upper one, so there can be no rows: the two are swapped",
		},
		{"type", From(set, "logs").Eq("host", 7), "table logs: column host: a value of Go type int, it must be string"},
		{
			"too large a number", all.Eq("bucket", uint(math.MaxUint32)),
			"table logs: column bucket: a value of Go type uint, it must be int32",
		},
		{"nil", From(set, "logs").Eq("host", nil), "table logs: column host: a value of Go type <nil>"},
		{"empty", From(set, "logs").Eq("host", ""), "table logs: column host: a key column must not be empty"},
		{
			"zero time", From(set, "logs").Eq("host", "h").Gt("at", time.Time{}),
			"table logs: column at: the value is the zero time",
		},
		{"order by no column", all.OrderBy(" "), `table logs: OrderBy(" "): want a column`},
		{"order by an other column", all.OrderBy("text"), "table logs: column text: OrderBy: is no clustering column"},
		{"order by a later column", all.OrderBy("n DESC"), "table logs: column n: OrderBy: rows come in the order of at"},
		{"order in words", all.OrderBy("at up"), `OrderBy("at up"): want a column`},
		{"hash bucket", all.Eq("bucket", int32(4)), "column bucket: no bucket of hash(4, n): they are 0 to 3"},
		{"negative bucket", all.Eq("bucket", int32(-1)), "column bucket: no bucket of hash(4, n)"},
		{
			"misspelt hour", From(set, "logs").Eq("host", "h").Eq("hour", "2024-5-1-0"),
			"column hour: no bucket of hour(at): want text as in 1970-01-01-00",
		},
		{"zero query", Query[line]{}, "the Query is a zero value: it is made by reader.From"},
		{
			"hidden", From(hidden, "new_lines").Eq("host", "h"),
			"table new_lines: the table is Hidden until its backfill is complete",
		},
		{"limit", all.Limit(-1), "the limit is -1"},
		{
			"too many partitions", From(set, "logs").Eq("host", "h").Gt("at", midnight).Lt("at", midnight.AddDate(1, 0, 0)),
			"table logs: the query asks more than 10000 partitions: narrow its range of time",
		},
		{"token", all.After("nonsense!"), "table logs: the token was not made by this library"},
	}
	r := newReader(f, "shop")
	for _, tc := range tests {
		got, token, err := List(t.Context(), r, "list", tc.q)
		var refused *queryError
		if !errors.As(err, &refused) || !errors.Is(err, ErrInvalid) || len(got) > 0 {
			t.Errorf("%s: %v, want a *queryError", tc.name, err)
			continue
		}
		if !strings.HasPrefix(err.Error(), "denorm: list: invalid query: ") || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %q, want %q", tc.name, err, tc.want)
		}
		if token != tc.q.token {
			t.Errorf("%s: the token changed", tc.name)
		}
	}
	if len(f.requests) > 0 {
		t.Errorf("%d requests were sent", len(f.requests))
	}
}

// A bucket of a time that is in no key can only be given itself: a range of the time would have to be filtered.
func TestBucketOfNoKey(t *testing.T) {
	t.Parallel()
	type message struct {
		User   string
		MsgID  gocql.UUID
		SentAt time.Time
	}
	set := tables.Must(tables.New[message]("message", tables.Table{
		Name: "messages", PartKey: []string{"user", "day"},
		SortKey: []string{"msg_id"},
	},
		tables.Type("msg_id", "timeuuid"), tables.Derive("day", tables.Day("sent_at"))))
	r := newReader(newFake(describe.Of(set.Internal())), "shop")
	for want, q := range map[string]Query[message]{
		`column day: it follows from sent_at, which is not in the key of the table, so no range of its values can be asked: give one value with ` +
			`Eq("day", ...)`: From(set, "messages").Eq("user", "u").GtOrEq("msg_id", midnight),
		"a value of Go type string, it must be gocql.UUID, or for the end of a range a time.Time": From(set, "messages").
			Eq("user", "u").
			Eq("day", "2024-05-01").GtOrEq("msg_id", "2024-05-01T00:00:00Z"),
	} {
		if _, _, err := List(t.Context(), r, "list", q); !errors.Is(err, ErrInvalid) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	if _, _, err := List(t.Context(), r, "list", From(set, "messages").Eq("user", "u").
		Eq("day", "2024-05-01")); err != nil {
		t.Error(err)
	}
}

// Bounds are swapped where the lower one is above the upper one in the order of the column, whichever way it is
// clustered. Equal ones are a query of an empty stretch, however they are rounded to what the column can say; the query
// can be continued.
func TestSwappedBounds(t *testing.T) {
	t.Parallel()
	type entry struct {
		User  string
		At    time.Time
		Seq   gocql.UUID
		Level int32
		Name  string
	}
	set, err := tables.New[entry]("entry",
		tables.Table{Name: "by_at", PartKey: []string{"user"}, SortKey: []string{"at DESC", "seq", "level", "name"}},
		tables.Table{Name: "by_seq", PartKey: []string{"user"}, SortKey: []string{"seq DESC", "at", "level", "name"}},
		tables.Table{Name: "by_level", PartKey: []string{"user"}, SortKey: []string{"level", "name", "at", "seq"}},
		tables.Table{Name: "by_name", PartKey: []string{"user", "level"}, SortKey: []string{"name DESC", "at", "seq"}},
		tables.Type("seq", "timeuuid"))
	if err != nil {
		t.Fatal(err)
	}
	f := newFake(describe.Of(set.Internal()))
	for i := range 4 {
		f.write(t, set.Insert(entry{"a", midnight, seqOf(midnight, byte(i)), -1, "b"}))
	}
	r := newReader(f, "shop")
	first, last := seqOf(midnight, 0), seqOf(midnight, 3) // both of one moment
	next := midnight.Add(time.Millisecond)
	for _, tc := range []struct {
		table, column string
		low, high     any
		swapped       bool
	}{
		{"by_at", "at", next, midnight, true},
		{"by_at", "at", midnight, next, false},
		{"by_at", "at", midnight, midnight, false},
		{"by_at", "at", midnight.Add(300), midnight.Add(300), false},
		{"by_at", "at", midnight.Add(300), midnight.Add(600), false},
		{"by_seq", "seq", next, midnight, true},
		{"by_seq", "seq", midnight.Add(100), midnight, true},
		{"by_seq", "seq", midnight, midnight, false},
		{"by_seq", "seq", midnight.Add(30), midnight.Add(30), false},
		{"by_seq", "seq", midnight.Add(30), midnight.Add(60), false},
		{"by_seq", "seq", first, midnight, false},
		{"by_seq", "seq", last, midnight, false},
		{"by_seq", "seq", midnight, first, false},
		{"by_seq", "seq", midnight.Add(30), first, false},
		{"by_seq", "seq", next, last, true},
		{"by_seq", "seq", seqOf(next, 0), midnight, true},
		{"by_seq", "seq", seqOf(next, 0), last, true},
		// beyond a timeuuid
		{"by_seq", "seq", time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(5300, 1, 1, 0, 0, 0, 0, time.UTC), false},
		{"by_level", "level", int32(1), int32(-1), true},
		{"by_level", "level", int32(-1), int32(1), false},
		{"by_level", "level", int32(1), int32(1), false},
		{"by_name", "name", "b", "a", true},
		{"by_name", "name", "a", "ab", false},
	} {
		for _, order := range []string{" ASC", " DESC"} {
			q := From(set, tc.table).Eq("user", "a").OrderBy(tc.column + order)
			if tc.table == "by_name" {
				q = q.Eq("level", int32(-1))
			}
			for ends, q := range map[string]Query[entry]{
				"(low, high)": q.Gt(tc.column, tc.low).Lt(tc.column, tc.high), "[low, high)": q.GtOrEq(tc.column, tc.low).
						Lt(tc.column, tc.high),
				"(low, high]": q.Gt(tc.column, tc.low).LtOrEq(tc.column, tc.high), "[low, high]": q.LtOrEq(tc.column, tc.high).
						GtOrEq(tc.column, tc.low),
			} {
				var rows int
				var token Token
				var err error
				for page := 0; page == 0 || token != ""; page++ { // of one row each
					var got []entry
					if got, token, err = List(t.Context(), r, "list", q.Limit(1).After(token)); err != nil {
						break
					}
					rows += len(got)
				}
				all, _, whole := List(t.Context(), r, "list", q)
				if tc.swapped != (err != nil) || tc.swapped &&
					(!errors.Is(err, ErrInvalid) || !strings.Contains(err.Error(), "column "+tc.column+": ") ||
						!strings.Contains(err.Error(), "swapped")) {
					t.Errorf("%s %s of %v and %v: %v", tc.table, ends, tc.low, tc.high, err)
				}
				if rows != len(all) || (whole != nil) != tc.swapped {
					t.Errorf("%s %s of %v and %v: %d rows in pages, %d in one, %v", tc.table, ends, tc.low, tc.high, rows, len(all),
						whole)
				}
			}
		}
	}
}

// A token continues its own query, with any limit and in any process, and no other one. What it says is not believed:
// it cannot lead out of the query's range.
func TestTokens(t *testing.T) {
	t.Parallel()
	set, f := filled(t, 3)
	r := newReader(f, "shop")
	q := lastHours(set, 3)
	first, token, err := List(t.Context(), r, "list", q.Limit(7))
	if err != nil || len(first) != 7 {
		t.Fatal(err)
	}
	again, _, err := List(t.Context(), newReader(f, "shop"), "list", lastHours(logs(t), 3).Limit(2).After(token))
	if err != nil || len(again) != 2 || again[0].N != first[6].N-1 {
		t.Errorf("continued with %v, %v", again, err)
	}
	tenant := r.With(shared(session.Keyspaces(map[string]string{"": "tenant2"})))
	const bounds = "other bounds: every page needs the bounds of page 1"
	for _, other := range []struct {
		name string
		r    *Reader
		q    Query[line]
		want string
	}{
		{
			"another host", r, From(set, "logs").Eq("host", "h").GtOrEq("at", midnight).Lt("at", midnight.Add(3*time.Hour)),
			"other values of Eq",
		},
		{"another bucket", r, q.Eq("bucket", 1), "other values of Eq"},
		{"another range", r, lastHours(set, 2), bounds},
		{"another bound", r, From(set, "logs").Eq("host", "web-secret").Gt("at", midnight).
			Lt("at", midnight.Add(3*time.Hour)), bounds},
		{"another order", r, q.OrderBy("at ASC"), "another order"},
		{"another keyspace", tenant, q, "another table or keyspace"},
		{"several", tenant, lastHours(set, 2).OrderBy("at ASC"), "another table or keyspace and another order and " + bounds},
	} {
		_, _, err := List(t.Context(), other.r, "list", other.q.After(token))
		want := "denorm: list: invalid query: table logs: the token is of another query, with " + other.want
		if !errors.Is(err, ErrToken) || !errors.Is(err, ErrInvalid) || err.Error() != want {
			t.Errorf("%s: %v, want %s", other.name, err, want)
		}
	}
	p, err := r.plan(&q.query)
	if err != nil {
		t.Fatal(err)
	}
	encode := func(at time.Time, n int32) [][]byte {
		a, _ := gocql.Marshal(f.types["at"], at)
		b, _ := gocql.Marshal(f.types["n"], n)
		return [][]byte{a, b}
	}
	for name, forged := range map[string]position{
		"before the range":  {encode(midnight.Add(-1*time.Hour), 1), nil},
		"at its open end":   {encode(midnight.Add(3*time.Hour), 1), nil},
		"too few columns":   {encode(midnight, 1)[:1], nil},
		"a value too short": {[][]byte{{1}, {0, 0, 0, 1}}, nil},
		"an empty time":     {[][]byte{nil, {0, 0, 0, 1}}, nil}, // which Cassandra has, but it is before the range
	} {
		if _, _, err := List(t.Context(), r, "list", q.After(forged.token(p.mark))); !errors.Is(err, ErrToken) {
			t.Errorf("%s: %v, want ErrToken", name, err)
		}
	}
}

// Garbage is rejected, whatever it is.
func FuzzToken(f *testing.F) {
	set, fake := filled(f, 2)
	r := newReader(fake, "shop")
	q := lastHours(set, 2)
	_, token, err := List(f.Context(), r, "list", q.Limit(3))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(token))
	f.Add("")
	f.Add("AQ")
	f.Fuzz(func(t *testing.T, text string) {
		rows, _, err := List(t.Context(), r, "list", q.After(Token(text)))
		if err != nil && !errors.Is(err, ErrToken) {
			t.Errorf("%v", err)
		}
		for _, row := range rows {
			if row.At.Before(midnight) || !row.At.Before(midnight.Add(2*time.Hour)) {
				t.Errorf("a row out of the range: %v", row.At)
			}
		}
	})
}

// Options that make no sense are named by New, and by the next read of a derived reader.
func TestBadOptions(t *testing.T) {
	t.Parallel()
	for _, none := range []*session.Session{nil, new(session.Session)} {
		if _, err := New(none); !errors.Is(err, ErrInvalid) ||
			!strings.Contains(err.Error(), "the session is nil or a zero value") {
			t.Error(err)
		}
	}
	r, err := New(testsession.New(t, nil, new(gocql.Session)), PageSize(0))
	if want := "denorm: reader: PageSize: 0 is not positive"; r != nil || !errors.Is(err, ErrInvalid) ||
		err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
	set, f := filled(t, 1)
	if _, _, err := List(t.Context(), newReader(f, "shop").With(Consistency(session.EachQuorum)), "list",
		lastHours(set, 1)); err != nil ||
		f.requests[0].consistency != gocql.EachQuorum {
		t.Errorf("%v, %d requests", err, len(f.requests))
	}
	r = newReader(f, "shop").With(Parallel(0), PageSize(-1), Partitions(0), nil,
		Consistency(session.Consistency(gocql.Any)),
		shared(session.Keyspaces(map[string]string{"": "a; DROP"})))
	_, _, err = List(t.Context(), r, "list", lastHours(set, 1))
	if !errors.Is(err, ErrInvalid) {
		t.Fatal(err)
	}
	for _, want := range []string{
		"Parallel: 0 is not positive", "PageSize: -1", "Partitions: 0", "an option is nil", "Consistency: ANY is not supported",
		"Keyspaces: \"a; DROP\" is not a name",
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%v lacks %q", err, want)
		}
	}
}
