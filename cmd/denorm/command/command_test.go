package command_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/denorm-go/denorm/cmd/denorm/command"
	"github.com/denorm-go/denorm/internal/testutil/golden"
	"github.com/denorm-go/denorm/schema"
	"github.com/denorm-go/denorm/tables"
)

// run runs the command and returns what it wrote and the exit code.
func run(t *testing.T, options []command.Option, args ...string) (out string, code int, err error) {
	t.Helper()
	var b bytes.Buffer
	c := command.New(options...)
	c.SetOut(&b)
	c.SetErr(&b)
	c.SetArgs(args)
	err = c.ExecuteContext(t.Context())
	return b.String(), command.ExitCode(err), err
}

const (
	shop  = "testdata/shop.cql"  // an error, a warning, and one that is accepted
	clean = "testdata/clean.cql" // nothing

	queries = "testdata/queries.cql" // of unknown tables and columns, and no table
)

func TestLintFormats(t *testing.T) {
	t.Parallel()
	for _, format := range []string{"text", "json", "sarif"} {
		out, code, _ := run(t, nil, "lint", "--format", format, shop)
		if code != command.ExitFound {
			t.Errorf("%s: exit code %d, want %d", format, code, command.ExitFound)
		}
		golden.Check(t, "shop."+format, out)
		if strings.Contains(out, "\x1b") {
			t.Errorf("%s: colours, and this is no terminal", format)
		}
	}
}

// SARIF names a file by a URI, in which some signs of a path are escaped.
func TestLintSARIFOfAnyFile(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(shop)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "shop #1 100%.cql")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	whole, err := filepath.Abs(shop)
	if err != nil {
		t.Fatal(err)
	}
	if out, _, _ := run(t, nil, "lint", "--format", "sarif", whole); !strings.Contains(out, `"uri": "`+shop+`"`) {
		t.Error("a file below the folder that the command runs in is named with its whole path")
	}
	if out, _, _ := run(t, nil, "lint", "--format", "sarif", file); !regexp.MustCompile(`"uri": "file:///.*/shop%20%231%20100%25\.cql"`).MatchString(out) {
		t.Error(out)
	}
}

// Files and folders of migrations are one schema, in their order.
func TestLintMigrations(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	for name, text := range map[string]string{
		"V1__users.cql":   "CREATE TABLE users (user_id uuid PRIMARY KEY, name text);",
		"V9__email.cql":   "ALTER TABLE users ADD email text;",
		"V10__query.cql":  "ALTER TABLE users RENAME user_id TO id; SELECT email FROM users WHERE id = ?;",
		"V11__broken.cql": "SELECT mail FROM users WHERE id = ?;",
		"readme.md":       "no CQL",
	} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	out, code, err := run(t, nil, "lint", folder)
	if code != command.ExitFound || strings.Count(out, "error") != 2 || !strings.Contains(out, "V11__broken.cql:1: error DN507 users unknown-column") {
		t.Errorf("exit code %d, %v\n%s", code, err, out)
	}
	if _, code, err := run(t, nil, "lint", t.TempDir()); code != command.ExitError || err == nil || !strings.Contains(err.Error(), "no file whose name ends with .cql") {
		t.Errorf("an empty folder: exit code %d, %v", code, err)
	}
	out, code, err = run(t, nil, "lint", filepath.Join(folder, "V9__email.cql"), filepath.Join(folder, "V1__users.cql"))
	if code != 0 || !strings.Contains(out, "V9__email.cql:1: warning DN508") {
		t.Errorf("the other way round: exit code %d, %v\n%s", code, err, out)
	}
}

