package ast

import (
	"reflect"
	"testing"

	"github.com/denorm-go/denorm/internal/cql"
)

func TestInsert(t *testing.T) {
	t.Parallel()
	compare(t, []parsed{
		{"INSERT INTO ks.t (a,b) VALUES (?,1)", &Insert{
			Into: cql.Name{Keyspace: "ks", Name: "t"}, Columns: []string{"a", "b"}, Values: []Term{mark(0), number("1")},
		}},
		{"INSERT INTO t (a) VALUES (:A) IF NOT EXISTS USING TTL ? AND TIMESTAMP 5", &Insert{
			Into: cql.Name{Keyspace: "", Name: "t"}, Columns: []string{"a"}, Values: []Term{{Kind: Mark, Text: "a"}},
			IfNotExists: true,
			Using:       Using{TTL: pointer(mark(1)), Timestamp: pointer(number("5"))},
		}},
		{"INSERT INTO t (key) VALUES (null) USING TIMESTAMP ? AND TTL ?", &Insert{
			Into: cql.Name{Keyspace: "", Name: "t"}, Columns: []string{"key"}, Values: []Term{{Kind: Null}},
			Using: Using{Timestamp: pointer(mark(0)), TTL: pointer(mark(1))},
		}},
	})
}

func TestUpdate(t *testing.T) {
	t.Parallel()
	at := []Relation{equals("k", mark(1))}
	for _, c := range []struct {
		set  string
		want Assignment
	}{
		{"a = ?", Assignment{Target: Target{Column: "a"}, Value: mark(0)}},
		{"a = a + ?", Assignment{Target: Target{Column: "a"}, Operator: Add, Value: mark(0)}},
		{"a=a-?", Assignment{Target: Target{Column: "a"}, Operator: Remove, Value: mark(0)}},
		{"a = ? + a", Assignment{Target: Target{Column: "a"}, Operator: Prepend, Value: mark(0)}},
		{"a += ?", Assignment{Target: Target{Column: "a"}, Operator: Add, Value: mark(0)}},
		{"a-=?", Assignment{Target: Target{Column: "a"}, Operator: Remove, Value: mark(0)}},
		{"a[1] = ?", Assignment{Target: Target{Column: "a", Key: pointer(number("1"))}, Value: mark(0)}},
		{"a.f = ?", Assignment{Target: Target{Column: "a", Field: "f"}, Value: mark(0)}},
	} {
		compare(t, []parsed{{
			"UPDATE t SET " + c.set + " WHERE k = ?",
			&Update{Table: cql.Name{Keyspace: "", Name: "t"}, Set: []Assignment{c.want}, Where: at},
		}})
	}
	compare(t, []parsed{
		// Without a space before it, a minus belongs to the number.
		{"UPDATE t SET a = a -3, b=b-3, c = c - 3 WHERE k = 1", &Update{
			Table: cql.Name{Keyspace: "", Name: "t"},
			Set: []Assignment{
				{Target{Column: "a"}, Add, number("-3")},
				{Target{Column: "b"}, Add, number("-3")},
				{Target{Column: "c"}, Remove, number("3")},
			},
			Where: []Relation{equals("k", number("1"))},
		}},
		{"UPDATE t USING TTL ? AND TIMESTAMP ? SET m[?] = ?, m[?] = ? WHERE k = ? IF EXISTS", &Update{
			Table: cql.Name{Keyspace: "", Name: "t"}, Using: Using{TTL: pointer(mark(0)), Timestamp: pointer(mark(1))},
			Set: []Assignment{
				{Target: Target{Column: "m", Key: pointer(mark(2))}, Value: mark(3)},
				{Target: Target{Column: "m", Key: pointer(mark(4))}, Value: mark(5)},
			},
			Where: []Relation{equals("k", mark(6))}, IfExists: true,
		}},
		{
			"UPDATE t SET f = now() WHERE k = 1 IF a = null AND m[?] != 1 AND u.f IN (1, 2) AND exists IN ? AND exists > 1 " +
				"AND s CONTAINS 3",
			&Update{
				Table: cql.Name{Keyspace: "", Name: "t"},
				Set:   []Assignment{{Target: Target{Column: "f"}, Value: Term{Kind: Call, Text: "now"}}},
				Where: []Relation{equals("k", number("1"))},
				If: []Relation{
					equals("a", Term{Kind: Null}),
					{Columns: []string{"m"}, Key: pointer(mark(0)), Operator: "!=", Values: []Term{number("1")}},
					{Columns: []string{"u"}, Field: "f", Operator: "IN", Values: []Term{number("1"), number("2")}},
					{Columns: []string{"exists"}, Operator: "IN", Values: []Term{mark(1)}, Marked: true},
					{Columns: []string{"exists"}, Operator: ">", Values: []Term{number("1")}},
					{Columns: []string{"s"}, Operator: "CONTAINS", Values: []Term{number("3")}},
				},
			},
		},
		{"UPDATE t SET a = 1 WHERE k = 1 IF exists = 1", &Update{
			Table: cql.Name{Keyspace: "", Name: "t"}, Set: []Assignment{{Target: Target{Column: "a"}, Value: number("1")}},
			Where: []Relation{equals("k", number("1"))}, If: []Relation{equals("exists", number("1"))},
		}},
	})
}

