package schema_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/denorm-go/denorm/cassandratest"
	"github.com/denorm-go/denorm/internal/testutil/testsession"
	"github.com/denorm-go/denorm/schema"
)

// The tables and views of a text, with all that a view can say.
const withViews = `CREATE KEYSPACE shop WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1};
CREATE TABLE shop.orders (id uuid, line int, user_id uuid, total decimal, PRIMARY KEY (id, line)) WITH comment = 'the orders';
CREATE MATERIALIZED VIEW shop.by_user AS SELECT * FROM shop.orders WHERE user_id IS NOT NULL AND id IS NOT NULL AND line IS NOT NULL
	PRIMARY KEY (user_id, id, line) WITH CLUSTERING ORDER BY (id DESC, line ASC) AND comment = 'all of a user''s' AND gc_grace_seconds = 3600;
CREATE MATERIALIZED VIEW shop.totals AS SELECT total, id, line FROM shop.orders WHERE total IS NOT NULL AND id IS NOT NULL AND line IS NOT NULL
	PRIMARY KEY (total, id, line) WITH comment = 'few columns';
ALTER TABLE shop.orders ADD (note text, owner text static);`

// described is the tables and views of a schema, without where they were written.
func described(s *schema.Schema) ([]schema.Table, []schema.View) {
	for i := range s.Tables {
		s.Tables[i].At = schema.Position{}
	}
	for i := range s.Views {
		s.Views[i].At = schema.Position{}
	}
	return s.Tables, s.Views
}

func view(s *schema.Schema, name string) (selected string, v schema.View) {
	for _, v := range s.Views {
		if v.Name == name {
			var names []string
			for _, c := range v.Columns {
				names = append(names, c.Name+" "+c.Type)
			}
			return strings.Join(names, ", "), v
		}
	}
	return "none", v
}

// Views are read back from the CQL that is written of them, and from a cluster, with their columns, options and SELECT
// *, which covers the columns that the base table got later, but not static ones.
func TestViewsAreWrittenAndReadBack(t *testing.T) {
	t.Parallel()
	s := parse(t, withViews)
	text := s.CQL()
	again := parse(t, text)
	if !strings.Contains(text, "SELECT *\n    FROM shop.orders") || !strings.Contains(text, "SELECT total, id, line\n") ||
		!strings.Contains(text, "comment = 'all of a user''s'\n    AND gc_grace_seconds = 3600;") {
		t.Error(text)
	}
	tables, views := described(s)
	tablesAgain, viewsAgain := described(again)
	if again.CQL() != text || !reflect.DeepEqual(tables, tablesAgain) || !reflect.DeepEqual(views, viewsAgain) {
		t.Errorf("%+v\n%+v\nand read back\n%+v\n%+v", tables, views, tablesAgain, viewsAgain)
	}
	cassandratest.Test(t, 1, func(t *testing.T, c *cassandratest.Cluster) {
		c.Create(strings.Split(withViews, ";\n")...)
		reads, err := c.Config().CreateSession()
		if err != nil {
			t.Fatal(err)
		}
		defer reads.Close()
		live, err := schema.Read(t.Context(), testsession.New(t, nil, reads), "shop")
		if err != nil {
			t.Fatal(err)
		}
		if found := schema.Compare(s, live); len(found) > 0 {
			t.Error(&schema.DifferenceError{Differences: found})
		}
		_, liveViews := described(live)
		if _, views := described(parse(t, live.CQL())); !reflect.DeepEqual(views, liveViews) {
			t.Errorf("%+v\nand read back\n%+v", liveViews, views)
		}
		for _, from := range []*schema.Schema{s, again, live} {
			selected, v := view(from, "by_user")
			if !v.All || v.Options["comment"] != "'all of a user''s'" || v.Options["gc_grace_seconds"] != "3600" || v.Options["view_name"] != "" ||
				!sameSet(selected, "user_id uuid, id uuid, line int, total decimal, note text") {
				t.Errorf("%s %t %q", selected, v.All, v.Options)
			}
			selected, v = view(from, "totals")
			if v.All || v.Options["comment"] != "'few columns'" || !sameSet(selected, "total decimal, id uuid, line int") {
				t.Errorf("%s %+v", selected, v)
			}
		}
	})
}

func sameSet(a, b string) bool {
	set := func(s string) map[string]bool {
		out := make(map[string]bool)
		for _, one := range strings.Split(s, ", ") {
			out[one] = true
		}
		return out
	}
	return reflect.DeepEqual(set(a), set(b))
}

// A view without a condition, which a server rejects, is written as it was read.
func TestViewWithoutCondition(t *testing.T) {
	t.Parallel()
	text := parse(t, "CREATE MATERIALIZED VIEW v AS SELECT * FROM t PRIMARY KEY (a)").CQL()
	if again := parse(t, text).CQL(); again != text || strings.Contains(text, "WHERE") {
		t.Errorf("%s\nand read back\n%s", text, again)
	}
}

// ALTER MATERIALIZED VIEW changes the options of one that the text has created.
func TestAlterView(t *testing.T) {
	t.Parallel()
	if _, v := view(parse(t, withViews+"ALTER MATERIALIZED VIEW shop.totals WITH comment = 'other' AND gc_grace_seconds = 7200"), "totals"); v.Options["comment"] != "'other'" || v.Options["gc_grace_seconds"] != "7200" {
		t.Errorf("%q", v.Options)
	}
	const none = "ALTER MATERIALIZED VIEW shop.none WITH comment = 'x'"
	if _, err := schema.Parse("f", none); err == nil || !strings.Contains(err.Error(), "line 1: ALTER MATERIALIZED VIEW shop.none: the text does not create it") {
		t.Error(err)
	}
	parse(t, strings.Replace(none, "VIEW", "VIEW IF EXISTS", 1))
}

