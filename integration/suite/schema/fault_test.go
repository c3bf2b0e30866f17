//go:build faults

package schema_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/denorm-go/denorm/integration/harness/cluster"
	"github.com/denorm-go/denorm/schema"
)

// While a node is stopped, denorm apply sends nothing, and names the node. When it is back, the same command applies
// the file, and there is nothing left for a third one.
func TestApplyWithNodeStopped(t *testing.T) {
	cluster.Alone(t)
	cluster.Need(t, 3)
	on := open(t)
	keyspace := cluster.Keyspace(t, 3, "CREATE TABLE former (id int PRIMARY KEY)", "CREATE TABLE users (id int PRIMARY KEY)")
	file := filepath.Join(t.TempDir(), "change.cql")
	if err := os.WriteFile(file, []byte(`CREATE TABLE orders (id int PRIMARY KEY, total decimal);
		ALTER TABLE users ADD name text; CREATE INDEX ON users (name); DROP TABLE former;`), 0o600); err != nil {
		t.Fatal(err)
	}
	live := func() string {
		t.Helper()
		s, err := schema.Read(t.Context(), on, keyspace)
		if err != nil {
			t.Fatal(err)
		}
		return s.CQL()
	}
	d, before, stopped := build(t, keyspace), live(), cluster.Nodes(t)[2]
	apply := func(code int, want string, args ...string) {
		t.Helper()
		var said strings.Builder
		cmd := exec.Command(d.path, append([]string{"apply", "--hosts", d.hosts, "--keyspace", keyspace, file}, args...)...)
		cmd.Stdout, cmd.Stderr = &said, &said
		if err, exit := cmd.Run(), new(*exec.ExitError); err != nil && !errors.As(err, exit) {
			t.Fatal(err)
		}
		if got := cmd.ProcessState.ExitCode(); got != code || !strings.Contains(said.String(), want) {
			t.Errorf("apply %v: exit code %d, want %d and %q:\n%s", args, got, code, want, &said)
		}
	}
	if err := stopped.Kill(t.Context()); err != nil {
		t.Fatal(err)
	}
	apply(2, "does not answer: start it, or remove it from the cluster, and apply again", "--yes")
	if after := live(); after != before {
		t.Errorf("something was applied:\n%s\nwas\n%s", after, before)
	}
	if err := errors.Join(stopped.Start(t.Context()), stopped.Ready(t.Context())); err != nil {
		t.Fatal(err)
	}
	apply(1, "to apply    "+file+":1: CREATE TABLE orders", "--dry-run")
	apply(0, "applied     "+file+":2: DROP TABLE former", "--yes")
	apply(0, "is gone     "+file+":2: DROP TABLE former", "--dry-run")
}
