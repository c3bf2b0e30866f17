package cluster

import (
	"bytes"
	"context"
	"errors"
	"fmt"
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
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("start %s: %w: %s", n, err, stderr.String())
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

// startLocal starts the nodes of a cluster from nothing.
func startLocal(ctx context.Context, home string, s *state, log *progress) error {
	return launch{
		home: home, log: log,
		nodes:   numbered(s.Nodes, func(number int) localNode { return localNode{home: home, number: number} }),
		prepare: func(ctx context.Context, r release) (java, jars, error) { return r.prepareLocal(ctx, home, log) },
		wait:    func(ctx context.Context) error { return waitReady(ctx, s.Hosts, s.Nodes) },
	}.run(ctx, s)
}

// launch wipes what an earlier cluster left and starts nodes from nothing.
type launch struct {
	home    string
	log     *progress
	nodes   []localNode
	also    Extra // what they have besides
	prepare func(ctx context.Context, r release) (java, jars, error)
	wait    func(ctx context.Context) error // until they are ready
}

func (l launch) run(ctx context.Context, s *state) error {
	r, err := wantedRelease()
	if err != nil {
		return err
	}
	jdk, lib, err := l.prepare(ctx, r)
	if err != nil {
		return err
	}
	s.Java, s.Version = jdk.path, r.version
	err = s.save(l.home) // so that a node can be started again
	if err == nil {
		err = checkMemory(len(l.nodes))
	}
	for _, n := range l.nodes {
		s.Hosts = append(s.Hosts, loopback(n.number))
		for _, port := range append([]int{cqlPort, storagePort}, l.also.Ports...) {
			if err == nil {
				err = checkAddress(ctx, loopback(n.number), port)
			}
		}
	}
	if err == nil {
		err = os.RemoveAll(nodesDir(l.home))
	}
	if err != nil {
		return err
	}

	done := l.log.step("starting Cassandra %s on %s", r.version, strings.Join(s.Hosts, ", "))
	for i, n := range l.nodes {
		yaml, err := render(n.dir(), s.Hosts[i], tokens(i+1, len(l.nodes)), s.Hosts, r)
		if err == nil {
			err = writeFiles(n.dir(), n.number, append(yaml, "\n"+l.also.Settings...))
		}
		if err == nil {
			err = context.Cause(ctx)
		}
		if err == nil {
			err = n.start(jdk.path, lib, append(s.properties(), l.also.Properties...)...)
		}
		if err != nil {
			return err
		}
	}
	if err := watch(ctx, l.nodes, l.wait); err != nil {
		return err
	}
	done("ready")
	return nil
}

// tools are what local nodes run with.
type tools struct {
	jdk      java
	jars     jars
	haveJars bool
	missing  []string // packages that can be installed
}

// findTools fails if something is missing that cannot be installed.
func (r release) findTools(ctx context.Context, home string) (tools, error) {
	var t tools
	var noJava, noMaven error
	if t.jdk, noJava = findJava(ctx); noJava != nil {
		t.missing = append(t.missing, "openjdk-17-jdk-headless")
	}
	if t.jars, t.haveJars = r.findJars(home); !t.haveJars {
		if _, noMaven = findMaven(); noMaven != nil {
			t.missing = append(t.missing, "maven")
		}
	}
	if len(t.missing) > 0 && !aptUsable() {
		return t, errors.Join(noJava, noMaven)
	}
	return t, nil
}

// prepareLocal finds a JDK and the jars, and gets what is missing where it may.
func (r release) prepareLocal(ctx context.Context, home string, log *progress) (java, jars, error) {
	t, err := r.findTools(ctx, home)
	if err != nil {
		return java{}, jars{}, err
	}
	if len(t.missing) > 0 {
		if err := aptInstall(ctx, log, t.missing...); err != nil {
			return java{}, jars{}, err
		}
		if t.jdk, err = findJava(ctx); err != nil {
			return java{}, jars{}, err
		}
	}
	if t.haveJars {
		return t.jdk, t.jars, verifyJars(t.jars.dir, r.sums())
	}
	t.jars, err = r.downloadJars(ctx, home, t.jdk, log)
	return t.jdk, t.jars, err
}

// startTimeout is far above what slow machines need.
const startTimeout = 4 * time.Minute

var errSlow = fmt.Errorf("not ready after %s", startTimeout)

// waitLocal waits until the nodes are ready and each sees as many others as it should, and no longer than until one of
// them has died.
func waitLocal(ctx context.Context, nodes []localNode, hosts []string, sees int) error {
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
