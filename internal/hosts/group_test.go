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
)

// partitions are some of a keyspace, by the hosts that are their first replicas.
func (w *town) partitions(keyspace string, first ...int) []Partition {
	out := make([]Partition, len(first))
	for i, host := range first {
		out[i] = Partition{keyspace, w.key(host), 100}
	}
	return out
}

// Whatever the ring and the partitions are: each is in one group at most, a group has two partitions at least and as
// many as are allowed at most, and its nodes are replicas of all of them that may be asked, but for those that have
// joined: half as many at most, which have three replicas. No two that are left alone could be sent together, and none
// could join.
func TestGroups(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		w := newTown(rapid.SliceOfN(rapid.UintRange(0, 2), 1, 8).Draw(t, "tiers")...)
		w.near.max = 2
		w.policy.AddHost(w.hosts[0])
		w.replicate(4)
		hosts := len(w.hosts)
		bad := make([]bool, hosts)
		for i := range hosts {
			switch rapid.IntRange(0, 5).Draw(t, "trouble") {
			case 0:
				w.silence(i)
				bad[i] = true
			case 1:
				w.node(i).groups.next.Store(time.Now().Add(time.Minute).UnixNano())
				bad[i] = true
			case 2: // it is time for a trial
				w.node(i).groups.next.Store(1)
			}
			bad[i] = bad[i] || w.near.tiers[w.hosts[i]] == 2
		}
		const limit = 1000
		least := rapid.IntRange(1, 2).Draw(t, "least")
		parts := make([]Partition, rapid.IntRange(0, 100).Draw(t, "partitions"))
		largest := rapid.SampledFrom([]int{10, 100, 600}).Draw(t, "largest")
		able, replicas := make([][]int, len(parts)), make([]int, len(parts))
		for i := range parts {
			first, factor := rapid.IntRange(0, hosts-1).Draw(t, "first"), rapid.IntRange(1, 4).Draw(t, "replicas")
			parts[i] = Partition{fmt.Sprint("ks", factor), w.key(first), rapid.IntRange(1, largest).Draw(t, "size")}
			if rapid.IntRange(0, 9).Draw(t, "other") == 0 {
				parts[i] = Partition{"unheard", w.key(first), 1}
				continue
			}
			replicas[i] = min(factor, hosts)
			for n := range replicas[i] {
				if h := (first + n) % hosts; !bad[h] {
					able[i] = append(able[i], h)
				}
			}
		}
		grouped := make([]bool, len(parts))
		groups := w.policy.Group(parts, limit, least)
		for _, g := range groups {
			common := slices.Clone(able[g.Partitions[0]])
			size, sharing := 0, len(g.Partitions)-g.Joined
			for i, n := range g.Partitions {
				if grouped[n] {
					t.Fatalf("partition %d is in two groups", n)
				}
				grouped[n], size = true, size+parts[n].Size
				if i < sharing {
					common = slices.DeleteFunc(common, func(h int) bool { return !slices.Contains(able[n], h) })
				} else if replicas[n] < 3 || 2*len(able[n]) <= replicas[n] {
					t.Fatalf("partition %d has joined, its replicas are %v of %d", n, able[n], replicas[n])
				}
				if parts[n].Keyspace != parts[g.Partitions[0]].Keyspace {
					t.Fatalf("group %v has two keyspaces", g.Partitions)
				}
			}
			if !slices.IsSortedFunc(g.nodes[1:], func(a, b *member) int { return int(a.tier) - int(b.tier) }) {
				t.Fatal("nodes are not in order")
			}
			var nodes []int
			for _, m := range g.nodes {
				nodes = append(nodes, slices.Index(w.hosts, m.info))
			}
			slices.Sort(nodes)
			slices.Sort(common)
			if !slices.Equal(nodes, common) || len(nodes) < least || sharing < 2 || 2*g.Joined > sharing ||
				len(g.Partitions) > groupMost || size > limit {
				t.Fatalf("group %v of %d bytes, %d joined, nodes %v, replicas of all others are %v", g.Partitions, size, g.Joined,
					nodes, common)
			}
		}
		if len(parts) > groupWindow {
			return
		}
		for _, g := range groups {
			size := 0
			for _, n := range g.Partitions {
				size += parts[n].Size
			}
			for i := range parts {
				room := len(g.Partitions) < groupMost && size+parts[i].Size <= limit && 2*(g.Joined+1) <= len(g.Partitions)-g.Joined
				if room && !grouped[i] && replicas[i] >= 3 && 2*len(able[i]) > replicas[i] &&
					parts[i].Keyspace == parts[g.Partitions[0]].Keyspace {
					t.Fatalf("%d is alone, and could join %v", i, g.Partitions)
				}
			}
		}
		for i := range parts {
			for j := range i {
				if grouped[i] || grouped[j] || parts[i].Keyspace != parts[j].Keyspace || parts[i].Size+parts[j].Size > limit {
					continue
				}
				common := slices.DeleteFunc(slices.Clone(able[i]), func(h int) bool { return !slices.Contains(able[j], h) })
				if len(common) >= least {
					t.Fatalf("%d and %d are alone, and share nodes %v", i, j, common)
				}
			}
		}
	})
}

