package ast

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/denorm-go/denorm/internal/cql"
)

// Shorter names for what the tables below repeat.
func mark(n int) Term      { return Term{Kind: Mark, Mark: n} }
func number(s string) Term { return Term{Kind: Integer, Text: s} }
func text(s string) Term   { return Term{Kind: String, Text: s} }
func pointer(t Term) *Term { return &t }
func equals(c string, v Term) Relation {
	return Relation{Columns: []string{c}, Operator: "=", Values: []Term{v}}
}

type parsed struct {
	text string
	want Statement
}

func compare(t *testing.T, cases []parsed) {
	t.Helper()
	for _, c := range cases {
		got, err := Parse(c.text)
		if err != nil {
			t.Errorf("%s: %v", c.text, err)
		} else if !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s:\n got %#v\nwant %#v", c.text, got, c.want)
		}
	}
}

func TestPlace(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ text, want string }{
		{"", "line 0:-1 no viable alternative at input '<EOF>'"},
		{";", "line 1:0 no viable alternative at input ';'"},
		{"SELEC * FROM t", "line 1:0 no viable alternative at input 'SELEC'"},
		{"SELECT * FROM", "line 0:-1 no viable alternative at input '<EOF>'"},
		{"UPDATE t SET a = 1", "line 0:-1 mismatched input '<EOF>' expecting K_WHERE"},
		{"SELECT * t", "line 1:9 mismatched input 't' expecting K_FROM"},
		{"SELECT *\n  FROM t\n WHER a = 1", "line 3:1 mismatched input 'WHER' expecting EOF"},
		{"SELECT * FROM t WHERE a = 'µ' b", "line 1:30 mismatched input 'b' expecting EOF"},
		{"SELECT * FROM t WHERE a = #", "line 1:26 no viable alternative at character '#'"},
		{"SELECT * FROM t WHERE a = \xff", "line 1:26 no viable alternative at character '�'"},
		{"SELECT * FROM t WHERE a = 'secret", "line 1:26 mismatched character '<EOF>' expecting '\\''"},
		{"SELECT * FROM t WHERE 'secret' = 1", "line 1:22 no viable alternative at input a string"},
		{"SELECT order FROM t", "line 1:7 no viable alternative at input 'order'"},
		{"SELECT * FROM ?", "line 1:14 Bind variables cannot be used for table names"},
		{"USE ?", "line 1:4 Bind variables cannot be used for keyspace names"},
	} {
		_, err := Parse(c.text)
		if err == nil || err.Error() != c.want {
			t.Errorf("%q: %v, want %s", c.text, err, c.want)
		}
		if syntax := new(*SyntaxError); err != nil && !errors.As(err, syntax) {
			t.Errorf("%q: %T", c.text, err)
		}
	}
}

