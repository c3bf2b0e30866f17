package schema_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/denorm-go/denorm/schema"
)

// A script of migrations gives what is there at its end.
func TestParseMigrations(t *testing.T) {
	t.Parallel()
	got := parse(t, `
CREATE KEYSPACE k WITH replication = {'class': 'SimpleStrategy'} AND durable_writes = false;
ALTER KEYSPACE k WITH replication = {'class': 'NetworkTopologyStrategy', 'dc1': 3} AND durable_writes = true;
CREATE TYPE k.u (a int); ALTER TYPE k.u ADD b text; ALTER TYPE k.u ADD IF NOT EXISTS b text; ALTER TYPE IF EXISTS k.other ADD c int;
ALTER TYPE k.u RENAME a TO c AND b TO d; ALTER TYPE k.u RENAME IF EXISTS a TO x; ALTER TYPE k.u RENAME d TO b;
CREATE TABLE k.t (a int, b text, c int, d int, PRIMARY KEY (a, b)); CREATE TABLE IF NOT EXISTS k.t (x int PRIMARY KEY);
ALTER TABLE k.t ADD e int static; ALTER TABLE k.t ADD IF NOT EXISTS c int; ALTER TABLE IF EXISTS k.other ADD c int;
ALTER TABLE k.t DROP d; ALTER TABLE k.t DROP IF EXISTS d; ALTER TABLE k.t RENAME b TO z;
ALTER TABLE k.t WITH gc_grace_seconds = 5 AND comment = 'x';
CREATE TABLE k.gone (a int PRIMARY KEY, b int); CREATE INDEX i ON k.gone (b); DROP TABLE k.gone; DROP TABLE IF EXISTS k.gone;
CREATE TABLE k.gone (a int PRIMARY KEY, c int); CREATE INDEX j ON k.gone (c); DROP INDEX k.j;
CREATE KEYSPACE l WITH replication = {'class': 'SimpleStrategy'}; CREATE TABLE l.t (a int PRIMARY KEY); CREATE TYPE l.u (a int); DROP KEYSPACE l;
TRUNCATE k.t;`)
	want := parse(t, `
CREATE KEYSPACE k WITH replication = {'class': 'NetworkTopologyStrategy', 'dc1': 3};
CREATE TYPE k.u (c int, b text);
CREATE TABLE k.t (a int, z text, c int, e int static, PRIMARY KEY (a, z)) WITH gc_grace_seconds = 5 AND comment = 'x';
CREATE TABLE k.gone (a int PRIMARY KEY, c int);`)
	if got, want := strings.Join(got.Statements(), "\n"), strings.Join(want.Statements(), "\n"); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}

// What the server rejects changes nothing, and a comment takes the fingerprint of the one before it with it.
func TestReviewOfRejectedChanges(t *testing.T) {
	t.Parallel()
	s, err := schema.Review(schema.Source{File: "f", Text: `
CREATE TABLE t (a int PRIMARY KEY, b int) WITH comment = 'x' AND gc_grace_seconds = 5;
ALTER TABLE t ADD (c int, b int); ALTER TABLE t RENAME b TO z; ALTER TABLE t DROP (b, a); CREATE TABLE t (y int PRIMARY KEY);
ALTER TABLE t ADD d int;`})
	if err != nil {
		t.Fatal(err)
	}
	want := "CREATE TABLE t (a int, b int, d int, PRIMARY KEY (a)) WITH gc_grace_seconds = 5 AND comment = 'x'"
	if got := s.Statements(); len(got) != 1 || got[0] != strings.Join(parse(t, want).Statements(), "") || len(s.Unread) != 4 {
		t.Errorf("%q, %+v", got, s.Unread)
	}
	s, err = schema.Review(schema.Source{File: "f", Text: "ALTER KEYSPACE IF EXISTS k WITH durable_write = false"})
	if err != nil || len(s.Unread) != 1 || s.Unread[0].Reason != "line 1: option durable_write of k: Cassandra does not know it: leave it out" {
		t.Errorf("%+v, %v", s, err)
	}
	marked := parse(t, "CREATE TABLE t (a int PRIMARY KEY) WITH comment = 'x [denorm:v1]'")
	if marked.Tables[0].Fingerprint == "" {
		t.Fatal("the comment has no fingerprint")
	}
	for change, want := range map[string]string{"gc_grace_seconds = 5": marked.Tables[0].Fingerprint, "comment = 'y'": ""} {
		s := parse(t, "CREATE TABLE t (a int PRIMARY KEY) WITH comment = 'x [denorm:v1]'; ALTER TABLE t WITH "+change)
		if got := s.Tables[0].Fingerprint; got != want {
			t.Errorf("after %s the fingerprint is %q, want %q", change, got, want)
		}
	}
}

