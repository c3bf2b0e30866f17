package command

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/denorm-go/denorm/cassandratest"
	"github.com/denorm-go/denorm/examples/orders"
)

// A run goes on, and prints its report, when nobody reads its progress any more.
func TestProgressIntoClosedPipe(t *testing.T) {
	t.Parallel()
	if host := os.Getenv("DENORM_TEST_HOST"); host != "" {
		root := New(Declared(orders.Schema), func(c *config) { c.terminal = func(w io.Writer) bool { return w == os.Stderr } })
		root.SetOut(os.Stdout)
		root.SetErr(os.Stderr)
		root.SetArgs([]string{"verify", "order", "--hosts", host, "--keyspace", "shop", "--settle", "3s"})
		os.Exit(ExitCode(root.Execute()))
	}
	x := newShopOfOrders(t, cassandratest.Listen(t, 1))
	x.missing()
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.Command(os.Args[0], "-test.run=^TestProgressIntoClosedPipe$") //nolint:gosec // this test
	var out bytes.Buffer
	c.Env, c.Stdout, c.Stderr = append(os.Environ(), "DENORM_TEST_HOST="+x.host), &out, write
	_ = read.Close()
	err = c.Run()
	_ = write.Close()
	if c.ProcessState.ExitCode() != ExitFound || !strings.Contains(out.String(), "missing 1") {
		t.Errorf("%v\n%s", err, &out)
	}
}
