package turn

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/examples/orders"
	"github.com/denorm-go/denorm/schema"
)

var (
	errOther = errors.New("other rows than before")
	errMet   = errors.New("not applied, though nobody else writes")
)

// limit is the deadline that a service gives a write.
const limit = 5 * time.Second

// byHand writes as a service would by hand: goroutines, prepared statements, pinned timestamps, no retry, no
// bookkeeping.
type byHand struct{ *gocql.Session }

// createsByHand makes a contender that creates orders, in tables with views too.
func createsByHand(name string, create func(byHand, context.Context, orders.Order, int64) error) Contender {
	return Contender{Name: name, Open: func(ctx context.Context, p *Place) (Prepare, error) {
		err := p.Ensure(ctx, schema.Sets(orders.Orders))
		for _, statement := range []string{
			`CREATE TABLE IF NOT EXISTS viewed_orders (order_id uuid PRIMARY KEY, user_id uuid, status text, total decimal, updated_at bigint)`,
			`CREATE MATERIALIZED VIEW IF NOT EXISTS viewed_orders_by_user AS SELECT * FROM viewed_orders
				WHERE user_id IS NOT NULL AND order_id IS NOT NULL PRIMARY KEY (user_id, order_id)`,
			`CREATE MATERIALIZED VIEW IF NOT EXISTS viewed_orders_by_status AS SELECT * FROM viewed_orders
				WHERE status IS NOT NULL AND order_id IS NOT NULL PRIMARY KEY (status, order_id)`,
		} {
			if err == nil {
				err = p.Session.Reads().Query(statement).WithContext(ctx).Exec()
			}
		}
		return ofEach(newOrder, func(ctx context.Context, o *orders.Order) error {
			ctx, cancel := context.WithTimeout(ctx, limit)
			defer cancel()
			return create(byHand{p.Session.Writes()}, ctx, *o, time.Now().UnixMicro())
		}), err
	}}
}

const orderValues = ` (order_id, user_id, status, total, updated_at) VALUES (?, ?, ?, ?, ?)`

var insertOrder = [...]string{`INSERT INTO orders_by_id` + orderValues, `INSERT INTO orders_by_user` + orderValues, `INSERT INTO orders_by_status` + orderValues}

func (s byHand) insert(ctx context.Context, statement string, o orders.Order, at int64) error {
	return s.Query(statement, o.OrderID, o.UserID, o.Status, o.Total, at).WithTimestamp(at).Idempotent(true).WithContext(ctx).Exec()
}

func (s byHand) single(ctx context.Context, o orders.Order, at int64) error {
	return s.insert(ctx, insertOrder[0], o, at)
}

func (s byHand) viewed(ctx context.Context, o orders.Order, at int64) error {
	return s.insert(ctx, `INSERT INTO viewed_orders`+orderValues, o, at)
}

func (s byHand) fanOut(ctx context.Context, o orders.Order, at int64) error {
	var failed [len(insertOrder)]error
	var all sync.WaitGroup
	for i, statement := range insertOrder {
		all.Go(func() { failed[i] = s.insert(ctx, statement, o, at) })
	}
	all.Wait()
	return cmp.Or(failed[:]...)
}

func batchByHand(kind gocql.BatchType) func(byHand, context.Context, orders.Order, int64) error {
	return func(s byHand, ctx context.Context, o orders.Order, at int64) error {
		b := s.NewBatch(kind).WithTimestamp(at).WithContext(ctx)
		for _, statement := range insertOrder {
			b.Query(statement, o.OrderID, o.UserID, o.Status, o.Total, at)
		}
		return s.ExecuteBatch(b)
	}
}

// statement is a statement and its values.
type statement struct {
	text   string
	values []any
}

const (
	itemValues     = ` (item_id, status, email, note, updated_at, version) VALUES (?, ?, ?, ?, ?, ?)`
	insertByID     = `INSERT INTO plain_by_id` + itemValues
	insertByStatus = `INSERT INTO plain_by_status` + itemValues
	deleteByStatus = `DELETE FROM plain_by_status WHERE status = ? AND item_id = ?`
	compareByID    = `UPDATE plain_by_id SET status = ?, email = ?, note = ?, updated_at = ?, version = ? WHERE item_id = ? IF version = ?`
)

func insertion(text string, i item) statement {
	return statement{text, []any{i.ItemID, i.Status, i.Email, i.Note, i.UpdatedAt, i.Version}}
}

// moved writes the row by status, and removes the one that it leaves.
func moved(before, after item) []statement {
	list := []statement{insertion(insertByStatus, after)}
	if before.Status != after.Status {
		list = append(list, statement{deleteByStatus, []any{before.Status, before.ItemID}})
	}
	return list
}

