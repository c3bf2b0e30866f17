package hosts

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"time"

	"github.com/denorm-go/denorm/internal/driver"
	"github.com/denorm-go/denorm/internal/murmur3"
	"github.com/gocql/gocql"
)

const (
	// groupMost is how many partitions a group has at most: of more the server warns
	// (unlogged_batch_across_partitions_warn_threshold).
	groupMost = 10
	// groupPause is how long a node gets no groups after one has failed there.
	groupPause = 15 * time.Second
	// groupWindow is how many partitions are looked at together, so that the time it takes grows with their number and not
	// faster.
	groupWindow = 64
)

// Partition is one that is written to.
type Partition struct {
	Keyspace string
	Key      []byte // nil for one that is in no group
	Size     int    // of what is written, in bytes
}

// Group is partitions that are written together. An attempt with it goes to one of its nodes and to no other.
type Group struct {
	Partitions []int // by their number
	Joined     int   // how many of Partitions, the last ones, need not have the nodes as replicas
	// replicas of all but the joined: the one that is asked first, then by nearness those for when it has no connection,
	// and for a hedge
	nodes []*member
	size  int           // of all of Partitions
	joins *atomic.Int64 // of the policy; nil if none has joined
}

// joinReplicas is how many replicas in the node's datacentre a partition needs to be written by way of a node that is
// not one of them. Of so many, that node sends the write to one more than a replica would, and client and servers have
// one request less: on balance this is cheaper (docs/design/groups.md). With one replica it is dearer, as that one
// would have written alone.
const joinReplicas = 3

// Group puts partitions into groups of two and more of one keyspace, whose sizes together are within limit: those that
// have the most common replica first, then the rest. Only replicas that are near, up, in rotation and not in a pause
// count, and of these a group has as many as least. Of the partitions that are left, those with enough replicas join a
// group, at most one for two that have its nodes as replicas.
func (p *Policy) Group(partitions []Partition, limit, least int) (groups []Group) {
	r, now := p.ring.Load(), time.Now().UnixNano()
	replicas := make([][]*member, len(partitions)) // nil for those that are done
	usable := make([]int, len(partitions))         // how many those were at first
	var room []*member                             // for all of them together
	for i := range partitions {
		if one := &partitions[i]; one.Key != nil && one.Size <= limit {
			replicas[i] = p.groupable(r, one, now, &room, len(partitions)-i)
			usable[i] = len(replicas[i])
		}
	}
	for from := 0; from < len(partitions); from += groupWindow {
		window, made := replicas[from:min(from+groupWindow, len(replicas))], len(groups)
		for node := mostCommon(window); node != nil; node = mostCommon(window) {
			g, keyspace := Group{Partitions: make([]int, 0, min(groupMost, len(window)))}, ""
			for i, nodes := range window {
				one := &partitions[from+i]
				if len(g.Partitions) == groupMost || g.size+one.Size > limit || !slices.Contains(nodes, node) {
					continue
				}
				if len(g.Partitions) == 0 {
					g.nodes, keyspace = nodes, one.Keyspace
				} else if keyspace == one.Keyspace && shared(g.nodes, nodes) >= least {
					g.nodes = slices.DeleteFunc(g.nodes, func(m *member) bool { return !slices.Contains(nodes, m) })
				} else {
					continue
				}
				window[i] = nil
				g.Partitions = append(g.Partitions, from+i)
				g.size += one.Size
			}
			if first := g.Partitions[0]; len(g.Partitions) == 1 { // nobody fits it here; elsewhere somebody may
				window[first-from] = slices.DeleteFunc(g.nodes, func(m *member) bool { return m == node })
				continue
			}
			at := slices.Index(g.nodes, node)
			g.nodes[0], g.nodes[at] = g.nodes[at], g.nodes[0]
			slices.SortStableFunc(g.nodes[1:], func(a, b *member) int { return cmp.Compare(a.tier, b.tier) })
			groups = append(groups, g)
		}
		for i := range window {
			if n := from + i; window[i] != nil && len(groups) > made && p.joins.Load() <= now {
				p.join(r, groups[made:], partitions, n, limit, usable[n])
			}
		}
	}
	return groups
}

// join adds the n-th partition to the first of the groups that has room for it. So many of its replicas are usable:
// most of them have to be, as without a quorum its group would fail.
func (p *Policy) join(r *ring, groups []Group, partitions []Partition, n, limit, usable int) {
	one := &partitions[n]
	place := r.keyspaces[one.Keyspace]
	for k := range groups {
		g := &groups[k]
		factor := place.in(g.nodes[0].dc)
		if factor < joinReplicas || 2*usable <= factor || partitions[g.Partitions[0]].Keyspace != one.Keyspace {
			continue
		}
		if len(g.Partitions) < groupMost && len(g.Partitions)-g.Joined >= 2*(g.Joined+1) && g.size+one.Size <= limit {
			g.Partitions, g.Joined, g.size, g.joins = append(g.Partitions, n), g.Joined+1, g.size+one.Size, &p.joins
			return
		}
	}
}

// shared is how many nodes are in both.
func shared(a, b []*member) (n int) {
	for _, m := range a {
		if slices.Contains(b, m) {
			n++
		}
	}
	return n
}

