package ast

import "github.com/denorm-go/denorm/internal/cql"

import "testing"

func column(name string) Term { return Term{Kind: Column, Text: name} }

func columns(names ...string) []Selector {
	var ss []Selector
	for _, n := range names {
		ss = append(ss, Selector{Term: column(n)})
	}
	return ss
}

func element(key Term) Term {
	return Term{Kind: Column, Text: "a", Elems: []Term{key}}
}

func field(column, name string) Term {
	return Term{Kind: Column, Text: column, Fields: []string{name}}
}

func call(kind TermKind, name string, args ...Term) Term {
	return Term{Kind: kind, Text: name, Elems: args}
}

func TestSelect(t *testing.T) {
	t.Parallel()
	compare(t, []parsed{
		{"SELECT * FROM t", &Select{From: cql.Name{Keyspace: "", Name: "t"}}},
		{"select A, \"B\"\"c\" from Ks.\"T\" ;;", &Select{
			From:    cql.Name{Keyspace: "ks", Name: "T"},
			Columns: columns("a", `B"c`),
		}},
		{"SELECT DISTINCT a, b FROM t", &Select{
			From: cql.Name{Keyspace: "", Name: "t"}, Distinct: true,
			Columns: columns("a", "b"),
		}},
		{"SELECT distinct, json FROM t", &Select{
			From:    cql.Name{Keyspace: "", Name: "t"},
			Columns: columns("distinct", "json"),
		}},
		{"SELECT distinct AS d FROM t", &Select{
			From:    cql.Name{Keyspace: "", Name: "t"},
			Columns: []Selector{{Term: column("distinct"), As: "d"}},
		}},
		{"SELECT DISTINCT as FROM t", &Select{
			From: cql.Name{Keyspace: "", Name: "t"}, Distinct: true,
			Columns: columns("as"),
		}},
		{"SELECT json FROM t", &Select{From: cql.Name{Keyspace: "", Name: "t"}, Columns: columns("json")}},
		{"SELECT -- all\n * // of it\r FROM /* the\n -- */ t -- table\n", &Select{From: cql.Name{Keyspace: "", Name: "t"}}},
		{
			"SELECT key, ttl, timestamp, type, count, values, user, date, text, filtering, counter, list, map, as, static, " +
				"clustering," +
				" role, writetime, cast, per, \"select\" FROM t",
			&Select{From: cql.Name{Keyspace: "", Name: "t"}, Columns: columns("key", "ttl", "timestamp", "type", "count",
				"values", "user", "date", "text",
				"filtering", "counter", "list", "map", "as", "static", "clustering", "role", "writetime", "cast", "per", "select")},
		},
		{"SELECT a FROM t WHERE k = ? AND c >= :Start LIMIT :\"N\"", &Select{
			From: cql.Name{Keyspace: "", Name: "t"}, Columns: columns("a"),
			Where: []Relation{
				equals("k", mark(0)),
				{Columns: []string{"c"}, Operator: ">=", Values: []Term{{Kind: Mark, Mark: 1, Text: "start"}}},
			},
			Limit: &Term{Kind: Mark, Mark: 2, Text: "N"},
		}},
		{"SELECT a FROM t ORDER BY c DESC, d ASC, e PER PARTITION LIMIT 2 LIMIT ? ALLOW FILTERING", &Select{
			From: cql.Name{Keyspace: "", Name: "t"}, Columns: columns("a"), OrderBy: []Order{
				{Column: "c", Descending: true},
				{Column: "d"},
				{Column: "e"},
			},
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
		{"a AS b", Selector{column("a"), "b"}},
		{"a[?]", Selector{Term: element(mark(0))}},
		{"a['x'] AS x", Selector{element(text("x")), "x"}},
		{"a.b", Selector{Term: field("a", "b")}},
		{"count(*)", Selector{Term: call(Call, "count", Term{Kind: All})}},
		{"COUNT(1) as n", Selector{call(Call, "count", Term{Kind: All}), "n"}},
		{"count(a)", Selector{Term: call(Call, "count", column("a"))}},
		{"count(?)", Selector{Term: call(Call, "count", mark(0))}},
		{"count()", Selector{Term: call(Call, "count")}},
		{"writetime(a)", Selector{Term: call(ColumnCall, "writetime", column("a"))}},
		{"WriteTime(a[1])", Selector{Term: call(ColumnCall, "writetime", element(number("1")))}},
		{"maxwritetime(a)", Selector{Term: call(ColumnCall, "maxwritetime", column("a"))}},
		{"ttl(a.f)", Selector{Term: call(ColumnCall, "ttl", field("a", "f"))}},
		{"token(a, b)", Selector{Term: call(Call, "token", column("a"), column("b"))}},
		{"CAST(a AS TEXT)", Selector{Term: call(Cast, "text", column("a"))}},
		{"toTimestamp(now())", Selector{Term: call(Call, "totimestamp", call(Call, "now"))}},
		{"system.now()", Selector{Term: call(Call, "now")}},
		{"ks.\"F\"(1, a)", Selector{Term: call(Call, "ks.F", number("1"), column("a"))}},
		{"'x'", Selector{Term: text("x")}},
		{"null", Selector{Term: Term{Kind: Null}}},
		{"min(cast(a as int))", Selector{Term: call(Call, "min", call(Cast, "int", column("a")))}},
	} {
		compare(t, []parsed{{"SELECT " + c.text + " FROM t", &Select{
			From:    cql.Name{Keyspace: "", Name: "t"},
			Columns: []Selector{c.want},
		}}})
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
		{"a IN :as", Relation{
			Columns: []string{"a"}, Operator: "IN", Values: []Term{{Kind: Mark, Text: "as"}},
			Marked: true,
		}},
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
		{"(a, b) IN (?, ?)", Relation{
			Columns: []string{"a", "b"}, Tuple: true, Operator: "IN",
			Values: []Term{mark(0), mark(1)},
		}},
		{"(a, b) IN ?", Relation{
			Columns: []string{"a", "b"}, Tuple: true, Operator: "IN", Values: []Term{mark(0)},
			Marked: true,
		}},
	} {
		compare(t, []parsed{{"SELECT * FROM t WHERE " + c.text, &Select{
			From:  cql.Name{Keyspace: "", Name: "t"},
			Where: []Relation{c.want},
		}}})
	}
}
