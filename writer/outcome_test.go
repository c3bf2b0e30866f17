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
	"github.com/denorm-go/denorm/internal/testutil/drivertest"
	"github.com/denorm-go/denorm/internal/testutil/race"
	"github.com/denorm-go/denorm/retry"
	"github.com/denorm-go/denorm/tables"
	"github.com/gocql/gocql"
)

// Each error of a table, alone and after others, and what is then known of the table. The other tables are not touched
// by it.
func TestOutcomesOfFanOut(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		errs     []error
		want     Outcome
		attempts int
	}{
		"acknowledged": {want: Applied, attempts: 1},

		// The only attempt.
		"unavailable":        {errs: []error{errUnavailable}, want: NotApplied, attempts: 1},
		"overloaded":         {errs: []error{errOverloaded}, want: NotApplied, attempts: 1},
		"syntax":             {errs: []error{errSyntax}, want: NotApplied, attempts: 1},
		"no connections":     {errs: []error{gocql.ErrNoConnections}, want: NotApplied, attempts: 1},
		"no streams":         {errs: []error{gocql.ErrNoStreams}, want: NotApplied, attempts: 1},
		"session closed":     {errs: []error{gocql.ErrSessionClosed}, want: NotApplied, attempts: 1},
		"marshal":            {errs: []error{drivertest.MarshalError()}, want: NotApplied, attempts: 1},
		"write timeout":      {errs: []error{errSimple}, want: Unknown, attempts: 1},
		"write failure":      {errs: []error{&gocql.RequestErrWriteFailure{WriteType: "SIMPLE"}}, want: Unknown, attempts: 1},
		"connection closed":  {errs: []error{gocql.ErrConnectionClosed}, want: Unknown, attempts: 1},
		"no response":        {errs: []error{gocql.ErrTimeoutNoResponse}, want: Unknown, attempts: 1},
		"EOF":                {errs: []error{io.EOF}, want: Unknown, attempts: 1},
		"server error":       {errs: []error{answer{gocql.ErrCodeServer, ""}}, want: Unknown, attempts: 1},
		"never heard of":     {errs: []error{errors.New("?")}, want: Unknown, attempts: 1},
		"batch, but is none": {errs: []error{errBatch}, want: Unknown, attempts: 1},

		// What may have happened is not washed off.
		"unknown, then clean":     {errs: []error{errSimple, errUnavailable}, want: Unknown, attempts: 2},
		"unknown, then permanent": {errs: []error{errSimple, errSyntax}, want: Unknown, attempts: 2},
		"clean, then unknown":     {errs: []error{errUnavailable, errSimple}, want: Unknown, attempts: 2},
		"clean, then clean":       {errs: []error{errUnavailable, errOverloaded}, want: NotApplied, attempts: 2},
		"clean, then permanent":   {errs: []error{errUnavailable, errSyntax, nil}, want: NotApplied, attempts: 2},
		"unknown, then applied":   {errs: []error{errSimple, nil}, want: Applied, attempts: 2},
		"clean, then applied":     {errs: []error{errUnavailable, nil}, want: Applied, attempts: 2},
		// whose connection ended
		"a PREPARE, then applied": {errs: []error{context.Canceled, nil}, want: Applied, attempts: 2},
		"one unknown among cleans": {
			errs: []error{errUnavailable, io.EOF, errUnavailable, errUnavailable}, want: Unknown,
			attempts: 4,
		},
		"all that is allowed, then": {errs: []error{io.EOF, io.EOF, io.EOF, io.EOF, nil}, want: Unknown, attempts: 4},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				x := &fakeExecutor{answer: fail("orders_by_user", test.errs...)}
				w := fakeWriter(x)
				if n := len(test.errs); n > 0 { // no attempt after the errors
					w = w.With(Retry(retry.Policy{MaxAttempts: min(n, 4)}))
				}
				res, err := w.Write(t.Context(), "createOrder", orderSet(t).Insert(newOrder(Open)))
				if res.Mode != FanOut || res.Attempts != test.attempts+2 || len(x.sent()) != test.attempts+2 {
					t.Errorf("result %+v, %d sent", res, len(x.sent()))
				}
				if test.want == Applied {
					if err != nil {
						t.Error(err)
					}
					return
				}
				e := asError(t, err)
				for _, r := range e.Tables {
					want, attempts := Applied, 1
					if r.Table == "orders_by_user" {
						want, attempts = test.want, test.attempts
					}
					if r.Outcome != want || r.Attempts != attempts || (r.Err == nil) != (want == Applied) {
						t.Errorf("%+v, want %v", r, want)
					}
				}
				if last := test.errs[test.attempts-1]; !errors.Is(err, last) {
					t.Errorf("%v does not match %v", err, last)
				}
				wantConsistent(t, e)
			})
		})
	}
}

