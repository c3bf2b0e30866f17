package schema_test

import (
	"testing"

	"github.com/denorm-go/denorm/schema"
)

// DESCRIBE ... WITH INTERNALS, and schema.cql in a snapshot, say which columns were dropped: in the table from Cassandra 4.0 on, before that by
// statements after it. These columns are not there.
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
