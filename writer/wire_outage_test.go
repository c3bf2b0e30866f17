package writer

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/denorm-go/denorm/cassandratest"
	"github.com/denorm-go/denorm/retry"
	"github.com/denorm-go/denorm/session"
	"github.com/gocql/gocql"
)

// stream is writes at an even rate, in virtual time.
type stream struct {
	mu     sync.Mutex
	writes []streamed
}

type streamed struct {
	begin time.Time
	took  time.Duration
	err   error
}

func (c *stream) run(write func(context.Context) error, perSecond int, long time.Duration) {
	var wg sync.WaitGroup
	for end := time.Now().Add(long); time.Now().Before(end); time.Sleep(time.Second / time.Duration(perSecond)) {
		wg.Go(func() {
			begin := time.Now()
			err := write(context.Background())
			c.mu.Lock()
			defer c.mu.Unlock()
			c.writes = append(c.writes, streamed{begin, time.Since(begin), err})
		})
	}
	wg.Wait()
}

// p99 of the writes that began from from to to, and how many of them failed.
func (c *stream) p99(from, to time.Time) (p99 time.Duration, failed int) {
	var took []time.Duration
	for _, w := range c.writes {
		if w.begin.Before(from) || !w.begin.Before(to) {
			continue
		}
		took = append(took, w.took)
		if w.err != nil {
			failed++
		}
	}
	if len(took) == 0 {
		return 0, 0
	}
	slices.Sort(took)
	return took[len(took)*99/100], failed
}

// sentWrites is how many requests with writes the nodes got.
func (s *wireShop) sentWrites() int {
	return len(s.Journal(cassandratest.Where(func(r cassandratest.Request) bool {
		return (r.Kind == cassandratest.Execute || r.Kind == cassandratest.Batch) && r.On("orders_by_id") ||
			r.Kind == cassandratest.Execute &&
				(r.On("orders_by_user") || r.On("orders_by_status"))
	})))
}

// Schema reads that meet an unresponsive node go on at another one: a process starts, and its first logged batch is
// sent, while one node of three does not answer.
func TestWireSchemaWithASilentNode(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		unwind(t)
		s := openWire(t, cassandratest.Start, 3)
		<-time.After(time.Second) // for the pools to be full
		s.Node(2).Silence()
		for range 6 {
			w, err := newOf(s.session, Timeout(30*time.Second))
			if err != nil {
				t.Fatal(err)
			}
			if err := w.Warm(t.Context(), orderSet(t)); err != nil {
				t.Error(err)
			}
			if _, err := w.With(Logged()).Write(t.Context(), "createOrder", orderSet(t).Insert(newOrder(Open))); err != nil {
				t.Error(err)
			}
		}
	})
}

// A total outage at 200 writes a second, seen from the nodes: they get at most 1.1 attempts for each request of the
// writes attempted in the first minute, and at most 1.05 after it.
func TestWireOutage(t *testing.T) {
	t.Parallel()
	for name, outage := range map[string]func(*wireShop){
		"unavailable": func(s *wireShop) {
			s.When().Do(cassandratest.Fail(cassandratest.Unavailable(gocql.LocalQuorum, 2, 1)))
		},
		"silent": func(s *wireShop) {
			for n := range 3 {
				s.Node(n + 1).Silence()
			}
		},
		"stopped": func(s *wireShop) {
			for n := range 3 {
				s.Node(n + 1).Stop()
			}
		},
	} {
		for how, option := range map[string]Option{"": Group(0), ", grouped": Group(groupBytes)} {
			t.Run(name+how, func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					unwind(t)
					s := openWire(t, cassandratest.Start, 3, option, shared(session.Budget(retry.NewBudget(scaled(t, 1000), 0))))
					set := orderSet(t)
					write := func(ctx context.Context) error {
						_, err := s.w.Write(ctx, "createOrder", set.Insert(newOrder(Open)))
						return err
					}
					var before stream
					before.run(write, scaled(t, 200), 5*time.Second)
					outage(s)
					for minute, most := range []float64{1.1, 1.05} {
						var c stream
						sent := s.sentWrites()
						c.run(write, scaled(t, 200), time.Minute)
						requests, unbudgeted := 3*len(c.writes), 0
						for _, w := range c.writes {
							if w.err == nil {
								t.Fatal("a write succeeded in a total outage")
							}
							if errors.Is(w.err, retry.ErrBudget) {
								unbudgeted++
							}
						}
						ratio := float64(s.sentWrites()-sent) / float64(requests)
						t.Logf("minute %d: %d writes, %.3f attempts a request, %d writes had no budget for a retry", minute+1,
							len(c.writes), ratio, unbudgeted)
						if ratio > most {
							t.Errorf("minute %d: %.3f attempts a request, want at most %v", minute+1, ratio, most)
						}
					}
				})
			})
		}
	}
}

