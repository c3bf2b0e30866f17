package tables_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/internal/statement"
	"github.com/denorm-go/denorm/tables"
)

// run is an entity whose tables have different columns before its id.
type run struct {
	Domain, Kind, State string
	Start, End          time.Time
	RunID               gocql.UUID
	Note                *string
	UpdatedAt           int64
}

func runsBy(name, part, sort string, columns ...string) tables.Table {
	return tables.Table{Name: name, PartKey: []string{part}, SortKey: strings.Fields(sort), Columns: columns}
}

var (
	runsByEnd   = runsBy("runs", "domain", "end run_id")
	runsByKind  = runsBy("runs_by_kind", "kind", "start run_id", "domain", "end", "note")
	runsByState = runsBy("runs_by_state", "state", "run_id", "end", "domain")
)

func aRun() run {
	return run{
		Domain: "d", Kind: "k", State: "open", Start: time.UnixMicro(now), End: time.UnixMicro(now).Add(time.Hour),
		RunID: uuid1, Note: ptr("n"), UpdatedAt: now - 5,
	}
}

// Tables that share an id alone are declared with it; what is missing is named with the table that it is missing in.
func TestID(t *testing.T) {
	t.Parallel()
	type count struct {
		Domain string
		RunID  gocql.UUID
		N      int64
	}
	id, hour, byHour := tables.ID("run_id"), tables.Derive("hour", tables.Hour("start")),
		runsBy("runs", "domain", "hour run_id")
	const (
		noKey = ": the key of a query table must contain the base key, or two entities could share a row: add it"
		lead  = " is in the base key, and this table lacks it, so its rows do not lead to base rows: add "
	)
	runFaultCases(t, []faultCase{
		{"an id", declaring[run](runsByEnd, runsByKind, runsByState, id), nil},
		{
			"an id of two columns", declaring[run](runsByEnd, runsBy("t", "run_id", "domain"), tables.ID("domain", "run_id")),
			nil,
		},
		{
			"all of the base key", declaring[run](runsByEnd, runsBy("t", "run_id", "domain end"),
				tables.ID("domain", "end", "run_id")),
			nil,
		},
		{"no id", declaring[run](runsByEnd, runsBy("t", "domain", "run_id")), []string{
			"table t: column end" + noKey + `; or declare ID("run_id"), if no two entities have one; ` +
				"if no two may have one key, declare the table Unique",
		}},
		{
			"no id in all keys", declaring[run](runsByEnd, runsBy("t", "end", "domain"), runsBy("u", "kind", "run_id")),
			[]string{
				"table t: column run_id" + noKey + "; or add an id to all keys, and declare ID; " +
					"if no two may have one key, declare the table Unique",
				"table u: column domain" + noKey + "; or add an id to all keys, and declare ID; " +
					"if no two may have one key, declare the table Unique",
				"table u: column end" + noKey + "; or add an id to all keys, and declare ID; " +
					"if no two may have one key, declare the table Unique",
			},
		},
		{"not in a key", declaring[run](runsByEnd, runsByKind, runsBy("t", "state", ""), id), []string{
			"table t: column run_id: ID must be in the key of each query table, or two entities could share a row: " +
				"add it to SortKey",
		}},
		{"not in the base key", declaring[run](runsBy("runs", "domain", "end"), id), []string{
			"table runs: column run_id: ID must be in the key of the base table: add it to PartKey or SortKey",
		}},
		{
			"without a part of the base key",
			declaring[run](runsByEnd, runsBy("t", "kind", "run_id", "domain"), runsBy("u", "state", "run_id", "end"), id),
			[]string{"table t: column end:" + lead + "it to Columns", "table u: column domain:" + lead + "it to Columns"},
		},
		{
			"a bucket that follows from what the row has",
			declaring[run](byHour, runsBy("t", "kind", "run_id", "start", "domain"), id, hour), nil,
		},
		{
			"a bucket that does not follow", declaring[run](byHour, runsBy("t", "kind", "run_id", "domain"), id, hour),
			[]string{"table t: column hour:" + lead + "what it follows from to Columns"},
		},
		{"twice", declaring[run](runsByEnd, id, id), []string{"column run_id: is in ID twice"}},
		{"a bucket", declaring[run](byHour, tables.ID("hour"), hour), []string{
			"column hour: ID cannot be derived: name what it follows from",
		}},
		{
			"a part of the base key that changes", declaring[run](runsByEnd, runsByKind, id, tables.SingleWriter("end")),
			[]string{
				"table runs: column end: the base key identifies the entity and cannot change, so SingleWriter is rejected",
			},
		},
		{"counters", declaring[count](runsBy("n", "domain", "run_id"), tables.Type("n", "counter"), id), []string{
			"ID in a set of counters: their rows are sums, and lead to no base row",
		}},
	})
}

