package schema_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/denorm-go/denorm/internal/cql/ast"
	"github.com/denorm-go/denorm/schema"
)

func TestParseQueries(t *testing.T) {
	t.Parallel()
	s := parse(t, `
USE shop;
CREATE TABLE t (a int, b int, c int, d map<text, int>, PRIMARY KEY ((a), b, c));
SELECT * FROM t WHERE a IN (1, 2, 3) AND (b, c) > (?, ?) ORDER BY b DESC, c LIMIT 10 ALLOW FILTERING;
SELECT a, count(*), writetime(c) FROM other.t WHERE a IN ? AND token(a, b) >= token(?, ?) AND d CONTAINS KEY 'x' AND d['y'] = 4;
INSERT INTO t (a, b, c) VALUES (?, :b, {'x': [1, (2)]}) IF NOT EXISTS USING TTL 86400;
UPDATE t USING TIMESTAMP ? AND TTL ? SET d[?] = -1, c = c + 1 WHERE a = ? AND b = 7b3d0f2e-1111-2222-3333-444455556666;
BEGIN BATCH USING TIMESTAMP 5
  INSERT INTO t (a) VALUES (1); -- 'it'
  DELETE d['x'] FROM t WHERE a = 1
APPLY BATCH;
BEGIN UNLOGGED BATCH UPDATE t SET c = 1 WHERE a = 1 IF c = 2; APPLY BATCH;
BEGIN TRANSACTION
  LET x = (SELECT * FROM t WHERE a = 1 LIMIT 1);
  SELECT x.b;
  IF x.c = 2 AND x IS NOT NULL THEN
    UPDATE t SET c = x.b WHERE a = 1;
  END IF
COMMIT TRANSACTION -- batch
`)
	id := schema.ID{Keyspace: "shop", Name: "t"}
	want := []schema.Query{
		{
			Verb: "SELECT", Table: id, AllowFiltering: true, Order: []ast.Order{{Column: "b", Descending: true}, {Column: "c"}},
			Columns: []string{"a", "b", "c"},
		},
		{Verb: "SELECT", Table: schema.ID{Keyspace: "other", Name: "t"}, Columns: []string{"a", "c", "b", "d"}},
		{Verb: "INSERT", Table: id, Conditional: true, TTL: 86400, Columns: []string{"a", "b", "c"}},
		{Verb: "UPDATE", Table: id, Timestamped: true, TTL: -1, Columns: []string{"d", "c", "a", "b"}},
		{Verb: "INSERT", Table: id, Batch: 1, Logged: true, Timestamped: true, Columns: []string{"a"}},
		{Verb: "DELETE", Table: id, Batch: 1, Logged: true, Timestamped: true, Columns: []string{"d", "a"}},
		{Verb: "UPDATE", Table: id, Batch: 2, Conditional: true, Columns: []string{"c", "a"}},
		{Verb: "SELECT", Table: id, Batch: 3, Transaction: true, Let: "x", Columns: []string{"a", "b", "c"}},
		{Verb: "UPDATE", Table: id, Batch: 3, Transaction: true, Columns: []string{"c", "a"}},
	}
	where := []string{"a IN 3; b,c >", "a IN ?; token a,b >=; d CONTAINS KEY; d[] =", "", "a =; b =", "", "a =", "a =", "a =", "a ="}
	if len(s.Queries) != len(want) {
		t.Fatalf("%d queries: %+v", len(s.Queries), s.Queries)
	}
	for i, q := range s.Queries {
		if got := whereText(q.Where); got != where[i] {
			t.Errorf("query %d: WHERE %s, want %s", i, got, where[i])
		}
		q.Text, q.At, q.Statement, q.Where = "", schema.Position{}, nil, nil
		if !reflect.DeepEqual(q, want[i]) {
			t.Errorf("query %d\n got %+v\nwant %+v", i, q, want[i])
		}
	}
	if q := s.Queries[0]; q.At.Line != 4 || !strings.HasPrefix(q.Text, "SELECT * FROM t WHERE a IN (1, 2, 3)") {
		t.Errorf("%q at line %d", q.Text, q.At.Line)
	}
	if q := s.Queries[len(want)-1]; q.At.Line != 17 || q.Text != "UPDATE t SET c = x.b WHERE a = 1" {
		t.Errorf("%q at line %d", q.Text, q.At.Line)
	}
}

// whereText is columns, operators, and of IN how many values it has.
func whereText(where []ast.Relation) string {
	var texts []string
	for _, r := range where {
		text := strings.Join(r.Columns, ",")
		if r.Token {
			text = "token " + text
		}
		if r.Key != nil {
			text += "[]"
		}
		text += " " + r.Operator
		switch {
		case r.Marked:
			text += " ?"
		case r.Operator == "IN":
			text += fmt.Sprintf(" %d", len(r.Values))
		}
		texts = append(texts, text)
	}
	return strings.Join(texts, "; ")
}

// The columns that a query names, and nothing else that is a name there.
func TestParseColumns(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"SELECT JSON a, b FROM t":      "a b",
		"SELECT json FROM t":           "json",
		"SELECT json, distinct FROM t": "json distinct",
		"SELECT DISTINCT a FROM t":     "a",
		`SELECT "A", a.b.c, m['x'], m[?], l[1..2], l[..2], l[1..] FROM t`:                                                                  "A a m l",
		"SELECT count(*), count(1), now(), ks.f(a, g(b)) AS x FROM t":                                                                      "a b",
		"SELECT cast(a AS text), (int) 5, (map<text, int>) ?, (a) AS b FROM t":                                                             "a",
		"SELECT a + b * 2, null, true, nan FROM t":                                                                                         "a b",
		"SELECT a FROM t WHERE expr(my_index, 'x') AND b = 1":                                                                              "a b",
		"SELECT a FROM t GROUP BY b, floor(c, 1h) ORDER BY d DESC":                                                                         "a b c d",
		"SELECT a FROM t ORDER BY v ANN OF [1, 2] LIMIT 3":                                                                                 "a v",
		"SELECT a FROM t GROUP BY b PER PARTITION LIMIT 1":                                                                                 "a b",
		"INSERT INTO t JSON '{\"a\": 1}'":                                                                                                  "",
		"UPDATE t SET a = a + {x: 1}, c.d = 1, e[0] = f(?), h = P1DT2H, i = PT3H, j += 1 WHERE l = 1 IF m = 1 AND n.o = 2 AND p IN (1, 2)": "a c e h i j l m n p",
		"UPDATE t SET a = 1 WHERE b = 1 IF EXISTS":                                                                                         "a b",
		"DELETE a, b[?], c.d FROM t USING TIMESTAMP ? WHERE e = 1 IF EXISTS":                                                               "a b c e",
	} {
		if got := strings.Join(parse(t, text).Queries[0].Columns, " "); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}
