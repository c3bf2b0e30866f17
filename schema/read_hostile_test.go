package schema

import (
	"context"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/denorm-go/denorm/internal/cql"
	"github.com/denorm-go/denorm/internal/cql/ast"
)

// What a cluster says of its schema stands in the statements written of it as names, types and texts, and as nothing
// else.
func TestLiveSchemaAddsNoStatements(t *testing.T) {
	t.Parallel()
	for _, hostile := range []string{
		"x); DROP KEYSPACE shop; --", "'x'; DROP KEYSPACE shop; --'", `"x"; DROP KEYSPACE shop; --"`, "x'; DROP KEYSPACE shop; --", "x\nDROP",
		"list<int>; DROP KEYSPACE shop", "'a''; DROP KEYSPACE shop; --'", "a = 'x'; DROP KEYSPACE shop; --'", "a = 'it's'", "a IS NOT NULL -- ",
		"a IS NOT NULL /*", "values(x); DROP KEYSPACE shop; --)", "$$;$$", "",
	} {
		rows := liveRows()
		rows["columns"][0]["type"] = hostile
		rows["types"][0]["field_types"] = []string{"text", hostile}
		rows["tables"][0][hostile] = "1"
		rows["tables"][0]["new"] = []string{hostile}
		rows["tables"][0]["comment"] = hostile
		rows["tables"][0]["compaction"] = map[string]string{"class": hostile, hostile: hostile}
		rows["views"][0]["where_clause"] = hostile
		rows["indexes"][0]["options"] = map[string]string{"class_name": hostile, "target": hostile}
		live, err := read(context.Background(), rows, []string{"shop"})
		if err != nil {
			t.Fatal(err)
		}
		want := live.Statements()
		if got := SplitStatements(live.CQL(), "\n\r"); len(got) != len(want) || len(got) != 5 {
			t.Errorf("%q adds statements: %d of %d\n%s", hostile, len(got), len(want), live.CQL())
		}
		for _, s := range SplitStatements(live.CQL(), "\n\r") {
			if !strings.HasPrefix(s, "CREATE ") {
				t.Errorf("%q adds %q", hostile, s)
			}
		}
	}
}

func TestIndexTargets(t *testing.T) {
	t.Parallel()
	for target, want := range map[string]struct{ column, spelled string }{
		"total": {"total", "total"}, `"Total"`: {"Total", `"Total"`}, "Total": {"Total", `"Total"`}, `values("a(b)")`: {"a(b)", `values("a(b)")`},
		"keys(tags)": {"tags", "keys(tags)"}, `"values(x)"`: {"values(x)", `"values(x)"`}, `"a""b"`: {`a"b`, `"a""b"`}, "": {"", ""},
		`"a" b"`: {`"a" b"`, `"""a"" b"""`},
	} {
		i := Index{Target: target}
		if i.Column() != want.column || liveTarget(target) != want.spelled {
			t.Errorf("%s is on %s, and is spelled %s", target, i.Column(), liveTarget(target))
		}
	}
}

// A text that somebody else has written cannot end the process: a stack that is full does.
func TestDeepNestingIsAnError(t *testing.T) { // not parallel: it limits all stacks
	const n = 50_000
	defer debug.SetMaxStack(debug.SetMaxStack(4 << 20)) // or the text would have to have many millions of levels
	for name, c := range map[string]struct{ text, says string }{
		"frozen": {"CREATE TABLE k.t (a " + strings.Repeat("frozen<", n) + "int" + strings.Repeat(">", n) + " PRIMARY KEY)", "nested deeper than 100"},
		"lists":  {"CREATE TABLE k.t (b int PRIMARY KEY, a " + strings.Repeat("list<", n) + "int" + strings.Repeat(">", n) + ")", "nested deeper than 100"},
		"fields": {"CREATE TYPE k.t (a " + strings.Repeat("tuple<int, ", n), "nested deeper than 100"},
		"parens": {"SELECT * FROM t WHERE " + strings.Repeat("(", n) + "a = 1" + strings.Repeat(")", n), "nested deeper than 100"},
		"braces": {"CREATE KEYSPACE k WITH replication = " + strings.Repeat("{", n), "want"},
		"key":    {"CREATE TABLE k.t (a int, PRIMARY KEY " + strings.Repeat("(", n) + "a" + strings.Repeat(")", n) + ")", "want a name"},
		"value":  {"SELECT * FROM t WHERE a = " + strings.Repeat("[", n) + strings.Repeat("]", n), "nested deeper than 100"},
		"signs":  {"SELECT * FROM t WHERE a = 1" + strings.Repeat(" + 1", n), ""},
		"sums":   {"SELECT a" + strings.Repeat(" + a", n) + " FROM t", ""},
		"calls":  {"SELECT * FROM t WHERE a = " + strings.Repeat("f(", n) + strings.Repeat(")", n), "nested deeper than 100"},
	} {
		if _, err := Parse("deep", c.text); c.says == "" && err != nil || c.says != "" && (err == nil || !strings.Contains(err.Error(), c.says)) {
			t.Errorf("%s: %.200v, want %q", name, err, c.says)
		}
	}
	deep := strings.Repeat("list<", n) + "int" + strings.Repeat(">", n)
	if name, _, args := ast.TypeParts(deep); name != deep || args != nil {
		t.Error("a type that is not read is given back as it is")
	}
	if _, err := cql.ParseType(strings.Repeat("frozen<list<", 40) + "int" + strings.Repeat(">", 80)); err != nil {
		t.Error(err)
	}
}

