package ast

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/denorm-go/denorm/internal/cql"
)

// statements reads all of a script, each statement with its line and its text.
func statements(text string) (found []string, err error) {
	s, err := NewScript(text)
	if err != nil {
		return nil, err
	}
	for {
		first, at, more := s.Next()
		if !more {
			return found, nil
		}
		stmt, span, err := s.Statement()
		if err != nil {
			return found, err
		}
		if span.From != at {
			return found, fmt.Errorf("%v is not at %d", span, at)
		}
		found = append(found, fmt.Sprintf("%d %s %T %s", s.Line(at), first, stmt, s.Text(span)))
		if b, ok := stmt.(*Batch); ok {
			for _, span := range b.Spans {
				found = append(found, fmt.Sprintf("%d %s", s.Line(span.From), s.Text(span)))
			}
		}
	}
}

func TestScript(t *testing.T) {
	t.Parallel()
	found, err := statements("; USE k;;\nSELECT a -- it's\n FROM\tt/* x */WHERE  b = 'c  d';\nBEGIN BATCH\nDELETE FROM " +
		"t WHERE a = 1;\n" +
		"INSERT INTO t (a) VALUES (1) APPLY BATCH; -- end")
	want := []string{
		"1 use *ast.Use USE k", "2 select *ast.Select SELECT a FROM t WHERE b = 'c  d'",
		"4 begin *ast.Batch BEGIN BATCH DELETE FROM t WHERE a = 1; INSERT INTO t (a) VALUES (1) APPLY BATCH",
		"5 DELETE FROM t WHERE a = 1", "6 INSERT INTO t (a) VALUES (1)",
	}
	if err != nil || !reflect.DeepEqual(found, want) {
		t.Errorf("%v\n got %q\nwant %q", err, found, want)
	}
}

func TestComments(t *testing.T) {
	t.Parallel()
	s, err := NewScript("-- a\nUSE /* b\n*/ k; // c\r/**/ -- ")
	want := []Comment{
		{Text: " a", Block: false, At: 0},
		{Text: " b\n", Block: true, At: 9},
		{Text: " c", Block: false, At: 20},
		{Text: "", Block: true, At: 25},
		{Text: " ", Block: false, At: 30},
	}
	if err != nil || !reflect.DeepEqual(s.Comments, want) {
		t.Errorf("%v, got %+v, want %+v", err, s.Comments, want)
	}
}

func TestFind(t *testing.T) {
	t.Parallel()
	const text = "USE a; DELETE a, \"a\", 'a' FROM t WHERE A = 1"
	s, err := NewScript(text)
	if err != nil {
		t.Fatal(err)
	}
	span := Span{strings.Index(text, "DELETE"), len(text)}
	for n, want := range map[int]string{0: "a,", 1: "\"a\"", 2: "A =", 7: "A =", -1: "A ="} {
		if at := s.Find(span, "a", n); !strings.HasPrefix(text[at:], want) {
			t.Errorf("%d: %q, want %q", n, text[at:], want)
		}
	}
	if at := s.Find(span, "b", 0); at != span.From {
		t.Errorf("what is not there is at %d", at)
	}
}

func selects(terms ...Term) *Select {
	s := &Select{From: cql.Name{Keyspace: "", Name: "t"}}
	for _, t := range terms {
		s.Columns = append(s.Columns, Selector{Term: t})
	}
	return s
}

