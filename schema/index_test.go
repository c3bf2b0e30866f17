package schema_test

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/denorm-go/denorm/cassandratest"
	"github.com/denorm-go/denorm/schema"
	"github.com/denorm-go/denorm/schema/lint"
)

const indexed = `CREATE TABLE t (a int PRIMARY KEY, m map<text, int>, a_b int, "B c" int, "é" text);
CREATE TABLE t_a (a int PRIMARY KEY, b int);`

// indexTexts are indexes of the tables of indexed, with the targets that they have by their names.
var indexTexts = map[string]map[string]string{
	`CREATE INDEX ON t (keys(m)); CREATE INDEX ON t (values(m)); CREATE INDEX ON t (entries(m))`: {
		"t_m_idx": "keys(m)", "t_m_idx_1": "values(m)", "t_m_idx_2": "entries(m)",
	},
	`CREATE INDEX ON t (a_b); CREATE INDEX ON t_a (b)`:                                {"t_a_b_idx": "a_b", "t_a_b_idx_1": "b"},
	`CREATE INDEX ON t (a_b) USING 'sai'; CREATE INDEX ON t (a_b)`:                    {"t_a_b_idx": "a_b", "t_a_b_idx_1": "a_b"},
	`CREATE INDEX t_m_idx ON t (a_b); CREATE INDEX ON t (keys(m))`:                    {"t_m_idx": "a_b", "t_m_idx_1": "keys(m)"},
	`CREATE INDEX ON t ("B c"); CREATE INDEX ON t ("é")`:                              {"t_Bc_idx": `"B c"`, "t__idx": `"é"`},
	`CREATE INDEX IF NOT EXISTS ON t (a_b); CREATE INDEX IF NOT EXISTS x ON t (a_b);`: {"t_a_b_idx": "a_b"},
	`CREATE INDEX x ON t (a_b); CREATE INDEX IF NOT EXISTS x ON t (keys(m))`:          {"x": "a_b"},
	`CREATE INDEX ON t (keys(m)); DROP INDEX t_m_idx; CREATE INDEX ON t (values(m))`:  {"t_m_idx": "values(m)"},
}

// byName are the targets of indexes by their names.
func byName(indexes []schema.Index) map[string]string {
	out := make(map[string]string)
	for _, i := range indexes {
		out[i.Name] = i.Target
	}
	return out
}

// An index without a name gets the one that the server would give it, so that two of a column are two: what is declared
// can be executed, is created by Ensure, and is then what there is.
func TestIndexesAreNamedAsByTheServer(t *testing.T) {
	t.Parallel()
	cassandratest.Test(t, 1, func(t *testing.T, c *cassandratest.Cluster) {
		s := open(t, c)
		drop := func() {
			t.Helper()
			c.Create("DROP KEYSPACE IF EXISTS k", "CREATE KEYSPACE k WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}")
		}
		live := func() map[string]string {
			t.Helper()
			read, err := schema.Read(t.Context(), s, "k")
			if err != nil {
				t.Fatal(err)
			}
			return byName(read.Indexes)
		}
		for text, want := range indexTexts {
			text = "USE k; " + indexed + text
			declared := schema.Must(schema.Declare(schema.CQL(text)))
			if got := byName(declared.Indexes); len(declared.Indexes) != len(want) || !maps.Equal(got, want) {
				t.Errorf("%s: named as %v, want %v", text, got, want)
			}
			drop()
			c.Create(slices.DeleteFunc(strings.Split(text, ";"), func(s string) bool { return strings.TrimSpace(s) == "" })...)
			if got := live(); !maps.Equal(got, want) {
				t.Errorf("%s: the server has made %v, want %v", text, got, want)
			}
			drop()
			c.Create(declared.Statements()...)
			if got := live(); !maps.Equal(got, want) {
				t.Errorf("%s: executed as\n%s: %v, want %v", text, declared.CQL(), got, want)
			}
			drop()
			if err := schema.Ensure(t.Context(), s, declared); err != nil {
				t.Errorf("%s: %v", text, err)
			}
			if got := live(); !maps.Equal(got, want) {
				t.Errorf("%s: Ensure has made %v, want %v", text, got, want)
			}
		}
	})
}

