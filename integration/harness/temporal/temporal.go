// Package temporal runs the real Temporal server for tests. It is built from its Go module (server/go.mod), which takes
// some minutes and is done once: the program is kept in the directory of the cluster harness. It is the program
// temporal, with all its commands; as a server it listens on loopback, and ends with whoever started it, even if that
// is killed.
//
// The package works on Linux and macOS.
package temporal

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/denorm-go/denorm/integration/harness/program"
)

var cli = program.Program{
	Name: "Temporal", Package: "github.com/temporalio/cli/cmd/temporal", Folder: "integration/harness/temporal/server", Takes: "four minutes",
	Env: []string{"CGO_ENABLED=0"},
}

// Server is a server that runs.
type Server struct {
	Address string // host:port

	path, file string
	process    *program.Process
}

// startTimeout is far above what a start takes on a busy machine.
const startTimeout = 2 * time.Minute

// mostRestarts is how often a server that ends before it answers is started again. It looks for free ports for its
// parts, and then listens on them: another process may take one in between.
const mostRestarts = 2

// Restart starts the server again with the same port and file, after [Server.Kill].
func (s *Server) Restart(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(ctx, startTimeout, fmt.Errorf("start Temporal: no answer after %v", startTimeout))
	defer cancel()
	_, port, err := net.SplitHostPort(s.Address)
	if err != nil {
		return err
	}
	args := []string{"server", "start-dev", "--headless", "--ip", "127.0.0.1", "--port", port, "--log-level", "error"}
	if s.file != "" {
		args = append(args, "--db-filename", s.file)
	}
	healthy := func(ctx context.Context) error {
		_, err := s.Command(ctx, "operator", "cluster", "health")
		return err
	}
	for again := mostRestarts; ; again-- {
		if s.process, err = program.Start("Temporal", s.path, args, os.Environ()); err != nil {
			return err
		}
		if err = s.process.Await(ctx, healthy); err == nil {
			return nil
		}
		if err = errors.Join(err, s.Kill()); again == 0 || ctx.Err() != nil {
			return err
		}
	}
}

// Kill ends the server at once.
func (s *Server) Kill() error { return s.process.Stop() }

// Command runs a command of the program temporal against the server, as an operator does, and returns its output.
func (s *Server) Command(ctx context.Context, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, s.path, append(args, "--address", s.Address)...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		err = fmt.Errorf("temporal %v: %w\n%s", args, err, out)
	}
	return string(out), err
}

// Serve returns a server that answers, and is stopped when the test ends. Its state is in a file, which is made if it is
// not there, or in memory if file is empty.
func Serve(tb testing.TB, file string) *Server {
	tb.Helper()
	ctx := context.Background()
	path, err := cli.Binary(ctx, tb.Output())
	if err != nil {
		tb.Fatal(err)
	}
	address, err := program.FreePort(ctx, 0)
	if err != nil {
		tb.Fatal(err)
	}
	s := &Server{Address: address, path: path, file: file}
	if err := s.Restart(ctx); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := s.Kill(); err != nil {
			tb.Errorf("stop Temporal: %v", err)
		}
	})
	return s
}
