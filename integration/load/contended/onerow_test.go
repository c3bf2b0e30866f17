package contended_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/integration/harness/sleep"
	"github.com/denorm-go/denorm/integration/load/contended"
	"github.com/denorm-go/denorm/integration/suite/nodes"
	"github.com/denorm-go/denorm/internal/testutil/faulty"
	"github.com/denorm-go/denorm/internal/testutil/suite"
	"github.com/denorm-go/denorm/internal/testutil/testsession"
	"github.com/denorm-go/denorm/writer"
)

// resuming is a client that resumes what is unknown, a moment later, up to three times.
type resuming struct{ contended.Library }

// resumed is how many changes were unknown until they were resumed.
var resumed atomic.Int64

// Change implements [contended.Client].
func (r resuming) Change(ctx context.Context, id gocql.UUID, status string) error {
	err := r.Library.Change(ctx, id, status)
	for range 3 {
		var failed *writer.Error
		if !errors.As(err, &failed) || failed.NotApplied() || !failed.Resumable() {
			break
		}
		if sleep.For(ctx, 100*time.Millisecond) != nil {
			break
		}
		if _, err = r.Resume(ctx, failed); err == nil || writer.OutcomeOf(err) == writer.Conflict {
			resumed.Add(1)
		}
	}
	return err
}

// resumers are clients of some processes. What is unknown they resume.
func resumers(t *testing.T, p *suite.Place, clients, processes int, lost *faulty.Dialer) []contended.Client {
	t.Helper()
	var configure []suite.Change
	if lost != nil {
		configure = append(configure, lost.Configure)
	}
	writers := make([]*writer.Writer, processes)
	for i := range writers {
		var err error
		if writers[i], err = writer.New(testsession.New(t, p.Connect(t, configure...), p.Session.Reads())); err != nil {
			t.Fatal(err)
		}
	}
	out := make([]contended.Client, clients)
	for i := range out {
		out[i] = resuming{Library: contended.Library{Writer: writers[i%processes]}}
	}
	return out
}

// oneRow runs a load on an order of its own, and says what came of it. It looks when all nodes are up, after end.
func oneRow(t *testing.T, p *suite.Place, name string, clients []contended.Client, d time.Duration, end ...func()) {
	t.Helper()
	id := gocql.MustRandomUUID()
	if _, err := p.Writer.Write(t.Context(), "createOrder", contended.Orders.Insert(contended.Order{OrderID: id, Status: "new"})); err != nil {
		t.Fatal(err)
	}
	tally := contended.Run(t.Context(), clients, []gocql.UUID{id}, d, 0)
	for _, end := range end {
		end()
	}
	if err := contended.Finish(t.Context(), p.Writer, []gocql.UUID{id}); err != nil {
		t.Fatal(err)
	}
	found, err := contended.Check(t.Context(), p.Session.Reads(), tally, "orders_by_id", "orders_by_status")
	if err != nil {
		t.Fatal(err)
	}
	changes, unknown := tally.Acknowledged.Load(), tally.Unknown.Load()
	t.Logf("%s: %.1f changes a second; %d unknown (%.2f %%), %d surely not applied, %d were unknown until they were resumed; %v", name,
		float64(changes)/d.Seconds(), unknown, 100*float64(unknown)/float64(max(1, changes+unknown)), tally.Refused.Load(), resumed.Swap(0), found)
	if found != (contended.Findings{}) || changes == 0 {
		t.Errorf("%s: %d changes, found %v", name, changes, found)
	}
}

// Many writers change one row, in one process and in several, and some replies are lost. Each change that is
// acknowledged is there, and none that surely was not applied. The rate of those whose outcome stays unknown is
// reported.
func TestOneRow(t *testing.T) {
	p := nodes.Cassandra.Open(t, 3, contended.Schema...)
	few := []int{16}
	if *long {
		few = []int{2, 4, 16, 40}
	}
	for _, clients := range few {
		for _, processes := range []int{1, 4} {
			if processes > clients {
				processes = clients
			}
			name := fmt.Sprintf("%d writers in %d processes", clients, processes)
			oneRow(t, p, name, resumers(t, p, clients, processes, nil), length(3*time.Second, 30*time.Second))
		}
	}
	lost := new(faulty.Dialer)
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	ended := make(chan struct{})
	defer close(ended)
	go func() {
		for {
			select {
			case <-tick.C:
				lost.LoseReplies(1)
			case <-ended:
				return
			}
		}
	}()
	oneRow(t, p, "16 writers in 4 processes, ten lost replies a second", resumers(t, p, 16, 4, lost), length(3*time.Second, 30*time.Second))
	if lost.Lost() == 0 {
		t.Error("no reply was lost")
	}
}
