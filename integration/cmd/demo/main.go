// Command demo shows on a real cluster what denorm does: it writes a few thousand orders and status changes, and then
// looks at single ones, undisturbed and disturbed. It is run by make demo, or in integration/ by
//
//	go run ./cmd/demo [-in-process]
//
// It brings a node up, or joins the cluster that is up, and works in keyspaces of its own, which it drops at the end,
// also when it is interrupted. On a machine that cannot run Cassandra, and with -in-process, it shows the same on the
// in-process model of package cassandratest, and says so.
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

	"github.com/denorm-go/denorm/integration/harness/cluster"
)

// timeLimit is far above the 10 s that the demo takes, half of it for creating tables.
const timeLimit = 4 * time.Minute

func main() {
	if len(os.Args) == 2 && os.Args[1] == cluster.GuardCommand {
		os.Exit(exitCode(cluster.Guard(os.Stderr))) // of a demo that was killed
	}
	inProcess, err := parse(os.Args[1:], os.Stderr)
	switch {
	case errors.Is(err, flag.ErrHelp):
	case err != nil:
		os.Exit(2)
	default:
		os.Exit(start(inProcess))
	}
}

// parse reads the arguments. It says what is wrong with them.
func parse(args []string, out io.Writer) (inProcess bool, err error) {
	flags := flag.NewFlagSet("demo", flag.ContinueOnError)
	flags.SetOutput(out)
	flags.BoolVar(&inProcess, "in-process", false, "use no real Cassandra but the model of package cassandratest")
	if err = flags.Parse(args); err == nil && flags.NArg() > 0 {
		err = fmt.Errorf("unexpected argument %q", flags.Arg(0))
		_, _ = fmt.Fprintln(out, err) // as the flags say what is wrong with them
		flags.Usage()
	}
	return inProcess, err
}

// start returns the exit code.
func start(inProcess bool) int {
	// SIGPIPE, so that "make demo | head" drops the keyspaces too. It is never again what ends the program.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGPIPE)
	defer stop()
	context.AfterFunc(ctx, stop) // whoever presses Ctrl-C again does not want to wait for keyspaces to be dropped
	c, err := findCassandra(ctx, inProcess)
	if err != nil {
		return exitCode(err)
	}
	limited, cancel := context.WithTimeoutCause(ctx, timeLimit, fmt.Errorf("not done after %v", timeLimit))
	defer cancel()
	return exitCode(errors.Join(run(limited, &screen{w: os.Stdout}, c), c.close(ctx)))
}

// exitCode says what went wrong, if anything did.
func exitCode(err error) int {
	if err == nil {
		return 0
	}
	fmt.Fprintln(os.Stderr, "demo:", oneLine(err.Error()))
	if errors.Is(err, errInterrupted) {
		return 130
	}
	return 1
}

var errInterrupted = errors.New("interrupted")

// ended makes the end of ctx the reason of an error, if that is what it comes from.
func ended(ctx context.Context, err error) error {
	switch {
	case err == nil || ctx.Err() == nil:
		return err
	case errors.Is(ctx.Err(), context.Canceled):
		return errInterrupted
	default:
		return fmt.Errorf("%w: %w", context.Cause(ctx), err)
	}
}

// oneLine is the text without line breaks.
func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// sections are what the demo shows, in this order.
var sections = []func(context.Context, *screen, *shop) error{
	showLoad, showOrder, showCost, showMissingTable, showLostReply, showTrace,
}

func run(ctx context.Context, out *screen, c *cassandra) error {
	started := time.Now()
	s, err := openShop(ctx, out, c)
	if err != nil {
		return err
	}
	for _, show := range sections {
		if err = show(ctx, out, s); err == nil {
			err = out.err
		}
		if err != nil {
			break
		}
	}
	if err := errors.Join(ended(ctx, err), s.close(ctx)); err != nil {
		return err
	}
	out.blank()
	out.ok("All of it held, in %.1f s. The keyspaces of this run are dropped.", time.Since(started).Seconds())
	out.blank()
	out.table([]string{"Next:", "README.md", "why, a whole program, and what it costs"},
		[]string{"", "examples/orders", "the tables of this demo"},
		[]string{"", "integration/cmd/demo", "this program"},
		[]string{"", "make up, make down", "three nodes to try things on"})
	c.confess(out)
	return out.err
}
