// Command cluster brings a real Cassandra cluster up for tests, demos and a developer's own use.
//
//	go run ./cmd/cluster up [-nodes 1|3|6]  start it, or join the one that is up; it stays; six nodes are two datacentres
//	go run ./cmd/cluster down [-force]      stop it
//	go run ./cmd/cluster status             what is up
//	go run ./cmd/cluster kill 2             end node 2, as kill -9 does; it keeps its data
//	go run ./cmd/cluster start 2            start it again
//	go run ./cmd/cluster jaeger [-build]    run Jaeger until Ctrl-C, or only build it, see package jaeger
//	go run ./cmd/cluster run [-nodes 1|3|6] [-volatile] [-heap 2G] -- command args
//	                                        with it, run a command that finds it in DENORM_TEST_HOSTS
//
// What run starts it stops again, unless another run still uses it or up was asked for. Where the cluster comes from
// and which settings there are is written in package cluster.
package main

import (
	"context"
	_ "embed" // the usage
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/denorm-go/denorm/integration/harness/cluster"
	"github.com/denorm-go/denorm/integration/harness/jaeger"
)

//go:embed usage.txt
var usage string

// errUsage is returned for arguments that make no sense.
var errUsage = errors.New("see usage")

func main() { os.Exit(start(os.Args[1:])) }

// start returns the exit code.
func start(args []string) int {
	if len(args) == 1 && args[0] == cluster.GuardCommand {
		if err := cluster.Guard(os.Stderr); err != nil {
			fmt.Fprintln(os.Stderr, "guard:", err)
			return 1
		}
		return 0
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	code, err := dispatch(ctx, args)
	switch {
	case err == nil:
		return code
	case errors.Is(err, flag.ErrHelp):
		fmt.Print(usage)
		return 0
	case errors.Is(err, errUsage):
		fmt.Fprint(os.Stderr, "cluster: ", err, "\n", usage)
		return 2
	case errors.Is(err, context.Canceled) && ctx.Err() != nil:
		fmt.Fprintln(os.Stderr, "cluster: interrupted, nothing is left running")
		return 130
	default:
		fmt.Fprintln(os.Stderr, "cluster:", err)
		return 1
	}
}

func dispatch(ctx context.Context, args []string) (int, error) {
	if len(args) == 0 {
		return 0, fmt.Errorf("no command: %w", errUsage)
	}
	if args[0] == "help" || args[0] == "-h" || args[0] == "-help" || args[0] == "--help" {
		return 0, flag.ErrHelp
	}
	harness, err := cluster.New(os.Stderr)
	if err != nil {
		return 0, err
	}
	flags := flag.NewFlagSet(args[0], flag.ContinueOnError)
	flags.SetOutput(io.Discard) // start prints error and usage
	nodes := flags.Int("nodes", 1, "number of nodes, 1, 3 or 6")
	force := flags.Bool("force", false, "stop it even while it is used")
	flags.BoolVar(&harness.Volatile, "volatile", false, "nodes that forget their schema when they are killed")
	flags.StringVar(&harness.Heap, "heap", "", "heap of the nodes, such as 2G, and then G1 and both compilers")
	build := flags.Bool("build", false, "only build Jaeger, if that is not done yet")
	if err := flags.Parse(args[1:]); err != nil {
		return 0, fmt.Errorf("%w: %w", err, errUsage)
	}
	rest := flags.Args()
	number, noNumber := strconv.Atoi(flags.Arg(0))
	switch name := args[0]; {
	case name == "run" && len(rest) > 0:
		return run(ctx, harness, *nodes, rest)
	case name == "kill" && len(rest) == 1 && noNumber == nil:
		return 0, harness.KillNode(ctx, number)
	case name == "start" && len(rest) == 1 && noNumber == nil:
		return 0, harness.StartNode(ctx, number)
	case name == "up" && len(rest) == 0:
		hosts, err := harness.Up(ctx, *nodes)
		if err == nil {
			fmt.Printf("export %s=%s\n", cluster.TestHostsEnv, strings.Join(hosts, ","))
		}
		return 0, err
	case name == "down" && len(rest) == 0:
		return 0, harness.Down(ctx, *force)
	case name == "jaeger" && len(rest) == 0 && *build:
		return 0, jaeger.Build(ctx, os.Stderr)
	case name == "jaeger" && len(rest) == 0:
		return 0, runJaeger(ctx)
	case name == "status" && len(rest) == 0:
		text, err := harness.Status(ctx)
		fmt.Print(text)
		return 0, err
	case slices.Contains([]string{"run", "kill", "start", "up", "down", "jaeger", "status"}, name):
		return 0, fmt.Errorf("%s: wrong arguments %q: %w", name, args[1:], errUsage)
	default:
		return 0, fmt.Errorf("no command %q: %w", args, errUsage)
	}
}
