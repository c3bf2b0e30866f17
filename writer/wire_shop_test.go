package writer

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/denorm-go/denorm/cassandratest"
	"github.com/denorm-go/denorm/internal/decide"
	"github.com/denorm-go/denorm/internal/describe"
	"github.com/denorm-go/denorm/internal/fanout"
	"github.com/denorm-go/denorm/internal/hosts"
	"github.com/denorm-go/denorm/internal/testutil/streams"
	"github.com/denorm-go/denorm/retry"
	"github.com/denorm-go/denorm/session"
	"github.com/gocql/gocql"
)

// wireShop is a writer with a real session, on a cluster of wire that has its tables.
type wireShop struct {
	*cassandratest.Cluster
	session *gocql.Session
	streams *streams.Counter
	ledger  *wireLedger
	w       *Writer
	stamps  atomic.Int64
}

// openWire opens a shop. start is cassandratest.Listen or cassandratest.Start.
func openWire(tb testing.TB, start func(cassandratest.TB, int) *cassandratest.Cluster, nodes int,
	options ...NewOption,
) *wireShop {
	tb.Helper()
	return openWireConfigured(tb, start, nodes, func(*gocql.ClusterConfig) {}, options...)
}

func openWireConfigured(
	tb testing.TB, start func(cassandratest.TB, int) *cassandratest.Cluster, nodes int,
	configure func(*gocql.ClusterConfig), options ...NewOption,
) *wireShop {
	tb.Helper()
	s := &wireShop{Cluster: start(tb, nodes), streams: &streams.Counter{}, ledger: &wireLedger{}}
	s.Create(fmt.Sprintf(`CREATE KEYSPACE shop WITH replication = {'class': 'SimpleStrategy', 'replication_factor': %d}`,
		min(3, nodes)))
	s.Create(createTables(describe.Of(orderSet(tb).Internal()))...)
	s.Create(createTables(describe.Of(noteSet(tb).Internal()))...)
	s.Watch(s.ledger.add)
	cluster := session.Configure(s.Config(), "dc1")
	cluster.Keyspace, cluster.StreamObserver = "shop", s.streams
	configure(cluster)
	opened, err := session.Connect(cluster)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(opened.Close)
	s.session = opened
	s.w, err = newOf(opened, append([]NewOption{shared(session.Budget(retry.NewBudget(math.MaxInt32, 0)))}, options...)...)
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

// newOf makes a writer that has one session for everything, so that the writes alone make connections.
func newOf(writes *gocql.Session, options ...NewOption) (*Writer, error) {
	w := newWriter(fanout.Gocql{Session: writes}, writes.Query("").Keyspace(), readLive(writes), options...)
	w.sender.Deep, w.reads, w.sender.Hosts, w.transact = true, writes, hosts.Of(writes),
		decide.Sessions{Writes: writes, Reads: writes}
	return w, w.err
}

// createTables is the CQL of a set's tables in keyspace shop.
func createTables(d describe.Description) []string {
	var out []string
	for _, t := range d.Tables {
		var columns, order []string
		keys := map[string][]string{}
		for _, c := range t.Columns {
			columns = append(columns, c.Name+" "+c.Type)
			keys[c.Kind] = append(keys[c.Kind], c.Name)
			if c.Kind == "clustering" {
				order = append(order, c.Name+map[bool]string{true: " DESC", false: " ASC"}[c.Desc])
			}
		}
		key := append([]string{"(" + strings.Join(keys["partition_key"], ", ") + ")"}, keys["clustering"]...)
		text := fmt.Sprintf("CREATE TABLE shop.%s (%s, PRIMARY KEY (%s))", t.Name, strings.Join(columns, ", "),
			strings.Join(key, ", "))
		if order != nil {
			text += " WITH CLUSTERING ORDER BY (" + strings.Join(order, ", ") + ")"
		}
		out = append(out, text)
	}
	return out
}

// wireLedger knows which statements of a write each table has. A write is known by its timestamp.
type wireLedger struct {
	mu      sync.Mutex
	applied map[wireRow][]cassandratest.Statement
}

type wireRow struct {
	table     string
	timestamp int64
}

// add is what the cluster is watched with.
func (l *wireLedger) add(r cassandratest.Request) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.applied == nil {
		l.applied = make(map[wireRow][]cassandratest.Statement)
	}
	for _, s := range r.Statements {
		row := wireRow{s.Table, writtenAt(s)}
		if !slices.ContainsFunc(l.applied[row], s.Equal) {
			l.applied[row] = append(l.applied[row], s)
		}
	}
}

// has is how many of a write's statements for a table were applied.
func (l *wireLedger) has(table string, timestamp int64) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.applied[wireRow{table, timestamp}])
}

// writtenAt is the timestamp that a statement is written at, or one more for a remove below a put: that of the write.
func writtenAt(s cassandratest.Statement) int64 {
	v, ok := s.Value("[timestamp]")
	if !ok {
		return 0
	}
	t := int64(binary.BigEndian.Uint64(v.Bytes))
	return t + t&1 // the writes of these tests have even ones
}

// stamp gives a timestamp for At, an even one, so that the write of a remove at one less can be told.
func (s *wireShop) stamp() int64 {
	if s.stamps.CompareAndSwap(0, time.Now().UnixMicro()&^1) {
		return s.stamps.Load()
	}
	return s.stamps.Add(2)
}

// counted is a context whose requests the shop counts.
func (s *wireShop) counted(ctx context.Context) context.Context { return s.streams.Context(ctx) }

// unwind lets virtual time run on at the end of a test, until gocql has let go of all goroutines. It comes first in a
// bubble.
func unwind(t *testing.T) {
	t.Helper()
	t.Cleanup(func() { <-time.After(10 * time.Minute) })
}

// wantNoStreams ends all connections, after which every request must have been answered or have lost its connection. Of
// an answer whose body is cut off gocql says neither; nor of a request on a connection that it closes by itself, or
// whose answer comes as the connection ends, so that a few may seem open (1.7.0, conn.go: closeWithError(nil), and the
// end of recv).
func (s *wireShop) wantNoStreams(t *testing.T, broken int) {
	t.Helper()
	allowed := broken + max(2, s.streams.Started()/100)
	s.Close()
	for range 1000 {
		if s.streams.Open() <= allowed {
			return
		}
		<-time.After(10 * time.Millisecond)
	}
	t.Errorf("%d of %d streams are open", s.streams.Open(), s.streams.Started())
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

// writes are the requests of the shop's tables that were sent after the one with number from.
func (s *wireShop) writes(from int) []cassandratest.Request {
	return s.Journal(cassandratest.Where(func(r cassandratest.Request) bool {
		return r.Number > from && (r.Kind == cassandratest.Execute || r.Kind == cassandratest.Batch) && !r.System()
	}))
}

func be(n int64) []byte {
	var out []byte
	for shift := 56; shift >= 0; shift -= 8 {
		out = append(out, byte(n>>shift))
	}
	return out
}