// A single request carries all tables, so one error is that of all of them.
func TestOutcomesOfOneRequest(t *testing.T) {
	t.Parallel()
	open, paid := move()
	batch, note := orderSet(t).Update(open, paid), noteSet(t).Insert(newNote())
	for name, test := range map[string]struct {
		change tables.Change
		errs   []error
		mode   Mode
		want   Outcome
	}{
		"note: unavailable":     {note, []error{errUnavailable}, SamePartition, NotApplied},
		"note: overloaded":      {note, []error{errOverloaded}, SamePartition, NotApplied},
		"note: timeout":         {note, []error{errSimple}, SamePartition, Unknown},
		"note: sticky":          {note, []error{errSimple, errUnavailable}, SamePartition, Unknown},
		"note: applied":         {note, []error{errSimple, nil}, SamePartition, Applied},
		"batch: unavailable":    {batch, []error{errUnavailable}, LoggedBatch, NotApplied},
		"batch: too large":      {batch, []error{answer{gocql.ErrCodeInvalid, "Batch too large"}}, LoggedBatch, NotApplied},
		"batch: overloaded":     {batch, []error{errOverloaded}, LoggedBatch, Unknown},
		"batch: no connections": {batch, []error{gocql.ErrNoConnections}, LoggedBatch, NotApplied},
		"batch: EOF":            {batch, []error{io.EOF}, LoggedBatch, Unknown},
		"batch: stored":         {batch, []error{errBatch}, LoggedBatch, Pending},
		"batch: stored twice":   {batch, []error{errBatch, errBatch}, LoggedBatch, Pending},
		"batch: stored, clean":  {batch, []error{errBatch, errUnavailable}, LoggedBatch, Pending},
		"batch: EOF, stored":    {batch, []error{io.EOF, errBatch}, LoggedBatch, Pending},
		"batch: stored, done":   {batch, []error{errBatch, nil}, LoggedBatch, Applied},
		"batch: EOF, clean":     {batch, []error{io.EOF, errUnavailable}, LoggedBatch, Unknown},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				x := &fakeExecutor{answer: fail("", test.errs...)}
				w := fakeWriter(x, Retry(retry.Policy{MaxAttempts: len(test.errs)}))
				res, err := w.Write(t.Context(), "op", test.change)
				if res.Mode != test.mode || res.Attempts != len(test.errs) {
					t.Errorf("result %+v", res)
				}
				if test.want == Applied {
					if err != nil {
						t.Error(err)
					}
					return
				}
				e := asError(t, err)
				for _, r := range e.Tables {
					if r.Outcome != test.want || r.Attempts != len(test.errs) {
						t.Errorf("%+v, want %v", r, test.want)
					}
				}
				wantConsistent(t, e)
			})
		})
	}
}

// The coordinator makes a logged batch of a statement for a table with a view or trigger. OVERLOADED then comes after
// the batchlog was stored, and "not applied" would be a lie.
func TestOverloadedTableWithView(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		live liveTable
		err  error
		want Outcome
	}{
		"plain":    {live: liveTable{gcGrace: tenDays}, want: NotApplied},
		"view":     {live: liveTable{gcGrace: tenDays, derived: true}, want: Unknown},
		"not read": {err: gocql.ErrNoConnections, want: Unknown},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				x := &fakeExecutor{answer: fail("orders_by_user", errOverloaded, errUnavailable)}
				read := func(context.Context, string, string) (liveTable, error) { return test.live, test.err }
				w := newWriter(x, "shop", read, Retry(retry.Policy{MaxAttempts: 2}))
				e := failed(t, w, orderSet(t).Insert(newOrder(Open)))
				if got := outcomes(e)["orders_by_user"]; got != test.want {
					t.Errorf("%v, want %v", got, test.want)
				}
			})
		})
	}
}

