package hosts

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/gocql/gocql"
)

// Attempt is the attempts of one request, one after the other, and the context that each is sent with: the policy finds
// it there. It is meant to be embedded in what a request needs anyway, so that it costs no allocation. It belongs to
// the goroutine that makes the attempts; it must not be copied, see [Attempt.Fork].
type Attempt struct {
	context.Context //nolint:containedctx // it is one

	Keyspace string // of the partition, as Cassandra knows it
	Key      []byte // the encoded partition key; nil means that no replica is preferred
	Token    *int64 // in place of Key, of a request for a range of tokens
	Group    *Group // in place of Key, of requests that are sent together; then there is one attempt

	picked *gocql.HostInfo
	node   atomic.Pointer[node] // that was picked; nil for a host of which the policy knows nothing
	trial  atomic.Bool          // the node is out of rotation
	ended  atomic.Bool
	past   *history // nil for the first of a request: most have no other
}

// history is what came before an attempt.
type history struct {
	tried [4]*node // the last ones, in a ring
	count int      // of nodes tried
	rival *Attempt // of the same request, sent earlier
	pause int64    // of groups, that this attempt may end or has begun: its end; 0 for none
	// without is the datacentre of which no host was left for an attempt; empty for none.
	without string
}

// Next begins the next attempt, under ctx. The host that was picked last is remembered as tried.
func (a *Attempt) Next(ctx context.Context) {
	a.Context, a.picked = ctx, nil
	if last := a.node.Load(); last != nil {
		a.avoid(last)
		a.past.rival = nil
		a.node.Store(nil)
		a.ended.Store(false)
	}
}

// Host is the coordinator that was picked last: nil if none was, or if the session has another policy.
func (a *Attempt) Host() *gocql.HostInfo { return a.picked }

// End tells the policy what the attempt ended with. (A context has a method Done already.)
func (a *Attempt) End(r Result) {
	if r == Answered && a.past != nil && a.past.rival != nil {
		a.past.rival.end(TimedOut)
	}
	a.end(r)
}

func (a *Attempt) end(r Result) {
	if n := a.node.Load(); n != nil && a.ended.CompareAndSwap(false, true) {
		n.breaker.end(r, a.trial.Load(), time.Now)
	}
}

// Fork makes other another attempt of the same request, on another goroutine. It avoids the hosts that a has tried.
func (a *Attempt) Fork(other *Attempt) {
	other.Context, other.Keyspace, other.Key, other.Token, other.Group = a.Context, a.Keyspace, a.Key, a.Token, a.Group
	other.Follow(a)
}

// Follow makes the attempts of a avoid the nodes that other has tried, of the same request or of the group that a's was
// part of.
func (a *Attempt) Follow(other *Attempt) {
	if other.past != nil {
		a.past = &history{tried: other.past.tried, count: other.past.count}
	}
	a.avoid(other.node.Load())
}

// Avoid makes the next attempt of a go to another host than that of first, which was sent before and may still be at
// work on its goroutine. If a is answered while first still waits, first's host counts as silent.
func (a *Attempt) Avoid(first *Attempt) {
	a.avoid(first.node.Load())
	a.before().rival = first
}

// Value implements [context.Context].
func (a *Attempt) Value(key any) any {
	if key == (attemptKey{}) {
		return a
	}
	return a.Context.Value(key)
}

type attemptKey struct{}

// attemptOf finds the attempt that a request belongs to; nil if it is none.
func attemptOf(ctx context.Context) *Attempt {
	if ctx == nil {
		return nil
	}
	a, _ := ctx.Value(attemptKey{}).(*Attempt)
	return a
}

// pick notes the host that the attempt is sent to.
func (a *Attempt) pick(info *gocql.HostInfo, n *node, trial bool) {
	a.picked = info
	a.trial.Store(trial)
	if a.Group == nil {
		a.node.Store(n)
		return
	}
	a.count(-1) // that one had no connection
	a.node.Store(n)
	a.count(1)
}

// avoid remembers a node as tried; nil is none.
func (a *Attempt) avoid(n *node) {
	if n != nil {
		past := a.before()
		past.tried[past.count%len(past.tried)] = n
		past.count++
	}
}

// before is the past, to be written.
func (a *Attempt) before() *history {
	if a.past == nil {
		a.past = new(history)
	}
	return a.past
}

// age says how long ago the request tried a node: 0 for never, otherwise the greater the later.
func (a *Attempt) age(n *node) int {
	if a == nil || a.past == nil {
		return 0
	}
	tried, count := &a.past.tried, a.past.count
	for i := range min(count, len(tried)) {
		if tried[(count-1-i)%len(tried)] == n {
			return len(tried) - i
		}
	}
	return 0
}