func TestDelete(t *testing.T) {
	t.Parallel()
	compare(t, []parsed{
		{"DELETE FROM t WHERE k = ?", &Delete{
			From:  cql.Name{Keyspace: "", Name: "t"},
			Where: []Relation{equals("k", mark(0))},
		}},
		{"DELETE a, m[?], u.f FROM ks.t USING TIMESTAMP ? WHERE k = ? AND c > ? IF EXISTS", &Delete{
			From:    cql.Name{Keyspace: "ks", Name: "t"},
			Columns: []Target{{Column: "a"}, {Column: "m", Key: pointer(mark(0))}, {Column: "u", Field: "f"}},
			Using:   Using{Timestamp: pointer(mark(1))},
			Where: []Relation{
				equals("k", mark(2)), {Columns: []string{"c"}, Operator: ">", Values: []Term{mark(3)}},
			},
			IfExists: true,
		}},
		{"DELETE FROM t WHERE (a, b) IN ((1, 2)) IF v = ?", &Delete{
			From: cql.Name{Keyspace: "", Name: "t"},
			Where: []Relation{{Columns: []string{"a", "b"}, Tuple: true, Operator: "IN", Values: []Term{
				{Kind: Tuple, Elems: []Term{number("1"), number("2")}},
			}}},
			If: []Relation{equals("v", mark(0))},
		}},
	})
}

func TestBatch(t *testing.T) {
	t.Parallel()
	compare(t, []parsed{
		{"BEGIN BATCH APPLY BATCH", &Batch{}},
		{
			"BEGIN UNLOGGED BATCH USING TIMESTAMP ? APPLY BATCH;",
			&Batch{Kind: Unlogged, Using: Using{Timestamp: pointer(mark(0))}},
		},
		{"BEGIN COUNTER BATCH UPDATE t SET a += ? WHERE k = ? UPDATE t SET a += 1 WHERE k = :k; APPLY BATCH", &Batch{
			Kind: Counter,
			Statements: []Statement{
				&Update{
					Table: cql.Name{Keyspace: "", Name: "t"}, Set: []Assignment{{Target{Column: "a"}, Add, mark(0)}},
					Where: []Relation{equals("k", mark(1))},
				},
				&Update{
					Table: cql.Name{Keyspace: "", Name: "t"}, Set: []Assignment{{Target{Column: "a"}, Add, number("1")}},
					Where: []Relation{equals("k", Term{Kind: Mark, Mark: 2, Text: "k"})},
				},
			},
		}},
		{
			"BEGIN BATCH DELETE FROM t WHERE k = 1 IF EXISTS INSERT INTO t (a) VALUES (1); APPLY BATCH",
			&Batch{Statements: []Statement{
				&Delete{From: cql.Name{Keyspace: "", Name: "t"}, Where: []Relation{equals("k", number("1"))}, IfExists: true},
				&Insert{Into: cql.Name{Keyspace: "", Name: "t"}, Columns: []string{"a"}, Values: []Term{number("1")}},
			}},
		},
	})
}

func TestMarks(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text string
		want []string
	}{
		{"SELECT * FROM t", nil},
		{
			"SELECT a[:k], f(?) FROM t WHERE a IN :l AND m[?] = {:x: [?]} PER PARTITION LIMIT :p LIMIT :l",
			[]string{"k", "", "l", "", "x", "", "p", "l"},
		},
		{"INSERT INTO t (a, b) VALUES (:a, (int) ?) USING TTL :t AND TIMESTAMP :s", []string{"a", "", "t", "s"}},
		{"UPDATE t USING TIMESTAMP :s SET a = :a, b[:k] = :v WHERE k = :k IF c = :c", []string{"s", "a", "k", "v", "k", "c"}},
		{"DELETE m[:m] FROM t USING TIMESTAMP :s WHERE k = :k IF c[:i] = :c", []string{"m", "s", "k", "i", "c"}},
		{
			"BEGIN BATCH USING TIMESTAMP ? DELETE FROM t WHERE k = :a; DELETE FROM t WHERE k = :b; APPLY BATCH",
			[]string{"", "a", "b"},
		},
		{"TRUNCATE t", nil},
	} {
		s, err := Parse(c.text)
		if err != nil {
			t.Errorf("%s: %v", c.text, err)
		} else if got := Marks(s); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %q, want %q", c.text, got, c.want)
		}
	}
}
