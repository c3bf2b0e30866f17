package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"

	ps "github.com/shirou/gopsutil/v4/process"

	"github.com/denorm-go/denorm/integration/harness/cluster"
)

// run runs a command with a cluster and returns its exit code.
func run(ctx context.Context, harness *cluster.Harness, nodes int, args []string) (code int, err error) {
	if _, err := exec.LookPath(args[0]); err != nil {
		return 0, fmt.Errorf("run: %w", err) // before a cluster is started for nothing
	}
	lease, err := harness.Join(ctx, nodes)
	if err != nil {
		return 0, err
	}
	// From here on signals are the command's business, and none may keep the cluster from being stopped after it.
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT)
	defer signal.Stop(signals)
	defer func() { err = errors.Join(err, lease.Close(ctx)) }()
	if err := context.Cause(ctx); err != nil {
		return 0, err // the signal came before anybody listened for it here
	}

	cmd, err := startCommand(lease, args)
	if err != nil {
		return 0, err
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	for {
		select {
		case sig := <-signals:
			if !fromTerminal(sig) {
				_ = cmd.Process.Signal(sig) // it fails only if the command has just ended
			}
		case err := <-ended:
			return exitCode(cmd, err)
		}
	}
}

func startCommand(lease *cluster.Lease, args []string) (*exec.Cmd, error) {
	cmd := exec.Command(args[0], args[1:]...) // running it is the purpose; signals end it, not a context
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.ExtraFiles = lease.Inherit()
	cmd.Env = append(os.Environ(), cluster.TestHostsEnv+"="+strings.Join(lease.Hosts(), ","))
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("run %s: %w", args[0], err)
	}
	return cmd, nil
}

// exitCode is the command's own, or 128 plus the signal that ended it, as a shell has it.
func exitCode(cmd *exec.Cmd, err error) (int, error) {
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return 0, fmt.Errorf("run %s: %w", cmd.Path, err)
	}
	if status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return 128 + int(status.Signal()), nil
	}
	return cmd.ProcessState.ExitCode(), nil
}

// fromTerminal reports whether a signal was most likely sent by the terminal, which sends it to the command as well:
// passed on, it would arrive twice, and programs take a second Ctrl-C for impatience.
func fromTerminal(sig os.Signal) bool {
	if sig != os.Interrupt && sig != syscall.SIGQUIT {
		return false
	}
	foreground, err := (&ps.Process{Pid: int32(os.Getpid())}).Foreground()
	return err == nil && foreground
}
