package writer

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/denorm-go/denorm/internal/hosts"
	"github.com/denorm-go/denorm/internal/period"
	req "github.com/denorm-go/denorm/internal/request"
	"github.com/denorm-go/denorm/internal/statement"
	"github.com/denorm-go/denorm/retry"
)

// groupSender is requests of a fan-out that make their first attempt together: one unlogged batch, to a node that is a replica of most of them.
// Unless it succeeds, each goes on alone.
type groupSender struct {
	sender           // of all their mutations
	together request // what it sends
	counted  bool    // the caller has left one of them, and counted the group
}

// ungrouped is why no requests of the plan are sent together; empty if they may be.
func (w *Writer) ungrouped(p *plan) string {
	switch {
	case p.mode != FanOut && p.mode != Fallback && p.mode != Conditional:
		return "only requests of a fan-out can be grouped"
	case p.width > 0:
		return "a Resume sends each request alone"
	case !w.retrier.Retries():
		return "a failed group is sent again as single requests, and the retry policy allows one attempt"
	case w.hosts == nil:
		return "replicas are known where session.Configure or session.SelectHosts has chosen how the session's hosts are selected"
	}
	return ""
}

// groups puts n requests of the plan into groups, as far as the tables of each may be in one.
func (w *Writer) groups(p *plan, n int, of func(int) *request, may func(keyspace, table string) bool) []hosts.Group {
	if w.group == 0 || n < 2 || w.ungrouped(p) != "" {
		return nil
	}
	partitions := make([]hosts.Partition, n)
	for i := range partitions {
		r := of(i)
		if r.kind == retry.Partition && r.eachTable(may) {
			partitions[i] = hosts.Partition{Keyspace: r.mutations[0].Keyspace, Key: r.mutations[0].PartitionKey, Size: r.size()}
		}
	}
	return w.hosts.Group(partitions, w.group, w.groupNodes())
}

// groupNodes is how many nodes a group needs: with Hedge two, as a group that could not be hedged would wait for its node.
func (w *Writer) groupNodes() int {
	if w.hedge > 0 {
		return 2
	}
	return 1
}

// eachTable says whether something is true of each table of the request.
func (p *request) eachTable(is func(keyspace, table string) bool) bool {
	for i, m := range p.mutations {
		if (i == 0 || m.Table != p.mutations[i-1].Table) && !is(m.Keyspace, m.Table) {
			return false
		}
	}
	return true
}

// join makes the groups of a fan-out whose requests have senders.
func (s *fanOut) join() []groupSender {
	w := s.w
	found := w.groups(s.p, len(s.senders), func(i int) *request { return s.senders[i].request },
		w.live.groupable)
	if len(found) == 0 {
		return nil
	}
	joined := make([]groupSender, len(found))
	for i := range found {
		g := &joined[i]
		g.s, g.request, g.current.Group, g.current.Silence = s, &g.together, &found[i], leastSilence
		g.together.kind, g.together.outcome = retry.UnloggedBatch, NotApplied
		g.together.mutations = make([]*statement.Mutation, 0, len(found[i].Partitions))
		for _, n := range found[i].Partitions {
			f := &s.senders[n]
			f.group = g
			g.together.mutations = append(g.together.mutations, f.request.mutations...)
		}
		g.current.attempt = attempt{
			kind: g.together.kind, mutations: g.together.mutations, consistency: w.consistency, traced: w.tracer.Any(),
		}
	}
	s.p.groups = joined
	return joined
}

