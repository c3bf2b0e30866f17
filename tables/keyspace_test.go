package tables_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/denorm-go/denorm/internal/describe"
	"github.com/denorm-go/denorm/tables"
	"github.com/gocql/gocql"
)

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
	for keyspace, table := range map[string]string{"": "things", "t7": "t7.things"} {
		stmt := s.Internal().Tables[0].Statements(keyspace, "things").Select
		if stmt != "SELECT tenant,id,name FROM "+table+" WHERE tenant=? AND id=?" {
			t.Errorf("keyspace %q: %s", keyspace, stmt)
		}
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
	s := tables.Must(tables.New[row]("thing", tables.Table{
		Name: "things", PartKey: []string{"a"},
		SortKey: []string{"b"},
	}))
	key := func(c tables.Change) string {
		r, err := c.Internal().Render(1, nil)
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

func TestKeyspaces(t *testing.T) {
	t.Parallel()
	var asked []string
	r, err := jobs(t).Update(aJob(), with(aJob(), func(j *job) { j.Note, j.Tags = nil, nil })).Internal().
		Render(now, func(logical string) string {
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
	r, err = jobs(t).Insert(aJob()).Internal().Render(now, func(string) string { return "" })
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
	for n := range describe.Of(jobs(t).Internal()).Tables {
		for _, stmt := range jobs(t).Internal().Statements(n, "ks") {
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
		r, err := c.Internal().Render(now, func(string) string { return "ks" })
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
	if got := orders(t).Internal().Statements(0, ""); len(got) != 2 {
		t.Errorf("a set without ExpiresAt has %d statements, want insert and delete", len(got))
	}
}