// A partition with three replicas joins two that share some, wherever its own are, and a second one does not; two join
// four. With two replicas, or with two of the three out of rotation, none does.
func TestGroupIsJoined(t *testing.T) {
	t.Parallel()
	w := newTown(make([]uint, 12)...)
	limit := 2000
	grouped := func(keyspace string, first ...int) string {
		joined, parts := 0, [][]int{}
		for _, g := range w.policy.Group(w.partitions(keyspace, first...), limit, 1) {
			parts, joined = append(parts, g.Partitions), joined+g.Joined
		}
		return fmt.Sprint(parts, joined)
	}
	two, four := []int{0, 4, 8, 1}, []int{0, 4, 8, 1, 0, 1}
	for _, c := range []struct{ got, want string }{
		{grouped("ks3", two...), "[[0 3 1]] 1"},
		{grouped("ks3", four...), "[[0 3 4 5 1 2]] 2"},
		{grouped("ks2", two...), "[[0 3]] 0"},
		{grouped("ks3", append(slices.Repeat([]int{0}, 9), 4, 8)...), "[[0 1 2 3 4 5 6 7 8 9]] 1"},
	} {
		if c.got != c.want {
			t.Errorf("%s, want %s", c.got, c.want)
		}
	}
	limit = 550
	if got, want := grouped("ks3", four...), "[[0 3 4 5 1]] 1"; got != want {
		t.Errorf("room for five: %s, want %s", got, want)
	}
	a := &Attempt{Context: context.Background(), Group: &w.policy.Group(w.partitions("ks3", two...), 1000, 1)[0]}
	order := w.plan(unasked{request{ctx: a}})
	slices.Sort(order)
	if !slices.Equal(order, []int{1, 2}) {
		t.Errorf("plan %v: want the replicas of the two that share some", order)
	}
	w.silence(4)
	if got, want := grouped("ks3", two...), "[[0 3 1]] 1"; got != want {
		t.Errorf("one replica out of rotation: %s, want %s", got, want)
	}
	w.silence(5)
	if got, want := grouped("ks3", two...), "[[0 3 2]] 1"; got != want {
		t.Errorf("two replicas out of rotation: %s, want %s", got, want)
	}
}

// After UNAVAILABLE of a group that one has joined, none joins any for a while, at whatever node: it may be the one
// that has no replicas. Groups of partitions that share a node go on at other nodes.
func TestNoneJoinsAfterUnavailable(t *testing.T) {
	t.Parallel()
	w := newTown(make([]uint, 12)...)
	joins := func(first ...int) (n int) {
		for _, g := range w.policy.Group(w.partitions("ks3", first...), 1000, 1) {
			n += g.Joined
		}
		return n
	}
	for _, c := range []struct {
		err  error
		want int // of a group at other nodes, after it
	}{
		{&gocql.RequestErrWriteTimeout{}, 1},
		{context.DeadlineExceeded, 1},
		{serverError(gocql.ErrCodeOverloaded), 1},
		{serverError(gocql.ErrCodeUnavailable), 0},
	} {
		a := &Attempt{Context: context.Background(), Group: &w.policy.Group(w.partitions("ks3", 0, 4, 1), 1000, 1)[0]}
		if a.Group.Joined != 1 || w.policy.Pick(unasked{request{ctx: a}})() == nil {
			t.Fatalf("%+v", a.Group)
		}
		a.EndGroup(ResultOf(c.err), c.err)
		if got := joins(6, 4, 7); got != c.want {
			t.Errorf("after %v: %d join, want %d", c.err, got, c.want)
		}
		for i := range w.hosts {
			w.node(i).groups.next.Store(0)
		}
	}
	if groups := w.policy.Group(w.partitions("ks3", 6, 4, 7), 1000, 1); len(groups) != 1 ||
		len(groups[0].Partitions) != 2 {
		t.Errorf("%v: want the group of the two that share a node", groups)
	}
	if w.policy.joins.Store(time.Now().UnixNano() - 1); joins(0, 4, 1) != 1 {
		t.Error("none joins after the pause")
	}
}

