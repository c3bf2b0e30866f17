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
	"strings"
	"sync"
	"time"

	"github.com/gocql/gocql"
	"gopkg.in/inf.v0"

	"github.com/denorm-go/denorm/examples/orders"
	"github.com/denorm-go/denorm/integration/harness/parallel"
	"github.com/denorm-go/denorm/integration/load/history"
	"github.com/denorm-go/denorm/internal/driver"
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

// Contents is what a table has of each entity: a digest of its row; several rows, which are not allowed, give another
// one.
type Contents map[gocql.UUID]uint64

const orderColumns = "user_id, status, total, updated_at"

// reads are the tables that can be read: the id of the entity, the partition key, and the columns that all tables of the
// set have.
var reads = map[string]struct{ id, key, columns string }{
	"orders_by_id":              {"order_id", "order_id", orderColumns},
	"orders_by_user":            {"order_id", "user_id", orderColumns},
	"orders_by_status":          {"order_id", "status", orderColumns},
	"orders_by_user_and_status": {"order_id", "user_id, status", orderColumns},
	"desks":                     {"desk_id", "desk_id", "room, width"},
	"desks_by_room":             {"desk_id", "room", "room, width"},
	"profiles":                  {"user_id", "user_id", "team, name, motto"},
	"profiles_by_team":          {"user_id", "team", "team, name, motto"},
	"tickets":                   {"ticket_id", "ticket_id", "agent, text, version"},
	"tickets_by_agent":          {"ticket_id", "agent", "agent, text, version"},
}

// Read reads a table at ALL by a plain scan.
func Read(ctx context.Context, s *gocql.Session, table string) (Contents, error) {
	out, t := make(Contents), reads[table]
	var mu sync.Mutex
	const parts = 64
	err := parallel.Do(parts, parts, func(part int) error {
		query := "SELECT " + t.id + ", " + t.columns + " FROM " + table + " WHERE token(" + t.key + ") > ?"
		limits := []any{-1<<63 + part*(1<<58)}
		if part < parts-1 { // above the last one there is nothing
			query, limits = query+" AND token("+t.key+") <= ?", append(limits, -1<<63+(part+1)*(1<<58))
		}
		var rows Contents
		err := patiently(func() error {
			rows = make(Contents)
			iter := s.Query(query, limits...).Consistency(gocql.All).PageSize(2000).WithContext(ctx).Iter()
			for {
				var id gocql.UUID
				cells, to := make([]history.Encoded, strings.Count(t.columns, ",")+1), []any{&id}
				for i := range cells {
					to = append(to, &cells[i])
				}
				if !iter.Scan(to...) {
					return iter.Close()
				}
				rows[id] += digest(cells)
			}
		})
		mu.Lock()
		defer mu.Unlock()
		for id, d := range rows {
			out[id] += d
		}
		return err
	})
	return out, err
}

func digest(cells []history.Encoded) uint64 {
	return maphash.String(digestSeed, fmt.Sprintf("%#v", cells)) // in Go's syntax null differs from no bytes
}

var digestSeed = maphash.MakeSeed()

// Digest is what [Contents] has of an order with one row.
func Digest(o orders.Order) (uint64, error) {
	cells := make([]history.Encoded, 4)
	for i, v := range []struct {
		is    gocql.Type
		value any
	}{{gocql.TypeUUID, o.UserID}, {gocql.TypeText, o.Status}, {gocql.TypeDecimal, o.Total}, {gocql.TypeBigInt, o.UpdatedAt}} {
		data, err := gocql.Marshal(driver.NativeType(v.is), v.value)
		if err != nil {
			return 0, err
		}
		cells[i] = data
	}
	return digest(cells), nil
}

// Differ are the entities of which the tables of a set do not have the same, and those that have a base row.
func Differ(ctx context.Context, s *gocql.Session, sets ...[]string) (differ, there map[gocql.UUID]bool, err error) {
	differ, there = make(map[gocql.UUID]bool), make(map[gocql.UUID]bool)
	for _, names := range sets {
		tables := make([]Contents, len(names))
		for i, name := range names {
			if tables[i], err = Read(ctx, s, name); err != nil {
				return nil, nil, err
			}
		}
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
	}
	return differ, there, nil
}
