// Command jaeger runs a real Jaeger on this machine, without a container engine.
//
//	go run ./cmd/jaeger                     until Ctrl-C; it prints the variables by which make demo and others find it
//	go run ./cmd/jaeger -- command args...  as long as a command runs, which finds it in its environment
//	go run ./cmd/jaeger -build              build it, if that is not done yet, and run nothing
//
// It can be combined with a cluster:
//
//	go run ./cmd/cluster run -nodes 3 -- go run ./cmd/jaeger -- command args...
//
// Where it comes from is written in package jaeger.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"syscall"

	"github.com/denorm-go/denorm/integration/harness/jaeger"
)

func main() { os.Exit(start(os.Args[1:])) }

// start returns the exit code.
func start(args []string) int {
	flags := flag.NewFlagSet("jaeger", flag.ContinueOnError)
	otlp := flags.Int("otlp", jaeger.OTLPPort, "port that takes spans, by OTLP over gRPC; another one if it is held")
	web := flags.Int("web", jaeger.WebPort, "port of the HTTP API; another one if it is held")
	build := flags.Bool("build", false, "only build it, if that is not done yet")
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return 0
		}
		return 2
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	var code int
	var err error
	if *build {
		err = jaeger.Build(ctx, os.Stderr)
	} else {
		code, err = run(ctx, jaeger.Config{OTLPPort: *otlp, WebPort: *web, Out: os.Stderr}, flags.Args())
	}
	if err != nil && (ctx.Err() == nil || !errors.Is(err, context.Canceled)) {
		fmt.Fprintln(os.Stderr, "jaeger:", err)
		return max(code, 1)
	}
	return code
}

// run returns the exit code of the command; 0 if there is none and a signal ended the wait.
func run(ctx context.Context, config jaeger.Config, command []string) (code int, err error) {
	if len(command) > 0 {
		if _, err := exec.LookPath(command[0]); err != nil {
			return 1, err // before a server is built for nothing
		}
	}
	server, err := jaeger.Start(ctx, config)
	if err != nil {
		return 1, err
	}
	defer func() { err = errors.Join(err, server.Close()) }()
	fmt.Fprintf(os.Stderr, "Jaeger takes spans at %s and gives traces at %s/api/traces; its web page is only in the container\n",
		server.OTLP, server.URL)
	if len(command) == 0 {
		for _, variable := range server.Env() {
			fmt.Println("export " + variable)
		}
		select {
		case <-ctx.Done():
			return 0, nil
		case <-server.Ended():
			return 1, errors.New("it has ended")
		}
	}
	cmd := exec.CommandContext(ctx, command[0], command[1:]...) // running it is the purpose
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.Env = append(os.Environ(), server.Env()...)
	err = cmd.Run()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return max(exit.ExitCode(), 1), nil
	}
	return 0, err
}