// send sends statements at the same time.
func (s byHand) send(ctx context.Context, at int64, list []statement) error {
	failed := make([]error, len(list))
	var all sync.WaitGroup
	for i, x := range list {
		all.Go(func() {
			failed[i] = s.Query(x.text, x.values...).WithTimestamp(at).Idempotent(true).WithContext(ctx).Exec()
		})
	}
	all.Wait()
	return cmp.Or(failed...)
}

func (s byHand) together(ctx context.Context, before, after item) error {
	return s.send(ctx, after.UpdatedAt, append(moved(before, after), insertion(insertByID, after)))
}

func (s byHand) inBatch(ctx context.Context, before, after item) error {
	b := s.NewBatch(gocql.LoggedBatch).WithTimestamp(after.UpdatedAt).WithContext(ctx)
	for _, x := range append(moved(before, after), insertion(insertByID, after)) {
		b.Query(x.text, x.values...)
	}
	return s.ExecuteBatch(b)
}

// condition sends a statement with a condition, which holds, and then the statements of the query table. A client that
// dies between the two leaves them apart.
func (s byHand) condition(ctx context.Context, first statement, before, after item) error {
	applied, err := s.Query(first.text, first.values...).WithContext(ctx).MapScanCAS(map[string]any{})
	if err == nil && !applied {
		err = errMet
	}
	if err != nil {
		return err
	}
	return s.send(ctx, after.UpdatedAt, moved(before, after))
}

func (s byHand) compareAndSet(ctx context.Context, before, after item) error {
	first := insertion(compareByID, after)
	first.values = append(first.values[1:], after.ItemID, before.Version)
	return s.condition(ctx, first, before, after)
}

func (s byHand) insertIfNotExists(ctx context.Context, before, after item) error {
	return s.condition(ctx, insertion(insertByID+" IF NOT EXISTS", after), before, after)
}

func insertsByHand(name string, insert func(byHand, context.Context, item, item) error) Contender {
	return Contender{Name: name, Open: func(ctx context.Context, p *Place) (Prepare, error) {
		return ofEach(newItem, func(ctx context.Context, i *item) error {
			return changeByHand(ctx, p, i, func(*item) {}, insert)
		}), p.Ensure(ctx, schema.Sets(plain))
	}}
}

func updatesByHand(name string, edit func(*item), change func(byHand, context.Context, item, item) error) Contender {
	return Contender{Name: name, Open: func(ctx context.Context, p *Place) (Prepare, error) {
		return again(func(ctx context.Context, i *item) error {
			return changeByHand(ctx, p, i, func(*item) {}, byHand.insertIfNotExists) // what is inserted without Paxos may be newer than its ballot
		}, func(ctx context.Context, i *item) error { return changeByHand(ctx, p, i, edit, change) }), p.Ensure(ctx, schema.Sets(plain))
	}}
}

func changeByHand(ctx context.Context, p *Place, i *item, edit func(*item), change func(byHand, context.Context, item, item) error) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	after := *i
	edit(&after)
	after.UpdatedAt, after.Version = time.Now().UnixMicro(), gocql.TimeUUID()
	err := change(byHand{p.Session.Writes()}, ctx, *i, after)
	*i = after
	return err
}

const (
	inBucket  = `SELECT stream, ts, value, note FROM measurements WHERE stream = ? AND hour = ? AND bucket = ? LIMIT 10`
	inBuckets = `SELECT stream, ts, value, note FROM measurements WHERE stream = ? AND hour = ? AND bucket IN ? ORDER BY ts DESC LIMIT 10`
)

func scan(q *gocql.Query) (rows []measurement, err error) {
	iter := q.Iter()
	for m := (measurement{}); iter.Scan(&m.Stream, &m.Ts, &m.Value, &m.Note); {
		rows = append(rows, m)
	}
	return rows, iter.Close()
}

// newestByHand reads the ten newest rows of each bucket of the hour, and sorts them or not.
func newestByHand(sorted bool) func(context.Context, *Place) (int, error) {
	return func(ctx context.Context, p *Place) (int, error) {
		var rows [buckets][]measurement
		var failed [buckets]error
		var all sync.WaitGroup
		for b := range buckets {
			all.Go(func() {
				rows[b], failed[b] = scan(p.Session.Reads().Query(inBucket, streamName, begins.Format(hourly), b).WithContext(ctx))
			})
		}
		all.Wait()
		merged := slices.Concat(rows[:]...)
		if sorted {
			slices.SortFunc(merged, func(a, b measurement) int {
				return -cmp.Or(a.Ts.Time().Compare(b.Ts.Time()), bytes.Compare(a.Ts[:], b.Ts[:]))
			})
			merged = merged[:min(10, len(merged))]
		}
		return len(merged), cmp.Or(failed[:]...)
	}
}

const hourly = "2006-01-02-15"

func newestByIn(ctx context.Context, p *Place) (int, error) {
	rows, err := scan(p.Session.Reads().Query(inBuckets, streamName, begins.Format(hourly), []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}).PageSize(0).WithContext(ctx))
	return len(rows), err
}
