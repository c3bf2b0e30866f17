package schema_test

import (
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/denorm-go/denorm/schema"
)

func parse(tb testing.TB, text string) *schema.Schema {
	tb.Helper()
	s, err := schema.Parse("test", text)
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

// systems are the schemas of testdata/systems by file.
func systems(tb testing.TB) map[string]*schema.Schema {
	tb.Helper()
	files, err := filepath.Glob("testdata/systems/*.cql")
	if err != nil || len(files) != 17 {
		tb.Fatalf("%d systems, %v", len(files), err)
	}
	out := make(map[string]*schema.Schema)
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			tb.Fatal(err)
		}
		s, err := schema.Parse(filepath.Base(file), string(data))
		if err != nil {
			tb.Fatal(err)
		}
		out[filepath.Base(file)] = s
	}
	return out
}

// TestSystemsRoundTrip: the text of a schema is read back as the same schema, and both ways nothing is found to differ.
func TestSystemsRoundTrip(t *testing.T) {
	t.Parallel()
	for file, s := range systems(t) {
		text := s.CQL()
		again := parse(t, text)
		if found := schema.Compare(s, again); len(found) > 0 {
			t.Errorf("%s: %s", file, &schema.DifferenceError{Differences: found})
		}
		if found := schema.Compare(again, s); len(found) > 0 {
			t.Errorf("%s, backwards: %s", file, &schema.DifferenceError{Differences: found})
		}
		if again.CQL() != text {
			t.Errorf("%s: the text is not stable:\n%s\n%s", file, text, again.CQL())
		}
	}
}

// Masks of columns stay, in tables that are created and altered.
func TestMask(t *testing.T) {
	t.Parallel()
	s := parse(t, `CREATE TABLE t (id uuid, email text MASKED WITH mask_inner(1, null), name text STATIC masked with default, -- of the user
		phone text MASKED WITH mask_replace('a   b') -- all of it
		, PRIMARY KEY (id));
		ALTER TABLE t ADD pin int MASKED WITH ks.hide(0)`)
	want := "CREATE TABLE t (\n    id uuid,\n    email text MASKED WITH mask_inner(1, null),\n    name text static MASKED WITH DEFAULT,\n    phone text MASKED WITH mask_replace('a   b'),\n" +
		"    pin int MASKED WITH ks.hide(0),\n    PRIMARY KEY (id)\n)"
	if got := strings.Join(s.Statements(), ""); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	if again := parse(t, want); !slices.Equal(again.Tables[0].Columns, s.Tables[0].Columns) {
		t.Errorf("%+v\nwant\n%+v", again.Tables[0].Columns, s.Tables[0].Columns)
	}
}

// TestParseDescribe reads what DESCRIBE prints.
func TestParseDescribe(t *testing.T) {
	t.Parallel()
	s := parse(t, `
CREATE TABLE shop.t (
    k int,
    c text,
    s text static,
    "Quo" int,
    fl frozen<list<frozen<addr>>>,
    t frozen<tuple<int, text>>,
    v vector<float, 3>,
    a addr2,
    lt list<frozen<tuple<int, text>>>,
    PRIMARY KEY (k, c)
) WITH CLUSTERING ORDER BY (c DESC)
    AND additional_write_policy = '99p'
    AND allow_auto_snapshot = true
    AND bloom_filter_fp_chance = 0.01
    AND caching = {'keys': 'ALL', 'rows_per_partition': 'NONE'}
    AND cdc = false
    AND comment = 'it''s'
    AND compaction = {'class': 'org.apache.cassandra.db.compaction.SizeTieredCompactionStrategy', 'max_threshold': '32', 'min_threshold': '4'}
    AND compression = {'chunk_length_in_kb': '16', 'class': 'org.apache.cassandra.io.compress.LZ4Compressor'}
    AND memtable = 'default'
    AND crc_check_chance = 1.0
    AND default_time_to_live = 0
    AND extensions = {}
    AND gc_grace_seconds = 864000
    AND speculative_retry = '99p';
CREATE INDEX t_s_idx ON shop.t (s);
CREATE CUSTOM INDEX x2 ON shop.t ("Quo") USING 'sai';
CREATE INDEX x3 ON shop.t (values(lt));
CREATE MATERIALIZED VIEW shop.mv AS SELECT c, k, s FROM shop.t WHERE k IS NOT NULL AND c IS NOT NULL PRIMARY KEY (c, k)
    WITH CLUSTERING ORDER BY (k DESC) AND comment = '';`)
	want := `CREATE TABLE shop.t (
    k int,
    c text,
    s text static,
    "Quo" int,
    fl frozen<list<frozen<addr>>>,
    t frozen<tuple<int, text>>,
    v vector<float, 3>,
    a addr2,
    lt list<frozen<tuple<int, text>>>,
    PRIMARY KEY (k, c)
) WITH CLUSTERING ORDER BY (c DESC)
    AND comment = 'it''s';
`
	plain := parse(t, want)
	if found := schema.Breaking(schema.Compare(plain, s)); len(found) > 0 {
		t.Error(found)
	}
	for _, i := range s.Indexes {
		if i.Keyspace != "shop" || i.Table != "t" {
			t.Errorf("index %+v", i)
		}
	}
	if x := s.Indexes[1]; x.Class != "sai" || x.Column() != "Quo" {
		t.Errorf("%+v, column %s", x, x.Column())
	}
	if x := s.Indexes[2]; x.Class != "" || x.Column() != "lt" {
		t.Errorf("%+v, column %s", x, x.Column())
	}
	if v := s.Views[0]; v.Base != "t" || v.Where != "k IS NOT NULL AND c IS NOT NULL" || len(v.Columns) != 3 || !v.Columns[1].Desc {
		t.Errorf("%+v", v)
	}
}

