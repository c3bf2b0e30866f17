package coordinator

import (
	"slices"
	"time"

	"github.com/denorm-go/denorm/internal/cassandra/query"
	"github.com/gocql/gocql"
)

// entry is a logged batch in the batchlog.
type entry struct {
	mutations []query.Mutation
	number    uint64 // in the order of events
	at        time.Time
	holders   []int // the nodes that have stored it; none when it is removed
}

// logged carries out a logged batch of several partitions: all replicas must be alive in numbers, then the batchlog has
// it, then it is sent, and when it has arrived the batchlog forgets it (StorageProxy.mutateAtomically).
func (c *Cluster) logged(r Request, mutations []query.Mutation) Reply {
	for _, m := range mutations {
		replicas := c.replicas(m.Table, m.Key)
		if short := c.short(r.Consistency, m.Table, replicas); short != nil {
			return refused(short)
		}
	}
	chosen := c.holders(r.Node)
	if len(chosen) == 0 && r.Consistency == gocql.Any {
		// then the coordinator itself will do (ReplicaPlans.forBatchlogWrite)
		chosen = []int{r.Node}
	}
	if len(chosen) == 0 {
		return refused(unavailable(gocql.One, 1, 0))
	}
	e := &entry{mutations: mutations, number: c.next(), at: time.Now()}
	for _, number := range chosen {
		if c.nodes[number].state == Up {
			e.holders = append(e.holders, number)
		}
	}
	if len(e.holders) > 0 {
		c.replayLater(e)
	}
	if len(e.holders) < len(chosen) {
		level := gocql.Two
		if len(chosen) == 1 {
			level = gocql.One
		}
		return Reply{After: writeTimeout, Wrote: len(e.holders) > 0, Err: &ReplicaError{
			Code: gocql.ErrCodeWriteTimeout, Level: level, Received: len(e.holders), Required: len(chosen),
			WriteType: "BATCH_LOG",
		}}
	}
	if r.Course.Stage == Stored {
		reply := c.timeout(r, "BATCH")
		reply.Wrote = true
		return reply
	}
	reply := c.write(r, begun(r, mutations), "BATCH")
	if reply.Err == nil && r.Course.Replicas == nil {
		e.holders = nil
	}
	return reply
}

// holders are the nodes that store a batch: two that are believed to be alive, the coordinator only where there is no
// other.
func (c *Cluster) holders(coordinator int) []int {
	var out []int
	for i := 1; i < len(c.nodes) && len(out) < 2; i++ {
		number := (coordinator+i-1)%(len(c.nodes)-1) + 1
		if number != coordinator && c.nodes[number].alive() {
			out = append(out, number)
		}
	}
	if len(c.nodes) == 2 {
		return []int{coordinator}
	}
	return out
}

// replayLater replays a batch at the next look at the batchlog after it is old enough.
func (c *Cluster) replayLater(e *entry) {
	wait := replayAge + time.Duration(c.scattered()%uint64(replayInterval))
	c.Later(wait, func() { c.replay(e) })
}

// replay sends what a batch has written again, if it was not removed, and a node that has it is up.
func (c *Cluster) replay(e *entry) {
	if len(e.holders) == 0 {
		return
	}
	if !slices.ContainsFunc(e.holders, func(n int) bool { return c.nodes[n].state == Up }) {
		c.Later(replayInterval, func() { c.replay(e) })
		return
	}
	for _, m := range e.mutations {
		if time.Since(e.at) >= time.Duration(m.Table.GCGrace)*time.Second { // then all of it is dropped (BatchlogManager)
			e.holders = nil
			return
		}
	}
	for _, m := range e.mutations {
		if c.emptied[m.Table.ID] < e.number {
			c.spread(m, c.replicas(m.Table, m.Key), nil)
		}
	}
	e.holders = nil
}

// timeout is the answer to a write of which nobody has heard anything.
func (c *Cluster) timeout(r Request, kind string) Reply {
	return Reply{After: writeTimeout, Err: &ReplicaError{
		Code: gocql.ErrCodeWriteTimeout, Level: r.Consistency, Received: 0, Required: 1, WriteType: kind,
	}}
}
