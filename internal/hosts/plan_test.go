package hosts

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/gocql/gocql"
	"pgregory.net/rapid"

	"github.com/denorm-go/denorm/internal/testutil/drivertest"
)

// The attempts of a request go to one replica after the other, then to hosts that are none, then to those tried longest
// ago.
func TestAttempts(t *testing.T) {
	t.Parallel()
	w := newTown(0, 0, 0, 0, 0)
	for range 100 {
		a, r := attempt("ks3", w.key(1))
		var order []int
		for range 8 {
			a.Next(context.Background())
			order = append(order, w.first(r))
			if a.Host() != w.hosts[order[len(order)-1]] {
				t.Fatal("the attempt does not know its host")
			}
			a.End(TimedOut)
			w.policy.forget(a.Host())
		}
		replicas, others := slices.Clone(order[:3]), slices.Clone(order[3:5])
		slices.Sort(replicas)
		slices.Sort(others)
		if !slices.Equal(replicas, []int{1, 2, 3}) || !slices.Equal(others, []int{0, 4}) {
			t.Fatalf("%v", order)
		}
		// Of the last four it is known when.
		if !slices.Equal(order[5:], []int{order[0], order[1], order[2]}) {
			t.Fatalf("%v", order)
		}
	}
}

// Requests for one partition are spread over its replicas.
func TestSpread(t *testing.T) {
	t.Parallel()
	w := newTown(0, 0, 0, 0, 0)
	counts := make([]int, 5)
	_, r := attempt("ks3", w.key(4))
	for range 3000 {
		counts[w.first(r)]++
	}
	t.Logf("%v", counts)
	for i, n := range counts {
		if replica := i == 4 || i < 2; replica && n < 800 || !replica && n > 0 {
			t.Errorf("%d of 3000 go to host %d", n, i)
		}
	}
}

// Of a keyspace of which nothing is known, the owner of the token is known; without a token, or a key, the order is the
// wrapped policy's.
func TestUnknown(t *testing.T) {
	t.Parallel()
	w := newTown(0, 0, 0)
	_, r := attempt("unheard", w.key(2))
	_, keyless := attempt("ks3", nil)
	counts := make([]int, 3)
	for range 30 {
		if n := w.first(r); n != 2 {
			t.Fatalf("goes to %d", n)
		}
		counts[w.first(keyless)]++
	}
	if !slices.Equal(counts, []int{10, 10, 10}) {
		t.Errorf("round robin: %v", counts)
	}
	if n := len(w.plan(nil)); n != 3 {
		t.Errorf("gocql may ask without a request: %d hosts", n)
	}
	if n := len(w.plan(request{ctx: context.Background(), err: errors.New("not prepared")})); n != 3 {
		t.Errorf("the key is unknown: %d hosts", n)
	}
}

// A request that is no attempt, such as a read of the service, goes to a replica too.
func TestPlainRequest(t *testing.T) {
	t.Parallel()
	w := newTown(0, 0, 0, 0)
	for i := range 4 {
		r := request{ctx: context.Background(), keyspace: "ks1", key: w.key(i)}
		if n := w.first(r); n != i {
			t.Errorf("partition of %d goes to %d", i, n)
		}
	}
}

