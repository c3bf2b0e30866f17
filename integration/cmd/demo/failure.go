package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/denorm-go/denorm/examples/orders"
	"github.com/denorm-go/denorm/session"
	"github.com/denorm-go/denorm/writer"
)

// showMissingTable lets one of the three tables reject a write, and finishes the write from stored bytes.
func showMissingTable(ctx context.Context, out *screen, s *shop) error {
	out.heading("One table fails", "A tenant's keyspace lacks orders_by_user: its migration was forgotten. The other two "+
		"tables have the order, this one has not. The error says so table by table, can be stored, and Resume finishes it.")
	const forgotten = "orders_by_user"
	var schema, migration []string
	for _, statement := range orders.Schema.Statements() {
		if strings.Contains(statement, forgotten) {
			migration = append(migration, statement)
		} else {
			schema = append(schema, statement)
		}
	}
	keyspace := s.keyspace + "_tenant"
	of, err := s.keyspaceWith(ctx, keyspace, schema)
	if err != nil {
		return err
	}
	tenant := s.w.With(writer.Session(s.session.With(session.Keyspaces(map[string]string{"": keyspace}))))
	out.code(`tenant := w.With(writer.Session(s.With(session.Keyspaces(map[string]string{"": %q}))))`, keyspace)
	out.code(`tenant.Write(ctx, "createOrder", Orders.Insert(order))`)
	o, err := createOrder(ctx, tenant)
	failed, err := wantFailure(out, err, writer.ErrPartial)
	if err != nil {
		return err
	}
	if r := failed.Tables[1]; r.Table != forgotten || r.Outcome != writer.NotApplied {
		return fmt.Errorf("%s is %v, want %v", r.Table, r.Outcome, writer.NotApplied)
	}

	stored, err := failed.MarshalBinary()
	if err != nil {
		return err
	}
	out.code("failed.MarshalBinary()        // %s bytes with all that is needed, for a queue", number(len(stored)))
	for _, statement := range migration {
		if err := of.Query(statement).WithContext(ctx).Exec(); err != nil {
			return fmt.Errorf("create %s: %w", forgotten, err)
		}
	}
	out.code("CREATE TABLE orders_by_user   // the migration is made up for")

	// From here on another process could take over.
	restored := new(writer.Error)
	if err := restored.UnmarshalBinary(stored); err != nil {
		return err
	}
	res, err := tenant.Resume(ctx, restored)
	if err != nil {
		return err
	}
	out.code("tenant.Resume(ctx, restored)  // nil: %d request sent, at the timestamp of the first try", res.Attempts)
	if err := newView(of).show(ctx, out, o); err != nil {
		return err
	}
	out.ok("The order is in all tables, and cannot be told from one that never failed.")
	return nil
}

// wantFailure prints the error of a write table by table. It fails if there is none, or one that does not match.
func wantFailure(out *screen, err, match error) (*writer.Error, error) {
	var failed *writer.Error
	if !errors.As(err, &failed) {
		return nil, fmt.Errorf("the write ended with %w, want a failure of its tables", cmp.Or(err, errors.New("success")))
	}
	if !errors.Is(err, match) {
		return nil, fmt.Errorf("the write failed, but not as %w: %w", match, err)
	}
	out.blank()
	styles := map[writer.Outcome]style{writer.Applied: green, writer.NotApplied: red, writer.Unknown: yellow, writer.Pending: yellow}
	var rows [][]cell
	for _, r := range failed.Tables {
		reason := "-"
		if r.Err != nil {
			reason = r.Err.Error()
		}
		rows = append(rows, []cell{
			{r.Table, plain}, {r.Outcome.String(), styles[r.Outcome]}, {strconv.Itoa(r.Attempts), plain}, {reason, plain},
		})
	}
	out.table([]string{"table", "outcome", "attempts", "error"}, []bool{2: true}, rows)
	out.blank()
	names := map[error]string{writer.ErrPartial: "writer.ErrPartial", writer.ErrUnknown: "writer.ErrUnknown"}
	out.code("errors.Is(err, %s)   // true", names[match])
	return failed, nil
}
