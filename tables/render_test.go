package tables_test

import (
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/denorm-go/denorm/internal/golden"
	"github.com/denorm-go/denorm/tables"
	"github.com/gocql/gocql"
	"gopkg.in/inf.v0"
	"pgregory.net/rapid"
)

// dump shows mutations with their values, which the library itself never prints.
func dump(r tables.Rendered) string {
	var b strings.Builder
	for _, m := range r.Mutations {
		fmt.Fprintf(&b, "%s @%d, partition 0x%s", m.String(), m.Timestamp, hex.EncodeToString(m.PartitionKey))
		if at, ok := m.ExpiresAt(); ok {
			fmt.Fprintf(&b, ", expires %s", at.UTC().Format(time.RFC3339Nano))
		}
		dumpStatement(&b, m.Statement, m.Names, m.Args)
	}
	return b.String()
}

func dumpStatement(b *strings.Builder, statement string, names []string, args []any) {
	fmt.Fprintf(b, "\n  %s\n", statement)
	for i, a := range args {
		name := "?"
		if i < len(names) {
			name = names[i]
		}
		fmt.Fprintf(b, "    %s = %s\n", name, shown(a))
	}
}

const now = 1_700_000_000_000_000 // microseconds

// job is an entity with everything: two changing keys, one of them sparse, a key of several columns, absent values,
// an expiry, a subset.
type job struct {
	ID        gocql.UUID
	Tenant    string
	State     Status
	Worker    *string
	Started   time.Time
	Note      *string
	Tags      map[string]struct{}
	UpdatedAt int64
	EndsAt    *time.Time
}

func jobs(tb testing.TB, more ...tables.Option) *tables.Set[job] {
	tb.Helper()
	s, err := tables.New[job]("job", append([]tables.Option{
		tables.Table{Name: "jobs", Keyspace: "shop", PartKey: []string{"id"}},
		tables.Table{Name: "jobs_by_state", Keyspace: "shop", PartKey: []string{"tenant", "state"}, SortKey: []string{"id DESC"}},
		tables.Table{Name: "jobs_by_worker", PartKey: []string{"worker"}, SortKey: []string{"started", "id"}, Columns: []string{"state", "note"}},
		tables.OneOf("state", Open, Paid, Shipped),
		tables.SingleWriter("worker"), tables.SingleWriter("started"),
		tables.Stamp("updated_at"), tables.ExpiresAt("ends_at"), tables.Type("id", "timeuuid"),
	}, more...)...)
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

func aJob() job {
	return job{
		ID: uuid1, Tenant: "t", State: Paid, Worker: ptr("w"), Started: time.UnixMilli(1000), Note: ptr("n"),
		Tags: map[string]struct{}{"x": {}}, UpdatedAt: now - 5, EndsAt: ptr(time.UnixMicro(now).Add(time.Hour)),
	}
}

// with gives a changed copy.
func with[T any](row T, change func(*T)) T {
	change(&row)
	return row
}

func TestRenderGolden(t *testing.T) {
	t.Parallel()
	o := Order{OrderID: uuid1, UserID: uuid4, Status: Paid, Total: inf.NewDec(1995, 2), UpdatedAt: now - 5}
	tests := []struct {
		name   string
		change tables.Change
	}{
		{"insert", orders(t).Insert(o)},
		{"insert_absent", orders(t).Insert(with(o, func(o *Order) { o.Total = nil }))},
		{"insert_sweeping", orders(t, tables.SweepInserts()).Insert(o)},
		{"upsert_sweeping", orders(t, tables.SweepInserts()).Upsert(o)},
		{"update_in_place", orders(t).Update(o, with(o, func(o *Order) { o.Total = inf.NewDec(5, 0) }))},
		{"update_move", orders(t).Update(o, with(o, func(o *Order) { o.Status = Shipped }))},
		{"update_one_absent", orders(t).Update(o, with(o, func(o *Order) { o.Total = nil }))},
		{"delete", orders(t).Delete(o)},
		{"job_insert", jobs(t).Insert(aJob())},
		{"job_insert_sparse", jobs(t).Insert(with(aJob(), func(j *job) { j.Worker, j.EndsAt = nil, nil }))},
		{"job_insert_several_absent", jobs(t).Insert(with(aJob(), func(j *job) { j.Note, j.Tags, j.EndsAt = nil, nil, nil }))},
		{"job_update_move", jobs(t).Update(aJob(), with(aJob(), func(j *job) { j.State, j.Worker = Open, ptr("v") }))},
		{"job_update_several_absent", jobs(t).Update(aJob(), with(aJob(), func(j *job) { j.Note, j.Tags = nil, nil }))},
		{"job_update_leaves_sparse_table", jobs(t).Update(aJob(), with(aJob(), func(j *job) { j.Worker = nil }))},
		{"job_update_enters_sparse_table", jobs(t).Update(with(aJob(), func(j *job) { j.Worker = nil }), aJob())},
		{"job_delete", jobs(t).Delete(aJob())},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			r, err := tc.change.Render(now, nil)
			if err != nil {
				t.Fatal(err)
			}
			golden.Check(t, tc.name+".golden", dump(r))
		})
	}
}

