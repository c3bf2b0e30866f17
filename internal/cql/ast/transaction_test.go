package ast

import (
	"reflect"
	"strings"
	"testing"

	"github.com/denorm-go/denorm/internal/cql"
)

// first reads the first statement of a script.
func first(t *testing.T, text string) (Statement, Span, error) {
	t.Helper()
	s, err := NewScript(text)
	if err != nil {
		t.Fatal(err)
	}
	return s.Statement()
}

func reference(let string, column ...string) Term {
	return Term{Kind: Reference, Text: let, Fields: column}
}

// The forms that the parser of Cassandra 6.0-alpha2 takes, and, as all are of scripts only, the server in the process
// does not.
func TestTransaction(t *testing.T) {
	t.Parallel()
	table := cql.Name{Keyspace: "", Name: "t"}
	row := &Select{From: table, Columns: columns("a", "b"), Where: []Relation{equals("k", mark(0))}}
	insert := func(v Term) *Insert { return &Insert{Into: table, Columns: []string{"a"}, Values: []Term{v}} }
	const let = "LET o = (SELECT a, b FROM t WHERE k = ?); "
	for body, want := range map[string]Transaction{
		"INSERT INTO t (a) VALUES (1); DELETE FROM t WHERE k = 1;": {
			Statements: []Statement{insert(number("1")), &Delete{From: table, Where: []Relation{equals("k", number("1"))}}},
		},
		"SELECT * FROM t WHERE k = 1;": {
			Statements: []Statement{&Select{From: table, Where: []Relation{equals("k", number("1"))}}},
		},
		"LET o = (SELECT * FROM t WHERE k = 1 LIMIT ?); SELECT o.a, o.m['x'], o.f.g.h;": {
			Lets:       []string{"o"},
			Statements: []Statement{&Select{From: table, Where: []Relation{equals("k", number("1"))}, Limit: pointer(mark(0))}},
			References: []Term{reference("o", "a"), reference("o", "m"), reference("o", "f")},
		},
		let + "SELECT o.a; IF o IS NULL AND o.b IS NOT NULL AND o.a >= ? AND 'x' = o.b THEN INSERT INTO t (a) VALUES (?); " +
			"END IF": {
			Lets: []string{"o"}, Statements: []Statement{row, insert(mark(2))},
			References: []Term{
				reference("o", "a"), reference("o"), reference("o", "b"), reference("o", "a"),
				reference("o", "b"),
			},
		},
		// What is no reference stays what it is: p is a column, f a function, and c of the WHERE a column.
		let + "UPDATE t SET c = o.a, d += o.b, e[1] = o.a, p = p + 1, g = f(1) WHERE c = ?; INSERT INTO t (a) VALUES (o.b);": {
			Lets: []string{"o"},
			Statements: []Statement{row, &Update{Table: table, Set: []Assignment{
				{Target: Target{Column: "c"}, Value: reference("o", "a")},
				{Target: Target{Column: "d"}, Operator: Add, Value: reference("o", "b")},
				{Target: Target{Column: "e", Key: pointer(number("1"))}, Value: reference("o", "a")},
				{Target: Target{Column: "p"}, Operator: Add, Value: number("1")},
				{Target: Target{Column: "g"}, Value: call(Call, "f", number("1"))},
			}, Where: []Relation{equals("c", mark(1))}}, insert(reference("o", "b"))},
			References: []Term{reference("o", "a"), reference("o", "b"), reference("o", "a"), reference("o", "b")},
		},
		// The words of a transaction are names elsewhere.
		"LET let = (SELECT * FROM then WHERE k = 1); UPDATE commit SET transaction = let.end WHERE k = 1;": {
			Lets: []string{"let"},
			Statements: []Statement{
				&Select{From: cql.Name{Keyspace: "", Name: "then"}, Where: []Relation{equals("k", number("1"))}},
				&Update{
					Table: cql.Name{Keyspace: "", Name: "commit"},
					Set:   []Assignment{{Target: Target{Column: "transaction"}, Value: reference("let", "end")}},
					Where: []Relation{equals("k", number("1"))},
				},
			},
			References: []Term{reference("let", "end")},
		},
	} {
		text := "BEGIN TRANSACTION " + body + " COMMIT TRANSACTION"
		if _, err := Parse(text); err == nil || err.Error() != Unsupported+"BEGIN TRANSACTION" {
			t.Errorf("%s: Parse: %v", text, err)
		}
		statement, span, err := first(t, text+" -- batch\n; USE k")
		got, ok := statement.(*Transaction)
		if err != nil || !ok || text[span.From:span.To] != text {
			t.Errorf("%s: %#v at %v, %v", text, statement, span, err)
			continue
		}
		if want.Lets == nil {
			want.Lets = []string{}
		}
		places, spans := got.Places, got.Spans
		if got.Places, got.Spans = nil, nil; !reflect.DeepEqual(*got, want) {
			t.Errorf("%s:\n got %#v\nwant %#v", text, *got, want)
		}
		for i, r := range got.References {
			if !strings.HasPrefix(text[places[i].From:places[i].To], strings.Join(append([]string{r.Text}, r.Fields...), ".")) {
				t.Errorf("%s: %v at %v", text, r, places[i])
			}
		}
		for i, one := range got.Statements {
			part := text[spans[i].From:spans[i].To]
			if again, _, err := first(t, part); err == nil && reflect.TypeOf(again) != reflect.TypeOf(one) ||
				strings.HasSuffix(part, ";") {
				t.Errorf("%s: %q at %v, %v", text, part, spans[i], err)
			}
		}
	}
}

