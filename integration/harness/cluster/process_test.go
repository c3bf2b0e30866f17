package cluster

import (
	"errors"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestParseStat(t *testing.T) {
	t.Parallel()
	const rest = " 1 2 3 0 -1 4194560 123 0 0 0 5 6 0 0 20 0 1 0 987654 1000 200"
	tests := []struct {
		name, line, start string
		condition         byte
		err               bool
	}{
		{name: "sleeping", line: "42 (java) S" + rest, start: "987654", condition: 'S'},
		{name: "a name with parentheses and spaces", line: "42 (a) R (b) T" + rest, start: "987654", condition: 'T'},
		{name: "zombie", line: "42 (java) Z" + rest, err: true},
		{name: "cut off", line: "42 (java) S 1 2", err: true},
		{name: "empty", err: true},
	}
	for _, test := range tests {
		start, condition, err := parseStat(test.line)
		if start != test.start || condition != test.condition || (err != nil) != test.err {
			t.Errorf("%s: %q, %c, %v", test.name, start, condition, err)
		}
	}
}

func TestParsePS(t *testing.T) {
	t.Parallel()
	start, condition, err := parsePS("Ss   Sat Nov 21 09:07:12 2026\n")
	if start != "Sat Nov 21 09:07:12 2026" || condition != 'S' || err != nil {
		t.Errorf("%q, %c, %v", start, condition, err)
	}
	for _, out := range []string{"", "Z    Sat Nov 21 09:07:12 2026"} {
		if _, _, err := parsePS(out); !errors.Is(err, errGone) {
			t.Errorf("parsePS(%q): %v", out, err)
		}
	}
}

func TestProcessLife(t *testing.T) {
	t.Parallel()
	cmd := exec.Command("sleep", "60")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ctx := t.Context()
	p, err := lookup(ctx, cmd.Process.Pid)
	if err != nil || !p.alive(ctx) {
		t.Fatalf("lookup = %+v, %v", p, err)
	}
	if err := p.signal(ctx, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(time.Millisecond) {
		if condition, err := p.condition(ctx); condition == 'T' && err == nil {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("never stopped")
		}
	}
	if err := p.kill(ctx); err != nil { // not collected yet: a zombie counts as gone
		t.Fatal(err)
	}
	if p.alive(ctx) {
		t.Error("alive after kill")
	}
	_ = cmd.Wait()
	if err := p.kill(ctx); err != nil {
		t.Errorf("killing the dead: %v", err)
	}
}

// A pid is given to another process some day: only the one that was started may be killed.
func TestRecycledPIDIsLeftAlone(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	me, err := lookup(ctx, os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	other := process{PID: me.PID, Start: me.Start + "0"}
	if other.alive(ctx) {
		t.Error("another process of the same pid passes for the one that was started")
	}
	if err := other.kill(ctx); err != nil { // would end this test
		t.Error(err)
	}
	if err := other.signal(ctx, syscall.SIGKILL); !errors.Is(err, errGone) {
		t.Errorf("signal: %v", err)
	}
	if (process{}).alive(ctx) || (process{PID: 1}).alive(ctx) {
		t.Error("no process and init are never ours")
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
