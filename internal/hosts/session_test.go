package hosts

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/denorm-go/denorm/cassandratest"
	"github.com/gocql/gocql"
)

// bubble is a session with a cluster in memory, in virtual time.
type bubble struct {
	*testing.T
	server  *cassandratest.Cluster
	session *gocql.Session
	policy  *Policy // nil if the session has one of gocql's own
}

const insert = `INSERT INTO shop.orders (id, text) VALUES (?, ?)`

// start opens a session with the policy, unless configure sets another. Its keyspace is home, which has one replica;
// shop has three.
func start(t *testing.T, nodes int, configure func(*gocql.ClusterConfig)) *bubble {
	t.Helper()
	t.Cleanup(func() { <-time.After(5 * time.Minute) }) // for gocql to let go of all goroutines
	b := &bubble{T: t, server: cassandratest.Start(t, nodes), policy: New(gocql.RoundRobinHostPolicy())}
	for ks, n := range map[string]int{"home": 1, "shop": 3, "annex": 2} {
		b.server.Create(
			fmt.Sprintf(`CREATE KEYSPACE %s WITH replication = {'class': 'SimpleStrategy', 'replication_factor': %d}`, ks, n),
			fmt.Sprintf(`CREATE TABLE %s.orders (id text PRIMARY KEY, text text)`, ks))
	}
	c := b.server.Config()
	c.Keyspace = "home"
	c.Timeout, c.WriteTimeout, c.ConnectTimeout, c.ReconnectInterval = 6*time.Second, 2*time.Second, 5*time.Second,
		2*time.Second
	c.PoolConfig.HostSelectionPolicy = b.policy
	c.FrameHeaderObserver = b.policy.Observe(nil)
	if configure != nil {
		configure(c)
	}
	session, err := c.CreateSession()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(session.Close)
	b.session = session
	<-time.After(100 * time.Millisecond) // pools are filled, keyspaces are read
	return b
}

// send makes one write in up to four attempts of 2.5 s each.
func (b *bubble) send(id string) (err error) {
	a := &Attempt{Keyspace: "shop", Key: []byte(id)}
	for range 4 {
		err = b.attempt(a, 2500*time.Millisecond, func(ctx context.Context) error {
			return b.session.Query(insert, id, "text").WithContext(ctx).Consistency(gocql.LocalQuorum).RoutingKey([]byte(id)).
				Exec()
		})
		if err == nil || errors.Is(err, gocql.ErrNoConnections) {
			return err
		}
	}
	return err
}

func (b *bubble) attempt(a *Attempt, limit time.Duration, send func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	a.Next(ctx)
	err := send(a)
	a.End(ResultOf(Cause(ctx, err)))
	return err
}

// load writes 20 times a second and lists what failed.
func (b *bubble) load(d time.Duration) (failed []error) {
	var wg sync.WaitGroup
	var mu sync.Mutex
	for i := range int(d / (50 * time.Millisecond)) {
		wg.Go(func() {
			if err := b.send(fmt.Sprint("order", i)); err != nil {
				mu.Lock()
				failed = append(failed, err)
				mu.Unlock()
			}
		})
		<-time.After(50 * time.Millisecond)
	}
	wg.Wait()
	return failed
}

// sent counts the writes that a node has got.
func (b *bubble) sent(node int) int {
	return len(b.server.Journal(cassandratest.Execute, cassandratest.On(node), cassandratest.Table("shop.orders")))
}

// A unresponsive node costs some requests one attempt each, then none, and is back soon after it answers again. Without
// an observer some are spent on trying it.
func TestSilentNode(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		configure func(*gocql.ClusterConfig)
		tries     int           // at most
		back      time.Duration // at most
	}{
		"with observer": {nil, 0, 12 * time.Second}, // heartbeats are up to 11 s apart while they fail
		"pauses alone":  {func(c *gocql.ClusterConfig) { c.FrameHeaderObserver = nil }, 6, 16 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				b := start(t, 3, test.configure)
				if failed := b.load(10 * time.Second); failed != nil {
					t.Fatal(failed[0])
				}
				if n := b.sent(2); n < 40 || n > 95 {
					t.Errorf("%d of 200 writes go to node 2", n)
				}
				before := b.sent(2)
				b.server.Node(2).Silence()
				if failed := b.load(4 * time.Second); failed != nil { // 2.5 s until the first attempts end, and some
					t.Fatal(failed[0])
				}
				noticed := b.sent(2)
				if failed := b.load(24 * time.Second); failed != nil {
					t.Fatal(failed[0])
				}
				ignored := b.sent(2)
				b.server.Node(2).Restore()
				restored := time.Now()
				for b.policy.find(b.host(2)).breaker.silent.Load() == limit {
					if failed := b.load(50 * time.Millisecond); failed != nil {
						t.Fatal(failed[0])
					}
				}
				took := time.Since(restored)
				if failed := b.load(10 * time.Second); failed != nil {
					t.Fatal(failed[0])
				}
				t.Logf("silent: %d attempts in the first 4 s, %d in the next 24; back after %v, then %d of 200",
					noticed-before, ignored-noticed, took, b.sent(2)-ignored)
				if ignored-noticed > test.tries {
					t.Errorf("%d attempts in 24 s while it is out", ignored-noticed)
				}
				if took > test.back {
					t.Errorf("back after %v", took)
				}
				if n := b.sent(2) - ignored; n < 40 {
					t.Errorf("%d of 200 when it is back", n)
				}
			})
		})
	}
}