// A call returns at most 10 ms after its context, also while the driver waits without a look at it: the sockets of a
// node that does not read are full.
func TestWireDeadline(t *testing.T) {
	t.Parallel()
	for name, stop := range map[string]func(*cassandratest.Node){
		"silent": (*cassandratest.Node).Silence, "full sockets": (*cassandratest.Node).Freeze,
		"vanished": (*cassandratest.Node).Vanish,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				unwind(t)
				s := openWire(t, cassandratest.Start, 3)
				orders, notes := orderSet(t), noteSet(t)
				open, paid := move()
				if _, err := s.w.Write(t.Context(), "op", orders.Insert(open)); err != nil { // which prepares statements
					t.Fatal(err)
				}
				for n := range 3 {
					stop(s.Node(n + 1))
				}
				for _, limit := range []time.Duration{time.Millisecond, 700 * time.Millisecond, 4 * time.Second} {
					for what, write := range map[string]func(context.Context) error{
						"fan-out": func(ctx context.Context) error { _, err := s.w.Write(ctx, "op", orders.Insert(open)); return err },
						"one": func(ctx context.Context) error {
							_, err := s.w.Write(ctx, "op", notes.Insert(newNote()))
							return err
						},
						"batch": func(ctx context.Context) error {
							_, err := s.w.Write(ctx, "op", orders.Update(open, paid))
							return err
						},
						"grouped": func(ctx context.Context) error {
							_, err := s.w.With(Group(groupBytes)).Write(ctx, "op", orders.Insert(open))
							return err
						},
						"check": func(ctx context.Context) error { return s.w.Warm(ctx, orders) },
						"hedged": func(ctx context.Context) error {
							_, err := s.w.With(Hedge(100*time.Millisecond)).Write(ctx, "op", notes.Insert(newNote()))
							return err
						},
					} {
						ctx, cancel := context.WithTimeout(t.Context(), limit)
						begin := time.Now()
						err := write(ctx)
						took := time.Since(begin)
						cancel()
						if err == nil || took > limit+10*time.Millisecond {
							t.Errorf("%s: %v after %v, limit %v", what, err, took, limit)
						}
					}
				}
			})
		})
	}
}

// One of three nodes goes silent under 100 writes a second. The 99th percentile is back within twice the normal one
// within 5 s, and no write fails. In plain gocql, whose driver's policy goes on asking the node, it is not.
func TestWireSilentNode(t *testing.T) {
	t.Parallel()
	const normal = 2 * time.Millisecond
	for name, test := range map[string]struct {
		configure func(*gocql.ClusterConfig)
		calm      bool
	}{
		"Configure": {func(*gocql.ClusterConfig) {}, true},
		"the driver's policy": {func(c *gocql.ClusterConfig) {
			c.PoolConfig.HostSelectionPolicy = gocql.TokenAwareHostPolicy(gocql.RoundRobinHostPolicy(), gocql.ShuffleReplicas())
			c.FrameHeaderObserver = nil
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				unwind(t)
				s := openWireConfigured(t, cassandratest.Start, 3, test.configure, Timeout(20*time.Second),
					Retry(retry.Policy{MaxElapsedTime: 15 * time.Second}))
				s.When().Do(cassandratest.Delay(normal), cassandratest.Apply)
				set := orderSet(t)
				write := func(ctx context.Context) error {
					_, err := s.w.Write(ctx, "createOrder", set.Insert(newOrder(Open)))
					return err
				}
				var c stream
				begin := time.Now()
				time.AfterFunc(5*time.Second, s.Node(2).Silence)
				time.AfterFunc(20*time.Second, s.Node(2).Restore)
				c.run(write, 100, 30*time.Second)
				var line strings.Builder
				slow, failures := 0, 0
				usual, _ := c.p99(begin.Add(time.Second), begin.Add(5*time.Second))
				for second := range 30 {
					p99, failed := c.p99(begin.Add(time.Duration(second)*time.Second), begin.Add(time.Duration(second+1)*time.Second))
					line.WriteString(" " + p99.Round(time.Millisecond).String())
					failures += failed
					if second >= 10 && p99 > 2*usual {
						slow++
					}
				}
				t.Logf("p99 by second, silent from 5 s to 20 s:%s; %d failed", line.String(), failures)
				if test.calm && failures > 0 {
					t.Errorf("%d writes failed", failures)
				}
				if test.calm != (slow <= 3) { // some seconds have a trial in them
					t.Errorf("%d of 20 seconds are slow from 5 s after the stop, normal is %v", slow, usual)
				}
			})
		})
	}
}

// flicker makes connections with some nodes end as soon as they are ready, for about a second, and until there was one.
// With gocql by itself that leaves closed ones in its pools.
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

// A session that Connect has not opened may keep closed connections. Its requests go to other nodes then, also those
// that gocql would prepare first, of which it says context.Canceled.
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
			if again > 30 {
				// measured: 3 to 15, as a node is tried from time to time; without the breaker about 100, or few where gocql kept
				// none
				t.Errorf("%d of 300 requests met a closed connection", again)
			}
			if again > 0 {
				return
			}
			if round == 200 { // it may keep none for 60 rounds on a loaded machine
				t.Fatal("gocql has never kept a closed connection: what Connect does about it may go")
			}
		}
	})
}