// Places says whether the replicas of a keyspace are known.
func (p *Policy) Places(keyspace string) bool {
	_, ok := p.ring.Load().keyspaces[keyspace]
	return ok
}

// groupable is the replicas of a partition that may be sent a group. Of a keyspace that is not known there are none:
// the plans of single requests have it read. They are in room, which is made for as many partitions as are left if it
// is full.
func (p *Policy) groupable(r *ring, one *Partition, now int64, room *[]*member, left int) []*member {
	place, ok := r.keyspaces[one.Keyspace]
	if !ok {
		return nil
	}
	most := min(place.total, len(plan{}.replicas))
	if len(*room) < most {
		*room = make([]*member, most*left)
	}
	found := r.replicas(place, murmur3.Token(one.Key), (*room)[:0:most])
	*room = (*room)[most:]
	return slices.DeleteFunc(found, func(m *member) bool {
		next := m.groups.next.Load()
		return m.far || next > now || !m.breaker.in() || !m.info.IsUp()
	})
}

// mostCommon is the node that is a replica of the most partitions, nil if none is one of two. Of several it is the
// nearest, then the one with the fewest groups in flight.
func mostCommon(replicas [][]*member) *member {
	type candidate struct {
		*member
		partitions, inFlight int
	}
	var room [2 * groupMost]candidate
	all := room[:0]
	for _, nodes := range replicas {
		for _, m := range nodes {
			at := slices.IndexFunc(all, func(c candidate) bool { return c.member == m })
			if at < 0 {
				at = len(all)
				all = append(all, candidate{member: m, inFlight: int(m.groups.inFlight.Load())})
			}
			all[at].partitions++
		}
	}
	if len(all) == 0 {
		return nil
	}
	first := rand.IntN(len(all)) //nolint:gosec // it spreads load, it guards nothing
	best := all[first]
	for i := range all {
		c := all[(first+i)%len(all)]
		if cmp.Or(cmp.Compare(c.partitions, best.partitions), cmp.Compare(best.tier, c.tier),
			cmp.Compare(best.inFlight, c.inFlight)) > 0 {
			best = c
		}
	}
	if best.partitions < 2 {
		return nil
	}
	return best.member
}

// nodeGroups is what is remembered of a node for groups.
type nodeGroups struct {
	inFlight atomic.Int32
	// when there may be one again, in nanoseconds of Unix time; 0 if none has failed since one succeeded
	next atomic.Int64
}

// try says whether a group may be sent now. After a pause one is, and the others wait for another one: until is its
// end, for [Attempt.EndGroup].
func (g *nodeGroups) try(now int64) (until int64, ok bool) {
	next := g.next.Load()
	if next == 0 {
		return 0, true
	}
	until = now + int64(groupPause)
	return until, next <= now && g.next.CompareAndSwap(next, until)
}

// shared chooses the next node of a group.
func (p *plan) shared() (choice, bool) {
	for p.given < p.count {
		m := p.replicas[p.given]
		p.given++
		if p.attempt.age(m.node) > 0 || !m.breaker.in() {
			continue
		}
		if until, ok := m.groups.try(time.Now().UnixNano()); ok {
			if until != 0 {
				p.attempt.before().pause = until
			}
			return choice{member: m}, true
		}
	}
	return choice{}, false
}

// count adds to the groups in flight at the node that was picked.
func (a *Attempt) count(n int32) {
	if at := a.node.Load(); at != nil {
		at.groups.inFlight.Add(n)
	}
}

// EndGroup tells the policy what an attempt of a group ended with. A failure that may be due to the node makes its
// groups pause, unless they do; so does UNAVAILABLE, of which a request alone says that it was not applied and a group
// cannot. After that nothing joins groups for as long: the partition without replicas may be one that has joined, and
// would take the groups of one node after the other with it.
func (a *Attempt) EndGroup(r Result, err error) {
	a.count(-1)
	n := a.node.Load()
	switch {
	case n == nil || r == Cancelled || r == Unsent:
	case err == nil || ofReplicas(err):
		a.excuse()
	default:
		now := time.Now()
		until := now.Add(groupPause).UnixNano()
		if next := n.groups.next.Load(); next <= now.UnixNano() && n.groups.next.CompareAndSwap(next, until) {
			a.before().pause = until
		}
		if server, ok := driver.RequestError(err); ok && server.Code() == gocql.ErrCodeUnavailable && a.Group.joins != nil {
			a.Group.joins.Store(until)
		}
	}
}

// ofReplicas says whether a failure tells of other nodes than the coordinator, and would tell no more of a request
// alone.
func ofReplicas(err error) bool {
	server, ok := driver.RequestError(err)
	return ok && (server.Code() == gocql.ErrCodeWriteTimeout || server.Code() == gocql.ErrCodeWriteFailure)
}

// excuse ends the pause that the attempt was a trial after, or that its failure has begun. One that another has begun
// stays.
func (a *Attempt) excuse() {
	if n := a.node.Load(); n != nil && a.past != nil && a.past.pause != 0 {
		n.groups.next.CompareAndSwap(a.past.pause, 0)
	}
}

// Excuse ends the pauses that the failed attempts of a group have begun, if it was hedged that of both: they were not
// the fault of the nodes.
func (a *Attempt) Excuse() {
	for ; a != nil && a.past != nil; a = a.past.rival {
		a.excuse()
	}
}
