// Command bench measures this library on the cluster in DENORM_TEST_HOSTS, alongside what a service would write by hand, and writes
// what it finds as Markdown.
//
//	bench create      createOrder alongside the same by hand
//	bench reads       a stream in buckets, merged (make readbench)
//	bench tombstones  what moving rows costs those who read: LIMIT 20 of each status after many changes of status (make tombstones)
//	bench changes     what a change costs by the rules that its set declares, and by hand
//	bench accord      what a change costs in a transaction of Cassandra 6 (make accordbench)
//	bench bulk        many inserts by WriteAll and by loops
//	bench reconcile   package reconcile alongside scan, copy and diff job by hand, and next to a service (make reconcilebench)
//
// make bench runs create, changes and bulk. Contenders take turns in random order within each round, so that a slow moment of the machine
// meets all of them. Shown are medians over the rounds, with the smallest and the largest.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"

	"github.com/denorm-go/denorm/integration/harness/cluster"
	"github.com/denorm-go/denorm/schema"
)

// benchmark is a subcommand.
type benchmark interface {
	flags(f *flag.FlagSet)
	schema() *schema.Schema
	// run gives the files that are written into -out, by name.
	run(ctx context.Context, p *place) (map[string]string, error)
}

var benchmarks = map[string]benchmark{
	"create": &createBench{}, "reads": &readBench{}, "tombstones": &tombstoneBench{}, "changes": &changeBench{},
	"accord":    &accordBench{},
	"reconcile": &reconcileBench{}, "bulk": &bulkBench{},
}

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

func run(ctx context.Context, args []string) (err error) {
	if len(args) == 0 || benchmarks[args[0]] == nil {
		return fmt.Errorf("bench create, reads, tombstones, changes, accord, bulk or reconcile, not %q", args)
	}
	b, flags := benchmarks[args[0]], flag.NewFlagSet(args[0], flag.ExitOnError)
	dir := flags.String("out", "", "folder for what is written; empty prints it only")
	keyspace := flags.String("keyspace", "", "use this keyspace, and keep it; empty uses one that is dropped afterwards")
	replicas := flags.Int("rf", 3, "replicas of each row; not more than there are nodes")
	b.flags(flags)
	_ = flags.Parse(args[1:]) // exits
	hosts := os.Getenv(cluster.TestHostsEnv)
	if hosts == "" {
		return fmt.Errorf("%s is not set: make help says how to run this", cluster.TestHostsEnv)
	}
	release, err := cluster.Share()
	if err != nil {
		return err
	}
	defer release()
	p, err := open(ctx, strings.Split(hosts, ","), *keyspace, *replicas, b.schema())
	if err != nil {
		return err
	}
	defer p.close()
	files, err := b.run(ctx, p)
	if err != nil {
		return err
	}
	for name, text := range files {
		if strings.HasSuffix(name, ".md") {
			fmt.Println(text)
		}
		if *dir != "" && err == nil {
			err = os.WriteFile(filepath.Join(*dir, name), []byte(text), 0o644)
		}
	}
	return err
}

// progress tells how far it is.
func progress(format string, args ...any) { fmt.Fprintf(os.Stderr, "bench: "+format+"\n", args...) }

// written ends a file.
func written(target string) string {
	return fmt.Sprintf("Written by `make %s` on %s, %s %s/%s.\n", target, time.Now().UTC().Format(time.DateOnly), runtime.Version(),
		runtime.GOOS, runtime.GOARCH)
}
