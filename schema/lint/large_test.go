package lint_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/denorm-go/denorm/schema"
	"github.com/denorm-go/denorm/schema/lint"
)

// A file may be of whoever sends a change for review. The time for it grows with its size: with eight times of it less
// than 24 times.
func TestLargeFiles(t *testing.T) {
	const table = "CREATE TABLE k.t (a int PRIMARY KEY);\n"
	for name, text := range map[string]func(n int) string{
		"what is no CQL": func(n int) string { return table + strings.Repeat("x;", 10*n) },
		"underscores":    func(n int) string { return table + strings.Repeat("_", 20*n) },
		"a constant in IN": func(n int) string {
			return table + "SELECT * FROM k.t WHERE a IN (1" + strings.Repeat(",1", 10*n) + ");"
		},
		"columns": func(n int) string {
			return "CREATE TABLE k.t (a int PRIMARY KEY" + each(2*n, ", c%d int") + ");"
		},
		"tables of an entity": func(n int) string {
			return each(n/4, "CREATE TABLE k.t%d (a int, b int, PRIMARY KEY (a, b));\n") + "-- denorm:entity e" + each(n/4, " k.t%d")
		},
		"tables with statements": func(n int) string {
			return each(n/4, "CREATE TABLE k.s%d (a int PRIMARY KEY, b int);\n") + each(n/4, "INSERT INTO k.s%d (a, b) VALUES (?, ?);\n")
		},
		"one table of an entity": func(n int) string { return table + "-- denorm:entity e" + strings.Repeat(" k.t", 4*n) },
		"ignored":                func(n int) string { return table + each(4*n, "-- denorm:ignore DN101 k.u%d few rows\n") },
		"long names": func(n int) string {
			return "CREATE TABLE k.t (a int PRIMARY KEY, " + strings.Repeat("b", 3*n) + " int);\nSELECT " + strings.Repeat("c", 3*n) + " FROM k.t;"
		},
		"views of a wide table": func(n int) string { return wideTable(n) + manyViews(n/16) },
		"unknown columns":       func(n int) string { return wideTable(n) + "SELECT a" + each(n, ", x%d") + " FROM k.t WHERE a = 1;" },
		"unknown columns of views": func(n int) string {
			return wideTable(n) + each(n, "SELECT x%d FROM k.v0 WHERE a = 1;\n") + manyViews(1)
		},
		"unknown columns of notes": func(n int) string { return wideTable(n) + "-- denorm:entity e k.t moves=a" + each(n, ",x%d") },
		"unknown domains":          func(n int) string { return wideTable(n) + each(n, "-- denorm:domain k.t.x%d 4\n") },
		"domains":                  func(n int) string { return wideTable(n) + each(n, "-- denorm:domain k.t.c%d 4\n") },
		"unknown tables":           func(n int) string { return manyTables(n/4) + each(n/4, "SELECT * FROM k.x%d WHERE a = 1;\n") },
		"tables that were not read": func(n int) string {
			return each(n/4, "CREATE TABLE k.t%d (a x x);\n") + each(n/4, "SELECT * FROM k.x%d WHERE a = 1;\n")
		},
		"volumes of a table": func(n int) string { return wideTable(n) + each(n, "-- denorm:volume k.t rows=%d/year\n") },
		"elements of a map": func(n int) string {
			return table + "UPDATE k.t SET m[0] = 1" + each(2*n, ", m[%d] = 1") + " WHERE a = 1;"
		},
		"tables of a guess": func(n int) string { return each(n/2, "CREATE TABLE k.orders_by_x%d (a int PRIMARY KEY);\n") },
		"lists that are written": func(n int) string {
			return "CREATE TABLE k.t (a int PRIMARY KEY" + each(n/2, ", c%d list<int>") + ");\n" + each(n/2, "UPDATE k.t SET c%d = ? WHERE a = ?;\n")
		},
		"nulls in UPDATEs": func(n int) string {
			return "CREATE TABLE k.t (a int PRIMARY KEY, b int" + each(n/2, ", c%d int") + ");\n" + each(n/2, "UPDATE k.t SET c%d = ?, b = null WHERE a = ?;\n")
		},
		"UPDATEs with a TTL": func(n int) string {
			return "CREATE TABLE k.t (a int PRIMARY KEY" + each(n/2, ", c%d int") + ");\n" + each(n/2, "UPDATE k.t USING TTL 60 SET c%d = ? WHERE a = ?;\n")
		},
		"counters in one row": func(n int) string {
			return "CREATE TABLE k.t (a text PRIMARY KEY, b counter);\n" + each(n, "UPDATE k.t SET b = b + %d WHERE a = 'all';\n")
		},
		"accounts by their mail": func(n int) string {
			return each(n/4, "CREATE TABLE k.user%d (id uuid PRIMARY KEY, email text);\nSELECT id FROM k.user%[1]d WHERE email = ?;\n"+
				"INSERT INTO k.user%[1]d (id, email) VALUES (?, ?);\n")
		},
		"deletes of tables": func(n int) string {
			return each(n, "CREATE TABLE k.queue%d (a int, b timestamp, c int, PRIMARY KEY (a, b));\nDELETE FROM k.queue%[1]d WHERE a = ? AND b = ?;\n")
		},
	} {
		t.Run(name, func(t *testing.T) {
			took := func(n int) time.Duration {
				source := schema.Source{File: "test", Text: text(n)}
				began := time.Now()
				s, _ := schema.Review(source)
				lint.Check(s)
				return time.Since(began)
			}
			var small, large time.Duration
			for range 20 { // other load may be in the way of some
				if small, large = took(500), took(4000); large < 24*small {
					return
				}
			}
			t.Errorf("%v, and %v for eight times as much", small, large)
		})
	}
}

