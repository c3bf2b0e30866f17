package fanout

import (
	"context"
	"errors"

	"github.com/denorm-go/denorm/internal/hosts"
	"github.com/denorm-go/denorm/internal/period"
	req "github.com/denorm-go/denorm/internal/request"
	"github.com/denorm-go/denorm/internal/statement"
	"github.com/denorm-go/denorm/retry"
)

// groupTask is requests of a flight that make their first attempt together: one unlogged batch, to a node that is a
// replica of most of them. Unless it succeeds, each goes on alone.
type groupTask struct {
	task             // of all their mutations
	together Request // what it sends
	counted  bool    // the caller has left one of them, and counted the group
}

// eachTable says whether something is true of each table of the request.
func (r *Request) eachTable(is func(keyspace, table string) bool) bool {
	for i, m := range r.Mutations {
		if (i == 0 || m.Table != r.Mutations[i-1].Table) && !is(m.Keyspace, m.Table) {
			return false
		}
	}
	return true
}

// join makes the groups of a flight.
func (f *Flight) join() []groupTask {
	sender := f.sender
	found := sender.Groups(len(f.tasks), func(i int) *Request { return f.tasks[i].request }, sender.Groupable)
	if len(found) == 0 {
		return nil
	}
	joined := make([]groupTask, len(found))
	for i := range found {
		g := &joined[i]
		g.flight, g.request, g.current.Group = f, &g.together, &found[i]
		g.together.Kind, g.together.Outcome = retry.UnloggedBatch, retry.NotApplied
		g.together.Mutations = make([]*statement.Mutation, 0, len(found[i].Partitions))
		for _, n := range found[i].Partitions {
			t := &f.tasks[n]
			t.group = g
			g.together.Mutations = append(g.together.Mutations, t.request.Mutations...)
		}
		g.current.attempt = Attempt{
			Kind: g.together.Kind, Mutations: g.together.Mutations, Consistency: sender.Consistency, Traced: sender.Tracer.Any(),
		}
	}
	f.write.groups = joined
	return joined
}

// member is the n-th task of the group.
func (g *groupTask) member(n int) *task { return &g.flight.tasks[g.current.Group.Partitions[n]] }

// members is how many tasks the group has.
func (g *groupTask) members() int { return len(g.current.Group.Partitions) }

// run is the goroutine of a group.
func (g *groupTask) run() {
	flight := g.flight
	if flight.sender.Deep {
		growStack()
	}
	begun := !over(flight.ctx)
	for i := 0; begun && i < g.members(); i++ {
		begun = g.member(i).stage.CompareAndSwap(waiting, sending)
	}
	if !begun {
		g.notSent()
		return
	}
	ctx := g.begin()
	if err := g.again(ctx, 1); err != nil {
		g.split(ctx, err)
		return
	}
	g.recordOutcome(ctx, &succeeded, nil)
	for i := range g.members() {
		t := g.member(i)
		t.request.Outcome, t.request.Err = retry.Applied, nil
		t.request.Attempts += g.together.Sent
		flight.sender.Retrier.Succeeded()
		t.done()
	}
}

// notSent is the end of a group whose context ended before it began.
//
//go:noinline
func (g *groupTask) notSent() {
	g.task.notSent(g.begin())
	for i := range g.members() {
		t := g.member(i)
		t.notSent(g.flight.ctx)
		t.done()
	}
}

// split lets each request go on alone, at once: a table that cannot be written does not harm the others. If the group
// was not sent, because its nodes have no connection, each request makes its first attempt.
//
//go:noinline
func (g *groupTask) split(ctx context.Context, err error) {
	first := req.Failed{Context: &g.current, Start: g.flight.start, Err: err}
	result, failure := g.flight.sender.Retrier.Judge(ctx, first, g.together.Kind)
	unsent := g.sent.Load() == 1 && hosts.ResultOf(err) == hosts.Unsent
	if unsent {
		g.sent.Store(0)
	}
	g.recordOutcome(ctx, &result, failure)
	for i := range g.members() {
		t := g.member(i)
		if unsent {
			t.stage.Store(waiting)
			go t.run() //nolint:contextcheck // its flight has it
			continue
		}
		go t.alone(first, &result.Last) //nolint:contextcheck // its flight has it
	}
}

// alone goes on with a request after the failure of its group.
func (t *task) alone(first req.Failed, failed *retry.Verdict) {
	flight, ctx := t.flight, t.flight.ctx
	if flight.sender.Deep {
		growStack()
	}
	t.current.Follow(&t.group.current.Attempt)
	t.request.Host = t.group.request.Host
	first.Alone = func() context.Context {
		ctx = t.begin() //nolint:fatcontext // it is called once
		return ctx
	}
	observe := func(e req.Event) {
		if told := flight.sender.Tracer.Observer(ctx, &t.request.Host); told != nil {
			told(e)
		}
	}
	result, err := flight.sender.Retrier.GoOn(ctx, first, t.request.Kind, t.again, observe)
	if result.BudgetSpent && !t.told { // nothing else tells that it was given up
		ctx = t.begin()
	}
	if t.sent.Load() > 0 && t.request.barred(&result.Last, err) {
		for _, m := range t.request.Mutations {
			flight.sender.Ungroup(m.Keyspace, m.Table)
		}
		if failed.Outcome == retry.NotApplied && !failed.Retry {
			t.group.current.Excuse()
		}
	}
	t.recordOutcome(ctx, &result, err)
	t.done()
}

// barred says whether a request was rejected because of its table: any other request would be too. INVALID may be due
// to a value.
func (r *Request) barred(v *retry.Verdict, err error) bool {
	return v.Reason == "unauthorized" || v.Reason == "invalid" && errors.As(r.Explain(err), new(*period.MissingError))
}

// Groups puts n requests into groups, as far as the tables of each may be in one.
func (s *Sender) Groups(n int, of func(int) *Request, may func(keyspace, table string) bool) []hosts.Group {
	if s.Group == 0 || n < 2 {
		return nil
	}
	partitions := make([]hosts.Partition, n)
	for i := range partitions {
		r := of(i)
		if r.Kind == retry.Partition && r.eachTable(may) {
			partitions[i] = hosts.Partition{Keyspace: r.Mutations[0].Keyspace, Key: r.Mutations[0].PartitionKey, Size: r.Size()}
		}
	}
	return s.Hosts.Group(partitions, s.Group, s.GroupNodes())
}

// GroupNodes is how many nodes a group needs: with Hedge two, as a group that could not be hedged would wait for its
// node.
func (s *Sender) GroupNodes() int {
	if s.Hedge > 0 {
		return 2
	}
	return 1
}
