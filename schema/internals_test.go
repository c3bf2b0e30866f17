package schema_test

import (
	"strings"
	"testing"

	"github.com/denorm-go/denorm/schema"
)

// DESCRIBE ... WITH INTERNALS, and schema.cql in a snapshot, say which columns were dropped: in the table from
// Cassandra 4.0 on, before that by statements after it. These columns are not there.
func TestDroppedColumnsOfDescribe(t *testing.T) {
	t.Parallel()
	got := parse(t, `
CREATE TABLE IF NOT EXISTS k.t (
    pk int,
    ck int,
    reg1 text,
    PRIMARY KEY (pk, ck)
) WITH ID = 5fd20e30-4b1b-11ee-8c99-0242ac120002
    AND CLUSTERING ORDER BY (ck DESC)
    AND DROPPED COLUMN RECORD "Reg2" frozen<list<int>> USING TIMESTAMP 40000
    AND DROPPED COLUMN RECORD st1 varint static USING TIMESTAMP 5000
    AND gc_grace_seconds = 5;
CREATE TABLE k.old (pk int PRIMARY KEY, reg1 int, reg2 int, reg3 int);
ALTER TABLE k.old DROP reg1 USING TIMESTAMP 1480000000000000;
ALTER TABLE k.old DROP (reg2, reg3) USING TIMESTAMP 1480000000000001;
ALTER TABLE k.old ADD reg1 int;`)
	want := parse(t, `
CREATE TABLE k.t (pk int, ck int, reg1 text, PRIMARY KEY (pk, ck)) WITH CLUSTERING ORDER BY (ck DESC) AND gc_grace_seconds = 5;
CREATE TABLE k.old (pk int PRIMARY KEY, reg1 int);`)
	if got.CQL() != want.CQL() {
		t.Errorf("%s\nwant\n%s", got.CQL(), want.CQL())
	}
	for text, want := range map[string]string{
		"CREATE TABLE t (a int PRIMARY KEY) WITH DROPPED COLUMN RECORD b int USING TIMESTAMP ?": `line 1: want an integer, not "?"`,
		"CREATE TABLE t (a int PRIMARY KEY, b int); ALTER TABLE t DROP b USING TTL 3":           `line 1: want TIMESTAMP, not "TTL"`,
	} {
		if _, err := schema.Parse("f", text); err == nil || err.Error() != "f: "+want {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// The output of DESCRIBE has functions in it, and what applications of old run has roles. Neither is about tables.
func TestStatementsOnNoTable(t *testing.T) {
	t.Parallel()
	const text = `CREATE TABLE k.t (id int PRIMARY KEY);
CREATE FUNCTION k.avgstate(state tuple<int, bigint>,val int)
    CALLED ON NULL INPUT
    RETURNS tuple<int, bigint>
    LANGUAGE java
    AS $$if (val != null) { state.setInt(0, state.getInt(0)+1); } return state;$$;
CREATE OR REPLACE FUNCTION k.f(a int) RETURNS NULL ON NULL INPUT RETURNS int LANGUAGE java AS 'return a; // it''s';
CREATE AGGREGATE k.average(int) SFUNC avgstate STYPE tuple<int, bigint> FINALFUNC f INITCOND (0,0);
CREATE TRIGGER x ON k.t USING 'org.X'; CREATE ROLE r WITH PASSWORD = 'secret' AND LOGIN = true; GRANT SELECT ON k.t TO r;
ADD IDENTITY IF NOT EXISTS 'spiffe://x' TO ROLE 'r';
SELECT * FROM k.t WHERE id = 1;`
	const leftOut = `-- Left out: test line 2: CREATE FUNCTION k.avgstate
-- Left out: test line 7: CREATE OR REPLACE FUNCTION k.f
-- Left out: test line 8: CREATE AGGREGATE k.average
-- Left out: test line 9: CREATE TRIGGER x

`
	if s := parse(t, text); len(s.Tables) != 1 || len(s.Queries) != 1 || !strings.HasPrefix(s.CQL(), leftOut) {
		t.Errorf("%+v\n%s", s, s.CQL())
	}
	const copied = "\nCOPY k.t (id)\n  FROM 'x.csv' WITH HEADER = TRUE;\nSELECT id FROM k.t WHERE id = 2;"
	s, err := schema.Review(schema.Source{File: "f", Text: text + copied})
	if err != nil || len(s.Unread) != 0 || len(s.Queries) != 2 {
		t.Errorf("%+v, %v", s, err)
	}
	for _, missing := range []string{
		"GRANT CREATE ON KEYSPACE k TO r\n", "CREATE ROLE r WITH LOGIN = true\n", "GRANT SELECT ON k.t TO r\nUSE j; ",
		"GRANT SELECT ON k.t TO r\nINSERT INTO k.t (a) VALUES (1); ",
	} {
		if _, err := schema.Parse("f", missing+"CREATE TABLE t (a int PRIMARY KEY)"); err == nil {
			t.Errorf("%q: a table after it is passed over", missing)
		}
	}
	if _, err := schema.Parse("f", "COPY t (id) FROM 'x.csv'"); err == nil {
		t.Error("COPY is no statement, and was read")
	}
}