// A comment between the restrictions of a view hides none of those after it.
func TestViewWithComments(t *testing.T) {
	t.Parallel()
	s, err := Parse("view", `CREATE MATERIALIZED VIEW k.v AS SELECT * FROM t
	WHERE a IS NOT NULL -- of the table's key
	AND b = 'two  spaces' /* and
	this */ AND c IS NOT NULL PRIMARY KEY (a, b);`)
	if err != nil {
		t.Fatal(err)
	}
	if want := "a IS NOT NULL AND b = 'two  spaces' AND c IS NOT NULL"; s.Views[0].Where != want {
		t.Errorf("%q", s.Views[0].Where)
	}
	if _, err := Parse("view", "CREATE MATERIALIZED VIEW k.v AS SELECT * FROM t WHERE a IS NOT NULL; DROP TABLE t; -- \n PRIMARY KEY (a);"); err == nil ||
		!strings.Contains(err.Error(), `line 1: want PRIMARY KEY, not ";"`) {
		t.Errorf("%v", err)
	}
}

// What a cluster says of its custom indexes, replication and fingerprints adds no statements to a migration either.
func TestLiveIndexesAddNoStatements(t *testing.T) {
	t.Parallel()
	declared, err := Parse("declared", `CREATE KEYSPACE shop WITH replication = {'class': 'NetworkTopologyStrategy', 'replication_factor': 2};
CREATE TYPE shop.place (street text, tags frozen<set<text>>, more int);
CREATE TABLE shop.orders (user_id uuid, tenant text, order_id timeuuid, day date, total decimal, place frozen<place> static, PRIMARY KEY ((user_id, tenant), order_id, day)) WITH comment = 'ours';
CREATE CUSTOM INDEX i ON shop.orders (total) USING 'sai' WITH OPTIONS = {'case_sensitive': 'false'};
CREATE INDEX j ON shop.orders (day);`)
	if err != nil {
		t.Fatal(err)
	}
	for _, hostile := range []string{
		"x); DROP KEYSPACE shop; --", "'x'; DROP KEYSPACE shop; --'", `"x"; DROP KEYSPACE shop; --"`, "x\nDROP KEYSPACE shop;", "x\r\nDROP KEYSPACE shop;\r\n",
		"values(x); DROP KEYSPACE shop; --)", "$$;$$", "a, b; DROP KEYSPACE shop", `a","b`, "/*", "*/ DROP KEYSPACE shop; /*", "\x1b]0;x\x07", "\u2028DROP", "it's", "\\'; DROP KEYSPACE shop; --",
		"[denorm:1 one-of x 1; DROP KEYSPACE shop; --]", "ours [denorm:1 one-of x '1'; DROP KEYSPACE shop; --]", "[denorm:9 '; DROP KEYSPACE shop; --]", "[denorm:1 versioned version '); DROP KEYSPACE shop]",
	} {
		rows := liveRows()
		rows["keyspaces"][0]["replication"] = map[string]string{"class": "org.apache.cassandra.locator.NetworkTopologyStrategy", hostile: "3", "dc1": hostile}
		rows["types"][0]["type_name"] = "place"
		rows["types"][0]["field_names"] = []string{hostile, "tags"}
		rows["tables"][0]["comment"] = hostile
		rows["columns"][0]["column_name"] = hostile
		rows["columns"][1]["column_name"] = hostile
		for _, kind := range []string{"CUSTOM", "COMPOSITES", hostile} {
			rows["indexes"] = []map[string]any{
				{"index_name": "i", "table_name": "orders", "kind": kind, "options": map[string]string{"class_name": hostile, "target": hostile, hostile: hostile}},
				{"index_name": hostile, "table_name": "orders", "kind": kind, "options": map[string]string{"target": "day"}},
				{"index_name": "k", "table_name": hostile, "kind": kind, "options": map[string]string{"target": hostile}},
			}
			live, err := read(context.Background(), rows, []string{"shop"})
			if err != nil {
				t.Fatal(err)
			}
			text := Migration(Compare(declared, live))
			for _, ends := range LineEnds {
				for who, text := range map[string]string{"Cassandra": text, "cqlsh": CqlshLines(text)} {
					for _, s := range SplitStatements(text, ends) {
						ok := false
						for _, p := range []string{"ALTER KEYSPACE shop", "ALTER TYPE shop.place", "ALTER TABLE shop.orders", "DROP INDEX shop.", "CREATE CUSTOM INDEX i ON shop.orders", "CREATE INDEX j ON shop.orders", "CREATE INDEX "} {
							ok = ok || strings.HasPrefix(s, p)
						}
						if !ok {
							t.Errorf("%q, %s, %q: executed %q", hostile, kind, who, s)
						}
					}
				}
			}
			for _, s := range SplitStatements(live.CQL(), "\n\r") {
				if !strings.HasPrefix(s, "CREATE ") {
					t.Errorf("%q: %q", hostile, s)
				}
			}
		}
	}
}
