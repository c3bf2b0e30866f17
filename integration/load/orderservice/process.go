package load

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strconv"
	"time"

	"github.com/gocql/gocql"
	"github.com/spf13/cobra"

	"github.com/denorm-go/denorm/cmd/denorm/command"
	"github.com/denorm-go/denorm/examples/orders"
	"github.com/denorm-go/denorm/integration/harness/child"
	"github.com/denorm-go/denorm/integration/orderservice"
	testshop "github.com/denorm-go/denorm/internal/testutil/shop"
	"github.com/denorm-go/denorm/reader"
	"github.com/denorm-go/denorm/schema"
	"github.com/denorm-go/denorm/tables"
	"github.com/denorm-go/denorm/writer"
)

// Table is the new one.
const Table = "orders_by_user_and_status"

// Stage is a release of the service.
type Stage string

// The releases, in the order in which they are deployed.
const (
	Today  Stage = "today"  // without the table
	Hidden Stage = "hidden" // writes it
	Shown  Stage = "shown"  // answers from it, too
)

// Set is the declaration of a release.
func Set(s Stage) *tables.Set[orders.Order] {
	if s == Today {
		return orders.Orders
	}
	return testshop.Orders(tables.Table{Name: Table, PartKey: []string{"user_id", "status"}, SortKey: []string{"order_id DESC"}, Hidden: s == Hidden})
}

// Command is a command of denorm, mounted as in the order service, in a process of its own.
type Command struct {
	Stage Stage    `json:"stage"`
	Args  []string `json:"args"`
	Out   string   `json:"out"` // the file of its output
}

// Run returns the exit code.
func (c *Command) Run() int {
	out, err := os.Create(c.Out)
	if err != nil {
		return command.ExitError
	}
	root := &cobra.Command{Use: "orderservice"}
	root.AddCommand(command.New(command.Declared(schema.Must(schema.Declare(schema.Sets(Set(c.Stage)))))))
	root.SetArgs(append([]string{"denorm"}, c.Args...))
	root.SetOut(out)
	code := command.ExitCode(root.Execute())
	if out.Close() != nil {
		return command.ExitError
	}
	return code
}

// Process is an instance of the service in a process of its own. Besides the routes of the order service it has
//
//	DELETE /orders/{id}?user=...&updated_at=...      204
//	GET    /users/{user}/orders/{status}             200 and {"orders": [...]}, from the new table; 501 while that is Hidden
type Process struct {
	Stage    Stage    `json:"stage"`
	Hosts    []string `json:"hosts"`
	Keyspace string   `json:"keyspace"`
	Address  string   `json:"address"` // the file that says where it listens, once it does
	// Change changes the configuration of the order service's sessions. It may be nil.
	Change func(*gocql.ClusterConfig) `json:"-"`
}

// Run serves until the context ends.
func (p *Process) Run(ctx context.Context) error {
	s := &server{set: Set(p.Stage)}
	var err error
	patient := func(c *gocql.ClusterConfig) {
		c.ConnectTimeout = 10 * time.Second
		if p.Change != nil {
			p.Change(c)
		}
	}
	cassandra := orderservice.Cassandra{Hosts: p.Hosts, Keyspace: p.Keyspace, Orders: s.set, Change: patient}
	if s.db, err = cassandra.Open(ctx); err != nil {
		return err
	}
	defer s.db.Close()
	own, err := child.Open(ctx, p.Hosts, p.Keyspace)
	if err != nil {
		return err
	}
	defer own.Close()
	if s.reader, err = reader.New(own); err != nil {
		return err
	}
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	part := p.Address + ".new"
	err = os.WriteFile(part, []byte("http://"+l.Addr().String()), 0o600)
	if err = errors.Join(err, os.Rename(part, p.Address)); err != nil {
		return err
	}
	mux := http.NewServeMux()
	mux.Handle("/", orderservice.Service{WriterAt: s.db.WriterAt, Reader: s.db.Reader, Orders: s.set}.Handler())
	mux.HandleFunc("DELETE /orders/{id}", s.remove)
	if p.Stage != Today {
		mux.HandleFunc("GET /users/{user}/orders/{status}", s.list)
	}
	return orderservice.Serve(ctx, l, mux, slog.New(slog.NewTextHandler(os.Stderr, nil)))
}

type server struct {
	set    *tables.Set[orders.Order]
	db     *orderservice.Database
	reader *reader.Reader
}

// remove deletes an order at the time of the key. It reads nothing, so that a repeat is the same write; of the status
// it makes no use, as the library deletes under all.
func (s *server) remove(w http.ResponseWriter, r *http.Request) {
	id, err := gocql.ParseUUID(r.PathValue("id"))
	user, err2 := gocql.ParseUUID(r.URL.Query().Get("user"))
	key, err3 := gocql.ParseUUID(r.Header.Get(orderservice.KeyHeader))
	updated, err4 := strconv.ParseInt(r.URL.Query().Get("updated_at"), 10, 64)
	if err := errors.Join(err, err2, err3, err4); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	gone := orders.Order{OrderID: id, UserID: user, Status: orders.Open, UpdatedAt: updated}
	_, err = s.db.WriterAt(key.Time().UnixMicro()).Write(context.WithoutCancel(r.Context()), "deleteOrder", s.set.Delete(gone))
	switch writer.OutcomeOf(err) {
	case writer.Applied:
		w.WriteHeader(http.StatusNoContent)
	case writer.Invalid:
		http.Error(w, err.Error(), http.StatusUnprocessableEntity)
	default:
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
	}
}

// list answers from the new table.
func (s *server) list(w http.ResponseWriter, r *http.Request) {
	user, err := gocql.ParseUUID(r.PathValue("user"))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	q := reader.From(s.set, Table).Eq("user_id", user).Eq("status", orders.Status(r.PathValue("status")))
	found, _, err := reader.List(r.Context(), s.reader, "ordersByUserAndStatus", q)
	switch {
	case errors.Is(err, reader.ErrInvalid):
		http.Error(w, err.Error(), http.StatusNotImplemented)
		return
	case err != nil:
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
		return
	}
	answer := orderservice.List{Orders: []orderservice.Order{}}
	for _, o := range found {
		answer.Orders = append(answer.Orders, orderservice.Show(o))
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(answer) // a client that is gone does not read it
}
