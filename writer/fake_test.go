package writer

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/denorm-go/denorm/tables"
	"github.com/gocql/gocql"
	"go.uber.org/goleak"
	"gopkg.in/inf.v0"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

type Status string

const (
	Open      Status = "open"
	Paid      Status = "paid"
	Shipped   Status = "shipped"
	Cancelled Status = "cancelled"
)

type Order struct {
	OrderID   gocql.UUID
	UserID    gocql.UUID
	Status    Status
	Total     *inf.Dec
	UpdatedAt int64
}

func orderSet(tb testing.TB, more ...tables.Option) *tables.Set[Order] {
	tb.Helper()
	s, err := tables.New[Order]("order", append([]tables.Option{
		tables.Table{Name: "orders_by_id", PartKey: []string{"order_id"}},
		tables.Table{Name: "orders_by_user", PartKey: []string{"user_id"}, SortKey: []string{"order_id DESC"}},
		tables.Table{Name: "orders_by_status", PartKey: []string{"status"}, SortKey: []string{"order_id DESC"}},
		tables.OneOf("status", Open, Paid, Shipped, Cancelled),
		tables.Stamp("updated_at"),
		tables.Type("order_id", "timeuuid"),
	}, more...)...)
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

func newOrder(status Status) Order {
	return Order{
		OrderID: mustUUID("8a3c2e10-c6a1-11f0-8de9-0242ac120002"), UserID: mustUUID("d2b6a2f0-5b1c-4c1e-9a51-0123456789ab"),
		Status: status, Total: inf.NewDec(1995, 2),
	}
}

func mustUUID(s string) gocql.UUID {
	u, err := gocql.ParseUUID(s)
	if err != nil {
		panic(err)
	}
	return u
}

// fakeExecutor answers requests from a script, and remembers them. A nil answer function acknowledges everything.
type fakeExecutor struct {
	answer func(ctx context.Context, r request) error

	mu       sync.Mutex
	requests []request
}

func (x *fakeExecutor) execute(ctx context.Context, r request) error {
	x.mu.Lock()
	x.requests = append(x.requests, r)
	x.mu.Unlock()
	if x.answer == nil {
		return nil
	}
	return x.answer(ctx, r)
}

func (x *fakeExecutor) sent() []request {
	x.mu.Lock()
	defer x.mu.Unlock()
	return append([]request(nil), x.requests...)
}

// grace makes every table keep deletes for d.
func grace(d time.Duration) func(context.Context, string, string) (liveTable, error) {
	return func(context.Context, string, string) (liveTable, error) { return liveTable{gcGrace: d}, nil }
}

func fakeWriter(x executor, options ...NewOption) *Writer {
	return newWriter(x, "shop", grace(10*24*time.Hour), options...)
}