// explainGroups returns the requests as they would be sent, and sets the reason in out.
func (w *Writer) explainGroups(p *plan, out *Plan) []request {
	if w.group == 0 {
		return p.requests
	}
	if why := w.ungrouped(p); why != "" {
		out.Grouped = "none: " + why
		return p.requests
	}
	requests, sharing, joined := slices.Clone(p.requests), 0, 0
	groups := w.groups(p, len(requests), func(i int) *request { return &requests[i] },
		func(keyspace, table string) bool { return w.live.whyUngrouped(keyspace, table) == "" })
	if len(groups) == 0 {
		out.Grouped = "none: " + w.whyAlone(requests)
		return requests
	}
	for _, g := range groups {
		first := &requests[g.Partitions[0]]
		first.mutations = slices.Clip(first.mutations)
		for _, n := range g.Partitions[1:] {
			first.mutations = append(first.mutations, requests[n].mutations...)
			requests[n].mutations = nil
		}
		sharing, joined = sharing+len(g.Partitions)-g.Joined, joined+g.Joined
	}
	out.Grouped = fmt.Sprintf("%d of %d partitions share %s", sharing, len(requests), w.sharedNodes())
	if joined > 0 {
		out.Grouped = fmt.Sprintf("%d of %d partitions are in groups: %d that share %s, and %d with other replicas", sharing+joined, len(requests),
			sharing, w.sharedNodes(), joined)
	}
	return slices.DeleteFunc(requests, func(p request) bool { return len(p.mutations) == 0 })
}

// sharedNodes names what the partitions of a group have in common.
func (w *Writer) sharedNodes() string {
	if w.groupNodes() > 1 {
		return "two replicas that are up now, as a hedge needs"
	}
	return "a replica that is up now"
}

// whyAlone is the first reason why none of the requests of a fan-out are sent together.
func (w *Writer) whyAlone(requests []request) string {
	if len(requests) < 2 {
		return "one partition is written"
	}
	for i := range requests {
		for _, m := range requests[i].mutations {
			if why := w.live.whyUngrouped(m.Keyspace, m.Table); why != "" {
				return m.Keyspace + "." + m.Table + " " + why
			}
			if !w.hosts.Places(m.Keyspace) {
				return "the replicas of keyspace " + m.Keyspace + " are not known yet"
			}
		}
	}
	sizes := make([]int, len(requests))
	for i := range requests {
		sizes[i] = requests[i].size()
	}
	slices.Sort(sizes)
	if sizes[0]+sizes[1] > w.group {
		return "the rows of any two partitions are over " + kib(w.group)
	}
	return "no two partitions of one keyspace and within " + kib(w.group) + " share " + w.sharedNodes() + ", or these get no groups after one has failed"
}

// member is the n-th sender of the group.
func (g *groupSender) member(n int) *sender { return &g.s.senders[g.current.Group.Partitions[n]] }

// members is how many senders the group has.
func (g *groupSender) members() int { return len(g.current.Group.Partitions) }

// run is the goroutine of a group.
func (g *groupSender) run() {
	s := g.s
	if s.w.deep {
		growStack()
	}
	begun := !over(s.ctx)
	for i := 0; begun && i < g.members(); i++ {
		begun = g.member(i).stage.CompareAndSwap(waiting, sending)
	}
	if !begun {
		g.notSent()
		return
	}
	ctx := s.ctx
	if s.w.tracer.Requests() {
		ctx = g.traced()
	}
	if err := g.again(ctx, 1); err != nil {
		g.split(ctx, err)
		return
	}
	g.recordOutcome(ctx, &succeeded, nil)
	for i := range g.members() {
		f := g.member(i)
		f.request.outcome, f.request.err = Applied, nil
		f.request.attempts += g.together.sent
		s.w.retrier.Succeeded()
		f.done()
	}
}

// notSent is the end of a group whose context ended before it began.
//
//go:noinline
func (g *groupSender) notSent() {
	ctx := g.s.ctx
	if g.s.w.tracer.Requests() {
		ctx = g.traced()
	}
	g.sender.notSent(ctx)
	for i := range g.members() {
		f := g.member(i)
		f.notSent(g.s.ctx)
		f.done()
	}
}

