// Package child lets a test binary run itself again as processes that can be killed in the middle of what they do.
package child

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/integration/harness/sleep"
	"github.com/denorm-go/denorm/session"
)

// env holds what a child is told.
const env = "DENORM_TEST_CHILD"

// Main is for the TestMain of a package that starts children. In a child it decodes what the child was told into v and
// calls run, whose context ends when the parent asks for the end, or has died. Elsewhere it runs the tests.
func Main(m interface{ Run() int }, v any, run func(context.Context) error) {
	told, ok := os.LookupEnv(env)
	if !ok {
		os.Exit(m.Run())
	}
	ctx, end := context.WithCancel(context.Background())
	go func() {
		defer end()
		_, _ = io.Copy(io.Discard, os.Stdin)
	}()
	err := json.Unmarshal([]byte(told), v)
	if err == nil {
		err = run(ctx)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// openLimit is how long Open tries.
const openLimit = 2 * time.Minute

// Open opens the sessions of a child. The driver gives up when the node that it asks first for the others is silent.
// Open tries again for two minutes or until the context ends, and then returns the last error too.
func Open(ctx context.Context, hosts []string, keyspace string) (*session.Session, error) {
	return open(ctx, openLimit, gocql.NewCluster(hosts...), keyspace)
}

func open(ctx context.Context, limit time.Duration, config *gocql.ClusterConfig, keyspace string) (s *session.Session, err error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	config.Keyspace, config.ConnectTimeout = keyspace, 10*time.Second
	err = sleep.Until(ctx, 100*time.Millisecond, func() (err error) {
		s, err = session.Open(config)
		return err
	})
	return s, err
}

// Child is a process that this one has started.
type Child struct {
	cmd    *exec.Cmd
	stdin  io.Closer
	stderr strings.Builder
	ended  chan struct{}
	exit   error
}

// Start runs this program once more, as a child that is told v.
func Start(v any) (*Child, error) {
	told, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("child: %w", err)
	}
	c := &Child{cmd: exec.Command(os.Args[0]), ended: make(chan struct{})}
	c.cmd.Env = append(os.Environ(), env+"="+string(told))
	c.cmd.Stderr = &c.stderr
	if c.stdin, err = c.cmd.StdinPipe(); err != nil {
		return nil, fmt.Errorf("child: %w", err)
	}
	if err := c.cmd.Start(); err != nil {
		return nil, fmt.Errorf("child: %w", err)
	}
	go func() {
		c.exit = c.cmd.Wait()
		close(c.ended)
	}()
	return c, nil
}

// Ended is closed when the process is gone, whatever has ended it.
func (c *Child) Ended() <-chan struct{} { return c.ended }

// Kill ends the process with SIGKILL, and returns when it is gone. A process that was gone before is an error.
func (c *Child) Kill() error {
	_ = c.cmd.Process.Kill()
	<-c.ended
	if status, ok := c.cmd.ProcessState.Sys().(syscall.WaitStatus); !ok || !status.Signaled() || status.Signal() != syscall.SIGKILL {
		return c.fail("it ended before it was killed")
	}
	return nil
}

// Signal sends a signal to the process, as to stop it for a while.
func (c *Child) Signal(s os.Signal) error { return c.cmd.Process.Signal(s) }

// End asks the process to come to an end, and returns when it has. An end with an error is an error.
func (c *Child) End() error {
	_ = c.stdin.Close()
	<-c.ended
	if c.exit != nil {
		return c.fail("it ended badly")
	}
	return nil
}

func (c *Child) fail(what string) error {
	return fmt.Errorf("child: %s: %w: %s", what, cmp.Or(c.exit, errors.New("exit status 0")), c.stderr.String())
}