// host is what gocql knows of a node.
func (b *bubble) host(node int) *gocql.HostInfo {
	for _, m := range b.policy.ring.Load().members {
		if m.info.ConnectAddress().String() == b.server.Node(node).Address() {
			return m.info
		}
	}
	b.Fatalf("no host for node %d", node)
	return nil
}

// A node that answers heartbeats and no writes, as with a stuck disk, is not trusted on account of them.
func TestStuckNode(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := start(t, 3, nil)
		b.server.When(cassandratest.On(2), cassandratest.Table("shop.orders")).Do(cassandratest.Drop)
		if failed := b.load(10 * time.Second); failed != nil {
			t.Fatal(failed[0])
		}
		before := b.sent(2)
		if failed := b.load(5 * time.Minute); failed != nil {
			t.Fatal(failed[0])
		}
		n := b.sent(2) - before
		t.Logf("%d attempts in 5 min", n)
		if n < 20 || n > 50 { // one each 10 s, and 2.5 s until it ends
			t.Errorf("%d attempts in 5 min", n)
		}
	})
}

// A frozen node takes no bytes, and gocql waits for that without a look at the context, up to the WriteTimeout. Then
// the connection ends, and with its connections the node is out of all plans.
func TestFrozenNode(t *testing.T) {
	t.Parallel()
	for limit, most := range map[time.Duration]time.Duration{
		2 * time.Second: 5 * time.Second, // both connections of the node, one after the other
		6 * time.Second: 20 * time.Second,
	} {
		t.Run(limit.String(), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				b := start(t, 3, func(c *gocql.ClusterConfig) { c.WriteTimeout = limit })
				b.server.Node(2).Freeze()
				begin := time.Now()
				var mu sync.Mutex
				var slow []time.Duration // when they began
				var wg sync.WaitGroup
				for i := range 600 {
					wg.Go(func() {
						at := time.Now()
						if err := b.send(fmt.Sprint("order", i)); err != nil {
							t.Error(err)
						}
						if time.Since(at) > time.Second {
							mu.Lock()
							slow = append(slow, at.Sub(begin))
							mu.Unlock()
						}
					})
					<-time.After(50 * time.Millisecond)
				}
				wg.Wait()
				last := slices.Max(slow)
				t.Logf("in 30 s %d writes of 600 took longer than 1 s, the last began after %v", len(slow), last)
				if last > most {
					t.Errorf("%v after the node froze a write was still slow", last)
				}
				b.server.Heal()
			})
		})
	}
}

// If all nodes are silent, requests are sent all the same: they may be read and answered any moment.
func TestAllSilent(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := start(t, 3, nil)
		if failed := b.load(time.Second); failed != nil {
			t.Fatal(failed[0])
		}
		b.server.When(cassandratest.Table("shop.orders")).Do(cassandratest.Drop)
		for _, err := range b.load(30 * time.Second) {
			if !errors.Is(err, context.DeadlineExceeded) {
				t.Fatal(err)
			}
		}
		before := b.sent(1) + b.sent(2) + b.sent(3)
		if failed := b.load(10 * time.Second); len(failed) != 200 {
			t.Errorf("%d writes of 200 failed", len(failed))
		}
		if n := b.sent(1) + b.sent(2) + b.sent(3) - before; n != 800 {
			t.Errorf("%d attempts are sent, 200 requests have 800", n)
		}
		b.server.Heal()
		if failed := b.load(10 * time.Second); failed != nil {
			t.Errorf("%d writes fail after it: %v", len(failed), failed[0])
		}
		for n := 1; n <= 3; n++ {
			if !b.policy.find(b.host(n)).breaker.in() {
				t.Errorf("node %d is out of rotation", n)
			}
		}
	})
}

// An attempt without its own routing key does not wait until gocql has prepared a statement to find one.
func TestBatchDoesNotWait(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := start(t, 3, nil)
		b.server.When(cassandratest.Prepare).Do(cassandratest.Drop)
		begin := time.Now()
		err := b.attempt(&Attempt{Keyspace: "shop", Key: []byte("order")}, time.Second, func(ctx context.Context) error {
			batch := b.session.NewBatch(gocql.LoggedBatch).WithContext(ctx)
			batch.Query(insert, "order", "text")
			return b.session.ExecuteBatch(batch)
		})
		if took := time.Since(begin); !errors.Is(err, context.DeadlineExceeded) || took > time.Second {
			t.Errorf("%v after %v", err, took)
		}
	})
}

// Down and up, as other nodes tell, the past is forgotten.
func TestUpAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := start(t, 3, nil)
		breaker := &b.policy.find(b.host(2)).breaker
		for range limit {
			breaker.end(TimedOut, false, time.Now)
		}
		if breaker.in() {
			t.Fatal("in rotation")
		}
		b.server.Node(2).Announce(false)
		<-time.After(5 * time.Second) // gocql collects events for a second
		b.server.Node(2).Announce(true)
		<-time.After(5 * time.Second)
		if !breaker.in() {
			t.Error("out of rotation")
		}
	})
}

// Two sessions must not share a policy: they have different hosts of the same name.
func TestShared(t *testing.T) {
	t.Parallel()
	p := New(gocql.RoundRobinHostPolicy())
	p.Init(new(gocql.Session))
	defer func() {
		if recover() == nil {
			t.Error("shared")
		}
	}()
	p.Init(new(gocql.Session))
}
