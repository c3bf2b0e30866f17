package fanout

import (
	"bytes"
	"slices"

	"github.com/denorm-go/denorm/internal/period"
	"github.com/denorm-go/denorm/internal/statement"
	"github.com/denorm-go/denorm/retry"
	"github.com/denorm-go/denorm/session"
)

// Request is mutations that are sent together, in each attempt, and what became of them.
type Request struct {
	Kind    retry.Kind
	Outcome retry.Outcome // NotApplied until something is sent

	// Of this call alone:
	Closed     bool // it is not sent, whatever its outcome
	Batchlog   bool // some attempt failed at the batchlog
	Overloaded bool // some attempt was answered OVERLOADED
	Strained   bool // some attempt says that a node has too much to do, whatever a later one says
	Sent       int
	Host       session.Host

	Mutations []*statement.Mutation
	Attempts  int   // requests that carried the mutations, in earlier calls too
	Err       error // why it is not Applied
}

// Requests puts mutations of one keyspace and one partition into one request: Cassandra applies them as one mutation on
// every replica, atomically and without batchlog, even if they are of different tables (BatchUpdatesCollector keys by
// keyspace and partition key bytes). Requests are in the order of their first mutation, so the base table's comes
// first. Either all mutations are of counters or none is: Cassandra accepts counters in no batch with anything else.
func Requests(mutations []*statement.Mutation) []Request {
	requests := make([]Request, 0, len(mutations))
	known := NewIndex(len(mutations))
	for i, m := range mutations {
		at := Find(known, m.Keyspace, m.PartitionKey, len(requests), func(p int) bool {
			first := requests[p].Mutations[0]
			return first.Keyspace == m.Keyspace && bytes.Equal(first.PartitionKey, m.PartitionKey)
		})
		if at < len(requests) {
			requests[at].Mutations = append(requests[at].Mutations, m)
			continue
		}
		kind := retry.Partition
		if m.Kind == statement.Increment {
			kind = retry.Counter
		}
		requests = append(requests, Request{Kind: kind, Mutations: mutations[i : i+1 : i+1], Outcome: retry.NotApplied})
	}
	return requests
}

// Index finds which of the items seen so far has the same names. A few items are searched linearly, which takes no
// memory; with many that would take hours, and a stored error may have 100,000.
type Index map[[2]string]int

// NewIndex is for n items.
func NewIndex(n int) Index {
	const few = 64
	if n <= few {
		return nil
	}
	return make(Index)
}

// Find returns the number of the item with these names, or n if it is new. equal says whether one of the n items seen
// so far has them.
func Find[T string | []byte](x Index, keyspace string, name T, n int, equal func(int) bool) int {
	if x == nil {
		for i := range n {
			if equal(i) {
				return i
			}
		}
		return n
	}
	names := [2]string{keyspace, string(name)}
	if at, ok := x[names]; ok {
		return at
	}
	x[names] = n
	return n
}

// Split returns the mutations of a logged batch as separate requests, with what is known of the batch.
func (r *Request) Split() []Request {
	requests := Requests(r.Mutations)
	for i := range requests {
		requests[i].Outcome, requests[i].Attempts, requests[i].Err = r.Outcome, r.Attempts, r.Err
	}
	return requests
}

// Again is the request without what belongs to the call that sent it, for a call that sends it again. Counters are
// never sent again.
func (r *Request) Again() Request {
	return Request{
		Closed: r.Kind == retry.Counter, Kind: r.Kind, Mutations: r.Mutations, Outcome: r.Outcome,
		Attempts: r.Attempts, Err: r.Err,
	}
}

// Open says whether the request is to be sent.
func (r *Request) Open() bool { return r.Outcome != retry.Applied && !r.Closed }

// Explain names the keyspace of a table that does not exist, and says what creates it if it is one of a rotation.
func (r *Request) Explain(err error) error {
	return period.Explain(err, func(table string) (keyspace string, rotates bool) {
		for _, m := range r.Mutations {
			if m.Table == table {
				return m.Keyspace, m.Rotates
			}
		}
		return "", false
	})
}

// AllApplied says whether all requests are applied.
func AllApplied(requests []Request) bool {
	return !slices.ContainsFunc(requests, func(p Request) bool { return p.Outcome != retry.Applied })
}

// tables are the names of the tables of the request, without repeats.
func (r *Request) tables() []string {
	var names []string
	known := NewIndex(len(r.Mutations))
	for _, m := range r.Mutations {
		if Find(known, "", m.Table, len(names), func(i int) bool { return names[i] == m.Table }) == len(names) {
			names = append(names, m.Table)
		}
	}
	return names
}

func (r *Request) statements() []string {
	texts := make([]string, len(r.Mutations))
	for i, m := range r.Mutations {
		texts[i] = m.Statement
	}
	return texts
}

// Size estimates what the server counts against batch_size_fail_threshold.
func (r *Request) Size() int {
	n := 0
	for _, m := range r.Mutations {
		n += m.Size()
	}
	return n
}
