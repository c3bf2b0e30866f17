// Package fanout sends requests at the same time, and each again until it is applied or the retry policy gives up. It
// has hedges, groups, which are requests sent in one batch, and requests that outlive their call. It knows statements
// and partitions, and no entity.
package fanout

import (
	"context"
	"slices"
	"time"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/internal/hosts"
	req "github.com/denorm-go/denorm/internal/request"
)

// Sender says how requests are sent. It is safe for concurrent use, and not changed once it is used.
type Sender struct {
	Exec        Executor
	Retrier     req.Retrier
	Hosts       *hosts.Policy // of the session; nil if it has another one
	Tracer      req.Tracers
	Consistency gocql.Consistency
	Hedge       time.Duration    // 0 for no hedges
	Group       int              // bytes; 0 for no groups
	Deep        bool             // the executor needs a large stack
	Now         func() time.Time // what is left of a TTL

	// Doubt says whether a request that was answered OVERLOADED may have been applied in part.
	Doubt func(ctx context.Context, r *Request) bool
	// Groupable says whether requests to a table may be in groups, and Ungroup leaves them out for a while.
	Groupable func(keyspace, table string) bool
	Ungroup   func(keyspace, table string)
}

// Write is one logical write, whose requests are sent in one or several flights, and what is known of these.
type Write struct {
	Op       string
	Requests []Request // of all but counters; a logged batch is the only one
	Counters []Request // one a partition
	Strict   bool      // a logged batch is sent again if it fails at the batchlog, as if it were any request
	Grouped  bool      // its requests may be in groups
	Width    int       // the most requests in flight together; 0 stands for all

	Stragglers int // requests that have not ended with the call
	groups     []groupTask
}

// Applied says whether all requests are applied.
func (w *Write) Applied() bool { return AllApplied(w.Requests) && AllApplied(w.Counters) }

// Sent is how many attempts of this call the requests have had. Attempts of groups do not count.
func (w *Write) Sent() (n int) {
	for _, requests := range [...][]Request{w.Requests, w.Counters} {
		for i := range requests {
			n += requests[i].Sent
		}
	}
	return n
}

// Groups says how many groups were sent, in how many attempts, and how many requests they have.
func (w *Write) Groups() (groups, attempts, members int) {
	for i := range w.groups {
		g := &w.groups[i]
		if sent := int(g.sent.Load()); sent > 0 {
			groups, attempts, members = groups+1, attempts+sent, members+g.members()
		}
	}
	return groups, attempts, members
}

// Strained says whether a request, or a group, has met a node with too much to do.
func (w *Write) Strained() bool {
	for i := range w.groups {
		if w.Stragglers == 0 && w.groups[i].together.Strained { // else it may be in flight
			return true
		}
	}
	return slices.ContainsFunc(w.Requests, func(r Request) bool { return r.Strained })
}
