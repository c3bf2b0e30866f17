package tables_test

import (
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/denorm-go/denorm/internal/entity"
	"github.com/denorm-go/denorm/internal/statement"
	"github.com/denorm-go/denorm/internal/testutil/golden"
	"github.com/denorm-go/denorm/tables"
	"github.com/gocql/gocql"
	"gopkg.in/inf.v0"
)

// dump shows mutations with their values, which the library itself never prints.
func dump(r entity.Rendered) string {
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

func dumpStatement(b *strings.Builder, text string, names []string, args []any) {
	fmt.Fprintf(b, "\n  %s\n", text)
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
		tables.Table{
			Name: "jobs_by_state", Keyspace: "shop", PartKey: []string{"tenant", "state"},
			SortKey: []string{"id DESC"},
		},
		tables.Table{
			Name: "jobs_by_worker", PartKey: []string{"worker"}, SortKey: []string{"started", "id"},
			Columns: []string{"state", "note"},
		},
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
		{"job_insert_several_absent", jobs(t).
			Insert(with(aJob(), func(j *job) { j.Note, j.Tags, j.EndsAt = nil, nil, nil }))},
		{"job_update_move", jobs(t).Update(aJob(), with(aJob(), func(j *job) { j.State, j.Worker = Open, ptr("v") }))},
		{"job_update_several_absent", jobs(t).Update(aJob(), with(aJob(), func(j *job) { j.Note, j.Tags = nil, nil }))},
		{"job_update_leaves_sparse_table", jobs(t).Update(aJob(), with(aJob(), func(j *job) { j.Worker = nil }))},
		{"job_update_enters_sparse_table", jobs(t).Update(with(aJob(), func(j *job) { j.Worker = nil }), aJob())},
		{"job_delete", jobs(t).Delete(aJob())},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			r, err := tc.change.Internal().Render(now, nil)
			if err != nil {
				t.Fatal(err)
			}
			golden.Check(t, tc.name+".golden", dump(r))
		})
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
	none, a, b := row{1, nil, now - 5}, row{1, ptr("a"), now - 5}, row{1, ptr("b"), now - 5}
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
		r, err := tc.change.Internal().Render(now, nil)
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
			if m.Kind != statement.Put {
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
			if m.Kind != statement.Put && fmt.Sprint(shownAll(m.Args[1:])) == puts[m.Table] {
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
				r, err := change.Internal().Render(now, func(string) string { return keyspace })
				if err != nil {
					t.Error(err)
					return
				}
				for _, m := range r.Mutations {
					if m.Keyspace != keyspace || !strings.Contains(m.Statement, " "+keyspace+"."+m.Table+" ") {
						t.Errorf("keyspace %s: %s", keyspace, m.Statement)
					}
				}
				stmt := s.Internal().Tables[0].Statements(keyspace, "jobs").Select
				if !strings.Contains(stmt, " "+keyspace+".jobs ") {
					t.Errorf("keyspace %s: %s", keyspace, stmt)
				}
			}
		})
	}
	wg.Wait()
}