// The same where several texts are put together.
func TestIndexesOfSeveralTexts(t *testing.T) {
	t.Parallel()
	want := map[string]string{"t_m_idx": "keys(m)", "t_m_idx_1": "values(m)"}
	declared := schema.Must(schema.Declare(schema.CQL(indexed+"CREATE INDEX ON t (keys(m))"),
		schema.CQL("CREATE INDEX ON t (values(m)); CREATE INDEX ON t (keys(m))")))
	if got := byName(declared.Indexes); len(declared.Indexes) != 2 || !maps.Equal(got, want) {
		t.Errorf("declared %v, want %v", got, want)
	}
	reviewed, err := schema.Review(schema.Source{File: "1.cql", Text: indexed + "CREATE INDEX ON t (keys(m))"},
		schema.Source{File: "2.cql", Text: "CREATE INDEX ON t (values(m))"})
	if err != nil || len(reviewed.Unread) > 0 || !maps.Equal(byName(reviewed.Indexes), want) {
		t.Errorf("reviewed %v, %v, %v, want %v", reviewed.Indexes, reviewed.Unread, err, want)
	}
	live := parse(t, indexed+"CREATE INDEX i ON t (values(m))")
	if got := schema.Add(live, parse(t, indexed+"CREATE INDEX ON t (m)")); len(got.Indexes) != 1 || got.Indexes[0].Name != "i" {
		t.Errorf("%+v: want the one index that there is", got.Indexes)
	}
}

// The server has an index on a collection as one on its values, and no other: that is no difference, which no statement
// would remove.
func TestIndexOnCollection(t *testing.T) {
	t.Parallel()
	cassandratest.Test(t, 1, func(t *testing.T, c *cassandratest.Cluster) {
		s := open(t, c)
		c.Create("CREATE KEYSPACE k WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}")
		declared := schema.Must(schema.Declare(schema.CQL("USE k; " + indexed + "CREATE INDEX ON t (m); CREATE INDEX ON t (keys(m)); CREATE INDEX ON t (a_b)")))
		if err := schema.Ensure(t.Context(), s, declared); err != nil {
			t.Error(err)
		}
	})
	declared, live := parse(t, indexed+"CREATE INDEX i ON t (m)"), parse(t, indexed+"CREATE INDEX i ON t (keys(m))")
	if found := schema.Compare(declared, live); len(found) != 1 {
		t.Errorf("%v: want the difference between values and keys", found)
	}
}

