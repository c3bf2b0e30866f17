package hosts

import (
	"context"
	"net"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/internal/testutil/drivertest"
)

// What gocql tells of requests that are no attempts takes hosts out of rotation, and brings them back.
func TestMark(t *testing.T) {
	t.Parallel()
	expired, cancel := context.WithTimeout(context.Background(), -time.Second)
	defer cancel()
	gone, cancel := context.WithCancel(context.Background())
	cancel()
	for _, c := range []struct {
		name string
		ctx  context.Context
		err  error
		want Result
	}{
		{"answer", context.Background(), nil, Answered},
		{"error of the server", context.Background(), &gocql.RequestErrUnavailable{}, Answered},
		{"no row", context.Background(), gocql.ErrNotFound, Answered},
		{"own limit of gocql", context.Background(), gocql.ErrTimeoutNoResponse, TimedOut},
		{"deadline, of which gocql says nothing", expired, nil, TimedOut},
		{"cancelled, of which gocql says nothing", gone, nil, Cancelled},
		{"connection", context.Background(), gocql.ErrConnectionClosed, Lost},
		{"network", context.Background(), &net.OpError{Op: "write", Err: syscall.EPIPE}, Lost},
		{"driver", context.Background(), gocql.ErrFrameTooBig, Broken},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newTown(0)
			mark := func(ctx context.Context, err error) {
				w.policy.Pick(request{ctx: ctx, keyspace: "ks1", key: []byte("k")})().Mark(err)
			}
			mark(context.Background(), gocql.ErrTimeoutNoResponse)
			mark(context.Background(), gocql.ErrTimeoutNoResponse)
			mark(c.ctx, c.err)
			if out := !w.node(0).breaker.in(); out != (c.want == TimedOut || c.want == Lost) {
				t.Errorf("after two timeouts and this: out of rotation %v", out)
			}
			if !w.node(0).breaker.in() {
				return
			}
			mark(context.Background(), gocql.ErrTimeoutNoResponse)
			if out := !w.node(0).breaker.in(); out != (c.want != Answered) {
				t.Errorf("after one more: out of rotation %v", out)
			}
		})
	}
}

// Of attempts gocql's own word does not count: it says nil of those that ran out of time.
func TestMarkOfAttempt(t *testing.T) {
	t.Parallel()
	w := newTown(0)
	a, r := attempt("ks1", []byte("k"))
	for range limit {
		a.Next(context.Background())
		w.policy.Pick(r)().Mark(nil)
		a.End(TimedOut)
		a.End(Answered) // again, says nothing
	}
	if w.node(0).breaker.in() {
		t.Error("in rotation")
	}
}

// The wrapped policy is told of what it chose: some of gocql's learn from it.
func TestMarkOfWrapped(t *testing.T) {
	t.Parallel()
	w := newTown(0, 0)
	next := w.policy.Pick(request{ctx: context.Background(), keyspace: "ks1", key: w.key(0)})
	next().Mark(nil) // a replica, which the wrapped policy did not choose
	next().Mark(gocql.ErrConnectionClosed)
	if !slices.Equal(w.near.marks, []error{gocql.ErrConnectionClosed}) {
		t.Errorf("%v", w.near.marks)
	}
	w.near.marks = nil
	w.silence(0, 1) // replicas are passed over, and come when the wrapped policy has given them too
	next = w.policy.Pick(request{ctx: context.Background(), keyspace: "ks2", key: w.key(0)})
	next().Mark(nil)
	next().Mark(nil)
	if len(w.near.marks) != 2 {
		t.Errorf("%v", w.near.marks)
	}
}

// When gocql has new connections with a host, or has taken it for down, its past is forgotten; likewise if it has gone.
func TestForget(t *testing.T) {
	t.Parallel()
	for name, event := range map[string]func(*Policy, *gocql.HostInfo){
		"up":   (*Policy).HostUp,
		"down": (*Policy).HostDown,
		"gone": func(p *Policy, h *gocql.HostInfo) { p.RemoveHost(h); p.AddHost(h) },
	} {
		w := newTown(0, 0)
		w.silence(0, 1)
		event(w.policy, w.hosts[0])
		if !w.node(0).breaker.in() || w.node(1).breaker.in() {
			t.Errorf("%s: in rotation %v, the other %v", name, w.node(0).breaker.in(), w.node(1).breaker.in())
		}
	}
}

// A host that comes back under its id with another address is another host; the old one may leave later.
func TestReplaced(t *testing.T) {
	t.Parallel()
	w := newTown(0, 0)
	h := drivertest.Host(w.hosts[0].HostID(), "127.0.0.9")
	w.policy.AddHost(h)
	w.policy.RemoveHost(w.hosts[0])
	if m := w.policy.find(h); m == nil || m.info != h {
		t.Errorf("%+v", m)
	}
}

// An attempt for which no host was found says nothing of the host of the one before.
func TestAttemptWithoutHost(t *testing.T) {
	t.Parallel()
	w := newTown(0)
	a, r := attempt("ks1", w.key(0))
	w.first(r)
	a.End(Answered)
	for range 20 {
		a.Next(context.Background())
		a.End(TimedOut)
	}
	if !w.node(0).breaker.in() {
		t.Error("the host is out of rotation")
	}
}

// A second request for the same, sent later and answered first, counts as silence of the first one's host.
func TestOvertaken(t *testing.T) {
	t.Parallel()
	w := newTown(0, 0, 0)
	a, _ := attempt("ks3", w.key(0))
	var slow *gocql.HostInfo
	for i := 0; w.policy.find(w.hosts[0]).breaker.in(); i++ {
		if i > 1000 {
			t.Fatal("host 0 is never out of rotation")
		}
		first, second := new(Attempt), new(Attempt)
		a.Fork(first)
		a.Fork(second)
		first.Next(context.Background())
		w.first(unasked{request{ctx: first}})
		second.Avoid(first)
		second.Next(context.Background())
		w.first(unasked{request{ctx: second}})
		if first.Host() == second.Host() {
			t.Fatal("both go to one host")
		}
		if slow = first.Host(); slow != w.hosts[0] {
			first.End(Answered)
			second.End(Cancelled)
			continue
		}
		second.End(Answered)
		first.End(Cancelled)
	}
	for i := range 3 {
		if in := w.node(i).breaker.in(); in != (i > 0) {
			t.Errorf("host %d in rotation: %v", i, in)
		}
	}
}