// Where a query names what the schema does not have, the report says at which line, and what may be meant.
func TestUnknownNames(t *testing.T) {
	t.Parallel()
	for format, want := range map[string]string{
		"text": queries + ":2: error DN506 orders_by_usr unknown-table\n" +
			"    a query of a table that the schema does not have: did you mean orders_by_user?\n" +
			"    query: SELECT * FROM orders_by_usr WHERE user_id = ?\n" +
			"    fix: correct the name, or review the query with the file that creates the table\n",
		"json": `"column": "stauts",
      "query": "SELECT stauts FROM orders_by_user WHERE user_id = ?",
      "reason": "a query names a column stauts, which the table does not have: did you mean status?",
      "fix": "correct the name, or add the column to the table",
      "file": "testdata/queries.cql",
      "line": 3`,
		"sarif": `"text": "orders_by_usr: a query of a table that the schema does not have: did you mean orders_by_user? Fix: correct the name, `,
	} {
		if out, code, _ := run(t, nil, "lint", "--ignore", "DN101", "--format", format, shop, queries); code != 1 || !strings.Contains(out, want) {
			t.Errorf("%s: exit code %d\n%s\nwant\n%s", format, code, out, want)
		}
	}
}

func TestJSON(t *testing.T) {
	t.Parallel()
	out, _, _ := run(t, nil, "lint", "--format", "json", clean)
	var report struct {
		Findings []map[string]any
		Counts   map[string]int
	}
	if err := json.Unmarshal([]byte(out), &report); err != nil {
		t.Fatal(err)
	}
	if report.Findings == nil || len(report.Findings) != 0 || report.Counts["errors"] != 0 {
		t.Errorf("%s", out)
	}
}

func TestExitCodes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		args string
		code int
		says string
	}{
		{"lint " + clean, 0, ""},
		{"lint " + shop, 1, ""},
		{"lint --fail-on never " + shop, 0, ""},
		{"lint --ignore DN101 " + shop, 0, ""},
		{"lint --ignore DN101 --fail-on warning " + shop, 1, ""},
		{"lint --ignore DN101,DN104,DN519 --fail-on note " + shop, 0, ""},
		{"lint --ignore DN101,DN999 " + shop, 2, `--ignore: no lint rule has the code "DN999"; the rules are DN001, DN101, `},
		{"lint", 2, "name a CQL file, or a cluster with --hosts"},
		{"lint --format xml " + shop, 2, `unknown --format "xml": text, json or sarif`},
		{"lint --fail-on sometimes " + shop, 2, `unknown --fail-on "sometimes"`},
		{"lint testdata/nothing.cql", 2, "no such file"},
		{"lint testdata/broken.cql", 0, ""},
		{"lint --fail-on warning testdata/broken.cql", 1, ""},
		{"ddl testdata/broken.cql", 2, "testdata/broken.cql: line 2: DROP TABLE b: the text does not create it before"},
		{"lint --timeout 100ms --hosts 127.0.0.1:1 " + shop, 2, "connect to [127.0.0.1:1]"},
		{"ddl --migrate " + shop, 2, "--migrate needs a cluster"},
		{"lint --tls-cert a.pem " + clean, 2, "--tls-cert needs --hosts"},
		{"ddl --username shop " + shop, 2, "--username needs --hosts"},
		{"diagram --keyspace a,b " + shop, 2, "several keyspaces need --hosts"},
		{"lint --keyspace shop " + clean, 0, ""},
		{"lint " + queries, 2, "no table in " + queries + ": name a CQL file with CREATE TABLE, or a cluster with --hosts"},
		{"lint " + os.DevNull, 2, "no table in " + os.DevNull},
		{"diagram testdata/runs", 2, "folder testdata/runs has no file whose name ends with .cql"},
		{"diagram " + queries, 2, "no table in " + queries},
		{"ddl " + queries, 2, "nothing is created in " + queries},
		{"ddl --hosts 127.0.0.1:1 --migrate " + queries, 2, "nothing is created in " + queries},
		{"lint --ignore DN101 " + shop + " " + queries, 1, ""},
		{"lint --ignore DN101,DN506,DN507 " + shop + " " + queries, 0, ""},
		{"lint --timeout 5s " + clean, 2, "--timeout needs --hosts"},
		{"lint --sizes " + clean, 2, "--sizes needs --hosts"},
		{"lint --sizes=false " + clean, 2, "--sizes needs --hosts"},
		{"lint --hosts= " + clean, 2, "--hosts is empty"},
		{"lint --keyspace= " + clean, 2, "--keyspace is empty"},
		{"lint --hosts 127.0.0.1:1 --tls-ca= " + clean, 2, "--tls-ca is empty"},
		{"lint --ignore= " + clean, 0, ""},
		{"lint --keyspace store testdata/qualified.cql", 2, "--keyspace is for tables that name no keyspace, and all of them name another"},
		{"lint --keyspace shop testdata/altered.cql", 0, ""},
		{"ddl --migrate --hosts 127.0.0.1:1 --keyspace shop_staging testdata/qualified.cql", 2, "--keyspace is for tables that name no keyspace, and all of them name another"},
		{"ddl --hosts 127.0.0.1:1 " + clean, 2, "leave out the files, or add --migrate"},
		{"ddl --hosts 127.0.0.1:1 --keyspace a,b --migrate " + clean, 2, "--migrate compares what is declared"},
		{"ddl --hosts 127.0.0.1:1 --plaintext-credentials", 2, "--plaintext-credentials is for --username without TLS"},
		{"ddl --hosts 127.0.0.1:1 --plaintext-credentials --username a --tls", 2, "--plaintext-credentials is for --username without TLS"},
		{"ddl " + shop, 0, ""},
		{"diagram " + shop, 0, ""},
		{"nonsense", 2, "unknown command"},
	} {
		_, code, err := run(t, nil, strings.Fields(c.args)...)
		if code != c.code {
			t.Errorf("denorm %s: exit code %d, want %d: %v", c.args, code, c.code, err)
		}
		if c.says != "" && (err == nil || !strings.Contains(err.Error(), c.says)) {
			t.Errorf("denorm %s: %v, want %s", c.args, err, c.says)
		}
	}
	if command.ExitCode(errors.New("x")) != command.ExitError {
		t.Error("any other error is one")
	}
}

