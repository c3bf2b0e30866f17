package cql

import "testing"

func columns(names ...string) []Selector {
	var ss []Selector
	for _, n := range names {
		ss = append(ss, Selector{Column: n})
	}
	return ss
}

func TestSelect(t *testing.T) {
	t.Parallel()
	compare(t, []parsed{
		{"SELECT * FROM t", &Select{From: Name{"", "t"}}},
		{"select A, \"B\"\"c\" from Ks.\"T\" ;;", &Select{From: Name{"ks", "T"}, Columns: columns("a", `B"c`)}},
		{"SELECT DISTINCT a, b FROM t", &Select{From: Name{"", "t"}, Distinct: true, Columns: columns("a", "b")}},
		{"SELECT distinct, json FROM t", &Select{From: Name{"", "t"}, Columns: columns("distinct", "json")}},
		{"SELECT distinct AS d FROM t", &Select{From: Name{"", "t"}, Columns: []Selector{{Column: "distinct", As: "d"}}}},
		{"SELECT DISTINCT as FROM t", &Select{From: Name{"", "t"}, Distinct: true, Columns: columns("as")}},
		{"SELECT json FROM t", &Select{From: Name{"", "t"}, Columns: columns("json")}},
		{"SELECT -- all\n * // of it\r FROM /* the\n -- */ t -- table\n", &Select{From: Name{"", "t"}}},
		{
			"SELECT key, ttl, timestamp, type, count, values, user, date, text, filtering, counter, list, map, as, static, clustering," +
				" role, writetime, cast, per, \"select\" FROM t",
			&Select{From: Name{"", "t"}, Columns: columns("key", "ttl", "timestamp", "type", "count", "values", "user", "date", "text",
				"filtering", "counter", "list", "map", "as", "static", "clustering", "role", "writetime", "cast", "per", "select")},
		},
		{"SELECT a FROM t WHERE k = ? AND c >= :Start LIMIT :\"N\"", &Select{
			From: Name{"", "t"}, Columns: columns("a"),
			Where: []Relation{
				equals("k", mark(0)),
				{Columns: []string{"c"}, Operator: ">=", Values: []Term{{Kind: Mark, Mark: 1, Text: "start"}}},
			},
			Limit: &Term{Kind: Mark, Mark: 2, Text: "N"},
		}},
		{"SELECT a FROM t ORDER BY c DESC, d ASC, e PER PARTITION LIMIT 2 LIMIT ? ALLOW FILTERING", &Select{
			From: Name{"", "t"}, Columns: columns("a"), OrderBy: []Order{{"c", true}, {"d", false}, {"e", false}},
			PerLimit: pointer(number("2")), Limit: pointer(mark(0)), Filtering: true,
		}},
	})
}

func TestSelectors(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text string
		want Selector
	}{
		{"a AS b", Selector{Column: "a", As: "b"}},
		{"a[?]", Selector{Column: "a", Key: pointer(mark(0))}},
		{"a['x'] AS x", Selector{Column: "a", Key: pointer(text("x")), As: "x"}},
		{"a.b", Selector{Column: "a", Field: "b"}},
		{"count(*)", Selector{Function: "count", Star: true}},
		{"COUNT(1) as n", Selector{Function: "count", Star: true, As: "n"}},
		{"count(a)", Selector{Function: "count", Args: columns("a")}},
		{"writetime(a)", Selector{Function: "writetime", Column: "a"}},
		{"WriteTime(a[1])", Selector{Function: "writetime", Column: "a", Key: pointer(number("1"))}},
		{"maxwritetime(a)", Selector{Function: "maxwritetime", Column: "a"}},
		{"ttl(a.f)", Selector{Function: "ttl", Column: "a", Field: "f"}},
		{"token(a, b)", Selector{Function: "token", Args: columns("a", "b")}},
		{"CAST(a AS TEXT)", Selector{Function: "cast", Args: columns("a"), Type: "text"}},
		{"toTimestamp(now())", Selector{Function: "totimestamp", Args: []Selector{{Function: "now"}}}},
		{"system.now()", Selector{Function: "now"}},
		{"ks.\"F\"(1, a)", Selector{Function: "ks.F", Args: []Selector{{Term: pointer(number("1"))}, {Column: "a"}}}},
		{"'x'", Selector{Term: pointer(text("x"))}},
		{"null", Selector{Term: &Term{Kind: Null}}},
		{"min(cast(a as int))", Selector{Function: "min", Args: []Selector{{Function: "cast", Args: columns("a"), Type: "int"}}}},
	} {
		compare(t, []parsed{{"SELECT " + c.text + " FROM t", &Select{From: Name{"", "t"}, Columns: []Selector{c.want}}}})
	}
}