// What a script reads and Parse does not, with the columns in it.
func TestOnlyInScripts(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]Statement{
		"SELECT JSON a FROM t": &Select{From: cql.Name{Keyspace: "", Name: "t"}, Columns: columns("a")},
		"SELECT a FROM t GROUP BY a, floor(b, 1h) LIMIT 1": &Select{
			From: cql.Name{Keyspace: "", Name: "t"}, Columns: columns("a"), Limit: pointer(number("1")),
			GroupBy: []Term{column("a"), call(Call, "floor", column("b"), Term{Kind: Duration, Text: "1h"})},
		},
		"SELECT a FROM t ORDER BY v ANN OF [1] LIMIT 1": &Select{
			From: cql.Name{Keyspace: "", Name: "t"}, Columns: columns("a"), OrderBy: []Order{{Column: "v", Near: true}},
			Limit: pointer(number("1")),
		},
		"SELECT -a + 1 FROM t": selects(call(Arithmetic, "", column("a"), number("1"))),
		"SELECT [a, b], {a}, {a: b}, {1: b}, {f: a}, (a), (int) a, (set<int>) a AS b FROM t": &Select{
			From: cql.Name{Keyspace: "", Name: "t"}, Columns: []Selector{
				{Term: call(List, "", column("a"), column("b"))},
				{Term: call(Set, "", column("a"))},
				{Term: Term{Kind: User, Elems: []Term{column("b")}, Fields: []string{"a"}}},
				{Term: call(Map, "", number("1"), column("b"))},
				{Term: Term{Kind: User, Elems: []Term{column("a")}, Fields: []string{"f"}}},
				{Term: call(Tuple, "", column("a"))},
				{Term: call(Cast, "int", column("a"))},
				{Term: call(Cast, "set<int>", column("a")), As: "b"},
			},
		},
		"SELECT (u) a, (k.u) ?, (u) FROM t": selects(
			call(Cast, "u", column("a")), call(Cast, "k.u", mark(0)), call(Tuple, "", column("u")),
		),
		"SELECT (int), (int, text) FROM t": selects(call(Tuple, "", column("int")),
			call(Tuple, "", column("int"), column("text"))),
		"SELECT a.b.c, f(a).b[1], a[1..2], a[..2], a[1..] FROM t": selects(
			field("a", "b"), call(Call, "f", column("a")), element(number("1")), element(Term{}), element(number("1")),
		),
		"SELECT * FROM t WHERE expr(i, 'x') AND a = -? * 2 + CAST(1 AS text) % 3": &Select{From: cql.Name{
			Keyspace: "",
			Name:     "t",
		}, Where: []Relation{
			{Operator: "EXPR"},
			equals("a", call(Arithmetic, "", mark(0), number("2"), call(Cast, "text", number("1")), number("3"))),
		}},
		"INSERT INTO t JSON ? DEFAULT UNSET IF NOT EXISTS": &Insert{
			Into:        cql.Name{Keyspace: "", Name: "t"},
			IfNotExists: true,
		},
		"INSERT INTO t JSON '{}' USING TTL 1": &Insert{
			Into:  cql.Name{Keyspace: "", Name: "t"},
			Using: Using{TTL: pointer(number("1"))},
		},
	} {
		if _, err := Parse(text); err == nil || !strings.HasPrefix(err.Error(), Unsupported) {
			t.Errorf("%s: Parse: %v", text, err)
		}
		s, err := NewScript(text)
		if err != nil {
			t.Fatal(err)
		}
		if got, _, err := s.Statement(); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %v\n got %#v\nwant %#v", text, err, got, want)
		}
	}
}

func TestScriptErrors(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"USE a USE b":                           `line 1: want ";", not "USE"`,
		"USE a;\nUSE":                           "line 2: want a name before the end of the text",
		"\nSELECT 'it' 'is' FROM t":             `line 2: want FROM, not a string`,
		"SELECT a\nFROM order":                  `line 2: want a name, and a reserved word only in double quotes, not "order"`,
		"SELECT a FROM t WHERE b = c":           `line 1: want a value, not "c"`,
		"SELECT a FROM t WHERE b ~ 1":           `line 1: unexpected '~'`,
		"SELECT a FROM t WHERE b\n:1":           `line 2: want a comparison, not ":"`,
		"1":                                     `line 1: want a statement, not "1"`,
		"USE 'a":                                "line 1: ' without its end",
		"USE /* a\n":                            "line 1: a comment without end",
		"USE $$a":                               "line 1: text without end",
		"CREATE FUNCTION f()":                   "line 1: CREATE FUNCTION is not understood here",
		"CREATE VIEW v":                         `line 1: want what to CREATE, not "VIEW"`,
		"CREATE TABLE t (a list)":               "line 1: list needs type arguments, as in list<text>",
		"CREATE TABLE t (a int PRIMARY KEY) b":  `line 1: want ";", not "b"`,
		"CREATE TABLE t (a 1)":                  `line 1: want a type, not "1"`,
		"CREATE TABLE t (a int MASKED WITH x)":  `line 1: want DEFAULT or a function, not "x"`,
		"CREATE TABLE t (a int) WITH\n a = b":   `line 2: want a literal, not "b"`,
		"CREATE KEYSPACE k WITH r = {'a': 1":    `line 1: want "}" before the end of the text`,
		"INSERT INTO t (a, b) VALUES (1)":       "line 1: Unmatched column names/values",
		"INSERT INTO t JSON now()":              `line 1: want a string or a mark, not "now"`,
		"SELECT a FROM t WHERE expr(k.i, 'x')":  `line 1: want ",", not "."`,
		"SELECT a FROM t WHERE b BETWEEN 1":     `line 1: want a comparison, not "BETWEEN"`,
		"BEGIN LOGGED BATCH APPLY BATCH":        `line 1: want BATCH, not "LOGGED"`,
		"BEGIN BATCH SELECT a FROM t":           `line 1: want APPLY BATCH, not "SELECT"`,
		"UPDATE t SET a = 1 WHERE b = 1 IF a 1": `line 1: want a comparison, not "1"`,
	} {
		if _, err := statements(text); err == nil || err.Error() != want {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

func TestParseType(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"VarChar":                             "text",
		"map<text,frozen<list<set<INT>>>>":    "map<text, frozen<list<frozen<set<int>>>>>",
		"tuple<int, list<k.u>>":               "frozen<tuple<int, frozen<list<frozen<u>>>>>",
		`frozen<"Address">`:                   `frozen<"Address">`,
		"vector< float , 3 >":                 "vector<float, 3>",
		"frozen<frozen<set<uuid>>>":           "frozen<set<uuid>>",
		"'org.apache.X'":                      "'org.apache.X'",
		"list<frozen<tuple<int, \"A\"\"\">>>": "list<frozen<tuple<int, frozen<\"A\"\"\">>>>",
	} {
		typ, err := cql.ParseType(in)
		if err != nil {
			t.Errorf("%s: %v", in, err)
			continue
		}
		if got := Canonical(typ).String(); got != want {
			t.Errorf("%s: %s, want %s", in, got, want)
		}
		if again, err := cql.ParseType(typ.String()); err != nil || !reflect.DeepEqual(again, typ) {
			t.Errorf("%s: read again from %s: %+v, %v", in, typ, again, err)
		}
	}
	typ, err := cql.ParseType("frozen<map<int, frozen<list<u>>>>")
	if err != nil || Thawed(typ).String() != "map<int, list<u>>" ||
		!reflect.DeepEqual(Users(typ), []string{"u"}) || MultiCell(typ) || !MultiCell(Thawed(typ)) {
		t.Errorf("%v, %s", err, typ)
	}
	for in, want := range map[string]string{
		"u{a int}": `unexpected "{"`, "int;": `unexpected ";"`,
		"map<int>":         "map takes 2 type arguments, as in map<text, int>, not 1",
		"vector<int, int>": `want the dimension of a vector, not "int"`, "int #": "unexpected '#'",
	} {
		if typ, err := cql.ParseType(in); err == nil || err.Error() != want {
			t.Errorf("%s: %v, %v, want %s", in, typ, err, want)
		}
	}
}

func TestQuote(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"a", "A", `a"b`, "", "order", "true", `"`} {
		if quoted := cql.Quote(name); quoted == name && !cql.IsColumn(name) || quoted != name && Unquote(quoted) != name {
			t.Errorf("%s is quoted %s", name, quoted)
		}
	}
	for _, s := range []string{"", `"`, "'", "a", `"a'`, `"a"b"`, `'''`, `""`} {
		if got := Unquote(s); got != "" {
			t.Errorf("%s: %s", s, got)
		}
	}
	if got := Unquote("'it''s'"); got != "it's" {
		t.Error(got)
	}
}

