package cluster

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	ps "github.com/shirou/gopsutil/v4/process"

	"github.com/denorm-go/denorm/integration/harness/sleep"
)

func TestProcessLife(t *testing.T) {
	t.Parallel()
	n, ctx := localNode{home: t.TempDir(), number: 78}, t.Context() // an address that no node has
	cmd := exec.Command("sh", "-c", "while :; do sleep 1; done", "sh", "-Dcassandra.storagedir="+n.data())
	if err := errors.Join(os.MkdirAll(n.dir(), 0o700), cmd.Start()); err != nil {
		t.Fatal(err)
	}
	if err := writeJSON(n.processPath(), ps.Process{Pid: int32(cmd.Process.Pid)}); err != nil {
		t.Fatal(err)
	}
	if !n.alive(ctx) || n.describe(ctx) != fmt.Sprintf("pid %d", cmd.Process.Pid) {
		t.Fatalf("alive %t: %s", n.alive(ctx), n.describe(ctx))
	}
	if err := n.signal(ctx, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	paused := func() error {
		if text := n.describe(ctx); !strings.HasSuffix(text, ", paused") {
			return errors.New(text)
		}
		return nil
	}
	patient, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	if err := sleep.Until(patient, time.Millisecond, paused); err != nil {
		t.Fatalf("never stopped: %v", err)
	}
	if err := n.kill(ctx); err != nil { // not collected yet: a zombie counts as gone
		t.Fatal(err)
	}
	if n.alive(ctx) || n.describe(ctx) != "not running" {
		t.Error("alive after kill")
	}
	_ = cmd.Wait()
	if err := n.kill(ctx); err != nil {
		t.Errorf("killing the dead: %v", err)
	}
}

// A pid is given to another process some day: only the one that was started may be killed.
func TestRecycledPIDIsLeftAlone(t *testing.T) {
	t.Parallel()
	n, ctx := localNode{home: t.TempDir(), number: 1}, t.Context()
	if err := os.MkdirAll(n.dir(), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, pid := range []int{os.Getpid(), 1, 0, -1} { // this test, init, and what kill takes for many
		if err := writeJSON(n.processPath(), ps.Process{Pid: int32(pid)}); err != nil {
			t.Fatal(err)
		}
		if n.alive(ctx) {
			t.Errorf("process %d passes for the one that was started", pid)
		}
		if err := n.kill(ctx); err != nil { // would end this test
			t.Error(err)
		}
		if err := n.signal(ctx, syscall.SIGKILL); !errors.Is(err, errGone) {
			t.Errorf("signal: %v", err)
		}
	}
}

func TestLastLines(t *testing.T) {
	t.Parallel()
	if got := LastLines([]byte("a\n\nb\r\n[ERROR]\n\x1b[0m\x1b[1;31mc"), 2); got != "    b\n    c" {
		t.Errorf("%q", got)
	}
	if got := LastLines(nil, 2); !strings.Contains(got, "no output") {
		t.Errorf("%q", got)
	}
}
