package cluster

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	ps "github.com/shirou/gopsutil/v4/process"

	"github.com/denorm-go/denorm/integration/harness/sleep"
)

// errGone is returned for a process that has ended.
var errGone = errors.New("no such process")

func (n localNode) processPath() string { return filepath.Join(n.dir(), "process.json") }

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
	return nil
}