func TestSyntaxErrors(t *testing.T) {
	t.Parallel()
	for _, c := range []string{
		"SELECT", "SELECT FROM t", "SELECT a, FROM t", "SELECT a b FROM t", "SELECT * FROM a.b.c", "SELECT * FROM t WHERE",
		"SELECT * FROM t WHERE a", "SELECT * FROM t WHERE a = ", "SELECT * FROM t WHERE a == 1",
		"SELECT * FROM t WHERE a <> 1",
		"SELECT * FROM t WHERE a = 1 OR b = 1", "SELECT * FROM t WHERE a IN 1", "SELECT * FROM t WHERE a IN (1",
		"SELECT * FROM t WHERE (a, b) IN ((1, 2), ?)", "SELECT * FROM t WHERE (a, b) IN (?, (1, 2))",
		"SELECT * FROM t -- end",
		"SELECT * FROM t WHERE a IS NULL", "SELECT * FROM t WHERE (a, b) = 1", "SELECT * FROM t WHERE (a, b) IN (1, 2)",
		"SELECT * FROM t WHERE a = b", "SELECT * FROM t WHERE a = ()", "SELECT * FROM t ORDER a", "SELECT * FROM t LIMIT 'x'",
		"SELECT * FROM t ALLOW", "SELECT * FROM t LIMIT 1 WHERE a = 1", "SELECT count(*, a) FROM t",
		"SELECT writetime(*) FROM t",
		"SELECT \"\" FROM t", "SELECT * FROM t WHERE token a = 1", "SELECT a AS 'b' FROM t", "SELECT token FROM t",
		"INSERT INTO t VALUES (1)", "INSERT INTO t (a) VALUES ()", "INSERT INTO t () VALUES (1)", "INSERT t (a) VALUES (1)",
		"INSERT INTO t (a) VALUES (1) USING TTL", "INSERT INTO t (a) VALUES (1) USING TTL 1, TIMESTAMP 1",
		"INSERT INTO t (a) VALUES (1) USING TTL 1 IF NOT EXISTS", "INSERT INTO t (a) VALUES (1) IF EXISTS",
		"INSERT INTO t (a) VALUES ({a: 1, 2})", "INSERT INTO t (a) VALUES ({1: 1, 2})", "INSERT INTO t (a) VALUES ([1,])",
		"INSERT INTO t (a) VALUES (1) USING TIMESTAMP 1.5", "INSERT INTO t (select) VALUES (1)",
		"UPDATE t SET a = 1", "UPDATE t WHERE a = 1", "UPDATE t SET a = b + 1 WHERE k = 1",
		"UPDATE t SET a = b - 1 WHERE k = 1",
		"UPDATE t SET a = 1 + b WHERE k = 1", "UPDATE t SET a[1] += 1 WHERE k = 1", "UPDATE t SET a = 1, a = 2 WHERE k = 1",
		"UPDATE t SET a = 1, a = a + [2] WHERE k = 1", "UPDATE t SET a.f = 1, a.f = 2 WHERE k = 1",
		"UPDATE t SET a = 1 WHERE k = 1 IF",
		"UPDATE t SET a = 1 WHERE k = 1 IF NOT EXISTS", "UPDATE t SET a = 1 WHERE k = 1 IF a = 1, b = 2",
		"UPDATE t SET a = 1 WHERE k = 1 USING TTL 1", "UPDATE t SET a = a 'x' WHERE k = 1",
		"DELETE * FROM t WHERE k = 1", "DELETE FROM t", "DELETE FROM t USING TTL 1 WHERE k = 1",
		"DELETE a[] FROM t WHERE k = 1",
		"BEGIN BATCH", "BEGIN LOGGED BATCH APPLY BATCH", "BEGIN BATCH SELECT * FROM t; APPLY BATCH",
		"BEGIN BATCH; APPLY BATCH",
		"BEGIN BATCH DELETE FROM t WHERE k = 1;; APPLY BATCH", "APPLY BATCH", "TRUNCATE", "USE", "USE a.b",
		"CREATE KEYSPACE k", "CREATE SCHEMA k", "CREATE KEYSPACE k WITH replication = 'x'", "CREATE KEYSPACE k WITH x = 1",
		"CREATE KEYSPACE k WITH replication = {'class': ?}", "CREATE KEYSPACE a.b WITH replication = {}",
		"CREATE KEYSPACE k WITH replication = {'a': '1', 'a': '2'}",
		"CREATE KEYSPACE k WITH durable_writes = true AND durable_writes = true",
		"CREATE TABLE t", "CREATE TABLE t ()", "CREATE TABLE t (a)", "CREATE TABLE t (a map<int>)",
		"CREATE TABLE t (a list<int, int>)",
		"CREATE TABLE t (a list<int)", "CREATE TABLE t (a int PRIMARY KEY) WITH", "CREATE TABLE t (a int PRIMARY)",
		"CREATE TABLE t (a set)",
		"CREATE TABLE t (a int PRIMARY KEY) WITH CLUSTERING ORDER BY (b)",
		"CREATE TABLE t (a int PRIMARY KEY) WITH a = 1 AND a = 2", "CREATE TABLE t (a int, PRIMARY KEY ())",
		"CREATE TABLE t (table int PRIMARY KEY)", "CREATE TABLE t (\"\" int PRIMARY KEY)", "CREATE TYPE date (a int)",
		"CREATE TYPE t ()", "CREATE TYPE k.ttl (a int)",
		"CREATE TABLE t (a byte PRIMARY KEY)", "CREATE TABLE t (a k.int PRIMARY KEY)",
		"CREATE TABLE t (a vector<float, x> PRIMARY KEY)",
		"CREATE TABLE t (a int PRIMARY KEY) WITH b = c",
		"CREATE INDEX ON t", "CREATE INDEX ON t (keys(a)", "CREATE INDEX i ON t (a) WITH x = 1",
		"CREATE INDEX i ON t (a) USING sai",
		"CREATE MATERIALIZED VIEW v AS SELECT * FROM t WHERE a IS NOT NULL",
		"SELECT * FROM t /* open", "SELECT $$a FROM t", "SELECT * FROM t WHERE a ! 1",
	} {
		s, err := Parse(c)
		if syntax := new(*SyntaxError); !errors.As(err, syntax) {
			t.Errorf("%s: %#v, %v", c, s, err)
		}
	}
}