func TestSelectAndKey(t *testing.T) {
	t.Parallel()
	type row struct {
		Tenant string
		ID     gocql.UUID
		Name   *string
	}
	s := tables.Must(tables.New[row]("thing",
		tables.Table{Name: "things", Keyspace: "shop", PartKey: []string{"tenant"}, SortKey: []string{"id DESC"}}))
	stmt, names := s.Select()
	if want := "SELECT tenant,id,name FROM shop.things WHERE tenant=? AND id=?"; stmt != want {
		t.Errorf("Select\n got %s\nwant %s", stmt, want)
	}
	if !slices.Equal(names, []string{"tenant", "id"}) {
		t.Errorf("names %v", names)
	}
	names[0] = "changed"
	if _, again := s.Select(); again[0] != "tenant" {
		t.Error("Select gives out its own names")
	}
	if stmt, _ := s.SelectIn(""); stmt != "SELECT tenant,id,name FROM things WHERE tenant=? AND id=?" {
		t.Errorf("SelectIn: %s", stmt)
	}
	if stmt, _ := s.SelectIn("t7"); stmt != "SELECT tenant,id,name FROM t7.things WHERE tenant=? AND id=?" {
		t.Errorf("SelectIn: %s", stmt)
	}
	key, err := s.Key(row{Tenant: "t", ID: uuid1, Name: ptr("\xff")}) // other fields are not looked at
	if err != nil || len(key) != 2 || shown(key[0]) != "0x74" || shown(key[1]) != "0x00000000000110008000000000000001" {
		t.Errorf("Key: %v, %v", key, err)
	}
	_, err = s.Key(row{Tenant: "t"})
	invalidAs(t, err, tables.InvalidError{Entity: "thing", Column: "id", Reason: "a key column must not be the zero UUID"})
}

func TestRenderedKey(t *testing.T) {
	t.Parallel()
	type row struct{ A, B, C string }
	s := tables.Must(tables.New[row]("thing", tables.Table{Name: "things", PartKey: []string{"a"}, SortKey: []string{"b"}}))
	key := func(c tables.Change) string {
		r, err := c.Render(1, nil)
		if err != nil {
			t.Fatal(err)
		}
		return r.Key
	}
	same := []string{
		key(s.Insert(row{"a", "b", "1"})), key(s.Upsert(row{"a", "b", "2"})), key(s.Delete(row{A: "a", B: "b"})),
		key(s.Update(row{"a", "b", "1"}, row{"a", "b", "2"})),
	}
	if len(slices.Compact(same)) != 1 {
		t.Errorf("keys of one entity differ: %q", same)
	}
	if key(s.Insert(row{"ab", "c", ""})) == key(s.Insert(row{"a", "bc", ""})) {
		t.Error("two entities have one key")
	}
}