// A review goes on after what it does not understand, and says where and why.
func TestReview(t *testing.T) {
	t.Parallel()
	const text = "\ufeffFROBNICATE a;\nCREATE TABLE t (a int b int);\nDROP TABLE t;\nBEGIN BATCH INSERT a; APPLY BATCH;\n" +
		"CREATE AGGREGATE a (int) SFUNC f STYPE int;\nREVOKE ALL ON t FROM x;\nALTER TABLE t ALTER a TYPE text;\nCREATE TABLE t (a int PRIMARY KEY);\n" +
		"SELECT a FROM t WHERE a = #id;\n-- denorm:nonsense\nSELECT a FROM t WHERE a = 1; SELECT '"
	s, err := schema.Review(schema.Source{File: "f", Text: text})
	if err != nil || len(s.Tables) != 1 || len(s.Queries) != 1 {
		t.Fatalf("%+v, %v", s, err)
	}
	var got []string
	for _, u := range s.Unread {
		got = append(got, u.Text+": "+u.Reason)
		if u.At.File != "f" || !strings.HasPrefix(u.Reason, "line ") || u.At.Line == 0 {
			t.Errorf("%+v", u)
		}
	}
	want := []string{
		`FROBNICATE a: line 1: want a statement, not "FROBNICATE"`,
		`CREATE TABLE t (a int b int): line 2: want ")", not "b"`,
		`DROP TABLE t: line 3: DROP TABLE t: the text does not create it before`,
		`BEGIN BATCH INSERT a; APPLY BATCH: line 4: want INTO, not "a"`,
		`ALTER TABLE t ALTER a TYPE text: line 7: ALTER TABLE ... ALTER is not understood here`,
		`SELECT a FROM t WHERE a = #id: line 9: unexpected '#'`,
		`-- denorm:nonsense: line 10: want denorm:entity, ignore, volume or domain`,
		`SELECT ': line 11: ' without its end`,
	}
	if !slices.Equal(got, want) {
		t.Errorf("\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if _, err := schema.Parse("f", text); err == nil {
		t.Error("Parse goes on too")
	}
	if _, err := schema.Parse("f", "-- denorm:nonsense"); err == nil {
		t.Error("Parse passes over a wrong note")
	}
}

// Commands of cqlsh end with their line, and not with the next statement.
func TestCommandsOfCqlsh(t *testing.T) {
	t.Parallel()
	s, err := schema.Review(schema.Source{File: "f", Text: "CONSISTENCY QUORUM\nDESCRIBE KEYSPACES\nCREATE TABLE t (id int PRIMARY KEY); TRACING ON; SELECT id FROM t\n;\nEXIT"})
	if err != nil || len(s.Tables) != 1 || len(s.Queries) != 1 || len(s.Unread) != 0 {
		t.Errorf("%+v, %v", s, err)
	}
}

// A review takes a keyspace that a tool chose for the one of what the text creates without any, whatever it is.
func TestReviewInAChosenKeyspace(t *testing.T) {
	t.Parallel()
	const text = `CREATE TABLE t (a int PRIMARY KEY, b int, c int);
CREATE TYPE y (b int);
CREATE INDEX i ON t (b);
CREATE INDEX j ON t (c);
CREATE MATERIALIZED VIEW v AS SELECT b, a FROM t WHERE b IS NOT NULL AND a IS NOT NULL PRIMARY KEY (b, a);
`
	for change, want := range map[string]string{
		"ALTER TABLE shop.t ADD d int":                             "",
		"ALTER TYPE shop.y ADD c int":                              "",
		"DROP TYPE shop.y":                                         "",
		"DROP INDEX shop.i":                                        "",
		"DROP MATERIALIZED VIEW shop.v":                            "",
		"ALTER MATERIALIZED VIEW shop.v WITH gc_grace_seconds = 5": "",
		"DROP INDEX shop.t":                                        "line 6: DROP INDEX shop.t: the text does not create it before", // of another kind
		"ALTER TYPE shop.i ADD c int":                              "line 6: ALTER TYPE shop.i: the text does not create it before",
		"CREATE KEYSPACE shop WITH replication = {'class': 'NetworkTopologyStrategy', 'dc1': 3}; DROP INDEX shop.i": "",
	} {
		s, err := schema.Review(schema.Source{File: "f", Text: text + change})
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, u := range s.Unread {
			got += u.Reason
		}
		if got != want {
			t.Errorf("%s: %q, want %q", change, got, want)
		}
	}
}