func TestDDLAndDiagram(t *testing.T) {
	t.Parallel()
	for name, args := range map[string][]string{
		"shop.ddl": {"ddl", shop}, "shop.svg": {"diagram", shop},
	} {
		out, _, err := run(t, nil, args...)
		if err != nil {
			t.Fatal(err)
		}
		golden.Check(t, name, out)
	}
	out, _, _ := run(t, nil, "ddl", shop)
	if _, err := schema.Parse("ddl", out); err != nil {
		t.Errorf("the DDL is not read back: %v", err)
	}
}

// In a binary of one's own the declared tables need no file.
func TestMounted(t *testing.T) {
	t.Parallel()
	declared := schema.Must(schema.Declare(schema.CQL(`CREATE TABLE jobs (state text, id uuid, PRIMARY KEY (state, id))`)))
	options := []command.Option{command.Declared(declared)}
	if out, code, _ := run(t, options, "lint"); code != command.ExitFound || !strings.Contains(out, "DN101 jobs") {
		t.Errorf("exit code %d:\n%s", code, out)
	}
	if out, code, _ := run(t, options, "ddl", "--keyspace", "work"); code != 0 || !strings.HasPrefix(out, "CREATE TABLE work.jobs (") {
		t.Errorf("exit code %d:\n%s", code, out)
	}
	if out, _, _ := run(t, options, "lint", clean); !strings.Contains(out, "DN101 jobs") {
		t.Errorf("a file is reviewed with what is declared, not instead:\n%s", out)
	}
	declared = schema.Must(schema.Declare(schema.CQL(`CREATE TABLE jobs (state text, id uuid, PRIMARY KEY (state, id))`),
		schema.Accept("DN101", "jobs", "a dozen a day")))
	if out, code, _ := run(t, []command.Option{command.Declared(declared)}, "lint"); code != 0 || !strings.Contains(out, "1 suppressed") {
		t.Errorf("exit code %d:\n%s", code, out)
	}
}

