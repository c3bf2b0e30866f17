package coordinator

import (
	"slices"

	"github.com/denorm-go/denorm/internal/merge"
	"github.com/denorm-go/denorm/internal/query"
	"github.com/denorm-go/denorm/internal/replica"
	"github.com/gocql/gocql"
)

// count adds to counters: one replica, the leader, adds to its shard, and sends the shard to the others
// (StorageProxy.mutateCounter).
func (c *Cluster) count(r Request, mutations []query.Mutation) Reply {
	for i, m := range mutations {
		replicas := c.replicas(m.Table, m.Key)
		need := required(r.Consistency, len(replicas))
		if alive := c.alive(replicas); alive < need {
			return Reply{Err: unavailable(r.Consistency, need, alive), Wrote: i > 0}
		}
		leader := c.leader(r.Node, replicas)
		if leader == 0 {
			reply := c.timeout(r, "COUNTER")
			reply.Wrote = i > 0
			return reply
		}
		c.add(&m, leader, c.env(r, Bound{}).Timestamp)
		if acks := c.spread(m, replicas, r.Course.Replicas); acks < need {
			return Reply{After: writeTimeout, Wrote: true, Err: &ReplicaError{
				Code: gocql.ErrCodeWriteTimeout, Level: r.Consistency, Received: acks, Required: need, WriteType: "COUNTER",
			}}
		}
	}
	return Reply{Wrote: true}
}

// leader is the coordinator if it is a replica, or else one that is up; 0 if there is none.
func (c *Cluster) leader(coordinator int, replicas []int) int {
	if slices.Contains(replicas, coordinator) && c.nodes[coordinator].state == Up {
		return coordinator
	}
	for _, number := range replicas {
		if c.nodes[number].state == Up {
			return number
		}
	}
	return 0
}

// add turns deltas into the leader's shards, in a copy of what is written.
func (c *Cluster) add(m *query.Mutation, leader int, at int64) {
	p := m.Partition.Clone()
	for _, d := range m.Deltas {
		shard := c.shard(m, d, leader)
		shard.Clock++
		shard.Count += d.Count
		row := replica.NewRow(d.Row)
		row.Cells = []replica.Cell{{
			Column: d.Column, Cell: merge.Cell{Timestamp: at, Value: []byte{}}, Shards: []replica.Shard{shard},
		}}
		one := &replica.Partition{Deletion: merge.NoTimestamp}
		if d.Static {
			one.Static = row
		} else {
			one.Rows = []*replica.Row{row}
		}
		p.Merge(one, m.Table.Compare)
		c.nodes[leader].apply(letter{m.Table, m.Key, one}) // the next delta may be for the same counter
	}
	p.Stamp = c.next()*0x9e3779b97f4a7c15 | 1
	m.Partition = p
}

// shard is what the leader has counted so far.
func (c *Cluster) shard(m *query.Mutation, d query.Delta, leader int) replica.Shard {
	none := replica.Shard{Node: leader}
	p := c.nodes[leader].store.Partition(m.Table.ID, m.Key)
	if p == nil {
		return none
	}
	row := p.Static
	if !d.Static {
		i, found := p.Find(d.Row, m.Table.Compare)
		if !found {
			return none
		}
		row = p.Rows[i]
	}
	if row == nil {
		return none
	}
	cell := row.Cell(d.Column)
	if cell == nil {
		return none
	}
	for _, s := range cell.Shards {
		if s.Node == leader {
			return s
		}
	}
	return none
}
