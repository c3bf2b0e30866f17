//go:build faults

package hot_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"log"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/gocql/gocql"
	"gopkg.in/inf.v0"

	"github.com/denorm-go/denorm/examples/orders"
	"github.com/denorm-go/denorm/integration/harness/cluster"
	"github.com/denorm-go/denorm/integration/load/hot"
	"github.com/denorm-go/denorm/internal/testutil/streams"
	"github.com/denorm-go/denorm/internal/testutil/testsession"
	"github.com/denorm-go/denorm/retry"
	"github.com/denorm-go/denorm/tables"
	"github.com/denorm-go/denorm/writer"
)

// A coordinator stops after it has stored logged batches in the batchlog and before it has answered. The batches are
// seen in the batchlog of the other nodes: without that nothing would be tried here. Their clients are told that the
// outcome is open. Resume, once the node goes on, completes them in all tables. In the full length the node is also
// killed and nobody resumes: what the batchlog has is in all tables, the rest in all or in none.
func TestNodeStopsBetweenBatchlogAndAnswer(t *testing.T) {
	market, nodes := openWithNodes(t)
	market.untilStored(t, "coordinator unresponsive, batches resumed", nodes, silent, true)
	if *long {
		market.untilStored(t, "coordinator killed, not resumed", nodes, killed, false)
	}
}

// untilStored tries until a batch was seen in the batchlog.
func (m *market) untilStored(t *testing.T, name string, nodes []*cluster.Node, fault fault, resume bool) {
	t.Helper()
	const tries = 10
	for range tries {
		stored := 0
		if !t.Run(name, func(t *testing.T) { stored = m.in(t).stopCoordinator(nodes, fault, resume) }) || stored > 0 {
			return
		}
	}
	t.Errorf("no batch was seen in the batchlog in %d tries", tries)
}

// stopCoordinator writes batches through the first of the nodes and stops it. It returns how many of them were in the
// batchlog and without an answer.
func (m *market) stopCoordinator(nodes []*cluster.Node, fault fault, resume bool) int {
	coordinator, others := nodes[0], nodes[1:]
	m.killed[coordinator.Host()] = m.killed[coordinator.Host()] || fault.name == killed.name
	own := &streams.Counter{All: true} // of its own, as the session does not live as long as the market
	narrow := m.session(func(c *gocql.ClusterConfig) {
		c.StreamObserver = own
		c.Logger = log.New(io.Discard, "", 0) // it says every second that its only node is away
		c.Hosts = []string{coordinator.Host()}
		c.HostFilter = gocql.WhiteListHostFilter(coordinator.Host())
	})
	through, err := writer.New(testsession.New(m.T, narrow, m.read), writer.Logged(),
		writer.Retry(retry.Policy{MaxAttempts: 1, AttemptTimeout: 3 * time.Second}))
	if err != nil {
		m.Fatal(err)
	}
	var peeks []*gocql.Session
	for _, n := range others {
		peeks = append(peeks, cluster.Session(m.T, "", func(c *gocql.ClusterConfig) {
			c.Hosts = []string{n.Host()}
			c.HostFilter = gocql.WhiteListHostFilter(n.Host())
		}))
	}

	// Every writer moves an order of its own, so that the last batch of each is the one that counts.
	began, stopped := time.Now(), make(chan struct{})
	last := make([]last, writers)
	var wg, warm sync.WaitGroup
	warm.Add(writers)
	for n := range writers {
		wg.Go(func() { last[n] = m.moveUntil(stopped, &warm, through, n) })
	}
	warm.Wait()
	time.Sleep(time.Duration(100+rand.IntN(200)) * time.Millisecond)
	err = fault.stop(m.Context(), coordinator)
	close(stopped)
	var batchlog []byte
	for _, peek := range peeks {
		batchlog = append(batchlog, m.batchlog(peek, began)...)
	}
	wg.Wait()
	err = errors.Join(err, fault.start(m.Context(), coordinator))
	if err != nil {
		m.Fatal(err)
	}

	f := hot.Figures{Took: time.Since(began)}
	stored := make(map[int]bool)
	outcomes := make(map[writer.Outcome]int)
	w := m.writer()
	for n := range last {
		l := &last[n]
		f.Acknowledged += l.written
		if l.failed == nil {
			continue
		}
		outcomes[l.failed.Tables[0].Outcome]++
		// The stamp is a value of the row, and no other write has it.
		if bytes.Contains(batchlog, binary.BigEndian.AppendUint64(nil, uint64(l.failed.Timestamp))) {
			stored[n] = true
		}
		if l.failed.NotApplied() { // then the check must find nothing of it
			f.NotApplied++
			continue
		}
		f.Unknown++
		if resume {
			m.resume(w, l)
			f.Resumed++
			f.Acknowledged++
		}
	}
	m.check(f, fmt.Sprintf("the coordinator stopped on %d batches without an answer, %d of which were in the batchlog, and %d were resumed; told: %v",
		f.Unknown+f.NotApplied, len(stored), f.Resumed, outcomes))
	m.wantAnswers(own)
	for n := range stored {
		o, err := orders.NewReader(m.read).ByID(m.Context(), m.orders[n].OrderID)
		if err != nil || o.UpdatedAt != last[n].failed.Timestamp {
			m.Errorf("the batchlog had the write of %d, and the order is of %d (%v)", last[n].failed.Timestamp, o.UpdatedAt, err)
		}
	}
	return len(stored)
}

