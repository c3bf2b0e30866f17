// Command jaeger runs a real Jaeger on this machine, without a container engine.
//
//	go run ./cmd/jaeger         until Ctrl-C; it prints the variables by which make demo and others find it
//	go run ./cmd/jaeger -build  build it, if that is not done yet, and run nothing
//
// Where it comes from is written in package jaeger.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/denorm-go/denorm/integration/harness/jaeger"
)

func main() { os.Exit(start(os.Args[1:])) }

// start returns the exit code.
func start(args []string) int {
	flags := flag.NewFlagSet("jaeger", flag.ContinueOnError)
	build := flags.Bool("build", false, "only build it, if that is not done yet")
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return 0
		}
		return 2
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	do := run
	if *build {
		do = func(ctx context.Context) error { return jaeger.Build(ctx, os.Stderr) }
	}
	if err := do(ctx); err != nil && (ctx.Err() == nil || !errors.Is(err, context.Canceled)) {
		fmt.Fprintln(os.Stderr, "jaeger:", err)
		return 1
	}
	return 0
}

// run runs the server until a signal comes.
func run(ctx context.Context) (err error) {
	server, err := jaeger.Start(ctx, jaeger.OTLPPort, jaeger.WebPort, os.Stderr)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, server.Close()) }()
	fmt.Fprintf(os.Stderr, "Jaeger takes spans at %s and gives traces at %s/api/traces; its web page is only in the container\n",
		server.OTLP, server.URL)
	for _, variable := range server.Env() {
		fmt.Println("export " + variable)
	}
	select {
	case <-ctx.Done():
		return nil
	case <-server.Ended():
		return errors.New("it has ended")
	}
}
