// Command readbench measures reads of a bucketed stream through this library alongside what a service would write by hand, on
// the cluster in DENORM_TEST_HOSTS, and writes docs/reading.md.
//
//	make readbench
//
// Contenders take turns in random order within each round, so that a slow moment of the machine meets all of them. Shown
// are medians over the rounds, with the smallest and the largest.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/denorm-go/denorm/integration/harness/cluster"
)

func main() { os.Exit(start()) }

// start returns the exit code.
func start() int {
	var s settings
	flag.IntVar(&s.rows, "rows", 1_000_000, "how many rows the stream has")
	flag.IntVar(&s.newestRounds, "newest", 15, "how many rounds of reading the newest rows")
	flag.IntVar(&s.scanRounds, "scans", 5, "how many rounds of reading all rows")
	flag.IntVar(&s.times, "times", 60, "how often each contender reads the newest rows in a round")
	flag.StringVar(&s.keyspace, "keyspace", "", "use this keyspace, and load rows only if it is new; empty uses one that is dropped afterwards")
	flag.StringVar(&s.out, "out", "", "folder for reading.md; empty prints the tables only")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, s); err != nil {
		fmt.Fprintln(os.Stderr, "readbench:", err)
		return 1
	}
	return 0
}

type settings struct {
	rows, newestRounds, scanRounds, times int
	keyspace, out                         string
}

func run(ctx context.Context, s settings) error {
	list := os.Getenv(cluster.TestHostsEnv)
	if list == "" {
		return fmt.Errorf("%s is not set: make readbench", cluster.TestHostsEnv)
	}
	release, err := cluster.Share()
	if err != nil {
		return err
	}
	defer release()
	hosts := strings.Split(list, ",")
	st, err := openStream(ctx, hosts, s)
	if err != nil {
		return err
	}
	defer st.close()
	r := report{settings: s, hosts: len(hosts)}
	if r.newest, err = st.measureNewest(ctx); err != nil {
		return err
	}
	if r.scans, err = st.measureScans(ctx); err != nil {
		return err
	}
	fmt.Println(r.text())
	if s.out == "" {
		return nil
	}
	return r.write()
}
