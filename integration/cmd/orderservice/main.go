// Command orderservice serves orders over HTTP from the Cassandra tables that denorm writes; see package orderservice.
// To try it on three nodes, in integration/:
//
//	go run ./cmd/cluster run -nodes 3 -- go run ./cmd/orderservice -create-schema
//
//	curl -i -d '{"user_id": "'$(uuidgen)'", "total": "19.95"}' -H "Idempotency-Key: $(uuidgen --time)" localhost:8080/orders
//
// Callers are not asked who they are: package orderservice says how to add that. For a Cassandra that asks:
//
//	CASSANDRA_PASSWORD=... orderservice -username shop -tls-ca ca.pem -tls-cert shop.pem -tls-key shop-key.pem
//
// The commands of denorm are mounted in it, as its binary knows the tables of an order:
//
//	orderservice denorm verify order --hosts 127.0.0.1 --keyspace orders
//
// SIGTERM stops it gracefully. With OTEL_EXPORTER_OTLP_ENDPOINT in the environment it exports spans, with
// OTEL_EXPORTER_OTLP_METRICS_ENDPOINT metrics.
package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/denorm-go/denorm/cmd/denorm/command"
	"github.com/denorm-go/denorm/examples/orders"
	"github.com/denorm-go/denorm/integration/orderservice"
	"github.com/denorm-go/denorm/tracing"
)

func main() { os.Exit(start()) }

// start returns the exit code.
func start() int {
	if len(os.Args) > 1 && os.Args[1] == "denorm" {
		return operate(os.Args[1:])
	}
	log := slog.New(slog.NewJSONHandler(os.Stderr, nil))
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second signal ends it at once
	if err := run(ctx, log, os.Args[1:]); err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "orderservice:", err)
		return 1
	}
	return 0
}

// operate runs the commands of denorm, which know the tables that the service declares, and returns the exit code.
func operate(args []string) int {
	root := &cobra.Command{Use: "orderservice"}
	root.AddCommand(command.New(command.Declared(orders.Schema)))
	root.SetArgs(args)
	return command.ExitCode(root.Execute()) // which has said what is wrong
}

// settings are the flags.
type settings struct {
	database orderservice.Cassandra
	listen   string
}

// parse reads the flags, whose defaults can be set in the environment.
func parse(args []string, env func(string) string) (settings, error) {
	var s settings
	flags := flag.NewFlagSet("orderservice", flag.ContinueOnError)
	hosts := flags.String("hosts", cmp.Or(env("CASSANDRA_HOSTS"), env("DENORM_TEST_HOSTS"), "127.0.0.1"),
		"`host[:port],...` of Cassandra; $CASSANDRA_HOSTS")
	flags.StringVar(&s.database.Keyspace, "keyspace", cmp.Or(env("ORDERS_KEYSPACE"), "orders"), "keyspace; $ORDERS_KEYSPACE")
	flags.StringVar(&s.database.LocalDC, "local-dc", env("ORDERS_LOCAL_DC"), "`datacentre` to work with; $ORDERS_LOCAL_DC")
	flags.BoolVar(&s.database.CreateSchema, "create-schema", false, "create keyspace and tables, for development")
	flags.StringVar(&s.listen, "listen", cmp.Or(env("ORDERS_LISTEN"), "127.0.0.1:8080"), "`address` to listen on; $ORDERS_LISTEN")
	in := new(access)
	in.flags(flags, env)
	if err := flags.Parse(args); err != nil {
		return s, err
	}
	if flags.NArg() > 0 {
		return s, fmt.Errorf("unexpected argument %q", flags.Arg(0))
	}
	if err := in.check(); err != nil {
		return s, err
	}
	s.database.Change = in.apply
	s.database.Hosts = strings.FieldsFunc(*hosts, func(r rune) bool { return r == ',' || r == ' ' })
	return s, nil
}

func run(ctx context.Context, log *slog.Logger, args []string) error {
	s, err := parse(args, os.Getenv)
	if err != nil {
		return err
	}
	t, err := startTelemetry(ctx)
	if err != nil {
		return err
	}
	defer t.stop(ctx)

	s.database.Trace = tracing.Multi( // spans first, so that the log knows them
		tracing.New(tracing.WithTracerProvider(t.tracers), tracing.WithMeterProvider(t.meters)),
		tracing.Slog(log),
	)
	database, err := s.database.Open(ctx)
	if err != nil {
		return err
	}
	defer database.Close()

	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", s.listen)
	if err != nil {
		return err
	}
	if a, ok := listener.Addr().(*net.TCPAddr); ok && !a.IP.IsLoopback() {
		log.WarnContext(ctx, "no authentication: whoever reaches this address may read and change all orders", "address", a.String())
	}
	service := orderservice.Service{WriterAt: database.WriterAt, Reader: database.Reader, Log: log, Tracers: t.tracers}
	log.InfoContext(ctx, "serving", "address", listener.Addr().String(), "keyspace", s.database.Keyspace)
	err = orderservice.Serve(ctx, listener, service.Handler(), log)
	log.InfoContext(ctx, "stopped")
	return err
}
