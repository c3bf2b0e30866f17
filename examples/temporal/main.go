// Command temporal is the order service's part in runs on Temporal. Any number of workers, on any machines, share the
// work:
//
//	temporal --hosts 10.0.0.1 --keyspace shop --temporal 10.0.0.9:7233 &
//	temporal --hosts 10.0.0.1 --keyspace shop --temporal 10.0.0.9:7233 &
//	temporal --hosts 10.0.0.1 --keyspace shop --temporal 10.0.0.9:7233 &
//
// Start starts a run, as does Temporal's own command: see docs/temporal.md. A service that has a worker already
// registers the sets with it, in place of this command.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/gocql/gocql"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/worker"

	"github.com/denorm-go/denorm/examples/orders"
	"github.com/denorm-go/denorm/reconcile/temporal"
	"github.com/denorm-go/denorm/session"
	"github.com/denorm-go/denorm/tables"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := takePart(ctx, os.Args[1:]...)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// takePart takes part in runs until ctx ends.
func takePart(ctx context.Context, args ...string) error {
	f := flag.NewFlagSet("temporal", flag.ContinueOnError)
	hosts := f.String("hosts", "127.0.0.1", "nodes of Cassandra, separated by commas")
	keyspace := f.String("keyspace", "orders", "keyspace of the tables")
	address := f.String("temporal", client.DefaultHostPort, "HOST:PORT of Temporal")
	queue := f.String("task-queue", "denorm", "task queue")
	if err := f.Parse(args); err != nil {
		return err
	}
	config := gocql.NewCluster(strings.Split(*hosts, ",")...)
	config.Keyspace, config.ConnectTimeout = *keyspace, 10*time.Second
	with, err := session.Open(config)
	if err != nil {
		return err
	}
	defer with.Close()
	c, err := client.DialContext(ctx, client.Options{HostPort: *address})
	if err != nil {
		return err
	}
	defer c.Close()
	w := worker.New(c, *queue, worker.Options{WorkerStopTimeout: 10 * time.Second}) // in which it gives what it has done to others
	if err := temporal.Register(w, with, []tables.Described{orders.Orders}); err != nil {
		return err
	}
	ended := make(chan any)
	context.AfterFunc(ctx, func() { close(ended) })
	return w.Run(ended)
}