func runs(tb testing.TB, options ...tables.Option) *tables.Set[run] {
	tb.Helper()
	s, err := tables.New[run]("run", append(options, runsByEnd, runsByKind, runsByState, tables.ID("run_id"))...)
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

// Each row has the base key, wherever the table has it. What would change it is rejected with the way that there is.
func TestIDRows(t *testing.T) {
	t.Parallel()
	s := runs(t, tables.OneOf("state", "open", "done"), tables.Stamp("updated_at"))
	moved := aRun()
	moved.State = "done"
	for name, change := range map[string]tables.Change{"insert": s.Insert(aRun()), "update": s.Update(aRun(), moved)} {
		for _, m := range rendered(t, change) {
			text := strings.Join(m.Names, " ")
			for _, column := range []string{"domain", "end", "run_id"} {
				if m.Kind == statement.Put && !strings.Contains(text, column) {
					t.Errorf("%s: a row of %s has no base key: %s", name, m.Table, text)
				}
			}
		}
	}
	later := aRun()
	later.End = later.End.Add(time.Second)
	_, err := s.Update(aRun(), later).Internal().Render(now, nil)
	var invalid *tables.InvalidError
	if !errors.As(err, &invalid) || invalid.Column != "end" || !strings.Contains(invalid.Reason, "Delete the one") {
		t.Errorf("another end: %v", err)
	}
	key := func(r run) string { return s.Insert(r).Internal().Key() }
	if key(aRun()) != key(later) {
		t.Error("two writes of one id are of two entities")
	}
	if later.RunID = uuid4; key(aRun()) == key(later) {
		t.Error("writes of two ids are of one entity")
	}
}

// A patch keeps the way to the base row in each row that it makes, but for one that would end with it.
func TestIDPatch(t *testing.T) {
	t.Parallel()
	for _, m := range rendered(t, runs(t).Patch(aRun(), tables.Column("note"))) {
		if got, want := strings.Join(m.Names, " "), map[string]string{
			"runs": "domain end run_id note [timestamp]", "runs_by_kind": "kind start run_id domain end note [timestamp]",
			"runs_by_state": "state run_id end domain [timestamp]",
		}[m.Table]; got != want {
			t.Errorf("%s: %s, want %s", m.Table, got, want)
		}
	}
	type ending struct {
		Domain, Kind string
		RunID        gocql.UUID
		Note         *string
		Ends         time.Time
	}
	s := tables.Must(tables.New[ending]("run", runsBy("runs", "domain", "run_id"),
		runsBy("runs_by_kind", "kind", "run_id"),
		tables.ID("run_id"), tables.ExpiresAt("ends")))
	row := ending{Domain: "d", Kind: "k", RunID: uuid1, Ends: time.UnixMicro(now).Add(time.Hour)}
	_, err := s.Patch(row, tables.Column("note")).Internal().Render(now, nil)
	invalid := (*tables.InvalidError)(nil)
	if !errors.As(err, &invalid) || invalid.Table != "runs_by_kind" || invalid.Column != "domain" {
		t.Errorf("a patch that ends: %v", err)
	}
	if row.Ends = (time.Time{}); len(rendered(t, s.Patch(row, tables.Column("note"), tables.Column("ends")))) != 2 {
		t.Error("a patch that does not end")
	}
}
