package cluster

import (
	"context"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

// command prepares a helper program that ends gently with the context.
func command(ctx context.Context, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, name, args...) //nolint:gosec // running programs is the purpose
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = 10 * time.Second
	return cmd
}

// lastLines returns the last lines of an output that are not empty, indented, for an error.
func lastLines(out []byte, limit int) string {
	var lines []string
	for line := range strings.Lines(string(out)) {
		if line = strings.TrimRight(line, " \r\n"); line != "" {
			lines = append(lines, "    "+shorten(line, 300))
		}
	}
	if len(lines) == 0 {
		return "    (no output)"
	}
	return strings.Join(lines[max(0, len(lines)-limit):], "\n")
}
