package command

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/denorm-go/denorm/internal/printable"
	"github.com/denorm-go/denorm/schema"
)

// hostile is a table whose names and comment a terminal would obey: its title, its screen, its clipboard, the direction
// of its text, in control characters of seven and of eight bits.
const hostile = "CREATE TABLE shop.jobs (\"state\x1b]0;title\x07\x1b[2J\" text, id uuid, \"c1\u009b2J\u202egnp\x7f\" list<text>, " +
	"PRIMARY KEY (\"state\x1b]0;title\x07\x1b[2J\", id)) WITH comment = 'c\x1b]52;c;ZXZpbA==\x07\r\nover it'"

// execute runs the command with an output that is a terminal, or none.
func execute(t *testing.T, terminal bool, args ...string) (out, errs string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	c := New(func(c *config) { c.terminal = func(io.Writer) bool { return terminal } })
	c.SetOut(&stdout)
	c.SetErr(&stderr)
	c.SetArgs(args)
	if err := c.ExecuteContext(t.Context()); ExitCode(err) == ExitError {
		t.Errorf("%v: %v", args, err)
	}
	return stdout.String(), stderr.String()
}

// Nothing in a schema does anything to the terminal of who looks at it. What goes into a file is
// still what it has to be.
func TestNamesDoNothingToATerminal(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "jobs.cql")
	if err := os.WriteFile(file, []byte(hostile+";\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range [][]string{
		{"lint"},
		{"lint", "--format", "json"},
		{"lint", "--format", "sarif"},
		{"ddl"},
		{"diagram"},
		{"estimate"},
		{"estimate", "--volume", "shop.jobs rows=1M/day"},
		{"estimate", "--volume", "shop.jobs rows=1M/day", "--format", "json"},
	} {
		args := slices.Concat(c, []string{file})
		out, errs := execute(t, true, args...)
		if shown := printable.Lines(out + errs); shown != out+errs || out == "" {
			t.Errorf("%v: a terminal gets %q", args, out+errs)
		}
		toFile, errs := execute(t, false, args...)
		if errs != "" {
			t.Errorf("%v: %s", args, errs)
		}
		switch {
		case c[0] == "ddl":
			s, err := schema.Parse("again", toFile)
			if err != nil || s.Tables[0].Columns[0].Name != "state\x1b]0;title\x07\x1b[2J" || !strings.Contains(s.Tables[0].Comment(), "\x07\r\n") {
				t.Errorf("the CQL in a file is another one: %v, %q", err, toFile)
			}
			if toFile == out {
				t.Errorf("a terminal got %q", out)
			}
		case c[len(c)-1] == "json" || c[len(c)-1] == "sarif":
			if toFile != out || !json.Valid([]byte(out)) || !strings.Contains(out, `\u001b`) && !strings.Contains(out, `\u202e`) {
				t.Errorf("%v: %.3000s", args, out)
			}
		default:
			if toFile != out || !strings.Contains(out, "shop.jobs") {
				t.Errorf("%v: %q", args, toFile)
			}
		}
	}
}

// The same for a migration, in which the statements themselves are those for the cluster.
func TestMigrationDoesNothingToATerminal(t *testing.T) {
	t.Parallel()
	live, err := schema.Parse("live", hostile)
	if err != nil {
		t.Fatal(err)
	}
	declared, err := schema.Parse("declared", "CREATE TABLE shop.jobs (state text, id uuid, PRIMARY KEY (state, id)) WITH comment = 'ours'")
	if err != nil {
		t.Fatal(err)
	}
	found := schema.Compare(declared, live)
	text := schema.Migration(found)
	for _, terminal := range []bool{true, false} {
		var stdout, stderr bytes.Buffer
		command := new(cobra.Command)
		command.SetOut(&stdout)
		command.SetErr(&stderr)
		c := &config{terminal: func(io.Writer) bool { return terminal }}
		if err := c.writeText(command, text); err != nil {
			t.Fatal(err)
		}
		if safe := printable.Lines(stdout.String()) == stdout.String(); safe != terminal || (stdout.String() == text) == terminal {
			t.Errorf("terminal %t: %q", terminal, stdout.String())
		}
		if said := strings.Contains(stderr.String(), "write it to a file"); said != terminal {
			t.Errorf("terminal %t: %q", terminal, stderr.String())
		}
	}
	if all := (&schema.DifferenceError{Differences: found}).Error(); printable.Lines(all) != all {
		t.Errorf("the error: %q", all)
	}
}

