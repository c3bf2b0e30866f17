package cluster

import (
	"context"
	"fmt"
	"io"
	"os"
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

// Run runs a helper program and returns what it has said. Its error has the last lines, or says why the context has ended.
func Run(ctx context.Context, cmd *exec.Cmd) ([]byte, error) {
	out, err := cmd.CombinedOutput()
	if err != nil && ctx.Err() != nil {
		return out, context.Cause(ctx)
	}
	if err != nil {
		err = fmt.Errorf("%w; its last lines:\n%s", err, LastLines(out, 10))
	}
	return out, err
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

// aptUsable reports whether packages can be installed without asking anybody: as root on a Debian-like machine, which
// in practice is a container or a build machine.
func aptUsable() bool {
	if os.Geteuid() != 0 {
		return false
	}
	_, err := exec.LookPath("apt-get")
	return err == nil
}

// aptInstall installs packages and says so.
func aptInstall(ctx context.Context, log *progress, packages ...string) error {
	done := log.step("installing %s with apt-get", strings.Join(packages, " and "))
	if err := apt(ctx, "update", "-q"); err != nil {
		return err
	}
	if err := apt(ctx, append([]string{"install", "-q", "-y", "--no-install-recommends"}, packages...)...); err != nil {
		return err
	}
	done("installed")
	return nil
}

func apt(ctx context.Context, args ...string) error {
	cmd := command(ctx, "apt-get", args...)
	cmd.Env = append(os.Environ(), "DEBIAN_FRONTEND=noninteractive")
	if _, err := Run(ctx, cmd); err != nil {
		return fmt.Errorf("apt-get %s: %w", strings.Join(args, " "), err)
	}
	return nil
}

// progress tells a developer what takes long and how long it took.
type progress struct{ out io.Writer }

func (p *progress) say(format string, args ...any) {
	_, _ = fmt.Fprintf(p.out, "cluster: "+format+"\n", args...)
}

// step says what begins, and the function it returns says how it ended and after what time.
func (p *progress) step(format string, args ...any) (done func(result string)) {
	start := time.Now()
	p.say(format+" ...", args...)
	return func(result string) {
		p.say("%s after %.1f s", result, time.Since(start).Seconds())
	}
}
