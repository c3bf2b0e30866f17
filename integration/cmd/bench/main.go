// Command bench measures this library, and writes what it finds as Markdown.
//
//	bench compare     the working tree and another commit, on the cluster (make compare BASE=commit)
//	bench gate        the same without nodes (make benchgate)
//	bench create      createOrder, and reads of ten buckets, compared with the same by hand (make bench)
//	bench changes     what a change costs by the rules that its set declares, and by hand (make bench)
//	bench tombstones  what moving rows costs those who read: LIMIT 20 of each status after many changes of status (make tombstones)
//	bench charts      the pictures of docs/why/costs.md, from pages in docs/figures (make bench)
//
// All but the gate and charts use the cluster in DENORM_TEST_HOSTS.
//
// Compare starts the drivers with nodes once a run. What differs between two processes of one program, such as the
// layout of memory, is not in the intervals of their latencies.
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

	"github.com/denorm-go/denorm/integration/cmd/bench/turn"
	"github.com/denorm-go/denorm/integration/harness/cluster"
)

func main() { os.Exit(start()) }

// start returns the exit code.
func start() int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		return 1
	}
	return 0
}

func run(ctx context.Context, args []string) error {
	if len(args) == 0 {
		return errUsage
	}
	f := flag.NewFlagSet(args[0], flag.ExitOnError)
	base := f.String("base", "", "commit to compare with; empty: where the branch left origin/main, or the commit before")
	update := f.Bool("update", false, "gate: write the allocations of today into "+countsFile)
	out := f.String("out", "", "folder of pages and charts; empty prints a page only")
	_ = f.Parse(args[1:]) // exits
	temp, err := os.MkdirTemp("", "bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(temp) //nolint:errcheck // it is in the folder for temporary files
	hosts := strings.Split(os.Getenv(cluster.TestHostsEnv), ",")
	switch args[0] {
	case "gate":
		return gate(ctx, temp, *base, *update)
	case "compare":
		return locked(hosts, func() error { return compareCommits(ctx, temp, *base, hosts) })
	case "charts":
		if *out == "" {
			return errors.New("charts: name the folder of the pages: -out ../docs/figures")
		}
		return drawCharts(*out)
	}
	b := pages[args[0]]
	if b == nil {
		return errUsage
	}
	return locked(hosts, func() error {
		p, err := turn.Open(ctx, hosts)
		if err != nil {
			return err
		}
		defer p.Close()
		return b.run(ctx, p, hosts, *out)
	})
}

// locked keeps the cluster while it is measured.
func locked(hosts []string, do func() error) error {
	if hosts[0] == "" {
		return errHosts
	}
	release, err := cluster.Share()
	if err != nil {
		return err
	}
	defer release()
	return do()
}

// progress tells how far it is.
func progress(format string, args ...any) { fmt.Fprintf(os.Stderr, "bench: "+format+"\n", args...) }