// Errors of commands in a binary of one's own, which cobra prints, do nothing to a terminal either.
func TestErrorsOfMountedCommandsDoNothingToATerminal(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"syntax": "CREATE TABLE shop.t (a int PRIMARY KEY, \x1b]0;title\x07 int);",
		"twice":  "CREATE TABLE shop.t (a int PRIMARY KEY, \"x\x1b[2J\" int, \"x\x1b[2J\" int);",
		"key":    "CREATE TABLE shop.t (a int, PRIMARY KEY (\"x\x1b[2J\"));",
		"note":   "CREATE TABLE shop.t (a int PRIMARY KEY);\n-- denorm:volume t rows=\x1b[2J",
		"alter":  "ALTER TABLE shop.t DROP \"x\x1b[2J\";",
	} {
		file := filepath.Join(t.TempDir(), name+".cql")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		said := 0
		for _, c := range []string{"lint", "ddl", "diagram", "estimate"} {
			root := &cobra.Command{Use: "shop"}
			root.AddCommand(New())
			var errs bytes.Buffer
			root.SetOut(io.Discard)
			root.SetErr(&errs)
			root.SetArgs([]string{"denorm", c, file})
			if root.Execute() != nil {
				said += errs.Len()
			}
			if printable.Lines(errs.String()) != errs.String() {
				t.Errorf("%s, %s: a terminal gets %q", name, c, errs.String())
			}
		}
		if said == 0 {
			t.Errorf("%s: no command says what is wrong", name)
		}
	}
}

// Code review tools follow links and fill in arguments in a message of SARIF.
func TestNamesAreNoLinksInSARIF(t *testing.T) {
	t.Parallel()
	const link = "[Sign in](https://example.org/login)"
	file := filepath.Join(t.TempDir(), "x.cql")
	text := `CREATE TABLE shop.t (id uuid, "` + link + `" list<text>, "{0}" text, PRIMARY KEY (id));
CREATE INDEX ON shop.t ("` + link + `");
SELECT * FROM shop.t WHERE "` + link + `" = ?;
SELECT * FROM shop.t WHERE "{0}" = ?;
`
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	out, _ := execute(t, false, "lint", "--format", "sarif", file)
	var report struct {
		Runs []struct {
			Results []struct {
				RuleID  string
				Message struct{ Text string }
			}
		}
	}
	if err := json.Unmarshal([]byte(out), &report); err != nil {
		t.Fatal(err)
	}
	named := 0
	for _, r := range report.Runs[0].Results {
		said := strings.NewReplacer(`\[`, "", `\]`, "", "{{", "", "}}", "").Replace(r.Message.Text)
		if strings.ContainsAny(said, "[]{}") {
			t.Errorf("%s: %q", r.RuleID, r.Message.Text)
		}
		if said != r.Message.Text {
			named++
		}
	}
	if named == 0 {
		t.Errorf("no message has the names: %s", out)
	}
}

// Nothing in a schema, or in the name of a file, is a command to the service whose job prints what a command writes, or
// to a shell.
func TestNamesAreNoCommands(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "x.cql")
	text := "CREATE TABLE shop.\"##vso[task.prependpath]/tmp/evil\" (\"\n::add-path::/tmp\" int PRIMARY KEY);\nCREATE TABLE shop.\"x'; touch /tmp/pwned; '\" (a int, b int, PRIMARY KEY (a, b));\n" +
		"CREATE TABLE shop.r (id int PRIMARY KEY) WITH comment = 'x\r::add-mask::foo';\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"ddl", file}, {"estimate", file}, {"lint", file}, {"diagram", file}, {"lint", "--x\n::error::\x1b]0;evil\x07.cql"}, {"--x\n::error::\x1b"}} {
		var out bytes.Buffer
		c := New()
		c.SetOut(&out)
		c.SetErr(&out)
		c.SetArgs(args)
		err := c.ExecuteContext(t.Context())
		if err != nil {
			out.WriteString(err.Error())
		}
		if printable.Commands(out.String()) || strings.ContainsAny(out.String(), "\x1b\x07\r") || strings.Contains(out.String(), "--volume 'shop.\"x'; touch") {
			t.Errorf("%q: %q", args, out.String())
		}
		if args[0] == "ddl" && (ExitCode(err) != ExitError || !strings.Contains(out.String(), "-- CREATE TABLE shop.\"#\\x23vso") || !strings.Contains(out.String(), "\nCREATE TABLE shop.\"x'")) {
			t.Errorf("%v: %s", err, out.String())
		}
	}
}
