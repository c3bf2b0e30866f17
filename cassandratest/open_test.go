package cassandratest

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/gocql/gocql"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	orders = `CREATE TABLE shop.orders (user_id uuid, day int, order_id timeuuid, total decimal, tags set<text>,
		PRIMARY KEY ((user_id, day), order_id)) WITH CLUSTERING ORDER BY (order_id DESC) AND gc_grace_seconds = 100`
	notes = `CREATE TABLE shop.notes (id int PRIMARY KEY, text text)`

	insertOrder = `INSERT INTO shop.orders (user_id,day,order_id) VALUES (?,?,?) USING TIMESTAMP ?`
	insertNote  = `INSERT INTO shop.notes (id,text) VALUES (?,?)`
)

// open is a session with s that is closed with the test. Its requests end after a second of virtual time, if nobody
// answers; on sockets, where no test waits for it, after half a minute.
func open(tb testing.TB, s *Cluster, configure func(*gocql.ClusterConfig)) *gocql.Session {
	tb.Helper()
	s.Create(orders, notes)
	c := s.Config()
	c.Timeout, c.ConnectTimeout = time.Second, time.Second
	if !s.pipes {
		c.Timeout, c.ConnectTimeout = 30*time.Second, 30*time.Second
	}
	if configure != nil {
		configure(c)
	}
	session, err := c.CreateSession()
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(session.Close)
	return session
}

// trial is a test of one of the transports.
type trial struct {
	*testing.T
	start func(TB, int) *Cluster
}

// transports runs a test on sockets and in memory.
func transports(t *testing.T, test func(t trial)) {
	t.Helper()
	t.Run("sockets", func(t *testing.T) {
		t.Parallel()
		test(trial{t, Listen})
	})
	t.Run("pipes", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			t.Cleanup(func() { <-time.After(10 * time.Minute) }) // as Test does, which has nodes
			test(trial{t, Start})
		})
	})
}

// last is the last request that matches.
func last(tb testing.TB, s *Cluster, matchers ...Matcher) Request {
	tb.Helper()
	all := s.Journal(matchers...)
	if len(all) == 0 {
		tb.Fatal("no such request")
	}
	return all[len(all)-1]
}
