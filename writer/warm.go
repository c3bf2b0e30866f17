package writer

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/denorm-go/denorm/internal/driver"
	"github.com/denorm-go/denorm/internal/fanout"
	"github.com/denorm-go/denorm/tables"
)

// warmTimeout limits a Warm whose context has no deadline.
const warmTimeout = 30 * time.Second

// Warm reads what the first writes of the sets would have to read: what limits writes of their live tables, and what the driver needs to route
// batches. A statement whose first use meets an outage is otherwise never routed. Call it at the start of a service; it is optional, and compares
// nothing: schema.Validate does. It returns the errors of all tables that could not be read, and ends with ctx, or after 30 s if ctx has no
// deadline.
func (w *Writer) Warm(ctx context.Context, sets ...tables.Described) error {
	if ctx == nil {
		return reject("Warm", errNoContext)
	}
	if _, ok := ctx.Deadline(); !ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, warmTimeout)
		defer cancel()
	}
	w = w.made()
	if w.err != nil {
		return reject("Warm", w.err)
	}
	if err := missingSet(sets); err != nil {
		return reject("Warm", err)
	}
	var errs []error
	var statements []string
	patient := w.patient()
	for _, set := range sets {
		for i, t := range set.Internal().All() {
			keyspace, name := w.physical(t.Keyspace), t.Name
			if rotation, ok := t.Rotates(); ok { // of the tables that come and go, that of now
				name, _, _ = rotation.At(w.clock.now())
			}
			if keyspace == "" {
				errs = append(errs, fmt.Errorf("table %s: no keyspace: %s", name, w.noKeyspace()))
				continue
			}
			if _, err := w.live.reread(ctx, &patient.sender.Retrier, keyspace, name); err != nil {
				errs = append(errs, err)
				continue
			}
			statements = append(statements, set.Internal().Statements(i, keyspace)...)
		}
	}
	w.route(ctx, statements) // last: a node that does not answer takes its time, and what the reads need
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("denorm: Warm: %w", err)
	}
	return nil
}

// route makes gocql find out, for every statement, which of its values are the partition key. Failure costs token
// awareness of a statement, not correctness, so it is not reported.
func (w *Writer) route(ctx context.Context, statements []string) {
	x, ok := w.sender.Exec.(fanout.Gocql)
	if !ok {
		return
	}
	for _, statement := range statements {
		_ = driver.Route(ctx, x.Session, statement)
	}
}
