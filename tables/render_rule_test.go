package tables_test

import (
	"encoding/hex"
	"strings"
	"testing"
	"time"

	"github.com/denorm-go/denorm/internal/statement"
	"github.com/denorm-go/denorm/tables"
	"pgregory.net/rapid"
)

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
			Started: time.UnixMilli(rapid.Int64Range(-1, 1).Draw(t, "started")).
				Add(time.Duration(rapid.IntRange(0, 999_999).Draw(t, "ns"))),
			UpdatedAt: now - 5,
			EndsAt: rapid.SampledFrom([]*time.Time{nil, ptr(time.UnixMicro(now).Add(time.Hour)), ptr(time.Unix(0, 0))}).
				Draw(t, "ends"),
		}
	})
	rapid.Check(t, func(t *rapid.T) {
		s := sets[rapid.IntRange(0, 1).Draw(t, "set")]
		before, after := rows.Draw(t, "before"), rows.Draw(t, "after")
		change := rapid.SampledFrom([]tables.Change{s.Insert(after), s.Update(before, after), s.Delete(before)}).
			Draw(t, "change")
		r, err := change.Internal().Render(now, nil)
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
			if m.Kind != statement.Put {
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
			case statement.Put:
				if len(removed) > 0 && hasTable(removed, m.Table, func(r row) string { return r.table }) {
					t.Fatalf("%s comes after a Remove", m)
				}
				if m.Timestamp != now || put[at] || hasTable(put, m.Table, func(r row) string { return r.table }) {
					t.Fatalf("%s: a second one, or at %d", m, m.Timestamp)
				}
				put[at] = true
			case statement.Remove:
				if m.Timestamp != now && m.Timestamp != now-1 || removed[at] {
					t.Fatalf("%s: a second one, or at %d", m, m.Timestamp)
				}
				removed[at] = true
			case statement.Increment, statement.Merge:
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
		if change.After() != nil {
			want = 2
			if after.Worker != nil {
				want = 3
			}
		}
		if len(put) != want {
			t.Fatalf("put in %d tables, want %d", len(put), want)
		}
		// The domain is swept: all other states after an update, all of them after a delete.
		sweeps := map[tables.Kind]int{tables.Update: 2, tables.Delete: 3}[change.Kind()]
		if change.Kind() == tables.Insert && s == sets[1] {
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
