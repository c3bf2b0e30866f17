package cluster

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	ps "github.com/shirou/gopsutil/v4/process"

	"github.com/denorm-go/denorm/integration/harness/sleep"
)

// localNode is a Cassandra node that runs as a process of this machine. What is known of it is in its directory, so
// that any process may stop it or start it again.
type localNode struct {
	home   string
	number int // counted from 1
}

func (n localNode) dir() string { return filepath.Join(nodesDir(n.home), strconv.Itoa(n.number)) }

func (n localNode) data() string { return filepath.Join(n.dir(), "data") }

func (n localNode) processPath() string { return filepath.Join(n.dir(), "process.json") }

func (n localNode) String() string { return fmt.Sprintf("node %d (%s)", n.number, loopback(n.number)) }

func nodesDir(home string) string { return filepath.Join(home, "nodes") }

// localNodes finds all nodes that were ever started and not wiped since.
func localNodes(home string) []localNode {
	var nodes []localNode
	entries, _ := os.ReadDir(nodesDir(home))
	for _, entry := range entries {
		if number, err := strconv.Atoi(entry.Name()); err == nil {
			nodes = append(nodes, localNode{home: home, number: number})
		}
	}
	return nodes
}

// errGone is returned for a process that has ended.
var errGone = errors.New("no such process")

// process finds the node's process, unless it has ended. A pid alone may be given to another process later: the command
// line of the node's own, and of the shell that becomes it, names the node's directory. That of a zombie is empty.
func (n localNode) process(ctx context.Context) (*ps.Process, error) {
	p := new(ps.Process)
	if err := readJSON(n.processPath(), p); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if p.Pid > 1 {
		if command, err := p.CmdlineWithContext(ctx); err == nil && strings.Contains(command, n.data()) {
			return p, nil
		}
	}
	return nil, fmt.Errorf("%s: %w", n, errGone)
}

func (n localNode) alive(ctx context.Context) bool {
	_, err := n.process(ctx)
	return err == nil
}

// describe tells how the node's process does.
func (n localNode) describe(ctx context.Context) string {
	p, err := n.process(ctx)
	if err != nil {
		return "not running"
	}
	if states, err := p.StatusWithContext(ctx); err == nil && states[0] == ps.Stop {
		return fmt.Sprintf("pid %d, paused", p.Pid)
	}
	return fmt.Sprintf("pid %d", p.Pid)
}

// signal sends a signal to the node's process.
func (n localNode) signal(ctx context.Context, sig syscall.Signal) error {
	p, err := n.process(ctx)
	if err != nil {
		return err
	}
	if err := syscall.Kill(int(p.Pid), sig); err != nil {
		return fmt.Errorf("signal %s: %w", n, err)
	}
	return nil
}

// kill ends the node's process with SIGKILL, if it runs, and waits until it is gone.
func (n localNode) kill(ctx context.Context) error {
	return n.end(ctx, syscall.SIGKILL, 20*time.Second)
}

// end sends the node's process a signal that ends it, if it runs, and waits until it is gone.
func (n localNode) end(ctx context.Context, sig syscall.Signal, patience time.Duration) error {
	err := n.signal(ctx, sig)
	if errors.Is(err, errGone) || errors.Is(err, syscall.ESRCH) {
		return nil
	}
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for n.alive(ctx) {
		if err := sleep.For(ctx, 10*time.Millisecond); err != nil {
			return fmt.Errorf("%s does not end: %w", n, err)
		}
	}
	n.release(ctx)
	return nil
}

// release waits until the ports of a node that has ended are free: its command line is empty before the kernel closes
// them. It waits some seconds only, as another process may hold them.
func (n localNode) release(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	for _, port := range []int{cqlPort, storagePort} {
		for errors.Is(bind(ctx, loopback(n.number), port), syscall.EADDRINUSE) {
			if sleep.For(ctx, 10*time.Millisecond) != nil {
				return
			}
		}
	}
}

// start starts the node's process in a session of its own: it outlives the process that starts it and gets none of its
// terminal's signals. A shell in between makes it nobody's child, so that it never lingers as a zombie that looks
// alive.
func (n localNode) start(javaPath string, lib jars, properties ...string) error {
	const detach = `"$@" </dev/null >>log/out.log 2>&1 & echo $!`
	args := append([]string{"-c", detach, "denorm", javaPath}, jvmArgs(n.home, n.dir(), lib, properties...)...)
	cmd := exec.Command("/bin/sh", args...) // starting java is the purpose; it must outlive any context
	cmd.Dir = n.dir()
	cmd.Env = javaEnvironment(os.Environ())
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	out, err := cmd.CombinedOutput()
	if err != nil {
		return fmt.Errorf("start %s: %w: %s", n, err, out)
	}
	pid, err := strconv.ParseInt(strings.TrimSpace(string(out)), 10, 32)
	if err != nil {
		return fmt.Errorf("start %s: no process id in %q", n, out)
	}
	return writeJSON(n.processPath(), ps.Process{Pid: int32(pid)})
}