func TestRelations(t *testing.T) {
	t.Parallel()
	tuple := Term{Kind: Tuple, Elems: []Term{mark(0), mark(1)}}
	for _, c := range []struct {
		text string
		want Relation
	}{
		{"a=?", equals("a", mark(0))},
		{"a != 1", Relation{Columns: []string{"a"}, Operator: "!=", Values: []Term{number("1")}}},
		{"a<1", Relation{Columns: []string{"a"}, Operator: "<", Values: []Term{number("1")}}},
		{"a<=1", Relation{Columns: []string{"a"}, Operator: "<=", Values: []Term{number("1")}}},
		{"a>-1", Relation{Columns: []string{"a"}, Operator: ">", Values: []Term{number("-1")}}},
		{"a>=1", Relation{Columns: []string{"a"}, Operator: ">=", Values: []Term{number("1")}}},
		{"((a = ?))", equals("a", mark(0))},
		{"\"\" = ?", equals("", mark(0))},
		{"a IN (?, 2)", Relation{Columns: []string{"a"}, Operator: "IN", Values: []Term{mark(0), number("2")}}},
		{"a IN ()", Relation{Columns: []string{"a"}, Operator: "IN"}},
		{"a IN ?", Relation{Columns: []string{"a"}, Operator: "IN", Values: []Term{mark(0)}, Marked: true}},
		{"a IN :as", Relation{Columns: []string{"a"}, Operator: "IN", Values: []Term{{Kind: Mark, Text: "as"}}, Marked: true}},
		{"a CONTAINS ?", Relation{Columns: []string{"a"}, Operator: "CONTAINS", Values: []Term{mark(0)}}},
		{"a CONTAINS KEY ?", Relation{Columns: []string{"a"}, Operator: "CONTAINS KEY", Values: []Term{mark(0)}}},
		{"a LIKE '%x'", Relation{Columns: []string{"a"}, Operator: "LIKE", Values: []Term{text("%x")}}},
		{"a IS NOT NULL", Relation{Columns: []string{"a"}, Operator: "IS NOT NULL"}},
		{"a['k'] = ?", Relation{Columns: []string{"a"}, Key: pointer(text("k")), Operator: "=", Values: []Term{mark(0)}}},
		{"token(a, b) > ?", Relation{Columns: []string{"a", "b"}, Token: true, Operator: ">", Values: []Term{mark(0)}}},
		{"token(a)<=token(?)", Relation{
			Columns: []string{"a"}, Token: true, Operator: "<=",
			Values: []Term{{Kind: Call, Text: "token", Elems: []Term{mark(0)}}},
		}},
		{"(a, b) > (?, ?)", Relation{Columns: []string{"a", "b"}, Tuple: true, Operator: ">", Values: []Term{tuple}}},
		{"(a) = ?", Relation{Columns: []string{"a"}, Tuple: true, Operator: "=", Values: []Term{mark(0)}}},
		{"(a, b) IN ((?, ?))", Relation{Columns: []string{"a", "b"}, Tuple: true, Operator: "IN", Values: []Term{tuple}}},
		{"(a, b) IN (?, ?)", Relation{Columns: []string{"a", "b"}, Tuple: true, Operator: "IN", Values: []Term{mark(0), mark(1)}}},
		{"(a, b) IN ?", Relation{Columns: []string{"a", "b"}, Tuple: true, Operator: "IN", Values: []Term{mark(0)}, Marked: true}},
	} {
		compare(t, []parsed{{"SELECT * FROM t WHERE " + c.text, &Select{From: Name{"", "t"}, Where: []Relation{c.want}}}})
	}
}
