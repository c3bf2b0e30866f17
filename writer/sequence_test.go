package writer

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/denorm-go/denorm/internal/fanout"
	"github.com/denorm-go/denorm/internal/statement"
	"github.com/denorm-go/denorm/retry"
	"github.com/denorm-go/denorm/tables"
	"github.com/gocql/gocql"
)

// reply is one answer of the cluster, with what it may have done before giving it.
type reply struct {
	name    string
	err     error
	applies string // "all", "none" or "any": of a batch, any part
	of      retry.Kind
	any     bool // for every kind
}

// replies are what Cassandra does: which errors may, must or cannot come with the mutations applied.
var replies = []reply{
	{name: "acknowledged", applies: "all", any: true},
	{name: "write timeout", err: errSimple, applies: "any", any: true},
	{name: "no response", err: gocql.ErrTimeoutNoResponse, applies: "any", any: true},
	{name: "EOF", err: io.EOF, applies: "any", any: true},
	{name: "closed", err: gocql.ErrConnectionClosed, applies: "any", any: true},
	{name: "server error", err: answer{gocql.ErrCodeServer, "boom"}, applies: "any", any: true},
	{name: "write failure", err: &gocql.RequestErrWriteFailure{WriteType: "SIMPLE"}, applies: "any", any: true},
	{name: "foreign", err: errors.New("?"), applies: "any", any: true},
	{name: "cancelled", err: context.Canceled, applies: "any", any: true},
	{name: "deadline", err: context.DeadlineExceeded, applies: "any", any: true},
	{name: "no connections", err: gocql.ErrNoConnections, applies: "none", any: true},
	{name: "no streams", err: gocql.ErrNoStreams, applies: "none", any: true},
	{name: "unavailable", err: errUnavailable, applies: "none", any: true},
	{name: "bootstrapping", err: answer{gocql.ErrCodeBootstrapping, "not yet"}, applies: "none", any: true},
	{name: "syntax", err: errSyntax, applies: "none", any: true},
	{name: "overloaded", err: errOverloaded, applies: "none", of: retry.Partition},
	{name: "overloaded batch", err: errOverloaded, applies: "any", of: retry.LoggedBatch},
	{name: "stored", err: errBatch, applies: "any", of: retry.LoggedBatch},
	{name: "batchlog timeout", err: errBatchLog, applies: "any", of: retry.LoggedBatch},
	{name: "no batchlog", err: errNoBatchlog, applies: "none", of: retry.LoggedBatch},
}

// history is a cluster that draws its replies, and remembers which mutations it has applied, by what they put on the
// wire.
type history struct {
	seed uint64
	mu   sync.Mutex
	log  []string
	// applied and seen map the wire form of a mutation to whether it was applied, and how often it was sent.
	applied    map[string]bool
	seen       map[string]int
	timestamps map[int64]bool
	quiet      bool // acknowledges everything
}

// random is a source for one attempt of a request: the same for a seed, in whatever order the requests come.
func (h *history) random(key string) *rand.Rand {
	request := fnv.New64a()
	_, _ = fmt.Fprintf(request, "%s %d", key, h.seen[key])
	return rand.New(rand.NewPCG(h.seed, request.Sum64()))
}

func (h *history) Execute(_ context.Context, r *fanout.Attempt) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	var can []reply
	for _, a := range replies {
		if a.any || a.of == r.Kind {
			can = append(can, a)
		}
	}
	random, a := h.random(key(r.Mutations[0])), replies[0]
	if !h.quiet {
		a = can[random.IntN(len(can))]
	}
	h.log = append(h.log, fmt.Sprintf("%v of %v: %s", r.Kind, r.Mutations, a.name))
	whole := coin(random) // of one partition a replica applies all or nothing
	for _, m := range r.Mutations {
		h.seen[key(m)]++
		h.timestamps[m.Timestamp] = true
		if a.applies == "all" || a.applies == "any" && (whole || r.Kind != retry.Partition && coin(random)) {
			h.applied[key(m)] = true
		}
	}
	return a.err
}

func key(m *statement.Mutation) string {
	return spelled(fanout.Attempt{Mutations: []*statement.Mutation{m}})
}

