package command

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"testing"
	"time"

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
	c := exec.Command(os.Args[0], "-test.run=^TestProgressIntoClosedPipe$")
	var out bytes.Buffer
	c.Env, c.Stdout, c.Stderr = append(os.Environ(), "DENORM_TEST_HOST="+x.host), &out, write
	_ = read.Close()
	err = c.Run()
	_ = write.Close()
	if c.ProcessState.ExitCode() != ExitFound || !strings.Contains(out.String(), "missing 1") {
		t.Errorf("%v\n%s", err, &out)
	}
}

// late sends SIGINT to a run that has ended, when its report is written.
type late struct{ text strings.Builder }

func (l *late) Write(p []byte) (int, error) {
	self, err := os.FindProcess(os.Getpid())
	if err == nil {
		err = self.Signal(os.Interrupt)
	}
	time.Sleep(100 * time.Millisecond)
	l.text.Write(p)
	return len(p), err
}

// What has read all rows is not said to have been interrupted.
func TestSignalAfterTheRun(t *testing.T) { //nolint:paralleltest // a signal is for all tests that run
	caught := make(chan os.Signal, 1) // one that comes when the run listens no more does not end the test
	signal.Notify(caught, os.Interrupt)
	defer signal.Stop(caught)
	x := newShopOfOrders(t, cassandratest.Listen(t, 1))
	var out late
	root := New(Declared(orders.Schema))
	root.SetOut(&out)
	root.SetErr(io.Discard)
	root.SetArgs([]string{"verify", "order", "--hosts", x.host, "--keyspace", "shop"})
	if err := root.ExecuteContext(t.Context()); err != nil || !strings.Contains(out.text.String(), "agrees") {
		t.Errorf("%v\n%s", err, &out.text)
	}
}
