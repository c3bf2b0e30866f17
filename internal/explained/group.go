package explained

import (
	"fmt"
	"slices"

	"github.com/denorm-go/denorm/internal/fanout"
	"github.com/denorm-go/denorm/internal/planned"
)

// grouped returns the requests as they would be sent, and sets the reason in out.
func grouped(w *planned.Explained, out *Plan) []fanout.Request {
	if w.Sender.Group == 0 {
		return w.Requests
	}
	if w.Ungrouped != "" {
		out.Grouped = "none: " + w.Ungrouped
		return w.Requests
	}
	requests, sharing, joined := slices.Clone(w.Requests), 0, 0
	groups := w.Sender.Groups(len(requests), func(i int) *fanout.Request { return &requests[i] },
		func(keyspace, table string) bool { return w.WhyUngrouped(keyspace, table) == "" })
	if len(groups) == 0 {
		out.Grouped = "none: " + whyAlone(w, requests)
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
	out.Grouped = fmt.Sprintf("%d of %d partitions share %s", sharing, len(requests), sharedNodes(w))
	if joined > 0 {
		out.Grouped = fmt.Sprintf("%d of %d partitions are in groups: %d that share %s, and %d with other replicas",
			sharing+joined, len(requests), sharing, sharedNodes(w), joined)
	}
	return slices.DeleteFunc(requests, func(p fanout.Request) bool { return len(p.Mutations) == 0 })
}

// sharedNodes names what the partitions of a group have in common.
func sharedNodes(w *planned.Explained) string {
	if w.Sender.GroupNodes() > 1 {
		return "two replicas that are up now, as a hedge needs"
	}
	return "a replica that is up now"
}

// whyAlone is the first reason why none of the requests of a fan-out are sent together.
func whyAlone(w *planned.Explained, requests []fanout.Request) string {
	if len(requests) < 2 {
		return "one partition is written"
	}
	for i := range requests {
		for _, m := range requests[i].Mutations {
			if why := w.WhyUngrouped(m.Keyspace, m.Table); why != "" {
				return m.Keyspace + "." + m.Table + " " + why
			}
			if !w.Sender.Hosts.Places(m.Keyspace) {
				return "the replicas of keyspace " + m.Keyspace + " are not known yet"
			}
		}
	}
	sizes := make([]int, len(requests))
	for i := range requests {
		sizes[i] = requests[i].Size()
	}
	slices.Sort(sizes)
	if sizes[0]+sizes[1] > w.Sender.Group {
		return "the rows of any two partitions are over " + KiB(w.Sender.Group)
	}
	return "no two partitions of one keyspace and within " + KiB(w.Sender.Group) + " share " + sharedNodes(w) +
		", or these get no groups after one has failed"
}

// KiB is a size for people.
func KiB(bytes int) string { return fmt.Sprintf("%.1f KiB", float64(bytes)/1024) }
