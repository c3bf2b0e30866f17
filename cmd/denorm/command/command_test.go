package command_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/denorm-go/denorm/cmd/denorm/command"
	"github.com/denorm-go/denorm/internal/golden"
	"github.com/denorm-go/denorm/schema"
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
		{"lint --ignore DN101,DN104 --fail-on note " + shop, 0, ""},
		{"lint --ignore DN101,DN999 " + shop, 2, `--ignore: no lint rule has the code "DN999"; the rules are DN001, DN101, `},
		{"lint", 2, "name a CQL file, or a cluster with --hosts"},
		{"lint --format xml " + shop, 2, `unknown --format "xml": text, json or sarif`},
		{"lint --fail-on sometimes " + shop, 2, `unknown --fail-on "sometimes"`},
		{"lint --color blue " + shop, 2, `unknown --color "blue"`},
		{"lint testdata/nothing.cql", 2, "no such file"},
		{"lint testdata/broken.cql", 2, `testdata/broken.cql: line 2: "drop" begins no statement`},
		{"lint --timeout 100ms --hosts 127.0.0.1:1 " + shop, 2, "connect to [127.0.0.1:1]"},
		{"ddl --migrate " + shop, 2, "--migrate needs a cluster"},
		{"lint --tls-cert a.pem " + clean, 2, "--tls-cert needs --hosts"},
		{"ddl --username shop " + shop, 2, "--username needs --hosts"},
		{"diagram --keyspace a,b " + shop, 2, "several keyspaces need --hosts"},
		{"lint --keyspace shop " + clean, 0, ""},
		{"ddl " + shop, 0, ""},
		{"diagram " + shop, 0, ""},
		{"diagram --format png " + shop, 2, `unknown --format "png": mermaid or svg`},
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
		"shop.ddl": {"ddl", shop}, "shop.mmd": {"diagram", shop}, "shop.svg": {"diagram", "--format", "svg", shop},
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

func TestColours(t *testing.T) {
	t.Parallel()
	out, _, _ := run(t, nil, "lint", "--color", "always", shop)
	if !strings.Contains(out, "\x1b[1;31merror\x1b[0m DN101") {
		t.Errorf("no colours:\n%q", out)
	}
}