// restart starts a node of the cluster again, with the data it had.
func (n localNode) restart(ctx context.Context, s *state) error {
	if n.alive(ctx) {
		return fmt.Errorf("start %s: it runs already", n)
	}
	lib, ok := s.release().findJars(n.home)
	if !ok {
		return fmt.Errorf("start %s: no jars in %s", n, s.release().jarDir(n.home))
	}
	return n.start(s.Java, lib, s.properties()...)
}

// diedError explains why a node ended, as far as its logs do.
func (n localNode) diedError() error {
	logs := filepath.Join(n.dir(), "log")
	var tail []byte
	for _, name := range []string{"system.log", "out.log"} {
		data, err := os.ReadFile(filepath.Join(logs, name))
		if err == nil {
			tail = append(tail, data[max(0, len(data)-8<<10):]...)
		}
	}
	return fmt.Errorf("%s died while starting; its last lines (all of them in %s):\n%s\n"+
		"if they end in the middle of things, somebody killed it: the kernel, for lack of memory, says so in dmesg",
		n, logs, LastLines(tail, 15))
}

// startLocal starts nodes from nothing, and wipes what an earlier cluster left. They are of the release, and have what
// also says besides.
func (m machine) startLocal(ctx context.Context, s *state, t tools, nodes []localNode, also Extra, wait func(context.Context) error) error {
	s.Java, s.Version = t.jdk.path, t.version
	err := s.save(m.home) // so that a node can be started again
	if err == nil {
		err = checkMemory(len(nodes))
	}
	for _, n := range nodes {
		s.Hosts = append(s.Hosts, loopback(n.number))
		for _, port := range append([]int{cqlPort, storagePort}, also.Ports...) {
			if err == nil {
				err = checkAddress(ctx, loopback(n.number), port)
			}
		}
	}
	if err == nil {
		err = os.RemoveAll(nodesDir(m.home))
	}
	if err != nil {
		return err
	}

	done := m.log.step("starting Cassandra %s on %s", t.version, strings.Join(s.Hosts, ", "))
	for i, n := range nodes {
		yaml, err := render(n.dir(), s.Hosts[i], tokens(i+1, len(nodes)), s.Hosts, t.release)
		if err == nil {
			err = writeFiles(n.dir(), n.number, append(yaml, "\n"+also.Settings...))
		}
		if err == nil {
			err = context.Cause(ctx)
		}
		if err == nil {
			err = n.start(t.jdk.path, t.jars, append(s.properties(), also.Properties...)...)
		}
		if err != nil {
			return err
		}
	}
	if err := watch(ctx, nodes, wait); err != nil {
		return err
	}
	done("ready")
	return nil
}

// startTimeout is far above what slow machines need.
const startTimeout = 4 * time.Minute

var errSlow = fmt.Errorf("not ready after %s", startTimeout)

// awaitReady waits until the hosts are ready and each sees as many others as it should, and no longer than until one of
// the local nodes has died.
func awaitReady(ctx context.Context, nodes []localNode, hosts []string, sees int) error {
	return watch(ctx, nodes, func(ctx context.Context) error { return waitReady(ctx, hosts, sees) })
}

// watch waits as long as the nodes live, and not forever.
func watch(ctx context.Context, nodes []localNode, wait func(context.Context) error) error {
	ctx, cancel := context.WithTimeoutCause(ctx, startTimeout, errSlow)
	defer cancel()
	ctx, died := context.WithCancelCause(ctx)
	defer died(nil)

	watched := make(chan struct{})
	go func() {
		defer close(watched)
		for sleep.For(ctx, 200*time.Millisecond) == nil {
			for _, n := range nodes {
				if !n.alive(ctx) && ctx.Err() == nil {
					died(n.diedError())
					return
				}
			}
		}
	}()
	err := wait(ctx)
	died(nil)
	<-watched
	return err
}

// stopLocal kills the nodes and removes their data; nothing in it is meant to last. Their logs stay until the next
// start.
func stopLocal(ctx context.Context, home string) error {
	var failed error
	for _, n := range localNodes(home) {
		failed = errors.Join(failed, n.kill(ctx))
	}
	if failed != nil {
		return failed
	}
	for _, n := range localNodes(home) {
		if err := os.RemoveAll(n.data()); err != nil {
			return fmt.Errorf("remove data of %s: %w", n, err)
		}
	}
	return nil
}