// last is what became of the last write of a writer.
type last struct {
	written int // before it
	noted   int
	failed  *writer.Error // nil: it was acknowledged
}

// moveUntil moves order n until told to stop, or until a write fails. It is warm when a write has been acknowledged.
func (m *market) moveUntil(stopped <-chan struct{}, warm *sync.WaitGroup, w *writer.Writer, n int) last {
	var l last
	before := m.orders[n]
	done := sync.OnceFunc(warm.Done)
	defer done()
	for {
		select {
		case <-stopped:
			return l
		default:
		}
		after := before
		after.Status = orders.Statuses[(l.written+1)%len(orders.Statuses)]
		after.Total = inf.NewDec(int64(1000*(n+1)+l.written), 2)
		l.noted = m.history.Begin(fmt.Sprintf("writer %d", n), tables.Update, after)
		res, err := w.Write(m.Context(), "changeStatus", orders.Orders.Update(before, after))
		m.history.End(l.noted, res.Timestamp, err)
		if err != nil {
			if !errors.As(err, &l.failed) {
				m.Error(err)
			}
			return l
		}
		l.written++
		done()
		after.UpdatedAt = res.Timestamp
		before = after
	}
}

func (m *market) resume(w *writer.Writer, l *last) {
	m.Helper()
	ctx, cancel := context.WithTimeout(m.Context(), patience)
	defer cancel()
	failed := l.failed
	for {
		m.history.Again(l.noted)
		res, err := w.Resume(ctx, failed)
		m.history.End(l.noted, res.Timestamp, err)
		if err == nil {
			return
		}
		if !errors.As(err, &failed) || ctx.Err() != nil {
			m.Fatal(err)
		}
	}
}

// batchlog is the mutations of the batches that a node has of the time since then.
func (m *market) batchlog(node *gocql.Session, since time.Time) []byte {
	m.Helper()
	ctx, cancel := context.WithTimeout(m.Context(), 10*time.Second)
	defer cancel()
	var all []byte
	var id gocql.UUID
	var mutations [][]byte
	iter := node.Query(`SELECT id, mutations FROM system.batches`).Consistency(gocql.One).WithContext(ctx).Iter()
	for iter.Scan(&id, &mutations) {
		if id.Time().Before(since) {
			continue
		}
		for _, mutation := range mutations {
			all = append(all, mutation...)
		}
	}
	if err := iter.Close(); err != nil {
		m.Error(err)
	}
	return all
}