// A file may have more of a declared table than its set, and less of it. Neither is an unknown column.
func TestMountedWithFiles(t *testing.T) {
	t.Parallel()
	declared := schema.Must(schema.Declare(schema.CQL(`CREATE TABLE jobs (id uuid PRIMARY KEY, note text, updated_at bigint);
		SELECT updated_at FROM jobs WHERE id = ?`)))
	options := []command.Option{command.Declared(declared)}
	file := filepath.Join(t.TempDir(), "work.cql")
	if err := os.WriteFile(file, []byte("CREATE TABLE jobs (id uuid PRIMARY KEY, note text, title text);\n"+
		"SELECT title FROM jobs WHERE id = ?;\nSELECT titel FROM jobs WHERE id = ?;\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, flags := range [][]string{nil, {"--keyspace", "work"}} {
		out, code, err := run(t, options, append([]string{"lint", file}, flags...)...)
		unknown := strings.Count(out, "DN507")
		if code != command.ExitFound || unknown != 1 || !strings.Contains(out, "titel, which the table does not have: did you mean title?") {
			t.Errorf("%v: exit code %d, %v, %d unknown columns:\n%s", flags, code, err, unknown, out)
		}
	}
}

// The key of a table is the one of its file, also where the set that declares the table has more columns in the key.
func TestMountedWithAnotherKey(t *testing.T) {
	t.Parallel()
	declared := schema.Must(schema.Declare(schema.CQL(
		`CREATE TABLE jobs (tenant text, day text, id uuid, note text, PRIMARY KEY (tenant, day, id))`)))
	file := filepath.Join(t.TempDir(), "work.cql")
	if err := os.WriteFile(file, []byte("CREATE TABLE jobs (id uuid PRIMARY KEY, note text);\n"+
		"SELECT note FROM jobs WHERE id = ?;\nSELECT tenant, day FROM jobs WHERE id = ?;\nUPDATE jobs SET note = ? WHERE id = ?;\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	out, code, err := run(t, []command.Option{command.Declared(declared)}, "lint", file)
	if code != command.ExitFine || err != nil || strings.Contains(out, "work.cql") {
		t.Errorf("exit code %d, %v:\n%s", code, err, out)
	}
}

// In a binary that declares tables, init says that it leaves them out.
func TestMountedInit(t *testing.T) {
	t.Parallel()
	type job struct{ ID, Tenant string }
	declared := schema.Must(schema.Declare(schema.Sets(tables.Must(tables.New[job]("job",
		tables.Table{Name: "jobs", PartKey: []string{"id"}},
		tables.Table{Name: "jobs_by_tenant", PartKey: []string{"tenant"}, SortKey: []string{"id"}})))))
	file := filepath.Join(t.TempDir(), "work.cql")
	text := "CREATE TABLE jobs (id text PRIMARY KEY, tenant text);\nCREATE TABLE jobs_by_tenant (tenant text, id text, PRIMARY KEY (tenant, id));\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for want, options := range map[string][]command.Option{
		"0 entities, 0 tables alone\nleft out: what is declared already, sets: 1\n": {command.Declared(declared)},
		"1 entities, 0 tables alone\n\nentity ":                                     nil,
	} {
		if out, _, err := run(t, options, "init", file); err != nil || !strings.HasPrefix(out, want) {
			t.Errorf("%v, want %q:\n%s", err, want, out)
		}
	}
}

// In a binary of one's own, what cobra writes of an error is the error alone, of findings nothing, and a misspelt
// command is no success.
func TestMountedErrors(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]struct {
		code int
		errs string
	}{
		"denorm lint " + shop:       {command.ExitFound, ""},
		"denorm lint testdata/none": {command.ExitError, "Error: open testdata/none: no such file or directory\n"},
		"denorm lint --bogus":       {command.ExitError, "Error: unknown flag: --bogus\n"},
		"denorm verify":             {command.ExitError, "Error: this binary declares no sets: mount package command in the one of the service (docs/verify-repair.md)\n"},
		"denorm veryfy order":       {command.ExitError, "Error: unknown command \"veryfy\" for \"shop denorm\"\n"},
		"denorm":                    {command.ExitFine, ""},
	} {
		var errs bytes.Buffer
		root := &cobra.Command{Use: "shop"}
		root.AddCommand(command.New())
		root.SetOut(io.Discard)
		root.SetErr(&errs)
		root.SetArgs(strings.Fields(args))
		if code := command.ExitCode(root.ExecuteContext(t.Context())); code != want.code || errs.String() != want.errs {
			t.Errorf("shop %s: exit code %d, %q", args, code, &errs)
		}
	}
}
