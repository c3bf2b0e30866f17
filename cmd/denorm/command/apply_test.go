package command

import (
	"bytes"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/denorm-go/denorm/cassandratest"
	"github.com/denorm-go/denorm/schema"
)

// apply shows what it would send, asks before it drops something, and applies what is left.
func TestApply(t *testing.T) {
	t.Parallel()
	c := cassandratest.Listen(t, 1)
	c.Create("CREATE TABLE shop.former (id int PRIMARY KEY)", "CREATE TABLE shop.users (id int PRIMARY KEY)")
	file := filepath.Join(t.TempDir(), "change.cql")
	text := "CREATE TABLE orders (id int PRIMARY KEY);\nALTER TABLE users ADD name text;\nDROP TABLE shop.former;\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	config := c.Config()
	host := net.JoinHostPort(config.Hosts[0], strconv.Itoa(config.Port))
	run := func(code int, types, want string, args ...string) {
		t.Helper()
		var out bytes.Buffer
		root := New()
		root.SetIn(strings.NewReader(types))
		root.SetOut(&out)
		root.SetErr(&out)
		root.SetArgs(append([]string{"apply", file, "--keyspace", "shop", "--hosts", host}, args...))
		err := root.ExecuteContext(t.Context())
		if err != nil {
			out.WriteString(err.Error())
		}
		said := strings.ReplaceAll(out.String(), file, "F")
		if ExitCode(err) != code || said != want {
			t.Errorf("%v: exit code %d, want %d:\n%s\nwant\n%s", args, ExitCode(err), code, said, want)
		}
	}
	const plan = "to apply    F:1: CREATE TABLE orders (id int PRIMARY KEY)\nto apply    F:2: ALTER TABLE users ADD name text\n"
	const ask = "to confirm  F:3: DROP TABLE shop.former\n"
	const question = ask + "Apply 1 statements that drop or rename something, or alter a type or a replication? Type yes: "
	run(ExitFound, "", plan+ask, "--dry-run")
	for _, no := range []string{"", "no\n", "y"} {
		run(ExitError, no, question+"not confirmed, and nothing is applied: type yes, or pass --yes")
	}
	applied := strings.NewReplacer("to apply  ", "applied   ", "to confirm", "applied   ").Replace(plan + ask)
	run(ExitFine, "yes\n", question+applied)
	there := strings.NewReplacer("to apply  ", "is there  ", "to confirm", "is gone   ").Replace(plan + ask)
	run(ExitFine, "", there, "--dry-run")
	run(ExitFine, "", there)

	if err := os.WriteFile(file, []byte("DROP TABLE users;"), 0o600); err != nil {
		t.Fatal(err)
	}
	run(ExitFine, "", "to confirm  F:1: DROP TABLE users\napplied     F:1: DROP TABLE users\n", "--yes")
}

// A statement that was cut could drop more than the person who confirms it has seen.
func TestConfirmedStatementIsShownWhole(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	c := &cobra.Command{}
	c.SetOut(&out)
	st := schema.Step{Text: "ALTER TABLE t DROP (" + strings.Repeat("x", maxShown) + ", total)", Confirm: true}
	say(c, "to confirm", st)
	st.Confirm = false
	say(c, "to apply", st)
	if strings.Count(out.String(), "total") != 1 || !strings.Contains(out.String(), st.Text+"\n") {
		t.Error(out.String())
	}
}