// Of a table that travelled in two requests of which one failed, neither applied nor not applied is true.
func TestOutcomeOfTableInTwoRequests(t *testing.T) {
	t.Parallel()
	open, paid := move()
	isPut := func(r fanout.Attempt) bool {
		return carries(r, "orders_by_status") && r.Mutations[0].Kind == statement.Put
	}
	for name, test := range map[string]struct {
		put, remove error
		want        Outcome
	}{
		"put fails":   {put: errSyntax, want: Unknown},
		"moves fail":  {remove: errSyntax, want: Unknown},
		"both fail":   {put: errSyntax, remove: errSyntax, want: NotApplied},
		"one unknown": {put: errSimple, remove: errSyntax, want: Unknown},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x := &fakeExecutor{answer: func(_ context.Context, r fanout.Attempt) error {
				switch {
				case isPut(r):
					return test.put
				case carries(r, "orders_by_status"):
					return test.remove
				}
				return nil
			}}
			e := failed(t, fakeWriter(x, Concurrent(), once()), orderSet(t).Update(open, paid))
			if got := outcomes(e)["orders_by_status"]; got != test.want {
				t.Errorf("%v, want %v", got, test.want)
			}
			wantConsistent(t, e)
		})
	}
}

func TestOutcomeAlgebra(t *testing.T) {
	t.Parallel()
	all := []Outcome{Unknown, Applied, NotApplied, Pending}
	for _, a := range all {
		if got := NotApplied.Then(a); got != a {
			t.Errorf("nothing, then %v: %v", a, got)
		}
		if a.And(a) != a {
			t.Errorf("%v and itself: %v", a, a.And(a))
		}
		for _, b := range all {
			if a.And(b) != b.And(a) {
				t.Errorf("%v and %v depends on the order", a, b)
			}
			if then := a.Then(b); then == NotApplied && (a != NotApplied || b != NotApplied) {
				t.Errorf("%v then %v is %v", a, b, then)
			}
			if and := a.And(b); and == Applied && a != b || and == NotApplied && a != b {
				t.Errorf("%v and %v is %v", a, b, and)
			}
		}
	}
	if new(Error).NotApplied() {
		t.Error("the zero Error says that nothing was applied")
	}
	if Outcome(9).String() != "Outcome(9)" || Mode(9).String() != "Mode(9)" {
		t.Error("unknown values must print as numbers")
	}
}

// wantConsistent says that what an error matches follows from what it says of the tables.
func wantConsistent(t *testing.T, e *Error) {
	t.Helper()
	count := make(map[Outcome]int)
	for _, r := range e.Tables {
		count[r.Outcome]++
	}
	n := len(e.Tables)
	for _, is := range []struct {
		name      string
		got, want bool
	}{
		{"ErrInvalid", errors.Is(e, ErrInvalid), false},
		{"ErrExpired", errors.Is(e, ErrExpired), false},
		{"ErrConflict", errors.Is(e, ErrConflict), false},
		{"ErrPartial", errors.Is(e, ErrPartial), count[Applied] > 0 && count[Applied] < n},
		{"ErrUnknown", errors.Is(e, ErrUnknown), count[Unknown]+count[Pending] > 0},
		{"NotApplied", e.NotApplied(), count[NotApplied] == n},
	} {
		if is.got != is.want {
			t.Errorf("%s is %v of %v", is.name, is.got, e)
		}
	}
	if n == 0 || count[Applied] == n {
		t.Errorf("an error of tables %v", e.Tables)
	}
}

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
	if race.Enabled {
		seeds = 500
	}
	for seed := range seeds {
		synctest.Test(t, func(t *testing.T) {
			random := rand.New(rand.NewPCG(seed, 0))
			h := &history{seed: seed, applied: map[string]bool{}, seen: map[string]int{}, timestamps: map[int64]bool{}}
			w := fakeWriter(h, WithClock(NewClock(time.Now)), Retry(retry.Policy{MaxAttempts: 1 + random.IntN(3)}))
			change := changes[random.IntN(len(changes))]
			if !change[0].Internal().Set.Atomic {
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

// The text of an error counts tables unless none has the write and some may get it: "applied to 0 of 1 tables" was read
// as not applied.
func TestErrorDoesNotCountTheUnknown(t *testing.T) {
	t.Parallel()
	for want, outcomes := range map[string][]Outcome{
		"a unknown: no cause known":                                                        {Unknown},
		"a pending: no cause known; b unknown, for the same reason":                        {Pending, Unknown},
		"a not applied, not sent: no cause known":                                          {NotApplied},
		"applied to 1 of 2 tables; b unknown: no cause known":                              {Applied, Unknown},
		"applied to 0 of 2 tables; a not applied, not sent: no cause known; b not applied": {NotApplied, NotApplied},
	} {
		e := &Error{Op: "take", Mode: FanOut}
		for i, o := range outcomes {
			e.Tables = append(e.Tables, TableResult{Table: string(rune('a' + i)), Outcome: o})
		}
		if got := e.Error(); !strings.HasPrefix(got, "denorm: take: fan-out: "+want) {
			t.Errorf("%s, want %s", got, want)
		}
	}
}