func TestRefused(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ text, want string }{
		{"SELECT JSON * FROM t", Unsupported + "SELECT JSON"},
		{"SELECT a FROM t GROUP BY a", Unsupported + "GROUP BY"},
		{"SELECT a FROM t ORDER BY a ANN OF ?", Unsupported + "ORDER BY ... ANN OF"},
		{"SELECT -a FROM t", Unsupported + "arithmetic"},
		{"SELECT a + 1 FROM t", Unsupported + "arithmetic"},
		{"SELECT (int) a FROM t", Unsupported + "a selection of tuples, collections and values with their type"},
		{"SELECT a[1..2] FROM t", Unsupported + "a slice of a collection"},
		{"SELECT a.b.c FROM t", Unsupported + "an element or a field of what is no column"},
		{"SELECT f(a).b FROM t", Unsupported + "an element or a field of what is no column"},
		{"SELECT * FROM t WHERE expr(i, 'x')", Unsupported + "expr(...)"},
		{"SELECT * FROM t WHERE a = -?", Unsupported + "arithmetic"},
		{"SELECT * FROM t WHERE a = CAST(1 AS text)", Unsupported + "CAST of a value"},
		{"INSERT INTO t JSON ?", Unsupported + "INSERT JSON"},
		{"INSERT INTO t (a, b) VALUES (?)", "Unmatched column names/values"},
		{"INSERT INTO t (a) VALUES (1 + 2)", Unsupported + "arithmetic"},
		{"INSERT INTO t (a) VALUES (1) USING TTL 1 AND TTL 2", "TIMESTAMP or TTL is given twice after USING"},
		{"UPDATE t SET a = a + 1 + 2 WHERE k = 1", Unsupported + "arithmetic"},
		{
			"CREATE TABLE t (a int PRIMARY KEY, PRIMARY KEY (a))",
			"Multiple PRIMARY KEY specified for table 't' (exactly one required)",
		},
		{"CREATE TABLE t (a int MASKED WITH DEFAULT PRIMARY KEY)", Unsupported + "MASKED WITH"},
		{"CREATE TABLE t (a int PRIMARY KEY) WITH COMPACT STORAGE", Unsupported + "COMPACT STORAGE"},
		{"CREATE CUSTOM INDEX ON t (a)", "CUSTOM index requires specifying the index class"},
		{"CREATE INDEX ON t (a, b)", Unsupported + "an index of several columns"},
		{
			"CREATE MATERIALIZED VIEW v AS SELECT a AS b FROM t PRIMARY KEY (a)",
			"Can only select columns by name when defining a materialized view",
		},
		{"CREATE FUNCTION f()", Unsupported + "CREATE FUNCTION"},
		{"CREATE OR REPLACE FUNCTION f()", Unsupported + "CREATE OR"},
		{"GRANT ALL ON t TO r", Unsupported + "GRANT"},
		{"DESC TABLE t", Unsupported + "DESC"},
	} {
		s, err := Parse(c.text)
		if invalid := new(*InvalidError); !errors.As(err, invalid) || err.Error() != c.want {
			t.Errorf("%s: %#v, %v, want %s", c.text, s, err, c.want)
		}
	}
}

// The reserved words of Cassandra 5.0, one by one: no names, unless quoted.
func TestReservedWords(t *testing.T) {
	t.Parallel()
	for _, w := range strings.Fields(`add allow alter and apply asc authorize batch begin by columnfamily create delete desc describe drop
		entries execute from full grant if in index infinity insert into is keyspace limit materialized modify nan norecursive not
		null of on or order primary rename revoke schema select set table to token truncate unlogged update use using view where with`) {
		if _, err := Parse("DELETE " + w + " FROM t WHERE k = 1"); err == nil {
			t.Errorf("%s is taken for a name", w)
		}
		compare(t, []parsed{{`SELECT "` + w + `" FROM t`, &Select{
			From:    cql.Name{Keyspace: "", Name: "t"},
			Columns: columns(w),
		}}})
	}
}