// TestImpliedEntries compares options as they are declared with what the server makes of them.
func TestImpliedEntries(t *testing.T) {
	t.Parallel()
	table := func(option string) *schema.Schema {
		return parse(t, `CREATE TABLE shop.t (k int PRIMARY KEY) WITH `+option)
	}
	for declared, live := range map[string]string{
		`caching = {'keys': 'NONE'}`:             `caching = {'keys': 'NONE', 'rows_per_partition': 'NONE'}`,
		`caching = {'rows_per_partition': '10'}`: `caching = {'keys': 'ALL', 'rows_per_partition': '10'}`,
		`compression = {'class': 'ZstdCompressor'}`: `compression = {'chunk_length_in_kb': '16',
			'class': 'org.apache.cassandra.io.compress.ZstdCompressor'}`,
	} {
		if found := schema.Compare(table(declared), table(live)); len(found) > 0 {
			t.Errorf("%s: %v", declared, found)
		}
		if len(schema.Compare(table(declared), table(`comment = ''`))) == 0 {
			t.Errorf("%s is as the default", declared)
		}
	}
}

func TestParseTypes(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"varchar":                                     "text",
		"MAP<text,int>":                               "map<text, int>",
		"frozen<map<text, list<set<int>>>>":           "frozen<map<text, frozen<list<frozen<set<int>>>>>>",
		"frozen<list<address>>":                       "frozen<list<frozen<address>>>",
		"list<frozen<Address>>":                       "list<frozen<address>>",
		`frozen<"Address">`:                           `frozen<"Address">`,
		"tuple<int,frozen<list<text>>>":               "frozen<tuple<int, frozen<list<text>>>>",
		"tuple<int, list<text>>":                      "frozen<tuple<int, frozen<list<text>>>>",
		"list<frozen<tuple<int,text>>>":               "list<frozen<tuple<int, text>>>",
		"vector<float,3>":                             "vector<float, 3>",
		"frozen<vector<float, 3>>":                    "vector<float, 3>", // the server keeps it so
		"frozen<int>":                                 "frozen<int>",
		"frozen<frozen<set<uuid>>>":                   "frozen<set<uuid>>",
		"'org.apache.cassandra.db.marshal.BytesType'": "'org.apache.cassandra.db.marshal.BytesType'",
	} {
		s := parse(t, "CREATE TABLE t (k int PRIMARY KEY, v "+in+")")
		if got := s.Tables[0].Columns[1].Type; got != want {
			t.Errorf("%s: %s, want %s", in, got, want)
		}
	}
}

// A byte order mark in front of the text is none of it.
func TestParseByteOrderMark(t *testing.T) {
	t.Parallel()
	const text = "CREATE TABLE t (a int PRIMARY KEY) WITH comment = 'x';\nSELECT a FROM t WHERE a = ?;"
	if s := parse(t, "\ufeff"+text); s.CQL() != parse(t, text).CQL() || s.Queries[0].Text != parse(t, text).Queries[0].Text {
		t.Errorf("%s, %v", s.CQL(), s.Queries)
	}
}

