// Command temporal is the order service's part in runs on Temporal. Any number of workers, on any machines, share the
// work:
//
//	temporal worker --hosts 10.0.0.1 --keyspace shop --temporal 10.0.0.9:7233 &
//	temporal worker --hosts 10.0.0.1 --keyspace shop --temporal 10.0.0.9:7233 &
//	temporal worker --hosts 10.0.0.1 --keyspace shop --temporal 10.0.0.9:7233 &
//	temporal denorm backfill order orders_by_user --writers 2026-11-25T10:00:00Z --temporal 10.0.0.9:7233
//
// A service that has a worker already registers the sets with it, in place of the first command.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/gocql/gocql"
	"github.com/spf13/cobra"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/worker"

	"github.com/denorm-go/denorm/cmd/denorm/command"
	"github.com/denorm-go/denorm/examples/orders"
	"github.com/denorm-go/denorm/reconcile/temporal"
	"github.com/denorm-go/denorm/reconcile/temporal/commands"
	"github.com/denorm-go/denorm/session"
	"github.com/denorm-go/denorm/tables"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := command.ExitCode(root().ExecuteContext(ctx))
	stop()
	os.Exit(code)
}

// root has both commands.
func root() *cobra.Command {
	root := &cobra.Command{Use: "temporal"}
	var w serviceWorker
	serve := &cobra.Command{Use: "worker", Short: "Take part in runs until a signal comes", SilenceUsage: true, RunE: func(c *cobra.Command, _ []string) error {
		return w.serve(c.Context())
	}}
	f := serve.Flags()
	f.StringSliceVar(&w.hosts, "hosts", []string{"127.0.0.1"}, "nodes of Cassandra")
	f.StringVar(&w.keyspace, "keyspace", "orders", "keyspace of the tables")
	f.StringVar(&w.temporal, "temporal", client.DefaultHostPort, "HOST:PORT of Temporal")
	f.StringVar(&w.queue, "task-queue", "denorm", "task queue")
	root.AddCommand(serve, command.New(command.Declared(orders.Schema), commands.Temporal(nil)))
	return root
}

// serviceWorker is what the flags of a worker say.
type serviceWorker struct {
	hosts                     []string
	keyspace, temporal, queue string
}

// serve takes part in runs until ctx ends.
func (s *serviceWorker) serve(ctx context.Context) error {
	config := gocql.NewCluster(s.hosts...)
	config.Keyspace, config.ConnectTimeout = s.keyspace, 10*time.Second
	with, err := session.Open(config)
	if err != nil {
		return err
	}
	defer with.Close()
	c, err := client.DialContext(ctx, client.Options{HostPort: s.temporal})
	if err != nil {
		return err
	}
	defer c.Close()
	w := worker.New(c, s.queue, worker.Options{WorkerStopTimeout: 10 * time.Second}) // in which it gives what it has done to others
	if err := temporal.Register(w, with, []tables.Described{orders.Orders}); err != nil {
		return err
	}
	ended := make(chan any)
	context.AfterFunc(ctx, func() { close(ended) })
	return w.Run(ended)
}
