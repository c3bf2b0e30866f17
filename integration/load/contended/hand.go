package contended

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/integration/harness/sleep"
)

// Hand is a client as one would write it by hand: read the row, compare and set, and then a logged batch that moves the
// row of the other table.
type Hand struct{ Writes, Reads *gocql.Session }

var errUnknown = errors.New("the outcome is not known")

// Change implements [Client].
func (h Hand) Change(ctx context.Context, id gocql.UUID, status string) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	for wait := 2 * time.Millisecond; ; wait = min(2*wait, 200*time.Millisecond) {
		applied, err := h.try(ctx, id, status)
		if err != nil || applied {
			return err
		}
		if err := sleep.For(ctx, rand.N(wait)); err != nil {
			return err
		}
	}
}

func (h Hand) try(ctx context.Context, id gocql.UUID, status string) (applied bool, err error) {
	var before Order
	if err := h.Reads.Query("SELECT status, changes, version FROM hand_by_id WHERE order_id = ?", id).WithContext(ctx).
		Consistency(gocql.LocalQuorum).Scan(&before.Status, &before.Changes, &before.Version); err != nil {
		return false, err
	}
	version := gocql.TimeUUID()
	applied, err = h.Writes.Query("UPDATE hand_by_id SET status = ?, changes = ?, version = ? WHERE order_id = ? IF version = ?",
		status, before.Changes+1, version, id, before.Version).WithContext(ctx).Consistency(gocql.LocalQuorum).
		SerialConsistency(gocql.Serial).MapScanCAS(make(map[string]any))
	var timeout *gocql.RequestErrWriteTimeout
	if errors.As(err, &timeout) {
		return false, errors.Join(errUnknown, err)
	}
	if err != nil || !applied {
		return false, err
	}
	return true, h.Move(ctx, before, Order{id, status, before.Changes + 1, version})
}

// Move deletes the row by status that was read, and inserts the new one.
func (h Hand) Move(ctx context.Context, before, after Order) error {
	b := h.Writes.NewBatch(gocql.LoggedBatch).WithContext(ctx)
	b.Cons = gocql.LocalQuorum
	if before.Status != after.Status {
		b.Query("DELETE FROM hand_by_status WHERE status = ? AND order_id = ?", before.Status, after.OrderID)
	}
	b.Query("INSERT INTO hand_by_status (status, order_id, changes, version) VALUES (?, ?, ?, ?)",
		after.Status, after.OrderID, after.Changes, after.Version)
	return h.Writes.ExecuteBatch(b)
}
