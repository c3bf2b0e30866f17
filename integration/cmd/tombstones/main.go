// Command tombstones measures what moving rows costs those who read: LIMIT 20 of each status after many changes of status,
// with a swept status and with a status of a single writer, on the cluster in DENORM_TEST_HOSTS.
//
//	make tombstones
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/denorm-go/denorm/integration/harness/cluster"
)

func main() { os.Exit(start()) }

// start returns the exit code.
func start() int {
	changes := flag.Int("changes", 200_000, "how many changes of status, in each of the two sets")
	rounds := flag.Int("rounds", 300, "how often each status is read")
	dir := flag.String("out", "", "folder for tombstones.md; empty prints it only")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, *changes, *rounds, *dir); err != nil {
		fmt.Fprintln(os.Stderr, "tombstones:", err)
		return 1
	}
	return 0
}

func run(ctx context.Context, changes, rounds int, dir string) (err error) {
	hosts := os.Getenv(cluster.TestHostsEnv)
	if hosts == "" {
		return fmt.Errorf("%s is not set: make tombstones", cluster.TestHostsEnv)
	}
	if changes < 1 || rounds < 1 {
		return errors.New("-changes and -rounds must be positive")
	}
	r := report{hosts: len(strings.Split(hosts, ",")), changes: changes, rounds: rounds, busy: loadAverage()}
	release, err := cluster.Share()
	if err != nil {
		return err
	}
	defer release()
	s, err := openShop(ctx, strings.Split(hosts, ","))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	begin := time.Now()
	for _, set := range sets {
		if err := s.load(ctx, set, changes); err != nil {
			return fmt.Errorf("%s: %w", set.name, err)
		}
	}
	r.loaded = time.Since(begin)
	if r.results, err = s.measure(ctx, rounds); err != nil {
		return err
	}
	fmt.Println(r.text())
	if dir == "" {
		return nil
	}
	return r.write(dir)
}
