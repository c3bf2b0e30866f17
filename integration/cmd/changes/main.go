// Command changes measures what a change costs by the rules that its set declares: plain, OneOf, Versioned, with a Unique
// table; on the cluster in DENORM_TEST_HOSTS, in one run.
//
//	make changes
//
// The contenders take turns in random order within each round. Shown are medians over the rounds, with the smallest and the
// largest. No two writes meet: this is the price of the rule, not of contention.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/denorm-go/denorm/integration/harness/cluster"
)

func main() { os.Exit(start()) }

// start returns the exit code.
func start() int {
	rounds := flag.Int("rounds", 9, "how many rounds")
	writes := flag.Int("writes", 200, "writes of each contender a round")
	dir := flag.String("out", "", "folder for changes.md; empty prints it only")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, *rounds, *writes, *dir); err != nil {
		fmt.Fprintln(os.Stderr, "changes:", err)
		return 1
	}
	return 0
}

func run(ctx context.Context, rounds, writes int, dir string) error {
	hosts := os.Getenv(cluster.TestHostsEnv)
	if hosts == "" {
		return fmt.Errorf("%s is not set: make changes", cluster.TestHostsEnv)
	}
	release, err := cluster.Share()
	if err != nil {
		return err
	}
	defer release()
	p, err := open(ctx, strings.Split(hosts, ","))
	if err != nil {
		return err
	}
	defer p.close()
	list := p.contenders()
	if err := measure(ctx, list, rounds, writes); err != nil {
		return err
	}
	text := report(list, rounds, writes, len(strings.Split(hosts, ",")))
	fmt.Println(text)
	if dir == "" {
		return nil
	}
	return os.WriteFile(filepath.Join(dir, "changes.md"), []byte(text), 0o644)
}

// clients write at the same time in the second figure.
const clients = 8

// contender is one way to change an entity.
type contender struct {
	verb, rule, sent string
	// prepare makes a change of a new entity ready, and do carries it out.
	prepare     func(context.Context) (do func(context.Context) error, err error)
	alone, many []float64 // p50 in milliseconds, a round
}

func measure(ctx context.Context, list []*contender, rounds, writes int) error {
	for round := range rounds + 1 {
		fmt.Fprintf(os.Stderr, "changes: round %d of %d\n", round, rounds)
		for _, i := range rand.Perm(len(list)) {
			c := list[i]
			alone, err := load(ctx, c, 1, writes/2)
			if err != nil {
				return fmt.Errorf("%s, %s: %w", c.verb, c.rule, err)
			}
			many, err := load(ctx, c, clients, writes)
			if err != nil {
				return fmt.Errorf("%s, %s: %w", c.verb, c.rule, err)
			}
			if round > 0 { // the first prepares statements and warms the servers
				c.alone, c.many = append(c.alone, alone), append(c.many, many)
			}
		}
	}
	return nil
}

// load gives the median latency in milliseconds.
func load(ctx context.Context, c *contender, clients, writes int) (float64, error) {
	ready := make([]func(context.Context) error, writes)
	if err := share(clients*2, writes, func(i int) (err error) {
		ready[i], err = c.prepare(ctx)
		return err
	}); err != nil {
		return 0, err
	}
	latencies := make([]time.Duration, writes)
	err := share(clients, writes, func(i int) error {
		start := time.Now()
		err := ready[i](ctx)
		latencies[i] = time.Since(start)
		return err
	})
	slices.Sort(latencies)
	return float64(latencies[writes/2].Microseconds()) / 1000, err
}

// share has workers do n things.
func share(workers, n int, do func(int) error) error {
	errs := make([]error, workers)
	var all sync.WaitGroup
	for w := range workers {
		all.Go(func() {
			for i := w; i < n && errs[w] == nil; i += workers {
				errs[w] = do(i)
			}
		})
	}
	all.Wait()
	return errors.Join(errs...)
}