// Notes stand where comments can, also within a statement; they hold for the keyspace that the text uses there.
func TestParseNotesAnywhere(t *testing.T) {
	t.Parallel()
	s := parse(t, `USE shop;
CREATE TABLE t ( -- denorm:ignore DN101 t few
	a int, // denorm:domain t.a 4
	PRIMARY KEY (a)
); -- denorm:volume t rows=7
BEGIN BATCH
	-- denorm:ignore DN102 other.t few
	DELETE FROM t WHERE a = 1;
APPLY BATCH -- denorm:entity e t moves=b id=a,c`)
	id := schema.ID{Keyspace: "shop", Name: "t"}
	if len(s.Ignores) != 2 || s.Ignores[0].Table != id || s.Ignores[0].At.Line != 2 || s.Ignores[1].Table.Keyspace != "other" ||
		s.Ignores[1].At.Line != 7 || s.Tables[0].Columns[0].Domain != 4 || s.Volumes[0].Table != id ||
		s.Entities[0].At.Line != 9 || !slices.Equal(s.Entities[0].Moves, []string{"b"}) || !slices.Equal(s.Entities[0].ID, []string{"a", "c"}) {
		t.Errorf("%+v", s)
	}
}

// The replication need not stand there: then it is not known.
func TestParseKeyspaces(t *testing.T) {
	t.Parallel()
	s := parse(t, `CREATE KEYSPACE a WITH durable_writes = false; `+
		`CREATE KEYSPACE b WITH replication = {'class': 'org.apache.cassandra.locator.Y', 'dc1': 3};`)
	want := []schema.Keyspace{
		{Name: "a", NonDurable: true, At: schema.Position{File: "test", Line: 1}},
		{Name: "b", Replication: map[string]string{"class": "Y", "dc1": "3"}, At: schema.Position{File: "test", Line: 1}},
	}
	if !reflect.DeepEqual(s.Keyspaces, want) {
		t.Errorf("%+v", s.Keyspaces)
	}
}