// Each is one error, with its line, and the statement behind it is read.
func TestTransactionErrors(t *testing.T) {
	t.Parallel()
	const let = "LET o = (SELECT a FROM t WHERE k = 1);\n"
	for body, want := range map[string]string{
		"COMMIT TRANSACTION":                                                                     `line 2: want INSERT, UPDATE or DELETE, not "COMMIT"`,
		let + "COMMIT TRANSACTION":                                                               `line 3: want INSERT, UPDATE or DELETE, not "COMMIT"`,
		"; DELETE FROM t WHERE k = 1; COMMIT TRANSACTION":                                        `line 2: want INSERT, UPDATE or DELETE, not ";"`,
		"DELETE FROM t WHERE k = 1\nCOMMIT TRANSACTION":                                          `line 3: want ";", not "COMMIT"`,
		"DELETE FROM t WHERE k = 1; SELECT * FROM t; COMMIT TRANSACTION":                         `line 2: want COMMIT TRANSACTION, not "SELECT"`,
		"DELETE FROM t WHERE k = 1; END IF COMMIT TRANSACTION":                                   `line 2: want COMMIT TRANSACTION, not "END"`,
		"DELETE FROM t WHERE k = 1; APPLY BATCH":                                                 `line 2: want COMMIT TRANSACTION, not "APPLY"`,
		"DELETE FROM t WHERE k = 1; COMMIT":                                                      `line 2: want TRANSACTION, not ";"`,
		"DELETE FROM t WHERE k = 1":                                                              `line 3: want COMMIT TRANSACTION, not "USE"`,
		"LET o = (SELECT a FROM t); SELECT o.a; COMMIT TRANSACTION":                              `line 2: want WHERE, not ")"`,
		"LET o = SELECT a FROM t WHERE k = 1; COMMIT TRANSACTION":                                `line 2: want "(", not "SELECT"`,
		"LET o = (SELECT a FROM t WHERE k = 1 ORDER BY a); COMMIT TRANSACTION":                   `line 2: want ")", not "ORDER"`,
		let + let + "SELECT o.a; COMMIT TRANSACTION":                                             `line 3: want a name that no other LET has, not "o"`,
		let + "SELECT o; COMMIT TRANSACTION":                                                     `line 3: want ".", not ";"`,
		let + "SELECT o.a; IF o IS NULL THEN END IF COMMIT TRANSACTION":                          `line 3: want INSERT, UPDATE or DELETE, not "END"`,
		"LET o = (SELECT a FROM t WHERE k = 1) SELECT o.a; COMMIT TRANSACTION":                   `line 2: want ";", not "SELECT"`,
		let + "SELECT p.a; COMMIT TRANSACTION":                                                   `line 3: want the name of a LET, not "p"`,
		let + "SELECT o.b; COMMIT TRANSACTION":                                                   `line 3: want a column that LET o reads, not "b"`,
		let + "SELECT o.a\nIF o.a = 1 THEN DELETE FROM t WHERE k = 1; END IF COMMIT TRANSACTION": `line 4: want ";", not "IF"`,
		let + "IF o.a = 1 DELETE FROM t WHERE k = 1; END IF COMMIT TRANSACTION":                  `line 3: want THEN, not "DELETE"`,
		let + "IF o.a = 1 OR o.a = 2 THEN DELETE FROM t WHERE k = 1; END IF COMMIT TRANSACTION":  `line 3: want THEN, not "OR"`,
		let + "IF o.a IN (1) THEN DELETE FROM t WHERE k = 1; END IF COMMIT TRANSACTION":          `line 3: want a comparison, not "IN"`,
		let + "IF 1 IS NULL THEN DELETE FROM t WHERE k = 1; END IF COMMIT TRANSACTION":           `line 3: want a comparison, not "IS"`,
		let + "IF o = 1 THEN DELETE FROM t WHERE k = 1; END IF COMMIT TRANSACTION":               `line 3: want IS, not "="`,
		let + "IF o.a = o.a THEN DELETE FROM t WHERE k = 1; END IF COMMIT TRANSACTION":           `line 3: want a value, not "o"`,
		let + "IF EXISTS THEN DELETE FROM t WHERE k = 1; END IF COMMIT TRANSACTION":              `line 3: want the name of a LET, not "EXISTS"`,
		let + "IF o IS NULL THEN END IF COMMIT TRANSACTION":                                      `line 3: want INSERT, UPDATE or DELETE, not "END"`,
		let + "IF o IS NULL THEN DELETE FROM t WHERE k = 1; COMMIT TRANSACTION":                  `line 3: want END IF, not "COMMIT"`,
		let + "IF o IS NULL THEN DELETE FROM t WHERE k = 1;\nEND IF; COMMIT TRANSACTION":         `line 4: want COMMIT TRANSACTION, not ";"`,
		let + "UPDATE t SET b = o WHERE k = 1; COMMIT TRANSACTION":                               `line 3: want ".", not "WHERE"`,
		let + "UPDATE t SET b = o.a + 1 WHERE k = 1; COMMIT TRANSACTION":                         `line 3: want WHERE, not "+"`,
		let + "UPDATE t SET b = [o.a] WHERE k = 1; COMMIT TRANSACTION":                           `line 3: want a value, not "o"`,
		let + "UPDATE t SET b = 1 WHERE k = o.a; COMMIT TRANSACTION":                             `line 3: want a value, not "o"`,
		let + "INSERT INTO t (a) VALUES (now(o.a)); COMMIT TRANSACTION":                          `line 3: want a value, not "o"`,
	} {
		s, err := NewScript("BEGIN TRANSACTION\n" + body + ";\nUSE k; UPDATE t SET a = o.a WHERE k = 1; USE l")
		if err != nil {
			t.Fatal(err)
		}
		if got, _, err := s.Statement(); err == nil || err.Error() != want {
			t.Errorf("%q: %#v, %v, want %s", body, got, err, want)
		}
		s.Next()
		if next, _, err := s.Statement(); err != nil || !reflect.DeepEqual(next, &Use{"k"}) {
			t.Errorf("%q: then %#v, %v", body, next, err)
		}
		s.Next()
		if next, _, err := s.Statement(); err == nil { // no reference outside of a transaction
			t.Errorf("%q: then %#v", body, next)
		}
	}
}