// split lets each request go on alone, at once: a table that cannot be written does not harm the others. If the group was not sent, because
// its nodes have no connection, each request makes its first attempt.
//
//go:noinline
func (g *groupSender) split(ctx context.Context, err error) {
	first := req.Failed{Context: &g.current, Start: g.s.start, Err: err}
	result, failure := g.s.w.retrier.Judge(ctx, first, g.together.kind)
	unsent := g.sent.Load() == 1 && hosts.ResultOf(err) == hosts.Unsent
	if unsent {
		g.sent.Store(0)
	}
	g.recordOutcome(ctx, &result, failure)
	for i := range g.members() {
		f := g.member(i)
		if unsent {
			f.stage.Store(waiting)
			go f.run() //nolint:contextcheck // its fanOut has it
			continue
		}
		go f.alone(first, &result.Last) //nolint:contextcheck // its fanOut has it
	}
}

// alone goes on with a request after the failure of its group.
func (f *sender) alone(first req.Failed, failed *retry.Verdict) {
	s, ctx := f.s, f.s.ctx
	if s.w.deep {
		growStack()
	}
	f.current.Follow(&f.group.current.Attempt)
	f.request.host = f.group.request.host
	first.Alone = func() context.Context {
		if s.w.tracer.Requests() {
			ctx = f.traced() //nolint:fatcontext // it is called once
		}
		return ctx
	}
	observe := func(e req.Event) {
		if told := s.w.tracer.Observer(ctx, &f.request.host); told != nil {
			told(e)
		}
	}
	result, err := s.w.retrier.GoOn(ctx, first, f.request.kind, f.again, observe)
	if result.BudgetSpent && !f.told && s.w.tracer.Requests() { // nothing else tells that it was given up
		ctx = f.traced()
	}
	if f.sent.Load() > 0 && f.request.barred(&result.Last, err) {
		for _, m := range f.request.mutations {
			s.w.live.ungroup(m.Keyspace, m.Table)
		}
		if failed.Outcome == NotApplied && !failed.Retry {
			f.group.current.Excuse()
		}
	}
	f.recordOutcome(ctx, &result, err)
	f.done()
}

// barred says whether a request was rejected because of its table: any other request would be too. INVALID may be due to a value.
func (p *request) barred(v *retry.Verdict, err error) bool {
	var missing *period.MissingError
	return v.Reason == "unauthorized" || v.Reason == "invalid" && errors.As(p.explain(err), &missing)
}

// whyUngrouped is why requests to a table are in no group, and empty if they may be. They may be if the table is known, has no view or trigger,
// for which the coordinator would make a logged batch of the group, and has rejected no request recently.
func (l *live) whyUngrouped(keyspace, table string) string {
	switch t := l.recall(keyspace, table); {
	case t.at.IsZero():
		return "has not been looked at yet, which the first write begins and Warm does"
	case t.derived:
		return "has a view or a trigger"
	case time.Now().Before(t.rejected):
		return "has rejected a request within the last " + liveAge.String()
	}
	return ""
}

// lookTimeout is how long a look at a table for groups may take.
const lookTimeout = time.Second

// groupable says whether requests to a table may be in groups, by what is known of the table. Once a minute a goroutine reads its schema
// in the background, so a new view is noticed a minute later, or after the first write that follows.
func (l *live) groupable(keyspace, table string) bool {
	if now := time.Now(); !now.Before(l.recall(keyspace, table).look) {
		mine := false
		l.remember(keyspace, table, func(t *knownTable) {
			if now.Sub(t.at) < liveAge { // something else has had it read
				t.look = t.at.Add(liveAge)
			} else if mine = !now.Before(t.look); mine {
				t.look = now.Add(liveAge)
			}
		})
		if mine {
			go func() {
				ctx, cancel := context.WithTimeout(context.Background(), lookTimeout)
				defer cancel()
				_, _ = l.reread(ctx, &single, keyspace, table) // else the old has to do
			}()
		}
	}
	return l.whyUngrouped(keyspace, table) == ""
}

// ungroup leaves a table out of groups for a while.
func (l *live) ungroup(keyspace, table string) {
	l.remember(keyspace, table, func(t *knownTable) { t.rejected = time.Now().Add(liveAge) })
}