func TestParseRefuses(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"TRUNCATE":                  "line 1: want a name before the end of the text",
		"DROP TABLE t":              "line 1: DROP TABLE t: the text does not create it before",
		"\nALTER TABLE t ADD a int": "line 2: ALTER TABLE t: the text does not create it before",
		"FROBNICATE t":              `line 1: want a statement, not "FROBNICATE"`,
		"CREATE TABLE t (a int PRIMARY KEY); ALTER TABLE t ADD a int":                                "line 1: ALTER TABLE t: there is a column a already",
		"CREATE TABLE t (a int PRIMARY KEY); ALTER TABLE t DROP a":                                   "line 1: ALTER TABLE t: there is no column a alongside the key",
		"CREATE TABLE t (a int PRIMARY KEY); ALTER TABLE t RENAME b TO c":                            "line 1: ALTER TABLE t: column b cannot be renamed to c",
		"ALTER KEYSPACE k WITH durable_writes = true":                                                "line 1: ALTER KEYSPACE k: the text does not create it before",
		"ALTER TYPE u ADD a int":                                                                     "line 1: ALTER TYPE u: the text does not create it before",
		"CREATE TYPE u (a int); ALTER TYPE u ADD a int":                                              "line 1: ALTER TYPE u: there is a field a already",
		"\n\nCREATE TABLE t (a int)":                                                                 "line 3: no PRIMARY KEY",
		"CREATE TABLE t (a int, a int)":                                                              "line 1: column a is declared twice",
		"CREATE TABLE t (a int PRIMARY KEY); CREATE TABLE t (a int PRIMARY KEY)":                     "table t is created twice",
		"CREATE TABLE t (a int, PRIMARY KEY (b))":                                                    "key column b is not one of the columns",
		"CREATE TABLE t (a int PRIMARY KEY) WITH CLUSTERING ORDER BY (a DESC)":                       "a: not a clustering column",
		"CREATE TABLE t (a int PRIMARY KEY) WITH comment = 'a' AND comment = 'b'":                    "option comment is set twice",
		"CREATE TABLE t (a int PRIMARY KEY":                                                          `want ")" before the end of the text`,
		"SELECT 'abc FROM t":                                                                         "' without its end",
		"CREATE TABLE t (a int PRIMARY KEY) /* x":                                                    "a comment without end",
		"SELECT * FROM t WHERE":                                                                      "want a name before the end of the text",
		"SELECT *":                                                                                   "want FROM before the end of the text",
		"CREATE TABLE t (\na int,\nb int,\na text,\nPRIMARY KEY (a))":                                "line 4: column a is declared twice",
		"CREATE TABLE t (\na int,\nPRIMARY KEY (b))":                                                 "line 3: key column b",
		"CREATE TABLE t (\na int, PRIMARY KEY (a)) WITH\nCLUSTERING ORDER BY (b ASC)":                "line 3: CLUSTERING ORDER names b",
		"CREATE TYPE t (a int);\nCREATE TYPE t (a int)":                                              "line 2: type t is created twice",
		"CREATE TABLE t (a int PRIMARY KEY)\nSELECT a FROM t":                                        `line 2: want ";", not "SELECT"`,
		"CREATE TABLE t (order int PRIMARY KEY)":                                                     `want a name, and a reserved word only in double quotes, not "order"`,
		"CREATE KEYSPACE k WITH replicas = 3":                                                        "line 1: option replicas of k: Cassandra does not know it: leave it out",
		"CREATE KEYSPACE k WITH durable_writes = true;\nALTER KEYSPACE k WITH durable_write = false": "line 2: option durable_write of k: Cassandra does not know it: leave it out",
		"-- denorm:nonsense":                                                                         "want denorm:entity, ignore, volume or domain",
		"-- denorm:ignore DN101 t":                                                                   "want denorm:ignore <code> <table or *> <reason>",
		"-- denorm:volume t rows=1/fortnight":                                                        `unknown time "fortnight"`,
		"-- denorm:volume t rows=0":                                                                  "line 1: volume: rows=... is missing, or 0",
		"-- denorm:volume t rows=1 largest=0.5":                                                      "line 1: volume: largest 0.5: give how many times",
		"-- denorm:volume t rows=1 filled.v=90":                                                      "line 1: volume: filled of v 90: give a share from 0 to 1",
		"-- denorm:volume t rows=inf":                                                                "line 1: volume: rows=inf: want a number",
		"-- denorm:volume t rows=1e308G":                                                             "line 1: volume: rows=1e308G: want a number",
		"-- denorm:volume t rows=1 growth=nan":                                                       "line 1: volume: growth=nan: want a number",
		"-- denorm:volume t rows=1 rows=2":                                                           "line 1: volume: rows is stated twice",
		"-- denorm:volume t rows=1 window=0day":                                                      "line 1: volume: window=0day: want a time from a second to 100 years",
		"-- denorm:volume t rows=1 window=999999999year":                                             "line 1: volume: window=999999999year: want a time from a second",
		"-- denorm:volume t rows=1 growth=-1/year":                                                   `line 1: volume: growth=-1/year: want a number`,
		"-- denorm:domain t.a":                                                                       "want denorm:domain <table>.<column> <number of values>",
		"-- denorm:entity t moves=a atomic":                                                          "want denorm:entity <name> <base table> [<table>...]",
		"/* denorm:ignore DN101 t few */":                                                            "line 1: a note inside /* */ is not read: write it behind --",
		"\n/*\n * a\n * denorm:volume t rows=1\n */":                                                 "line 4: a note inside /* */ is not read",
		"\x00": "unexpected",
	} {
		if _, err := schema.Parse("f.cql", text); err == nil || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), "f.cql: ") {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

// What only mentions notes, or has taken one out, is a comment.
func TestParseNoNotes(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"/* see denorm:ignore */", "/* -- denorm:ignore DN101 t few */", "/*\ndenorm: what it is\n*/", "/* denorm:ignored */"} {
		if s, err := schema.Parse("f.cql", text); err != nil || len(s.Ignores) > 0 {
			t.Errorf("%s: %v, %v", text, s, err)
		}
	}
}

// FuzzParse: what can be read is written in a way that is read as the same.
func FuzzParse(f *testing.F) {
	for _, s := range systems(f) {
		f.Add(s.CQL())
	}
	f.Add(withViews)
	f.Add(`CREATE TABLE "a""b" ("c d" frozen<list<int>> PRIMARY KEY) WITH comment = 'x''y' AND bloom_filter_fp_chance = 1e-3;`)
	f.Fuzz(func(t *testing.T, text string) {
		s, err := schema.Parse("fuzz", text)
		if err != nil {
			return
		}
		again, err := schema.Parse("fuzz", s.CQL())
		if err != nil {
			t.Fatalf("%q is written as\n%s\nwhich is not read: %v", text, s.CQL(), err)
		}
		written := s.CQL()
		for strings.HasPrefix(written, "-- Left out: ") { // it says what is not in the rest
			_, written, _ = strings.Cut(written, "\n")
		}
		if strings.TrimSpace(again.CQL()) != strings.TrimSpace(written) {
			t.Fatalf("%q is written as\n%s\nand that as\n%s", text, s.CQL(), again.CQL())
		}
	})
}
