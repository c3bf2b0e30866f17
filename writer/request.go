package writer

import (
	"bytes"
	"slices"

	"github.com/denorm-go/denorm/internal/period"
	"github.com/denorm-go/denorm/internal/statement"
	"github.com/denorm-go/denorm/retry"
	"github.com/denorm-go/denorm/session"
)

// request is mutations that are sent together, in each attempt, and what became of them.
type request struct {
	kind    retry.Kind
	outcome Outcome // NotApplied until something is sent

	// Of this call alone:
	closed     bool // it is not sent, whatever its outcome
	batchlog   bool // some attempt failed at the batchlog
	overloaded bool // some attempt was answered OVERLOADED
	strained   bool // some attempt says that a node has too much to do, whatever a later one says
	sent       int
	host       session.Host

	mutations []*statement.Mutation
	attempts  int   // requests that carried the mutations, in earlier calls too
	err       error // why it is not Applied
}

// group puts mutations of one keyspace and one partition into one request: Cassandra applies them as one mutation on every
// replica, atomically and without batchlog, even if they are of different tables (BatchUpdatesCollector keys by
// keyspace and partition key bytes). Requests are in the order of their first mutation, so the base table's comes first.
// Either all mutations are of counters or none is: Cassandra accepts counters in no batch with anything else.
func group(mutations []*statement.Mutation) []request {
	requests := make([]request, 0, len(mutations))
	known := indexFor(len(mutations))
	for i, m := range mutations {
		at := find(known, m.Keyspace, m.PartitionKey, len(requests), func(p int) bool {
			first := requests[p].mutations[0]
			return first.Keyspace == m.Keyspace && bytes.Equal(first.PartitionKey, m.PartitionKey)
		})
		if at < len(requests) {
			requests[at].mutations = append(requests[at].mutations, m)
			continue
		}
		kind := retry.Partition
		if isIncrement(m) {
			kind = retry.Counter
		}
		requests = append(requests, request{kind: kind, mutations: mutations[i : i+1 : i+1], outcome: NotApplied})
	}
	return requests
}

// index finds which of the items seen so far has the same names. A few items are searched linearly, which takes no memory; with many
// that would take hours, and a stored error may have 100,000.
type index map[[2]string]int

func indexFor(n int) index {
	const few = 64
	if n <= few {
		return nil
	}
	return make(index)
}

// find returns the number of the item with these names, or n if it is new. equal says whether one of the n items seen so far has them.
func find[T string | []byte](x index, keyspace string, name T, n int, equal func(int) bool) int {
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

// split returns the mutations of a logged batch as separate requests, with what is known of the batch.
func (p *request) split() []request {
	requests := group(p.mutations)
	for i := range requests {
		requests[i].outcome, requests[i].attempts, requests[i].err = p.outcome, p.attempts, p.err
	}
	return requests
}

// fresh is the request without what belongs to the call that sent it, for a call that sends it again. Counters are never sent
// again.
func (p *request) fresh() request {
	return request{closed: p.kind == retry.Counter, kind: p.kind, mutations: p.mutations, outcome: p.outcome, attempts: p.attempts, err: p.err}
}

// open says whether the request is to be sent.
func (p *request) open() bool { return p.outcome != Applied && !p.closed }

// explain names the keyspace of a table that does not exist, and says what creates it if it is one of a rotation.
func (p *request) explain(err error) error {
	return period.Explain(err, func(table string) (keyspace string, rotates bool) {
		for _, m := range p.mutations {
			if m.Table == table {
				return m.Keyspace, m.Rotates
			}
		}
		return "", false
	})
}

func applied(requests []request) bool {
	return !slices.ContainsFunc(requests, func(p request) bool { return p.outcome != Applied })
}

// tables are the names of the tables of the request, without repeats.
func (p *request) tables() []string {
	var names []string
	known := indexFor(len(p.mutations))
	for _, m := range p.mutations {
		if find(known, "", m.Table, len(names), func(i int) bool { return names[i] == m.Table }) == len(names) {
			names = append(names, m.Table)
		}
	}
	return names
}

func (p *request) statements() []string {
	texts := make([]string, len(p.mutations))
	for i, m := range p.mutations {
		texts[i] = m.Statement
	}
	return texts
}

// size estimates what the server counts against batch_size_fail_threshold.
func (p *request) size() int {
	n := 0
	for _, m := range p.mutations {
		n += m.Size()
	}
	return n
}