func coin(r *rand.Rand) bool { return r.IntN(2) == 0 }

// of says how many mutations of a table there are, and how many of them are applied.
func (h *history) of(requests []fanout.Request, table string) (n, applied int) {
	for _, p := range requests {
		for _, m := range p.Mutations {
			if m.Table != table {
				continue
			}
			n++
			if h.applied[key(m)] {
				applied++
			}
		}
	}
	return n, applied
}

// Whatever the cluster answers, and whatever it has applied when it does: NotApplied is never said of what is there,
// Applied never of what is missing, nil only if all is there, and Resume comes to an end with all of it there.
func TestOutcomesNeverLie(t *testing.T) {
	t.Parallel()
	orders, notes, tasks := orderSet(t), noteSet(t), taskSet(t, tables.SingleWriter("owner"))
	atomic := orderSet(t, tables.Atomic())
	open, paid := move()
	changes := [][]tables.Change{
		{orders.Insert(open)},
		{orders.Update(open, paid)},
		{orders.Delete(open)},
		{notes.Insert(newNote())},
		{tasks.Update(newTask("bob"), newTask("eve"))},
		{atomic.Update(open, paid)},
		{orders.Insert(open), notes.Delete(newNote()), tasks.Insert(newTask("bob"))},
	}
	modes := []Option{Auto(), Logged(), Concurrent()}
	clean, seeds := 0, uint64(3000)
	if raceEnabled {
		seeds = 500
	}
	for seed := range seeds {
		synctest.Test(t, func(t *testing.T) {
			random := rand.New(rand.NewPCG(seed, 0))
			h := &history{seed: seed, applied: map[string]bool{}, seen: map[string]int{}, timestamps: map[int64]bool{}}
			w := fakeWriter(h, WithClock(NewClock(time.Now)), Retry(retry.Policy{MaxAttempts: 1 + random.IntN(3)}))
			change := changes[random.IntN(len(changes))]
			if !change[0].Internal().Atomic() {
				w = w.With(modes[random.IntN(len(modes))])
			}
			res, err := w.Write(t.Context(), "op", change...)
			first := len(h.seen)
			for round := 0; err != nil; round++ {
				e := asError(t, err)
				clean += h.check(t, e, res)
				if random.IntN(10) == 0 {
					e = transport(t, e)
				}
				h.quiet = round > 3
				res, err = w.Resume(t.Context(), e)
			}
			for m := range h.seen {
				if !h.applied[m] {
					t.Errorf("nil, and not applied: %s", m)
				}
			}
			if len(h.seen) != first {
				t.Errorf("Resume has sent %d mutations that Write had not", len(h.seen)-first)
			}
			for at := range h.timestamps {
				if at != res.Timestamp && at != res.Timestamp-1 {
					t.Errorf("a mutation at %d, the write at %d", at, res.Timestamp)
				}
			}
			if t.Failed() {
				t.Fatalf("seed %d, %v:\n%s", seed, change, strings.Join(h.log, "\n"))
			}
		})
	}
	if clean < int(seeds)/3 {
		t.Errorf("%d tables were NotApplied: the test tests little", clean)
	}
}

// check holds what an error says against what is so. It returns how many tables are NotApplied.
func (h *history) check(t *testing.T, e *Error, res Result) (clean int) {
	t.Helper()
	if e.Timestamp != res.Timestamp || e.Mode != res.Mode {
		t.Errorf("%v beside %+v", e, res)
	}
	wantConsistent(t, e)
	for _, r := range e.Tables {
		n, applied := h.of(e.requests, r.Table)
		switch {
		case r.Outcome == NotApplied:
			clean++
			if applied > 0 {
				t.Errorf("%s is not applied, says the writer, and %d of its %d mutations are", r.Table, applied, n)
			}
		case r.Outcome == Applied && applied < n:
			t.Errorf("%s is applied, says the writer, and %d of its %d mutations are", r.Table, applied, n)
		}
		if (r.Err == nil) != (r.Outcome == Applied) {
			t.Errorf("%s is %v: %v", r.Table, r.Outcome, r.Err)
		}
	}
	return clean
}
