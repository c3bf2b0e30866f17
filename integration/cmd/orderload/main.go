// Command orderload puts an order service under load and checks every answer that it gives; see package load. In
// integration/, alongside a running orderservice:
//
//	go run ./cmd/orderload -clients 8 -duration 30s
//
// It ends with a summary, and with exit code 1 if an answer was wrong.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/denorm-go/denorm/integration/load/orderservice"
)

func main() { os.Exit(start()) }

// start returns the exit code.
func start() int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	switch err := run(ctx, os.Args[1:], os.Stdout); {
	case err == nil, errors.Is(err, flag.ErrHelp):
		return 0
	case ctx.Err() != nil:
		fmt.Fprintln(os.Stderr, "orderload: interrupted, nothing was checked in the end")
		return 130
	default:
		fmt.Fprintln(os.Stderr, "orderload:", err)
		return 1
	}
}

var errWrong = errors.New("the service gave wrong answers")

func run(ctx context.Context, args []string, out io.Writer) error {
	config, err := parse(args)
	if err != nil {
		return err
	}
	p := newProgress(os.Stderr, config.Orders)
	config.Progress = p.set
	report, err := load.Run(ctx, config)
	p.clear()
	if report != nil {
		_, _ = fmt.Fprint(out, report) // the exit code says the most important
	}
	if err == nil && report.Wrong() > 0 {
		err = errWrong
	}
	return err
}

func parse(args []string) (load.Config, error) {
	var c load.Config
	flags := flag.NewFlagSet("orderload", flag.ContinueOnError)
	targets := flags.String("targets", "http://127.0.0.1:8080", "base `URL,...` of the instances of the service")
	flags.IntVar(&c.Clients, "clients", 8, "clients that work at the same time")
	flags.IntVar(&c.Orders, "orders", 1000, "orders to create at most, up to 5000")
	flags.DurationVar(&c.Duration, "duration", 30*time.Second, "how long orders are created at most")
	flags.DurationVar(&c.Patience, "patience", time.Minute, "how long a client repeats a request until it knows its outcome")
	flags.Uint64Var(&c.Seed, "seed", 1, "what the clients do follows from it")
	if err := flags.Parse(args); err != nil {
		return c, err
	}
	if flags.NArg() > 0 {
		return c, fmt.Errorf("unexpected argument %q", flags.Arg(0))
	}
	for target := range strings.SplitSeq(*targets, ",") {
		c.Targets = append(c.Targets, strings.TrimRight(target, "/"))
	}
	return c, nil
}
