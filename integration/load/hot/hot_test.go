package hot_test

import (
	"strings"
	"testing"
	"time"

	"gopkg.in/inf.v0"

	"github.com/denorm-go/denorm/examples/orders"
	"github.com/denorm-go/denorm/integration/load/history"
	"github.com/denorm-go/denorm/integration/load/hot"
	"github.com/denorm-go/denorm/tables"
	"github.com/denorm-go/denorm/writer"
)

// modes are those that most loads are run in.
var modes = []hot.Mode{hot.FanOut, hot.Grouped, hot.Logged}

// name is that of the load in the sheet of figures.
func (m *market) name() string {
	name := m.Name()
	return strings.ReplaceAll(name[strings.LastIndex(name, "/")+1:], "_", " ")
}

// Many writers move the same few orders at once, each from a before-image that others have overtaken. Hand-written code
// leaves rows under several statuses here although no write failed.
func TestHotOrders(t *testing.T) {
	market := open(t)
	for n, mode := range modes {
		t.Run(string(mode), func(t *testing.T) {
			m := market.in(t)
			m.check(m.run(orders.Orders, same(m.writer().With(mode.Options()...))), "")
		})
		t.Run(string(mode)+" under skew", func(t *testing.T) {
			m := market.in(t)
			m.check(m.run(orders.Orders, m.skewed(mode)), "")
		})
		t.Run(string(mode)+" with clients killed", func(t *testing.T) { market.in(t).killedClients(mode) })
		if n == 0 || *long {
			t.Run(string(mode)+" of a SingleWriter set", func(t *testing.T) { market.in(t).singleWriter(mode) })
		}
	}
}

// skewed makes writers whose clocks disagree by up to a second.
func (m *market) skewed(mode hot.Mode) []*writer.Writer {
	ws := make([]*writer.Writer, writers)
	for n := range ws {
		skew := time.Duration(n%3-1) * 500 * time.Millisecond
		ws[n] = m.writer(writer.WithClock(writer.NewClock(func() time.Time { return time.Now().Add(skew) }))).With(mode.Options()...)
	}
	return ws
}

// bySingleWriter is the tables of orders for a service that rules out two movers of one order at once.
var bySingleWriter = tables.Must(tables.New[orders.Order]("order",
	tables.Table{Name: "orders_by_id", PartKey: []string{"order_id"}},
	tables.Table{Name: "orders_by_user", PartKey: []string{"user_id"}, SortKey: []string{"order_id DESC"}},
	tables.Table{Name: "orders_by_status", PartKey: []string{"status"}, SortKey: []string{"order_id DESC"}},
	tables.SingleWriter("status"),
	tables.Stamp("updated_at"),
	tables.Type("order_id", "timeuuid"),
))

// singleWriter runs the load with a set that says there is no such load: it leaves ghosts, which a move by before-image
// cannot see, and no other damage. This is also what shows that the load can do damage.
func (m *market) singleWriter(mode hot.Mode) {
	w := m.writer().With(mode.Options()...)
	f := m.run(bySingleWriter, same(w))

	// On a slow machine the load may have left none. Two moves from one before-image leave one for sure.
	o := m.create(w, hotOrders)
	for n, status := range []orders.Status{orders.Paid, orders.Shipped} {
		after := o
		after.Status, after.Total = status, inf.NewDec(int64(n), 1)
		noted := m.history.Begin("pair", tables.Update, after)
		res, err := w.Write(m.Context(), "changeStatus", bySingleWriter.Update(o, after))
		m.history.End(noted, res.Timestamp, err)
		if err != nil {
			m.Error(err)
		}
	}
	report := m.check(f, "ghosts are what a SingleWriter set does not rule out; one was made on purpose", history.Ghost)
	if report.Count(history.Ghost) == 0 {
		m.Error("no ghost")
	}
}