func TestStamp(t *testing.T) {
	t.Parallel()
	s, o := orders(t), order()
	s.SetStamp(&o, 42)
	if o.UpdatedAt != 42 {
		t.Fatalf("stamp %d", o.UpdatedAt)
	}
	after := with(o, func(o *Order) { o.UpdatedAt = 99 })
	for _, tc := range []struct {
		change tables.Change
		want   int64
	}{
		{s.Insert(o), 0}, {s.Upsert(o), 0}, {s.Update(o, after), 42}, {s.Delete(o), 42}, {tables.Change{}, 0},
	} {
		if got := tc.change.StampOf(); got != tc.want {
			t.Errorf("%s: stamp of the before-image %d, want %d", tc.change, got, tc.want)
		}
	}
	r, err := s.Update(o, after).Render(1000, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range r.Mutations {
		if m.Kind == tables.Put {
			if got := shown(m.Args[slices.Index(m.Names, "updated_at")]); got != "0x00000000000003e8" {
				t.Errorf("%s: stamp %s, want the timestamp of the write", m, got)
			}
		}
	}
	plain := tables.Must(tables.New[Order]("order", tables.Table{Name: "orders", PartKey: []string{"order_id"}}))
	plain.SetStamp(&o, 7)
	if o.UpdatedAt != 42 || plain.Delete(o).StampOf() != 0 {
		t.Error("a set without Stamp has one")
	}
}

// TestNoMoveBelowResolution: Cassandra keeps milliseconds. An update from 12:00:00.0001 to 12:00:00.0002 is one of the
// same row, and as a move it would delete the row it has just written.
func TestNoMoveBelowResolution(t *testing.T) {
	t.Parallel()
	at := time.UnixMilli(1000)
	before := aJob()
	for _, later := range []time.Duration{0, time.Nanosecond, time.Millisecond - 1} {
		after := with(before, func(j *job) { j.Started = at.Add(later) })
		r, err := jobs(t).Update(before, after).Render(now, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range r.Mutations {
			if m.Table == "jobs_by_worker" && m.Kind != tables.Put {
				t.Errorf("%s later: %s", later, m)
			}
		}
	}
	r, err := jobs(t).Update(before, with(before, func(j *job) { j.Started = at.Add(time.Millisecond) })).Render(now, nil)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(dump(r), "remove jobs_by_worker") {
		t.Error("a millisecond later the row must move")
	}

	type visit struct {
		ID int64
		At time.Time
	}
	immutable := tables.Must(tables.New[visit]("visit", tables.Table{Name: "visits", PartKey: []string{"id"}},
		tables.Table{Name: "visits_by_day", PartKey: []string{"at"}, SortKey: []string{"id"}}, tables.Type("at", "date")))
	noon := time.Date(1969, 12, 31, 12, 0, 0, 0, time.UTC)
	if _, err := immutable.Update(visit{1, noon}, visit{1, noon.Add(11 * time.Hour)}).Render(1, nil); err != nil {
		t.Errorf("the hour of a date is not stored: %v", err)
	}
	if _, err := immutable.Update(visit{1, noon}, visit{1, noon.Add(12 * time.Hour)}).Render(1, nil); err == nil {
		t.Error("the next day passed as the same one")
	}
}

// TestSparseOneOf: a nil key column puts the row in no table keyed by it, and sweeps it from where it may be. In the
// base table it is a null, not an absent value: at a tie the null wins there as the sweep wins in the query table.
func TestSparseOneOf(t *testing.T) {
	t.Parallel()
	type row struct {
		ID        int64
		Queue     *string
		UpdatedAt int64
	}
	s := tables.Must(tables.New[row]("task", tables.Table{Name: "tasks", PartKey: []string{"id"}},
		tables.Table{Name: "tasks_by_queue", PartKey: []string{"queue"}, SortKey: []string{"id"}},
		tables.OneOf("queue", "a", "b", "c"), tables.Stamp("updated_at")))
	none, a, b := row{ID: 1}, row{ID: 1, Queue: ptr("a")}, row{ID: 1, Queue: ptr("b")}
	tests := []struct {
		name   string
		change tables.Change
		base   string // the column in the base table
		want   string // what happens in the query table
	}{
		{"insert", s.Insert(b), "0x62", "put b"},
		{"insert nil", s.Insert(none), "unset", ""},
		{"enter", s.Update(none, b), "0x62", "put b, remove a, remove c-1"},
		{"leave", s.Update(b, none), "null", "remove a, remove b, remove c"},
		{"stay out", s.Update(none, none), "null", "remove a, remove b, remove c"},
		{"move", s.Update(b, a), "0x61", "put a, remove b-1, remove c-1"},
		{"delete", s.Delete(b), "", "remove a, remove b, remove c"},
		{"delete nil", s.Delete(none), "", "remove a, remove b, remove c"},
	}
	for _, tc := range tests {
		r, err := tc.change.Render(now, nil)
		if err != nil {
			t.Errorf("%s: %v", tc.name, err)
			continue
		}
		var got []string
		for _, m := range r.Mutations[1:] {
			what := m.Kind.String() + " " + string(m.PartitionKey)
			if m.Timestamp != now {
				what += fmt.Sprint(m.Timestamp - now)
			}
			got = append(got, what)
		}
		if got := strings.Join(got, ", "); got != tc.want {
			t.Errorf("%s: %s, want %s", tc.name, got, tc.want)
		}
		if tc.base != "" && shown(r.Mutations[0].Args[1]) != tc.base {
			t.Errorf("%s: the base table gets %s, want %s", tc.name, shown(r.Mutations[0].Args[1]), tc.base)
		}
	}
}

// An update with several absent values deleted the row one microsecond below it, and with it a column that only a newer
// version of the service knew. Now a statement that is not a delete of another row names the columns it touches.
func TestUndeclaredColumnsSurvive(t *testing.T) {
	t.Parallel()
	full := aJob()
	bare := with(full, func(j *job) { j.Note, j.Tags, j.EndsAt = nil, nil, nil })
	for name, c := range map[string]struct {
		change tables.Change
		absent string // what is bound for an absent value
	}{
		"update":           {jobs(t).Update(full, bare), "null"},
		"update of a move": {jobs(t).Update(full, with(bare, func(j *job) { j.State = Open })), "null"},
		"sweeping insert":  {jobs(t, tables.SweepInserts()).Insert(bare), "null"},
		"insert":           {jobs(t).Insert(bare), "unset"},
	} {
		puts := make(map[string]string) // by table, the key
		keys := map[string]int{"jobs": 1, "jobs_by_state": 3, "jobs_by_worker": 3}
		mutations := rendered(t, c.change)
		for _, m := range mutations {
			if m.Kind != tables.Put {
				continue
			}
			puts[m.Table] = fmt.Sprint(shownAll(m.Args[:keys[m.Table]]))
			for _, column := range []string{"note", "tags", "ends_at"} {
				if i := slices.Index(m.Names, column); i >= 0 && shown(m.Args[i]) != c.absent {
					t.Errorf("%s: %s gets %s for %s, want %s", name, m, shown(m.Args[i]), column, c.absent)
				}
			}
		}
		for _, m := range mutations {
			if m.Kind != tables.Put && fmt.Sprint(shownAll(m.Args[1:])) == puts[m.Table] {
				t.Errorf("%s: %s deletes the row that is put: %s", name, m, m.Statement)
			}
		}
		if len(puts) != 3 {
			t.Errorf("%s: put in %d tables", name, len(puts))
		}
	}
}

func shownAll(args []any) []string {
	out := make([]string, len(args))
	for i, a := range args {
		out[i] = shown(a)
	}
	return out
}

func TestKeyspaces(t *testing.T) {
	t.Parallel()
	var asked []string
	r, err := jobs(t).Update(aJob(), with(aJob(), func(j *job) { j.Note, j.Tags = nil, nil })).Render(now, func(logical string) string {
		asked = append(asked, logical)
		return map[string]string{"shop": "t7_shop", "": "t7_main"}[logical]
	})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(asked, []string{"shop", "shop", ""}) {
		t.Errorf("asked for %q", asked)
	}
	want := map[string]string{"jobs": "t7_shop", "jobs_by_state": "t7_shop", "jobs_by_worker": "t7_main"}
	for _, m := range r.Mutations {
		if m.Keyspace != want[m.Table] || !strings.Contains(m.Statement, " "+want[m.Table]+"."+m.Table+" ") {
			t.Errorf("%s in keyspace %q: %s", m.Table, m.Keyspace, m.Statement)
		}
	}
	r, err = jobs(t).Insert(aJob()).Render(now, func(string) string { return "" })
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range r.Mutations {
		if m.Keyspace != "" || !strings.HasPrefix(m.Statement, "INSERT INTO "+m.Table+" ") {
			t.Errorf("%s in keyspace %q: %s", m.Table, m.Keyspace, m.Statement)
		}
	}
}

func TestStatements(t *testing.T) {
	t.Parallel()
	known := make(map[string]bool)
	for n := range jobs(t).Describe().Tables {
		for _, stmt := range jobs(t).Statements(n, "ks") {
			known[stmt] = true
		}
	}
	if len(known) != 9 {
		t.Errorf("%d statements, want insert, insert with TTL and delete of 3 tables", len(known))
	}
	forever := with(aJob(), func(j *job) { j.EndsAt, j.Note, j.Tags = nil, nil, nil })
	for _, c := range []tables.Change{
		jobs(t).Insert(aJob()), jobs(t).Update(aJob(), forever), jobs(t).Update(forever, aJob()), jobs(t).Delete(aJob()),
	} {
		r, err := c.Render(now, func(string) string { return "ks" })
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range r.Mutations {
			late, _ := m.At(time.UnixMicro(now).Add(24 * time.Hour))
			for _, stmt := range []string{m.Statement, late} {
				if !known[stmt] {
					t.Errorf("%s: not among Statements: %s", m, stmt)
				}
			}
		}
	}
	if got := orders(t).Statements(0, ""); len(got) != 2 {
		t.Errorf("a set without ExpiresAt has %d statements, want insert and delete", len(got))
	}
}

func TestExpiry(t *testing.T) {
	t.Parallel()
	start := time.UnixMicro(now)
	tests := []struct {
		name string
		ends time.Time
		now  time.Time
		want string // TTL, or "delete"
	}{
		{"a second", start.Add(time.Second), start, "0x00000001"},
		{"rounded up", start.Add(1001 * time.Millisecond), start, "0x00000002"},
		{"a millisecond", start.Add(time.Millisecond), start, "0x00000001"},
		{"below a millisecond", start.Add(time.Millisecond - 1), start, "delete"},
		{"a later attempt", start.Add(time.Hour), start.Add(time.Minute), "0x00000dd4"},
		{"last millisecond", start.Add(time.Hour), start.Add(time.Hour - time.Millisecond), "0x00000001"},
		{"just expired", start.Add(time.Hour), start.Add(time.Hour), "delete"},
		{"long expired", start.Add(time.Hour), start.Add(100 * time.Hour), "delete"},
		{"before the write", start.Add(-time.Hour), start, "delete"},
		{"epoch", time.Unix(0, 0), start, "delete"},
		{"before 1970", time.Unix(-1e9, 0), start, "delete"},
		{"20 years", start.Add(20 * 365 * 24 * time.Hour), start, "0x25980600"},
		{"20 years by a slow clock", start.Add(20 * 365 * 24 * time.Hour), start.Add(-time.Hour), "0x25980600"},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			r, err := jobs(t).Insert(with(aJob(), func(j *job) { j.EndsAt = &tc.ends })).Render(now, nil)
			if err != nil {
				t.Fatal(err)
			}
			if len(r.Mutations) != 3 {
				t.Fatalf("%d mutations", len(r.Mutations))
			}
			for _, m := range r.Mutations {
				bound := dump(tables.Rendered{Mutations: []tables.Mutation{m}})
				if at, ok := m.ExpiresAt(); !ok || tc.name != "epoch" && !at.Equal(tc.ends.Truncate(time.Millisecond)) {
					t.Errorf("%s: expires %s, %t, want %s", m, at, ok, tc.ends)
				}
				stmt, args := m.At(tc.now)
				got := "delete"
				if strings.HasPrefix(stmt, "INSERT ") {
					if !strings.HasSuffix(stmt, "USING TTL ? AND TIMESTAMP ?") {
						t.Fatalf("%s: %s", m, stmt)
					}
					got = shown(args[len(args)-2])
				}
				if got != tc.want {
					t.Errorf("%s: %s, want %s", m, got, tc.want)
				}
				// TTL 0 would mean for ever; the row goes at the timestamp of the write, below which nothing of it lives.
				stamp := args[len(args)-1]
				if got == "delete" {
					stamp = args[0]
					if !strings.HasPrefix(stmt, "DELETE FROM ") || !strings.Contains(stmt, " USING TIMESTAMP ? WHERE ") {
						t.Errorf("%s: %s", m, stmt)
					}
				}
				if shown(stamp) != "0x00060a24181e4000" {
					t.Errorf("%s: timestamp %s", m, shown(stamp))
				}
				if again := dump(tables.Rendered{Mutations: []tables.Mutation{m}}); again != bound {
					t.Errorf("At changed the mutation:\n%s\nbefore\n%s", again, bound)
				}
			}
		})
	}

	t.Run("more than 20 years", func(t *testing.T) {
		t.Parallel()
		ends := start.Add(20*365*24*time.Hour + time.Millisecond)
		_, err := jobs(t).Insert(with(aJob(), func(j *job) { j.EndsAt = &ends })).Render(now, nil)
		invalidAs(t, err, tables.InvalidError{
			Entity: "job", Column: "ends_at", Reason: "expires more than 20 years from now, which is Cassandra's limit",
		})
	})
	t.Run("never", func(t *testing.T) {
		t.Parallel()
		for _, ends := range []*time.Time{nil, {}} {
			r, err := jobs(t).Insert(with(aJob(), func(j *job) { j.EndsAt = ends })).Render(now, nil)
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range r.Mutations {
				if _, ok := m.ExpiresAt(); ok || strings.Contains(m.Statement, "TTL") {
					t.Errorf("%s expires", m)
				}
				if stmt, args := m.At(start); stmt != m.Statement || &args[0] != &m.Args[0] {
					t.Errorf("%s: At gives another statement", m)
				}
			}
		}
	})
}