// A migration says which views get a column that it adds, and tells views apart by what they select and by their
// options.
func TestMigrationOfViews(t *testing.T) {
	t.Parallel()
	const table = "CREATE TABLE k.t (a int PRIMARY KEY, b int);\n"
	const all = "CREATE MATERIALIZED VIEW k.v AS SELECT * FROM k.t WHERE b IS NOT NULL AND a IS NOT NULL PRIMARY KEY (b, a)"
	live := parse(t, table+all)
	for declared, want := range map[string]string{
		table + all: "",
		strings.Replace(table, "b int", "b int, c text", 1) + all: "k.t: column c: does not exist; as soon as it does, these materialized views, which are of " +
			"SELECT *, have it, too: k.v\n\t\tfix: ALTER TABLE k.t ADD c text",
		table + all + " WITH comment = 'x'":          "ALTER MATERIALIZED VIEW k.v WITH comment = 'x'",
		table + strings.Replace(all, "*", "b, a", 1): "the view is another one: SELECT * of t, key (b, a), declared SELECT a, b of t, key (b, a)",
	} {
		found := schema.Breaking(schema.Compare(parse(t, declared), live))
		got := ""
		for _, d := range found {
			got += d.String()
		}
		if (want == "") != (got == "") || !strings.Contains(got, want) {
			t.Errorf("%s:\n got %s\nwant %s", declared, got, want)
		}
	}
	one := strings.Replace(live.CQL(), "*", "a, b", 1)
	grown := parse(t, strings.Replace(one, "b int,", "b int, c text,", 1))
	if found := schema.Compare(grown, parse(t, one)); len(found) != 1 || strings.Contains(found[0].Reason, "view") {
		t.Errorf("a view that names its columns gets none: %v", found)
	}
	renamed := table + all + "; ALTER TABLE k.t RENAME a TO id"
	if _, err := schema.Parse("f", renamed); err == nil || !strings.Contains(err.Error(), "line 2: ALTER TABLE k.t: columns of its materialized view k.v are not renamed here") {
		t.Errorf("%v", err)
	}
}

// A note on a column of a table that is elsewhere is found there: in another text, or in a cluster.
func TestDomainOfATableElsewhere(t *testing.T) {
	t.Parallel()
	note := parse(t, "USE shop;\n-- denorm:domain t.a 4\n-- denorm:domain t.b 4")
	if len(note.Domains) != 2 || note.Domains[0].At != (schema.Position{File: "test", Line: 2}) {
		t.Errorf("%+v", note.Domains)
	}
	live := parse(t, "CREATE TABLE shop.t (a int PRIMARY KEY)")
	all := schema.Add(live, note)
	if all.Table(schema.ID{Keyspace: "shop", Name: "t"}).Column("a").Domain != 4 || len(all.Domains) != 1 || all.Domains[0].Column != "b" {
		t.Errorf("%+v", all)
	}
	if live.Tables[0].Columns[0].Domain != 0 || len(note.Domains) != 2 {
		t.Error("Add has changed what it was given")
	}
	if in := note.In(map[string]string{"shop": "staging"}); in.Domains[0].Table.Keyspace != "staging" {
		t.Errorf("%+v", in.Domains)
	}
}

// A view that is created twice is an error, as to the server, and with IF NOT EXISTS it is there once: Schema.CQL
// cannot be executed otherwise.
func TestViewCreatedTwice(t *testing.T) {
	t.Parallel()
	const table = "CREATE TABLE k.t (a int PRIMARY KEY, b int);\n"
	const view = "k.v AS SELECT * FROM k.t WHERE a IS NOT NULL AND b IS NOT NULL PRIMARY KEY (b, a);\n"
	s := parse(t, table+strings.Repeat("CREATE MATERIALIZED VIEW IF NOT EXISTS "+view, 2))
	if len(s.Views) != 1 {
		t.Errorf("%d views", len(s.Views))
	}
	text := table + strings.Repeat("CREATE MATERIALIZED VIEW "+view, 2)
	if _, err := schema.Parse("f", text); err == nil || err.Error() != "f: line 3: materialized view k.v is created twice" {
		t.Error(err)
	}
	s, err := schema.Review(schema.Source{File: "f", Text: text + "CREATE MATERIALIZED VIEW k.w AS SELECT b FROM k.t PRIMARY KEY (b, b);"})
	if err != nil || len(s.Views) != 1 || len(s.Unread) != 2 {
		t.Errorf("%+v, %v", s, err)
	}
}

// A small text cannot have views of a wide table without end.
func TestViewsOfWideTable(t *testing.T) {
	t.Parallel()
	text := "CREATE TABLE k.t (a int PRIMARY KEY"
	for i := range 999 {
		text += fmt.Sprintf(", c%d int", i)
	}
	text += ");"
	for i := range 100 {
		text += fmt.Sprintf("\nCREATE MATERIALIZED VIEW k.v%d AS SELECT * FROM k.t WHERE a IS NOT NULL PRIMARY KEY (a);", i)
	}
	if _, err := schema.Review(schema.Source{File: "f.cql", Text: text}); err != nil {
		t.Error(err)
	}
	_, err := schema.Parse("f.cql", text+"\nCREATE MATERIALIZED VIEW k.v AS SELECT * FROM k.t WHERE a IS NOT NULL PRIMARY KEY (a);")
	const want = "f.cql: line 102: with view k.v, views of SELECT * have more than 100000 columns in all: name those that they need"
	if err == nil || err.Error() != want {
		t.Error(err)
	}
}
