// Package drift plants differences between the tables of orders on real nodes, for package reconcile to find next to a
// load.
package drift

import (
	"context"
	"encoding/binary"
	"fmt"
	"hash/maphash"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/gocql/gocql"
	"gopkg.in/inf.v0"

	"github.com/denorm-go/denorm/examples/orders"
	"github.com/denorm-go/denorm/integration/harness/parallel"
)

// Order is the i-th of the orders that [Load] has put, as it was put.
func Order(i int, at int64) orders.Order {
	var id, user gocql.UUID
	random := rand.New(rand.NewPCG(uint64(i), 1))
	binary.BigEndian.PutUint64(user[:], random.Uint64())
	user[6], user[8] = 0x40, 0x80
	id = gocql.TimeUUIDWith(int64(i)*1000+139_000_000_000_000_000, uint32(i), user[:6])
	return orders.Order{
		OrderID: id, UserID: user, Status: orders.Statuses[i%len(orders.Statuses)], Total: inf.NewDec(random.Int64N(100_000), 2), UpdatedAt: at,
	}
}

// Tables are those of an order, the base table first.
var Tables = []string{"orders_by_id", "orders_by_user", "orders_by_status"}

// ordersPerBatch is how many orders are put by a request. The rows of one status are then few mutations, as they are
// one partition.
const ordersPerBatch = 20

// Load puts orders into tables, many at a time.
func Load(ctx context.Context, s *gocql.Session, count int, at int64, tables ...string) error {
	return parallel.Do(32, (count+ordersPerBatch-1)/ordersPerBatch, func(i int) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		first := i * ordersPerBatch
		return patiently(func() error { return loadBatch(ctx, s, tables, first, min(count, first+ordersPerBatch), at) })
	})
}

func loadBatch(ctx context.Context, s *gocql.Session, tables []string, first, end int, at int64) error {
	b := s.NewBatch(gocql.UnloggedBatch).WithTimestamp(at).WithContext(ctx)
	for i := first; i < end; i++ {
		o := Order(i, at)
		for _, table := range tables {
			b.Entries = append(b.Entries, gocql.BatchEntry{
				Stmt: "INSERT INTO " + table + " (order_id,user_id,status,total,updated_at) VALUES (?,?,?,?,?)",
				Args: []any{o.OrderID, o.UserID, string(o.Status), o.Total, at}, Idempotent: true,
			})
		}
	}
	return s.ExecuteBatch(b)
}

func patiently(f func() error) (err error) {
	for range 5 {
		if err = f(); err == nil {
			return nil
		}
		<-time.After(time.Second)
	}
	return err
}

// Contents is what a table has of each order: a digest of its row; several rows, which are not allowed, give another
// one.
type Contents map[gocql.UUID]uint64

// Read reads a table at ALL by a plain scan.
func Read(ctx context.Context, s *gocql.Session, table string) (Contents, error) {
	out := make(Contents)
	var mu sync.Mutex
	key := map[string]string{
		"orders_by_id": "order_id", "orders_by_user": "user_id", "orders_by_status": "status", "orders_by_user_and_status": "user_id, status",
	}[table]
	const parts = 64
	err := parallel.Do(parts, parts, func(part int) error {
		query, limits := "SELECT order_id, user_id, status, total, updated_at FROM "+table+" WHERE token("+key+") > ?", []any{-1<<63 + part*(1<<58)}
		if part < parts-1 { // above the last one there is nothing
			query, limits = query+" AND token("+key+") <= ?", append(limits, -1<<63+(part+1)*(1<<58))
		}
		iter := s.Query(query, limits...).Consistency(gocql.All).PageSize(2000).WithContext(ctx).Iter()
		for o := (orders.Order{}); iter.Scan(&o.OrderID, &o.UserID, &o.Status, &o.Total, &o.UpdatedAt); o = (orders.Order{}) {
			d := Digest(o)
			mu.Lock()
			out[o.OrderID] += d
			mu.Unlock()
		}
		return iter.Close()
	})
	return out, err
}

// Digest is what [Contents] has of an order with one row.
func Digest(o orders.Order) uint64 {
	var total string
	if o.Total != nil {
		total = o.Total.String()
	}
	return maphash.String(digestSeed, fmt.Sprint(o.UserID, o.Status, total, o.UpdatedAt))
}

var digestSeed = maphash.MakeSeed()

// Differ are the orders of which the tables do not have the same, and those that have a base row.
func Differ(ctx context.Context, s *gocql.Session) (differ, there map[gocql.UUID]bool, err error) {
	var tables []Contents
	for _, name := range Tables {
		table, err := Read(ctx, s, name)
		if err != nil {
			return nil, nil, err
		}
		tables = append(tables, table)
	}
	differ, there = compare(tables...)
	return differ, there, nil
}

// compare lists the entities that are not the same in all tables, and those in the first.
func compare(tables ...Contents) (differ, there map[gocql.UUID]bool) {
	differ, there = make(map[gocql.UUID]bool), make(map[gocql.UUID]bool)
	for id := range tables[0] {
		there[id] = true
	}
	for _, t := range tables {
		for id := range t {
			if slices.ContainsFunc(tables, func(other Contents) bool { return other[id] != t[id] }) {
				differ[id] = true
			}
		}
	}
	return differ, there
}
