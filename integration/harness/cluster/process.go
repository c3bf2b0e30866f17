package cluster

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/denorm-go/denorm/integration/harness/sleep"
)

// process identifies a process for good: a pid alone may be given to another one later.
type process struct {
	PID   int    `json:"pid"`
	Start string `json:"start"` // when it started, as the system tells it
}

// errGone is returned for a process that has ended.
var errGone = errors.New("no such process")

// lookup finds the process that has this pid now.
func lookup(ctx context.Context, pid int) (process, error) {
	start, _, err := inspect(ctx, pid)
	if err != nil {
		return process{}, err
	}
	return process{PID: pid, Start: start}, nil
}

// alive reports whether this very process runs. One that has ended and was not collected yet is not alive.
func (p process) alive(ctx context.Context) bool {
	_, err := p.condition(ctx)
	return err == nil
}

// condition returns the process's state letter: T is stopped.
func (p process) condition(ctx context.Context) (byte, error) {
	if p.PID <= 1 {
		return 0, errGone
	}
	start, condition, err := inspect(ctx, p.PID)
	if err != nil {
		return 0, err
	}
	if start != p.Start {
		return 0, errGone
	}
	return condition, nil
}

// signal sends a signal to this very process.
func (p process) signal(ctx context.Context, sig syscall.Signal) error {
	if _, err := p.condition(ctx); err != nil {
		return fmt.Errorf("signal process %d: %w", p.PID, err)
	}
	if err := syscall.Kill(p.PID, sig); err != nil {
		return fmt.Errorf("signal process %d: %w", p.PID, err)
	}
	return nil
}

// kill ends the process with SIGKILL and waits until it is gone. It is no error if it has gone already.
func (p process) kill(ctx context.Context) error { return p.end(ctx, syscall.SIGKILL, 20*time.Second) }

// end sends the process a signal that ends it and waits until it is gone. It is no error if it has gone already.
func (p process) end(ctx context.Context, sig syscall.Signal, patience time.Duration) error {
	err := p.signal(ctx, sig)
	if errors.Is(err, errGone) || errors.Is(err, syscall.ESRCH) {
		return nil
	}
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for p.alive(ctx) {
		if err := sleep.For(ctx, 10*time.Millisecond); err != nil {
			return fmt.Errorf("process %d does not end: %w", p.PID, err)
		}
	}
	return nil
}

// inspect returns start time and state letter of a living process, from /proc or, where there is none, from ps.
func inspect(ctx context.Context, pid int) (start string, condition byte, err error) {
	if _, err := os.Stat("/proc/self/stat"); err == nil {
		data, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
		if err != nil {
			return "", 0, errGone
		}
		return parseStat(string(data))
	}
	out, err := exec.CommandContext(ctx, "ps", "-o", "stat=,lstart=", "-p", strconv.Itoa(pid)).Output()
	if err != nil {
		return "", 0, errGone
	}
	return parsePS(string(out))
}

// parseStat reads a line of /proc/PID/stat. The command name in it is in parentheses and may itself contain some.
func parseStat(line string) (start string, condition byte, err error) {
	const startField = 22 - 3 // counted from the state letter, which is the third
	end := strings.LastIndexByte(line, ')')
	fields := strings.Fields(line[end+1:])
	if end < 0 || len(fields) <= startField {
		return "", 0, fmt.Errorf("not a process status: %q", line)
	}
	return living(fields[startField], fields[0][0])
}

// parsePS reads the output of ps -o stat=,lstart=.
func parsePS(line string) (start string, condition byte, err error) {
	letters, start, ok := strings.Cut(strings.TrimSpace(line), " ")
	if !ok {
		return "", 0, errGone
	}
	return living(strings.TrimSpace(start), letters[0])
}

func living(start string, condition byte) (string, byte, error) {
	if condition == 'Z' || condition == 'X' {
		return "", 0, errGone
	}
	return start, condition, nil
}