// FuzzScript: what Parse reads, a script reads as the same statement.
func FuzzScript(f *testing.F) {
	for _, seed := range []string{
		"SELECT a, (int) b, [c], {d: e}, f(g)[1..2].h FROM t GROUP BY i ORDER BY j ANN OF ? LIMIT 1",
		"INSERT INTO t JSON ? DEFAULT NULL",
		"BEGIN BATCH DELETE FROM t WHERE a = -? + 1; APPLY BATCH -- x",
		"CREATE TABLE t (a list<int>, PRIMARY KEY (a)) WITH b = {'c': 1};",
		"CREATE MATERIALIZED VIEW v AS SELECT * FROM t WHERE a IS NOT NULL PRIMARY KEY (a)", "USE a; USE b",
		"CREATE TABLE a (a list)",
		"BEGIN TRANSACTION LET o = (SELECT a FROM t WHERE k = ? LIMIT 1); SELECT o.a; IF o.a = 1 AND o IS NOT NULL THEN " +
			"UPDATE t SET b = o.a, c += o.d[1]" +
			" WHERE k = 1; END IF COMMIT TRANSACTION -- batch",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		want, err := Parse(text)
		found, all := statements(text)
		if all != nil && strings.Contains(all.Error(), " needs type arguments") {
			return // Parse takes list for a user-defined type of that name, as Cassandra does
		}
		if err == nil && (all != nil || len(found) == 0) {
			t.Fatalf("read as %#v, and as %q, %v", want, found, all)
		}
		if all != nil && !strings.HasPrefix(all.Error(), "line ") {
			t.Error(all)
		}
		if clause, err := Clause(text); err == nil {
			if again, err := Clause(clause); err != nil || again != clause {
				t.Errorf("%q, again %q, %v", clause, again, err)
			}
		}
	})
}

// A clause that a server says is passed on only if it cannot be more than a clause.
func TestClause(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"a IS NOT NULL /* x */  AND b > 'it''s'": "a IS NOT NULL AND b > 'it''s'",
		"a = 1; DROP TABLE t":                    "", "a = 'x": "", `a = "x`: "", "a = 1 /* x": "", "a = $$x": "",
		"a = ~": "", "a = \x00": "",
	} {
		if got, err := Clause(text); got != want || (err != nil) != (want == "") {
			t.Errorf("%q: %q, %v", text, got, err)
		}
	}
}