// What the server would reject is an error, which says what to do.
func TestIndexesThatTheServerRejects(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"\nCREATE INDEX i ON t (a_b);\nCREATE INDEX i ON t (keys(m))": "line 3: index i is created twice",
		"CREATE INDEX ON t (a_b); CREATE INDEX t_a_b_idx ON t_a (b)":  "index t_a_b_idx is created twice",
		"CREATE INDEX i ON t (m);\nCREATE INDEX j ON t (values(m))": "line 2: index j is on the same as index i, and Cassandra rejects the second: " +
			"leave one of them out",
		"CREATE INDEX ON t (a_b);\nCREATE INDEX ON t (a_b)": "line 2: index t_a_b_idx_1 is on the same as index t_a_b_idx, ",
	} {
		if _, err := schema.Parse("f.cql", text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}

// Options of an index are part of it: they are written, read, created by Ensure and compared.
func TestIndexOptions(t *testing.T) {
	t.Parallel()
	const sasi = "org.apache.cassandra.index.sasi.SASIIndex"
	table := `CREATE TABLE k.t (a int PRIMARY KEY, b text, c text, d text); `
	text := table + `CREATE CUSTOM INDEX b ON k.t (b) USING 'sai' WITH OPTIONS = {'normalize': 'true', 'case_sensitive': 'false'};
		CREATE CUSTOM INDEX c ON k.t (c) USING '` + sasi + `' WITH OPTIONS = {'mode': 'CONTAINS'}; CREATE INDEX d ON k.t (d)`
	declared := schema.Must(schema.Declare(schema.CQL(text)))
	want := `CREATE CUSTOM INDEX b ON k.t (b) USING 'sai' WITH OPTIONS = {'case_sensitive': 'false', 'normalize': 'true'};

CREATE CUSTOM INDEX c ON k.t (c) USING '` + sasi + `' WITH OPTIONS = {'mode': 'CONTAINS'};

CREATE INDEX d ON k.t (d);
`
	if got := declared.CQL(); !strings.HasSuffix(got, want) {
		t.Errorf("%s, want %s", got, want)
	}
	cassandratest.Test(t, 1, func(t *testing.T, c *cassandratest.Cluster) {
		s := open(t, c)
		c.Create("CREATE KEYSPACE k WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}")
		if err := schema.Ensure(t.Context(), s, declared); err != nil {
			t.Fatal(err)
		}
		live, err := schema.Read(t.Context(), s, "k")
		if err != nil {
			t.Fatal(err)
		}
		if got := live.CQL(); !strings.HasSuffix(got, want) {
			t.Errorf("%s, want %s", got, want)
		}
		found := schema.Compare(parse(t, table+`CREATE CUSTOM INDEX b ON k.t (b) USING 'sai';
			CREATE CUSTOM INDEX c ON k.t (c) USING '`+sasi+`' WITH OPTIONS = {'mode': 'PREFIX'}; CREATE INDEX d ON k.t (d)`), live)
		const b = "b ON k.t (b) USING 'sai'"
		if len(schema.Breaking(found)) != 2 ||
			found[0].Reason != "index "+b+" WITH OPTIONS = {'case_sensitive': 'false', 'normalize': 'true'}, declared "+b ||
			found[1].Fix != "DROP INDEX k.c;\nCREATE CUSTOM INDEX c ON k.t (c) USING '"+sasi+"' WITH OPTIONS = {'mode': 'PREFIX'}" {
			t.Errorf("%v: want the differences of both indexes", found)
		}
	})
}

// A custom index, such as one of Lucene, may be on no column, or on several. It is read, printed and read again, and no
// rule takes it for one of a column that the table does not have.
func TestCustomIndexesOfNoneAndOfSeveralColumns(t *testing.T) {
	t.Parallel()
	s := parse(t, `CREATE TABLE k.tweets (id int PRIMARY KEY, body text, tags set<text>, "B,c" int);
CREATE CUSTOM INDEX tweets_index ON k.tweets () USING 'com.stratio.cassandra.lucene.Index' WITH OPTIONS = {'refresh_seconds': '1'};
CREATE CUSTOM INDEX ON k.tweets (body, values(tags), "B,c") USING 'x.Y';
CREATE CUSTOM INDEX one ON k.tweets ("B,c") USING 'x.Y'`)
	want := map[string]string{"tweets_index": "", "tweets_idx": `body, values(tags), "B,c"`, "one": `"B,c"`}
	if got := byName(s.Indexes); !maps.Equal(got, want) {
		t.Errorf("%v", got)
	}
	for i, want := range []string{"", "", "B,c"} {
		if got := s.Indexes[i].Column(); got != want {
			t.Errorf("column %q, want %q", got, want)
		}
	}
	if again := parse(t, s.CQL()); again.CQL() != s.CQL() {
		t.Errorf("%s\n%s", s.CQL(), again.CQL())
	}
	for _, f := range lint.Check(s) {
		if f.Severity == lint.Error {
			t.Error(f)
		}
	}
	for text, want := range map[string]string{
		"CREATE INDEX ON t ()":     `line 1: want a name, not ")"`,
		"CREATE INDEX ON t (a, b)": "line 1: an index of several columns is not understood here",
	} {
		if _, err := schema.Parse("f", text); err == nil || err.Error() != "f: "+want {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// Cassandra rejects a second index on the same, and with IF NOT EXISTS creates none. So an index without a name is
// there if one on the same is, whatever it is called, and one of another name is no index that could be created.
func TestIndexThatIsThereUnderAnotherName(t *testing.T) {
	t.Parallel()
	const table = "CREATE TABLE k.t (id int PRIMARY KEY, a int, m map<text, int>);"
	live := parse(t, table+"CREATE INDEX by_a ON k.t (a); CREATE INDEX by_m ON k.t (values(m));")
	if found := schema.Compare(parse(t, table+"CREATE INDEX ON k.t (a); CREATE INDEX ON k.t (m)"), live); len(found) > 0 {
		t.Error(found)
	}
	found := schema.Compare(parse(t, table+"CREATE INDEX t_a ON k.t (a); CREATE INDEX by_m ON k.t (m)"), live)
	want := []string{"k.t: index t_a is called by_a\n\t\tfix: DROP INDEX k.by_a;\n\t\tCREATE INDEX t_a ON k.t (a);"}
	if len(found) != 1 || found[0].String() != want[0] || found[0].Extra {
		t.Errorf("%v\nwant\n%v", found, want)
	}
}

// Ensure does not wait for an index that the server does not create, as there is one on the same.
func TestEnsureOfIndexThatIsThereUnderAnotherName(t *testing.T) {
	t.Parallel()
	cassandratest.Test(t, 1, func(t *testing.T, c *cassandratest.Cluster) {
		s := open(t, c)
		c.Create("CREATE KEYSPACE k WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
			"CREATE TABLE k.t (id int PRIMARY KEY, a int)", "CREATE INDEX by_a ON k.t (a)")
		declared := schema.Must(schema.Declare(schema.CQL("CREATE TABLE k.t (id int PRIMARY KEY, a int); CREATE INDEX ON k.t (a)")))
		began := time.Now()
		if err := schema.Ensure(t.Context(), s, declared); err != nil || time.Since(began) > 5*time.Second {
			t.Errorf("after %v: %v", time.Since(began), err)
		}
	})
}