// The end of a transaction that cannot be read is that of COMMIT TRANSACTION, also where COMMIT is a name in it.
func TestTransactionIsSkipped(t *testing.T) {
	t.Parallel()
	s, err := NewScript("BEGIN TRANSACTION; UPDATE t SET commit = 1 WHERE k = 1; COMMIT TRANSACTION; SELECT a FROM t")
	if err != nil {
		t.Fatal(err)
	}
	if got, _, err := s.Statement(); err == nil {
		t.Errorf("%#v", got)
	}
	if first, _, _ := s.Next(); first != "select" {
		t.Errorf("then %s", first)
	}
}

// A statement of a transaction is read, and can be prepared, on its own.
func TestBound(t *testing.T) {
	t.Parallel()
	const none = "UPDATE t SET a = o.a"
	for text, want := range map[string]string{
		"UPDATE t SET a = o.a, b += o.m['x'], c = ? WHERE k = ?": "UPDATE t SET a = ?, b += ?, c = ? WHERE k = ?",
		"INSERT INTO t (a, b) VALUES (o.a, p.f.g)":               "INSERT INTO t (a, b) VALUES (?, ?)",
		"SELECT a FROM t WHERE k = 1":                            "SELECT a FROM t WHERE k = 1",
		none:                                                     none,
	} {
		if got := Bound(text); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
		if statement := First(text); (statement == nil) != (text == none) {
			t.Errorf("%s: %#v", text, statement)
		}
	}
}