// All hosts are in every plan, once, and in order: replicas first, whatever is out of rotation last.
func TestOrder(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		tiers := rapid.SliceOfN(rapid.UintRange(0, 2), 1, 8).Draw(t, "tiers")
		w := newTown(tiers...)
		w.near.max = 2
		w.policy.AddHost(w.hosts[0]) // again, now that the last tier is known
		w.replicate(5)
		n := len(w.hosts)
		out, tried := make([]bool, n), make([]int, n)
		for i := range n {
			if rapid.IntRange(0, 2).Draw(t, "out") == 0 {
				out[i] = true
				w.silence(i)
			}
		}
		first := rapid.IntRange(0, n-1).Draw(t, "first replica")
		factor := rapid.IntRange(1, 5).Draw(t, "replicas")
		a, r := attempt(fmt.Sprint("ks", factor), w.key(first))
		for i := range rapid.IntRange(0, 4).Draw(t, "tried") {
			h := rapid.IntRange(0, n-1).Draw(t, "host")
			a.avoid(w.node(h))
			tried[h] = i + 1
		}
		// How much speaks against a host, greatest first.
		rank := func(h int) [5]int {
			far, replica, silent := tiers[h] == 2, (h-first+n)%n < factor, 0
			if out[h] {
				silent = 1
			}
			switch {
			case far:
				return [5]int{silent, 1, tried[h], b2i(!replica), 0}
			case replica && tried[h] == 0:
				return [5]int{silent, 0, 0, 0, int(tiers[h])}
			}
			return [5]int{silent, 0, tried[h], b2i(!replica), 0}
		}
		order := w.plan(r)
		sorted := slices.Clone(order)
		slices.Sort(sorted)
		for i := range n {
			if len(order) != n || sorted[i] != i {
				t.Fatalf("plan %v of %d hosts", order, n)
			}
			if i == 0 {
				continue
			}
			a, b := rank(order[i-1]), rank(order[i])
			if a[0] == 1 && b[0] == 1 { // among those out, tiers do not matter
				a[4], b[4] = 0, 0
			}
			if slices.Compare(a[:], b[:]) > 0 {
				t.Fatalf("plan %v: %d %v before %d %v", order, order[i-1], a, order[i], b)
			}
		}
		if a.Host() != nil || a.node.Load() != nil {
			t.Fatal("the plan has ended, but a host is picked")
		}
	})
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

// A host that is out of rotation gets one attempt when it has sent something, or other nodes say that it is up, and
// only one.
func TestTrial(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		replica bool
		sign    func(*town)
	}{
		"replica": {true, func(w *town) {
			w.policy.Observe(nil).ObserveFrameHeader(context.Background(), gocql.ObservedFrameHeader{Host: w.hosts[0]})
		}},
		"other": {false, func(w *town) { w.policy.AddHost(w.hosts[0]) }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newTown(0, 0, 0)
			var key []byte
			if test.replica {
				key = w.key(0)
			}
			w.policy.Observe(nil).ObserveFrameHeader(context.Background(), gocql.ObservedFrameHeader{}) // there is one
			w.silence(0)
			count := func() (n int) {
				for range 100 {
					a, r := attempt("ks3", key)
					a.Next(context.Background())
					if w.first(r) == 0 {
						n++
					}
				}
				return n
			}
			if n := count(); n != 0 {
				t.Errorf("%d attempts while it is silent", n)
			}
			test.sign(w)
			if n := count(); n != 1 {
				t.Errorf("%d attempts at once after a sign of life", n)
			}
			w.node(0).breaker.end(Answered, true, time.Now)
			if n := count(); n < 10 {
				t.Errorf("%d of 100 when it is back", n)
			}
		})
	}
}

// A policy of gocql that never ends does not make an endless plan.
func TestEndless(t *testing.T) {
	t.Parallel()
	w := newTown(0, 0, 0)
	p := New(drivertest.Endless())
	p.AddHosts(w.hosts)
	w.policy = p
	w.silence(1)
	order := w.plan(nil)
	for i := range 3 {
		if !slices.Contains(order, i) {
			t.Errorf("plan %v", order)
		}
	}
}

// Observers are told what the policy sees, and only those of the caller are chained.
func TestObserve(t *testing.T) {
	t.Parallel()
	w := newTown(0)
	var own seen
	first := w.policy.Observe(&own)
	second := New(gocql.RoundRobinHostPolicy()).Observe(first)
	second.ObserveFrameHeader(context.Background(), gocql.ObservedFrameHeader{Host: w.hosts[0]})
	second.ObserveFrameHeader(context.Background(), gocql.ObservedFrameHeader{})
	if own != 2 {
		t.Errorf("%d headers", own)
	}
	if second.(*observer).next != &own {
		t.Error("the observer of another session is kept")
	}
}

type seen int

func (s *seen) ObserveFrameHeader(context.Context, gocql.ObservedFrameHeader) { *s++ }
