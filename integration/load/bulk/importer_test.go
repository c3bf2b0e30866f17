package bulk

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"iter"
	"maps"
	"os"
	"strconv"
	"syscall"
	"time"

	"github.com/gocql/gocql"
	"gopkg.in/inf.v0"

	"github.com/denorm-go/denorm/examples/orders"
	"github.com/denorm-go/denorm/integration/harness/child"
	"github.com/denorm-go/denorm/tables"
	"github.com/denorm-go/denorm/writer"
	"github.com/denorm-go/denorm/writer/bulk"
)

// Import is the changes that are written: of each block of orders all inserts, then all payments, and then half of them
// is shipped and the other half deleted.
type Import struct {
	Hosts    []string  `json:"hosts"`
	Keyspace string    `json:"keyspace"`
	File     string    `json:"file"` // of checkpoints
	Changes  int       `json:"changes"`
	Began    time.Time `json:"began"` // the time of the first change; each is a microsecond after the one before
	Group    int       `json:"group"`
	Kill     int       `json:"kill"` // the change before which it kills itself; 0: none
}

const (
	block  = 1000 // orders
	stages = 3
	lanes  = 4
	users  = 200
)

// Order is the order that change n is of, as it is after the change, and whether it is there.
func (i *Import) Order(n int) (o orders.Order, there bool) {
	order, stage := n/(block*stages)*block+n%block, n/block%stages
	o.OrderID = gocql.UUIDFromTime(i.Began.Add(time.Duration(order) * time.Microsecond))
	binary.BigEndian.PutUint64(o.OrderID[8:], uint64(order)|1<<63)
	o.UserID[0], o.UserID[6], o.UserID[8] = byte(order%users), 0x40, 0x80
	o.Total = inf.NewDec(int64(order), 2)
	o.Status = []orders.Status{orders.Open, orders.Paid, orders.Shipped}[stage]
	o.UpdatedAt = i.at(n)
	return o, stage < stages-1 || order%2 == 0
}

func (i *Import) at(n int) int64 { return i.Began.UnixMicro() + int64(n) }

// item is change n.
func (i *Import) item(n int) bulk.Item {
	after, there := i.Order(n)
	var change tables.Change
	if n/block%stages == 0 {
		change = orders.Orders.Insert(after)
	} else {
		before, _ := i.Order(n - block)
		change = orders.Orders.Delete(before)
		if there {
			change = orders.Orders.Update(before, after)
		}
	}
	return bulk.Item{Change: change, At: i.at(n), Lane: strconv.Itoa(n % lanes), Position: int64(n)}
}

// source is all changes that the checkpoints are not beyond. It kills the process at a change, however fast that came,
// while others are written.
func (i *Import) source(saved map[string]int64) iter.Seq2[bulk.Item, error] {
	return func(yield func(bulk.Item, error) bool) {
		for n := range i.Changes {
			if i.Kill > 0 && n == i.Kill {
				_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			}
			item := i.item(n)
			if upTo, ok := saved[item.Lane]; ok && item.Position <= upTo {
				continue
			}
			if !yield(item, nil) {
				return
			}
		}
	}
}

// Run writes what is left to be written.
func (i *Import) Run(ctx context.Context) error {
	saved, err := i.read()
	if err != nil {
		return err
	}
	s, err := child.Open(ctx, i.Hosts, i.Keyspace)
	if err != nil {
		return err
	}
	defer s.Close()
	w, err := writer.New(s, writer.Concurrent(), writer.Timeout(10*time.Second), writer.Group(i.Group))
	if err != nil {
		return err
	}
	run := bulk.WriteAll(ctx, w, "importOrders", i.source(maps.Clone(saved)),
		bulk.Checkpoint(func(_ context.Context, lane string, position int64) error {
			saved[lane] = position
			return i.save(saved)
		}))
	for done := range run.All() {
		if done.Err != nil {
			break // no checkpoint would be beyond it: the next process begins there
		}
	}
	return run.Err()
}

// read gives what the file has, of each lane; nothing if there is none.
func (i *Import) read() (map[string]int64, error) {
	saved := make(map[string]int64)
	data, err := os.ReadFile(i.File)
	if errors.Is(err, os.ErrNotExist) {
		return saved, nil
	}
	if err != nil {
		return nil, err
	}
	return saved, json.Unmarshal(data, &saved)
}

// save replaces the file.
func (i *Import) save(saved map[string]int64) error {
	data, _ := json.Marshal(saved) // never fails
	if err := os.WriteFile(i.File+".new", data, 0o600); err != nil {
		return err
	}
	return os.Rename(i.File+".new", i.File)
}