func wideTable(n int) string {
	return "CREATE TABLE k.t (a int PRIMARY KEY" + each(n, ", c%d int") + ");\n"
}

func manyTables(n int) string { return each(n, "CREATE TABLE k.t%d (a int PRIMARY KEY);\n") }

func manyViews(n int) string {
	return each(n, "CREATE MATERIALIZED VIEW k.v%d AS SELECT * FROM k.t WHERE a IS NOT NULL PRIMARY KEY (a);\n")
}

// each formats the numbers up to n.
func each(n int, format string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, format, i)
	}
	return b.String()
}

// Types that hold themselves, which Cassandra rejects, or each other many times over, have a size all the same.
func TestTypesOfThemselves(t *testing.T) {
	t.Parallel()
	double := "CREATE TYPE k.t0 (a int);\n"
	for i := range 60 {
		double += fmt.Sprintf("CREATE TYPE k.t%d (a frozen<t%d>, b frozen<t%[2]d>);\n", i+1, i)
	}
	for name, types := range map[string]string{
		"itself": "CREATE TYPE k.t60 (x frozen<t60>);\n", "each other": "CREATE TYPE k.t60 (x frozen<b>);\nCREATE TYPE k.b (x frozen<t60>);\n", "twice": double,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, err := schema.Review(schema.Source{File: "test", Text: types + "CREATE TABLE k.t (a int, c int, b frozen<t60>, PRIMARY KEY (a, c));\n-- denorm:volume k.t rows=2000/year b.x=40\n"})
			lint.Check(s)
			t.Log(err)
		})
	}
}

// A name may have no word in it.
func TestNameWithoutWords(t *testing.T) {
	t.Parallel()
	s, err := schema.Review(schema.Source{File: "test", Text: `CREATE TABLE k."_" ("_" int, "__" timestamp, "___" text, PRIMARY KEY ("_", "__"));
		CREATE INDEX ON k."_" ("___"); SELECT * FROM k."_" WHERE "_" = ?; UPDATE k."_" SET "___" = ? WHERE "_" = ? AND "__" = ?;
		INSERT INTO k."_" ("_", "__", "___") VALUES (?, ?, ?); DELETE FROM k."_" WHERE "_" = ?;`})
	if err != nil || len(s.Queries) != 4 {
		t.Fatal(err, s)
	}
	lint.Check(s)
}

// A query is in a finding once, whatever it has, and not all of it.
func TestFindingsOfOneQueryAreBounded(t *testing.T) {
	t.Parallel()
	list := " AND a IN (" + strings.TrimSuffix(strings.Repeat("?,", 50), ",") + ")"
	s, err := schema.Review(schema.Source{File: "test", Text: "CREATE TABLE k.t (a int PRIMARY KEY, b text);\nSELECT * FROM k.t WHERE b = ?" + strings.Repeat(list, 300) + ";"})
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, f := range lint.Check(s) {
		if f.Code == "DN505" {
			found++
		}
		if len(f.Query) > 10_000 {
			t.Errorf("%s has %d bytes of the query", f.Code, len(f.Query))
		}
	}
	if found != 1 {
		t.Errorf("%d findings of large lists", found)
	}
}

// A fix that is a statement is one statement, whatever the name of a column.
func TestFixOfVectorQueryIsOneStatement(t *testing.T) {
	t.Parallel()
	const column = `"v) ; DROP KEYSPACE k; --"`
	s, err := schema.Review(schema.Source{File: "test", Text: "CREATE TABLE k.t (id int PRIMARY KEY, " + column + " vector<float, 3>);\n" +
		"SELECT id FROM k.t ORDER BY " + column + " ANN OF [1, 2, 3] LIMIT 5;"})
	if err != nil {
		t.Fatal(err)
	}
	fixes := ""
	for _, f := range lint.Check(s) {
		fixes += f.Fix + "\n"
	}
	if !strings.Contains(fixes, "CREATE INDEX ON k.t ("+column+") USING 'sai'") {
		t.Error(fixes)
	}
}

// A schema that is made by hand may have a table without a key.
func TestTableWithoutKey(t *testing.T) {
	t.Parallel()
	s, err := schema.Parse("test", "CREATE TABLE k.t (a int PRIMARY KEY, name text); INSERT INTO k.t (a, name) VALUES (?, ?);")
	if err != nil {
		t.Fatal(err)
	}
	s.Tables[0].Columns = s.Tables[0].Columns[1:]
	lint.Check(s)
}
