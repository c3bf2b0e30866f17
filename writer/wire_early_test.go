package writer

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/denorm-go/denorm/cassandratest"
	"github.com/denorm-go/denorm/retry"
	"github.com/denorm-go/denorm/session"
	"github.com/gocql/gocql"
)

// flicker makes connections with some nodes end as soon as they are ready, for about a second, and until there was one. With gocql by itself that leaves closed
// ones in its pools.
func (s *wireShop) flicker(t *testing.T, nodes ...int) {
	t.Helper()
	use := s.When(cassandratest.Query, cassandratest.Text("USE"), cassandratest.On(nodes...)).
		Do(cassandratest.Apply, cassandratest.Answer, cassandratest.Cut)
	for i := 0; i < 10 || i < 300 && use.Handled() == 0; i++ {
		for _, n := range nodes {
			s.Node(n).Cut()
		}
		<-time.After(100 * time.Millisecond)
	}
	use.End()
	if use.Handled() == 0 {
		t.Error("no connection was made")
	}
}

// fresh is an order of no partition that another one has.
func fresh() Order {
	o := newOrder(Open)
	o.OrderID, o.UserID = gocql.TimeUUID(), gocql.TimeUUID()
	return o
}

// wireTrial is a test of one of the transports.
type wireTrial struct {
	*testing.T
	start func(cassandratest.TB, int) *cassandratest.Cluster
}

// onWire runs a test on sockets, and in virtual time.
func onWire(t *testing.T, test func(t wireTrial)) {
	t.Helper()
	t.Run("sockets", func(t *testing.T) {
		t.Parallel()
		test(wireTrial{t, cassandratest.Listen})
	})
	t.Run("pipes", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			unwind(t)
			test(wireTrial{t, cassandratest.Start})
		})
	})
}

// eofDelay is how late gocql reads the end of a fresh connection (package session).
const eofDelay = 250 * time.Millisecond

// slowObserver takes its time between a handshake and the moment when gocql's pool takes the connection up.
type slowObserver struct{ handled atomic.Int32 }

func (o *slowObserver) ObserveConnect(c gocql.ObservedConnect) {
	if c.Err == nil {
		o.handled.Add(1)
		<-time.After(eofDelay / 2)
	}
}

// A connection that ends after its handshake, and before gocql's pool has taken it up, leaves the pool again.
func TestWireConnectionEndsUnknown(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		unwind(t)
		s := openWire(t, cassandratest.Start, 3)
		config := session.Configure(s.Config(), "dc1")
		config.Keyspace = "" // what is done in a keyspace first would meet the end
		slow := &slowObserver{}
		config.ConnectObserver = slow
		opened, err := session.Connect(config)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(opened.Close)
		<-time.After(time.Minute)
		before := slow.handled.Load()
		ready := s.When(cassandratest.Startup).Do(cassandratest.Answer, cassandratest.Cut)
		for n := range 3 {
			s.Node(n + 1).Cut()
		}
		<-time.After(5 * time.Second)
		ready.End()
		if slow.handled.Load() < before+3 {
			t.Errorf("%d connections were made", slow.handled.Load()-before)
		}
		<-time.After(10 * time.Second)
		for i := range 50 {
			q := `INSERT INTO shop.orders_by_id (order_id, user_id, status) VALUES (?, ?, 'open')`
			if err := opened.Query(q, gocql.TimeUUID(), gocql.TimeUUID()).Exec(); err != nil {
				t.Fatalf("request %d, when all is well: %v", i, err)
			}
		}
	})
}

// Where connections end as soon as they are ready, a session of Connect is well again soon after, on every node.
func TestWireConnectionsEndEarly(t *testing.T) {
	t.Parallel()
	onWire(t, func(t wireTrial) {
		s := openWire(t, t.start, 3)
		s.flicker(t.T, 1, 2, 3)
		w, set := s.w.With(Retry(retry.Policy{MaxAttempts: 1})), orderSet(t)
		well := 0
		var last error
		for begin := time.Now(); well < 50 && time.Since(begin) < 30*time.Second; well++ {
			o := fresh()
			if _, err := w.Write(t.Context(), "createOrder", set.Insert(o)); err != nil {
				last, well = err, -1
				<-time.After(100 * time.Millisecond)
			}
		}
		if well < 50 {
			t.Errorf("after half a minute writes still fail: %v", last)
		}
	})
}

// A session that Connect has not opened may keep closed connections. Its requests go to other nodes then, also those that gocql
// would prepare first, of which it says context.Canceled.
func TestWireClosedConnections(t *testing.T) {
	t.Parallel()
	onWire(t, func(t wireTrial) {
		s := openWire(t, t.start, 3)
		config := session.Configure(s.Config(), "dc1")
		config.Keyspace, config.NumConns = "shop", 2 // gocql keeps a closed one by chance
		opened, err := config.CreateSession()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(opened.Close)
		w, err := newOf(opened)
		if err != nil {
			t.Fatal(err)
		}
		set := orderSet(t)
		for round := 0; ; round++ {
			s.flicker(t.T, 1)
			<-time.After(3 * time.Second) // all is well, but for what gocql has kept
			again := 0
			for range 100 {
				o := fresh()
				res, err := w.Write(t.Context(), "createOrder", set.Insert(o))
				if err != nil {
					t.Fatal(err)
				}
				again += res.Attempts - 3
			}
			if again > 10 {
				t.Errorf("%d of 300 requests met a closed connection", again)
			}
			if again > 0 {
				return
			}
			if round == 60 {
				t.Fatal("gocql has never kept a closed connection: what Connect does about it may go")
			}
		}
	})
}
