package reconcile_test

import (
	"errors"
	"fmt"
	"net"
	"slices"
	"testing"
	"time"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/cassandratest"
	"github.com/denorm-go/denorm/reconcile"
)

// frozenConn is a connection of a process that may be frozen: what it was writing is written when the process goes on.
type frozenConn struct {
	net.Conn
	p *process
}

func (c frozenConn) Write(b []byte) (int, error) {
	c.p.thawed()
	return c.Conn.Write(b)
}

func (c frozenConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	c.p.thawed()
	return n, err
}

// SetWriteDeadline does nothing: the time in which a process is frozen is none for the kernel.
func (frozenConn) SetWriteDeadline(time.Time) error { return nil }

// Close closes the connection, if the process is frozen once it has written what it was writing.
func (c frozenConn) Close() error {
	if !c.p.isFrozen() {
		return c.Conn.Close()
	}
	go func() {
		c.p.thawed()
		<-time.After(time.Second)
		_ = c.Conn.Close()
	}()
	return nil
}

// freeze stops the process, as SIGSTOP does, until it is thawed.
func (p *process) freeze() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ice == nil {
		p.ice = make(chan struct{})
	}
}

func (p *process) isFrozen() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.ice != nil
}

func (p *process) thaw() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ice != nil {
		close(p.ice)
		p.ice = nil
	}
}

// thawed waits while the process is frozen.
func (p *process) thawed() {
	p.mu.Lock()
	ice := p.ice
	p.mu.Unlock()
	if ice != nil {
		<-ice
	}
}

// connsSince are the numbers of the connections since the one with a number.
func connsSince(c *cassandratest.Cluster, last int) (numbers []int) {
	for _, r := range c.Journal(cassandratest.Startup) {
		if r.Conn > last {
			numbers = append(numbers, r.Conn)
		}
	}
	return numbers
}

// A process is frozen after one of its writes, for longer than its lease. Meanwhile the service writes all that it was
// to repair, and another process continues the run. In the middle of that, or when it has ended, the first one goes on:
// it sends what it was sending, and ends. No acknowledged write is undone, no deleted row is back, and what is stored
// of the run is of the other process.
func TestFrozenBeyondLease(t *testing.T) {
	t.Parallel()
	lookup := []reconcile.Option{reconcile.Lookup()}
	lost := 0
	for i, test := range []struct {
		rule
		treatment
	}{
		{rules[0], treatment{"repair", lookup}},
		{rules[0], treatment{name: "repair"}},
		{rules[1], treatment{"repair", lookup}},
		{rules[2], treatment{"repair", lookup}},
		{rules[3], treatment{"repair", lookup}},
		{rules[4], treatment{"repair", lookup}},
	} {
		t.Run(fmt.Sprint(i, " ", test.rule.name, " ", test.treatment.name), func(t *testing.T) {
			cassandratest.Test(t, 1, func(t *testing.T, c *cassandratest.Cluster) {
				f := &frozen{served: newServed(t, c, test.rule, wrecks)}
				f.treatment = test.treatment
				stride := 11
				if *killedAtAll {
					stride = 1
				}
				n := 1
				for f.attempt(n) && !t.Failed() {
					n += stride
				}
				t.Logf("it has fewer than %d writes; of %d processes %d lost the run, %d were told otherwise", n, f.runs, f.lost, f.failed)
				lost += f.lost
			})
		})
	}
	if lost == 0 && !t.Failed() {
		t.Error("no process was alive when it had lost the run")
	}
}

// frozen is a world in which a process is frozen.
type frozen struct {
	*served

	runs, lost, failed int
}

// attempt freezes a process after its n-th write, and gives false if it has ended before.
func (f *frozen) attempt(n int) bool {
	t, c := f.t, f.cluster()
	f.plant()
	last := slices.Max(connsSince(c, 0))
	p := startProcess(t, c)
	defer p.s.Close()
	own := connsSince(c, last)
	isOwn := func(r cassandratest.Request) bool { return slices.Contains(own, r.Conn) }
	writes := 0
	iced := make(chan struct{})
	rule := c.When(cassandratest.Where(func(r cassandratest.Request) bool { return isWrite(r) && isOwn(r) })).Choose(func(cassandratest.Request) []cassandratest.Step {
		if writes++; writes == n {
			p.freeze()
			close(iced)
		}
		return nil
	})
	defer rule.End()
	ended := make(chan error, 1)
	go func() {
		r, err := reconcile.New(p.s, reconcile.State("shop"), reconcile.Settle(2*settleKilled), reconcile.Ranges(killedRanges), handed)
		if err == nil {
			_, err = f.run(t.Context(), r)
		}
		ended <- err
	}()
	select {
	case <-iced:
	case err := <-ended:
		if err != nil {
			t.Error(err)
		}
		return false
	}
	f.serve(n, false)
	until := n % 23
	isOther := func(r cassandratest.Request) bool { return isWrite(r) && !isOwn(r) && !r.On("denorm_lease") }
	others := c.When(cassandratest.Where(isOther)).Choose(func(cassandratest.Request) []cassandratest.Step {
		if until--; until == 0 {
			p.thaw()
		}
		return nil
	})
	defer others.End()
	report := f.takeOver()
	p.thaw()
	f.runs++
	switch err := <-ended; {
	case errors.Is(err, reconcile.ErrRunning):
		f.lost++
	case err != nil:
		f.failed++
	}
	<-time.After(time.Minute)
	f.check(report)
	return true
}

// takeOver continues the run once the lease of the process has expired.
func (f *frozen) takeOver() *reconcile.Report {
	t := f.t
	for {
		<-time.After(time.Second)
		runs, err := f.r.Runs(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var run gocql.UUID
		if len(runs) > 0 {
			run = runs[0].Run
		}
		report, err := f.run(t.Context(), f.r, reconcile.Resume(run), reconcile.Settle(time.Second), handed)
		if errors.Is(err, reconcile.ErrRunning) && report == nil {
			continue
		}
		if err != nil {
			t.Errorf("%v\n%v", err, report)
		}
		return report
	}
}

// check checks the tables, and what is stored of a run.
func (f *frozen) check(report *reconcile.Report) {
	t := f.t
	runs, err := f.r.Runs(t.Context())
	if err != nil || !slices.ContainsFunc(runs, func(r reconcile.RunInfo) bool {
		return r.Run == report.Run && r.State == "done" && r.Done == r.Ranges && r.Ended.Equal(report.Ended.Truncate(time.Millisecond))
	}) {
		t.Errorf("%v: %+v", err, runs)
	}
	f.checkServed()
}
