// Command bench measures createOrder of this library alongside what a service would write by hand, on the cluster in
// DENORM_TEST_HOSTS, and writes a table and a plot.
//
//	make bench
//
// The contenders take turns in random order within each round, so that a slow moment of the machine meets all of them.
// Shown are medians over the rounds, with the smallest and the largest, and how they compare within a round.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"runtime/pprof"
	"slices"
	"strings"
	"syscall"

	"github.com/denorm-go/denorm/integration/harness/cluster"
)

func main() { os.Exit(start()) }

// start returns the exit code.
func start() int {
	rounds := flag.Int("rounds", 15, "how many rounds")
	dir := flag.String("out", "", "folder for benchmark.md and benchmark.svg; empty prints the table only")
	profile := flag.String("cpuprofile", "", "file for a CPU profile of all rounds")
	only := flag.String("only", "", "measure only contenders whose name contains this, and the fan-out by hand")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, *rounds, *dir, *only, *profile); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		return 1
	}
	return 0
}

func run(ctx context.Context, rounds int, dir, only, profile string) error {
	hosts := os.Getenv(cluster.TestHostsEnv)
	if hosts == "" {
		return fmt.Errorf("%s is not set: make bench", cluster.TestHostsEnv)
	}
	release, err := cluster.Share()
	if err != nil {
		return err
	}
	defer release()
	s, err := openShop(ctx, strings.Split(hosts, ","))
	if err != nil {
		return err
	}
	defer s.close()
	contenders, err := s.contenders()
	if err != nil {
		return err
	}
	contenders = slices.DeleteFunc(contenders, func(c contender) bool {
		return !strings.Contains(c.name, only) && c.name != bare
	})
	if profile != "" {
		stop, err := profileTo(profile)
		if err != nil {
			return err
		}
		defer stop()
	}
	results, err := measure(ctx, contenders, rounds)
	if err != nil {
		return err
	}
	r := report{hosts: len(strings.Split(hosts, ",")), rounds: rounds, results: results}
	fmt.Println(r.table())
	if dir == "" {
		return nil
	}
	return r.write(dir)
}

func profileTo(name string) (stop func(), err error) {
	f, err := os.Create(name)
	if err != nil {
		return nil, err
	}
	if err := pprof.StartCPUProfile(f); err != nil {
		return nil, err
	}
	return func() { pprof.StopCPUProfile(); _ = f.Close() }, nil
}