func TestSize(t *testing.T) {
	t.Parallel()
	size := func(note string) int {
		r, err := jobs(t).Insert(with(aJob(), func(j *job) { j.Note = &note })).Render(now, nil)
		if err != nil {
			t.Fatal(err)
		}
		return r.Mutations[0].Size()
	}
	if small, large := size(""), size(strings.Repeat("x", 1000)); large-small != 1000 || small < 100 {
		t.Errorf("sizes %d and %d", small, large)
	}
}

// TestRenderConcurrently is for the race detector: sets live in package variables, and CQL texts are compiled when a
// keyspace is first met.
func TestRenderConcurrently(t *testing.T) {
	t.Parallel()
	s, before := jobs(t), aJob()
	change := s.Update(before, with(before, func(j *job) { j.State = Open }))
	var wg sync.WaitGroup
	for worker := range 8 {
		wg.Go(func() {
			for n := range 50 {
				keyspace := fmt.Sprintf("ks%d", (worker+n)%10)
				r, err := change.Render(now, func(string) string { return keyspace })
				if err != nil {
					t.Error(err)
					return
				}
				for _, m := range r.Mutations {
					if m.Keyspace != keyspace || !strings.Contains(m.Statement, " "+keyspace+"."+m.Table+" ") {
						t.Errorf("keyspace %s: %s", keyspace, m.Statement)
					}
				}
				stmt, _ := s.SelectIn(keyspace)
				if !strings.Contains(stmt, " "+keyspace+".jobs ") {
					t.Errorf("keyspace %s: %s", keyspace, stmt)
				}
			}
		})
	}
	wg.Wait()
}

