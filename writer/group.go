package writer

import (
	"fmt"
	"slices"

	"github.com/denorm-go/denorm/internal/fanout"
)

// ungrouped is why no requests of the plan are sent together; empty if they may be.
func (w *Writer) ungrouped(p *plan) string {
	switch {
	case p.mode != FanOut && p.mode != Fallback && p.mode != Conditional:
		return "only requests of a fan-out can be grouped"
	case p.Width > 0:
		return "a Resume sends each request alone"
	case !w.sender.Retrier.Retries():
		return "a failed group is sent again as single requests, and the retry policy allows one attempt"
	case w.sender.Hosts == nil:
		return "replicas are known where session.Configure or session.SelectHosts has chosen how the session's hosts are " +
			"selected"
	}
	return ""
}

// explainGroups returns the requests as they would be sent, and sets the reason in out.
func (w *Writer) explainGroups(p *plan, out *Plan) []fanout.Request {
	if w.group == 0 {
		return p.Requests
	}
	if why := w.ungrouped(p); why != "" {
		out.Grouped = "none: " + why
		return p.Requests
	}
	requests, sharing, joined := slices.Clone(p.Requests), 0, 0
	groups := w.sender.Groups(len(requests), func(i int) *fanout.Request { return &requests[i] },
		func(keyspace, table string) bool { return w.live.whyUngrouped(keyspace, table) == "" })
	if len(groups) == 0 {
		out.Grouped = "none: " + w.whyAlone(requests)
		return requests
	}
	for _, g := range groups {
		first := &requests[g.Partitions[0]]
		first.Mutations = slices.Clip(first.Mutations)
		for _, n := range g.Partitions[1:] {
			first.Mutations = append(first.Mutations, requests[n].Mutations...)
			requests[n].Mutations = nil
		}
		sharing, joined = sharing+len(g.Partitions)-g.Joined, joined+g.Joined
	}
	out.Grouped = fmt.Sprintf("%d of %d partitions share %s", sharing, len(requests), w.sharedNodes())
	if joined > 0 {
		out.Grouped = fmt.Sprintf("%d of %d partitions are in groups: %d that share %s, and %d with other replicas",
			sharing+joined, len(requests),
			sharing, w.sharedNodes(), joined)
	}
	return slices.DeleteFunc(requests, func(p fanout.Request) bool { return len(p.Mutations) == 0 })
}

// sharedNodes names what the partitions of a group have in common.
func (w *Writer) sharedNodes() string {
	if w.sender.GroupNodes() > 1 {
		return "two replicas that are up now, as a hedge needs"
	}
	return "a replica that is up now"
}

// whyAlone is the first reason why none of the requests of a fan-out are sent together.
func (w *Writer) whyAlone(requests []fanout.Request) string {
	if len(requests) < 2 {
		return "one partition is written"
	}
	for i := range requests {
		for _, m := range requests[i].Mutations {
			if why := w.live.whyUngrouped(m.Keyspace, m.Table); why != "" {
				return m.Keyspace + "." + m.Table + " " + why
			}
			if !w.sender.Hosts.Places(m.Keyspace) {
				return "the replicas of keyspace " + m.Keyspace + " are not known yet"
			}
		}
	}
	sizes := make([]int, len(requests))
	for i := range requests {
		sizes[i] = requests[i].Size()
	}
	slices.Sort(sizes)
	if sizes[0]+sizes[1] > w.group {
		return "the rows of any two partitions are over " + kib(w.group)
	}
	return "no two partitions of one keyspace and within " + kib(w.group) + " share " + w.sharedNodes() +
		", or these get no groups after one has failed"
}

func kib(bytes int) string { return fmt.Sprintf("%.1f KiB", float64(bytes)/1024) }
