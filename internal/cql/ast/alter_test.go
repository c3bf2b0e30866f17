package ast_test

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/denorm-go/denorm/internal/cql"
	"github.com/denorm-go/denorm/internal/cql/ast"
)

func native(name string) *cql.Type { return &cql.Type{Name: name} }

func named(keyspace, name string) cql.Name { return cql.Name{Keyspace: keyspace, Name: name} }

func TestParseSchema(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text string
		want ast.Statement
	}{
		{"ALTER KEYSPACE IF EXISTS ks WITH durable_writes = 'true'", &ast.CreateKeyspace{
			Keyspace: "ks", IfNotExists: true, Alter: true, Durable: true,
		}},
		{
			"ALTER TABLE t ADD a int",
			&ast.AlterTable{Table: named("", "t"), Add: []ast.ColumnDefinition{{Name: "a", Type: native("int")}}},
		},
		{"ALTER TABLE IF EXISTS ks.t ADD IF NOT EXISTS (a int static, b set<text>)", &ast.AlterTable{
			Table: named("ks", "t"), IfExists: true, IfNotExists: true,
			Add: []ast.ColumnDefinition{
				{Name: "a", Type: native("int"), Static: true},
				{Name: "b", Type: &cql.Type{Kind: cql.Collection, Name: "set", Args: []*cql.Type{native("text")}}},
			},
		}},
		{"ALTER TABLE t DROP compact", &ast.AlterTable{Table: named("", "t"), Drop: []string{"compact"}}},
		{
			"ALTER TABLE t DROP IF EXISTS (a, b)",
			&ast.AlterTable{Table: named("", "t"), Drop: []string{"a", "b"}, IfNotExists: true},
		},
		{
			"ALTER TABLE t RENAME a TO b AND c TO d",
			&ast.AlterTable{Table: named("", "t"), Rename: [][2]string{{"a", "b"}, {"c", "d"}}},
		},
		{
			"ALTER TABLE t RENAME IF EXISTS a TO b",
			&ast.AlterTable{Table: named("", "t"), Rename: [][2]string{{"a", "b"}}, IfNotExists: true},
		},
		{"ALTER TABLE t WITH comment = '' AND default_time_to_live = 5", &ast.AlterTable{
			Table: named("", "t"),
			Options: []ast.Option{
				{Name: "comment", Kind: ast.String}, {Name: "default_time_to_live", Kind: ast.Integer, Text: "5"},
			},
		}},
		{"ALTER MATERIALIZED VIEW IF EXISTS ks.v WITH comment = ''", &ast.AlterTable{
			Table: named("ks", "v"), View: true, IfExists: true, Options: []ast.Option{{Name: "comment", Kind: ast.String}},
		}},
		{"ALTER TYPE IF EXISTS u ADD IF NOT EXISTS a int", &ast.CreateType{
			Type: named("", "u"), Alter: true, IfExists: true, IfNotExists: true,
			Fields: []ast.ColumnDefinition{{Name: "a", Type: native("int")}},
		}},
		{"DROP KEYSPACE IF EXISTS ks", &ast.Drop{What: "KEYSPACE", Name: named("", "ks"), IfExists: true}},
		{"DROP TABLE ks.t", &ast.Drop{What: "TABLE", Name: named("ks", "t")}},
		{"DROP TYPE IF EXISTS u", &ast.Drop{What: "TYPE", Name: named("", "u"), IfExists: true}},
		{"DROP INDEX ks.i", &ast.Drop{What: "INDEX", Name: named("ks", "i")}},
		{"DROP MATERIALIZED VIEW v", &ast.Drop{What: "MATERIALIZED VIEW", Name: named("", "v")}},
	} {
		if got, err := ast.Parse(c.text); err != nil || !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s:\n got %#v, %v\nwant %#v", c.text, got, err, c.want)
		}
	}
}

func TestParseSchemaErrors(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"ALTER TABLE t", "ALTER MATERIALIZED VIEW v", "ALTER MATERIALIZED VIEW v ADD a int", "ALTER TABLE t ADD a",
		"ALTER TABLE t DROP",
		"ALTER TABLE t RENAME a b", "ALTER TYPE t ADD (a int)",
		"DROP", "DROP t", "DROP TABLE IF NOT EXISTS t", "DROP TYPE text",
	} {
		s, err := ast.Parse(text)
		if syntax := new(*ast.SyntaxError); !errors.As(err, syntax) {
			t.Errorf("%s: %#v, %v", text, s, err)
		}
	}
	for _, c := range []struct{ text, want string }{
		{"ALTER TABLE t ALTER a TYPE text", ast.Unsupported + "ALTER TABLE ... ALTER"},
		{"ALTER TABLE t DROP a USING TIMESTAMP 1", ast.Unsupported + "DROP of a column USING TIMESTAMP"},
		{"ALTER TABLE t DROP COMPACT STORAGE", ast.Unsupported + "DROP COMPACT STORAGE"},
		{"ALTER TYPE t RENAME a TO b", ast.Unsupported + "ALTER TYPE ... RENAME"},
		{"ALTER TYPE t ALTER a TYPE text", ast.Unsupported + "ALTER TYPE ... ALTER"},
		{"DROP ROLE r", ast.Unsupported + "DROP ROLE"},
	} {
		s, err := ast.Parse(c.text)
		if invalid := new(*ast.InvalidError); !errors.As(err, invalid) || err.Error() != c.want {
			t.Errorf("%s: %#v, %v, want %s", c.text, s, err, c.want)
		}
	}
}

// The schemas of the library's own tests, and the migrations it writes.
func TestParseScripts(t *testing.T) {
	t.Parallel()
	read := 0
	for _, pattern := range []string{"*.cql", "systems/*.cql", "migration.golden"} {
		names, err := filepath.Glob("../../../schema/testdata/" + pattern)
		if err != nil || len(names) == 0 {
			t.Fatalf("%s: %v, %v", pattern, names, err)
		}
		for _, name := range names {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			script, err := ast.NewScript(string(text))
			if err != nil {
				t.Fatal(err)
			}
			for _, _, more := script.Next(); more; _, _, more = script.Next() {
				span := script.PassOver()
				_, err := ast.Parse(string(text[span.From:span.To]))
				if err != nil && err.Error() == ast.Unsupported+"ALTER TYPE ... RENAME" {
					continue
				}
				if err != nil {
					t.Errorf("%s: %v", text[span.From:span.To], err)
				}
				read++
			}
		}
	}
	if read < 50 {
		t.Errorf("only %d statements", read)
	}
}

// Whatever the text: no panic, an end, and either a statement or an error.
func FuzzParseSchema(f *testing.F) {
	for _, seed := range []string{
		"ALTER TABLE t ADD (a int, b text)", "ALTER TABLE t RENAME a TO b AND c TO d", "ALTER TYPE u ADD b text",
		"ALTER KEYSPACE k WITH durable_writes = false", "DROP TABLE IF EXISTS /* x */ t // y\n;",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if s, err := ast.Parse(text); (s == nil) == (err == nil) {
			t.Errorf("%#v and %v", s, err)
		}
	})
}