// serverError has a code, which the driver's own types have only where the driver has made them.
type serverError int

func (e serverError) Code() int     { return int(e) }
func (serverError) Message() string { return "" }
func (e serverError) Error() string { return fmt.Sprintf("error %#x", int(e)) }

// The attempt of a group goes to its nodes, one after the other, and to no other; a hedge to another of them.
func TestGroupPlan(t *testing.T) {
	t.Parallel()
	w := newTown(0, 0, 0, 0, 0)
	groups := w.policy.Group(w.partitions("ks3", 1, 2), 1000, 1)
	if len(groups) != 1 || len(groups[0].nodes) != 2 {
		t.Fatalf("%v", groups)
	}
	a := &Attempt{Context: context.Background(), Group: &groups[0]}
	order := w.plan(unasked{request{ctx: a}})
	slices.Sort(order)
	if !slices.Equal(order, []int{2, 3}) {
		t.Errorf("plan %v", order)
	}
	first := &Attempt{Context: context.Background(), Group: &groups[0]}
	at := w.first(unasked{request{ctx: first}})
	second := new(Attempt)
	first.Fork(second)
	second.Avoid(first)
	if order := w.plan(unasked{request{ctx: second}}); !slices.Equal(order, []int{5 - at}) {
		t.Errorf("%v after %d", order, at)
	}
}

// Groups go to the node with the fewest in flight, and none is forgotten, whatever they end with.
func TestGroupsInFlight(t *testing.T) {
	t.Parallel()
	w := newTown(0, 0, 0)
	var open []*Attempt
	for i := range 30 {
		a := &Attempt{Context: context.Background(), Group: &w.policy.Group(w.partitions("ks3", 0, 1, 2), 1000, 1)[0]}
		next := w.policy.Pick(unasked{request{ctx: a}})
		if next(); i >= 27 {
			next() // the first had no connection
		}
		if open = append(open, a); i != 26 {
			continue
		}
		for i := range 3 {
			if n := w.node(i).groups.inFlight.Load(); n != 9 {
				t.Errorf("node %d has %d of 27 in flight", i, n)
			}
		}
	}
	for i, a := range open {
		a.EndGroup([]Result{Answered, Cancelled, Unsent}[i%3], []error{nil, context.Canceled, gocql.ErrNoStreams}[i%3])
	}
	for i := range 3 {
		if n := &w.node(i).groups; n.inFlight.Load() != 0 || n.next.Load() != 0 {
			t.Errorf("node %d has %d in flight, next %d", i, n.inFlight.Load(), n.next.Load())
		}
	}
}

// After a failure a node has no groups, then one, and after the success of that all. What began before the failure says
// nothing.
func TestGroupPause(t *testing.T) {
	t.Parallel()
	w := newTown(0)
	begin := func() *Attempt {
		groups := w.policy.Group(w.partitions("ks1", 0, 0), 1000, 1)
		if groups == nil {
			return nil
		}
		a := &Attempt{Context: context.Background(), Group: &groups[0]}
		if w.policy.Pick(unasked{request{ctx: a}})() == nil {
			return nil
		}
		return a
	}
	over := func() { w.node(0).groups.next.Store(1) }
	early, failed := begin(), begin()
	failed.EndGroup(Answered, errors.New("overloaded"))
	early.EndGroup(Answered, nil)
	if begin() != nil {
		t.Error("a group in the pause")
	}
	over()
	trial := begin()
	if trial == nil || begin() != nil {
		t.Error("not one trial")
	}
	trial.EndGroup(TimedOut, context.DeadlineExceeded)
	if begin() != nil {
		t.Error("a group after a trial that failed")
	}
	over()
	begin().EndGroup(Answered, nil)
	next := begin()
	if next == nil || begin() == nil {
		t.Fatal("no groups after a trial that succeeded")
	}
	next.EndGroup(Answered, errors.New("unauthorized"))
	next.Excuse()
	if begin() == nil {
		t.Error("no group after a failure that was not the node's")
	}
}

// The policy of a session is found, and that of another kind is not.
func TestOf(t *testing.T) {
	t.Parallel()
	session := new(gocql.Session)
	p := New(gocql.RoundRobinHostPolicy())
	p.Init(session)
	if Of(session) != p || Of(new(gocql.Session)) != nil || Of(nil) != nil {
		t.Error("not the policy of the session")
	}
}
