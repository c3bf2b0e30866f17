package cluster

import (
	"context"
	"os/exec"
	"regexp"
	"strings"
	"syscall"
	"time"
)

// command prepares a helper program that ends gently with the context.
func command(ctx context.Context, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = 10 * time.Second
	return cmd
}

var colors = regexp.MustCompile(`\x1b\[[0-9;]*m`)

// LastLines returns the last lines of an output that say something, indented, for an error.
func LastLines(out []byte, limit int) string {
	var lines []string
	for line := range strings.Lines(colors.ReplaceAllString(string(out), "")) {
		if line = strings.TrimRight(line, " \r\n"); line != "" && line != "[ERROR]" { // which Maven puts between paragraphs
			lines = append(lines, "    "+shorten(line, 600))
		}
	}
	if len(lines) == 0 {
		return "    (no output)"
	}
	return strings.Join(lines[max(0, len(lines)-limit):], "\n")
}