// TestRenderRules holds random changes against the rules that all of them obey. The first one is what a table loses
// rows by: Cassandra lets a delete win over a write at the same timestamp, and over one that is older.
func TestRenderRules(t *testing.T) {
	t.Parallel()
	sets := []*tables.Set[job]{jobs(t), jobs(t, tables.SweepInserts())}
	optional := func(name string) *rapid.Generator[*string] {
		return rapid.Ptr(rapid.SampledFrom([]string{name, name + "2"}), true)
	}
	rows := rapid.Custom(func(t *rapid.T) job {
		var tags map[string]struct{}
		if rapid.Bool().Draw(t, "tagged") {
			tags = map[string]struct{}{"a": {}}
		}
		return job{
			ID: uuid1, Tenant: "t", State: rapid.SampledFrom([]Status{Open, Paid, Shipped}).Draw(t, "state"),
			Worker: optional("worker").Draw(t, "worker"), Note: optional("note").Draw(t, "note"), Tags: tags,
			Started: time.UnixMilli(rapid.Int64Range(-1, 1).Draw(t, "started")).Add(time.Duration(rapid.IntRange(0, 999_999).Draw(t, "ns"))),
			EndsAt:  rapid.SampledFrom([]*time.Time{nil, ptr(time.UnixMicro(now).Add(time.Hour)), ptr(time.Unix(0, 0))}).Draw(t, "ends"),
		}
	})
	rapid.Check(t, func(t *rapid.T) {
		s := sets[rapid.IntRange(0, 1).Draw(t, "set")]
		before, after := rows.Draw(t, "before"), rows.Draw(t, "after")
		change := rapid.SampledFrom([]tables.Change{s.Insert(after), s.Update(before, after), s.Delete(before)}).Draw(t, "change")
		r, err := change.Render(now, nil)
		if err != nil {
			t.Fatal(err)
		}
		type row struct{ table, key string }
		put, removed := map[row]bool{}, map[row]bool{}
		order := map[string]int{"jobs": 0, "jobs_by_state": 1, "jobs_by_worker": 2}
		keys := map[string]int{"jobs": 1, "jobs_by_state": 3, "jobs_by_worker": 3}
		last := 0
		for _, m := range r.Mutations {
			if order[m.Table] < last {
				t.Fatalf("%s comes after a later table", m)
			}
			last = order[m.Table]
			if len(m.Names) != len(m.Args) || strings.Count(m.Statement, "?") != len(m.Args) {
				t.Fatalf("%s: %d names, %d args: %s", m, len(m.Names), len(m.Args), m.Statement)
			}
			args := m.Args
			if m.Kind != tables.Put {
				args = args[1:] // the timestamp
			}
			at := row{table: m.Table, key: hex.EncodeToString(m.PartitionKey)}
			for _, a := range args[:keys[m.Table]] {
				if v := shown(a); v == "unset" || v == "null" {
					t.Fatalf("%s: no key", m)
				}
				at.key += " " + shown(a)
			}
			switch m.Kind {
			case tables.Put:
				if len(removed) > 0 && hasTable(removed, m.Table, func(r row) string { return r.table }) {
					t.Fatalf("%s comes after a Remove", m)
				}
				if m.Timestamp != now || put[at] || hasTable(put, m.Table, func(r row) string { return r.table }) {
					t.Fatalf("%s: a second one, or at %d", m, m.Timestamp)
				}
				put[at] = true
			case tables.Remove:
				if m.Timestamp != now && m.Timestamp != now-1 || removed[at] {
					t.Fatalf("%s: a second one, or at %d", m, m.Timestamp)
				}
				removed[at] = true
			case tables.Increment, tables.Merge:
				t.Fatalf("%s: a row is written whole", m)
			}
		}
		for at := range removed {
			if put[at] {
				t.Fatalf("%s is put and removed", at)
			}
		}
		// The row stands in every table in which its key is present, and nowhere after a delete.
		want := 0
		if change.After != nil {
			want = 2
			if after.Worker != nil {
				want = 3
			}
		}
		if len(put) != want {
			t.Fatalf("put in %d tables, want %d", len(put), want)
		}
		// The domain is swept: all other states after an update, all of them after a delete.
		sweeps := map[tables.Kind]int{tables.Update: 2, tables.Delete: 3}[change.Kind]
		if change.Kind == tables.Insert && s == sets[1] {
			sweeps = 2
		}
		swept := 0
		for at := range removed {
			if at.table == "jobs_by_state" {
				swept++
			}
		}
		if swept != sweeps {
			t.Fatalf("%d states swept, want %d", swept, sweeps)
		}
	})
}

func hasTable[R comparable](rows map[R]bool, table string, of func(R) string) bool {
	for r := range rows {
		if of(r) == table {
			return true
		}
	}
	return false
}
