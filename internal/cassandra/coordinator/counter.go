package coordinator

import (
	"slices"
	"time"

	"github.com/denorm-go/denorm/internal/cassandra/merge"
	"github.com/denorm-go/denorm/internal/cassandra/query"
	"github.com/denorm-go/denorm/internal/cassandra/replica"
	"github.com/gocql/gocql"
)

// count adds to counters: one replica, the leader, adds to its shard, and sends the shard to the others
// (StorageProxy.mutateCounter).
func (c *Cluster) count(r Request, mutations []query.Mutation) Reply {
	var late *ReplicaError
	wrote := false
	for _, m := range mutations {
		replicas := c.replicas(m.Table, m.Key)
		need := c.required(r.Consistency, m.Table)
		if short := c.short(r.Consistency, m.Table, replicas); short != nil {
			return Reply{Err: short, Wrote: wrote}
		}
		number := c.leader(r, replicas)
		if number == 0 {
			return Reply{Err: unavailable(r.Consistency, need, 0), Wrote: wrote}
		}
		acks := 0
		count := func() {
			c.add(&m, number, c.env(r, Bound{}).Timestamp)
			acks, _ = c.spread(m, replicas, r.Course.Replicas)
		}
		switch leader := c.nodes[number]; leader.state {
		case Up:
			count()
			wrote = true
		case Paused: // it counts when it goes on, if that is soon
			leader.inbox = append(leader.inbox, delivery{table: m.Table, key: m.Key, at: time.Now(), count: count})
			wrote = true
		case Gone:
		}
		if acks < need && (late == nil || acks < late.Received) {
			late = &ReplicaError{
				Code: gocql.ErrCodeWriteTimeout, Level: r.Consistency, Received: acks, Required: need,
				WriteType: "COUNTER",
			}
		}
	}
	if late != nil {
		return Reply{Err: late, After: counterTimeout, Wrote: wrote}
	}
	return Reply{Wrote: true}
}

// leader is any of the replicas that are believed to be alive, 0 if none is (ReplicaPlans.findCounterLeaderReplica).
func (c *Cluster) leader(r Request, replicas []int) int {
	alive := slices.DeleteFunc(slices.Clone(replicas), func(number int) bool { return !c.nodes[number].alive() })
	if len(alive) == 0 {
		return 0
	}
	candidates := slices.DeleteFunc(slices.Clone(alive), func(number int) bool {
		return r.Course.Replicas != nil && !slices.Contains(r.Course.Replicas, number)
	})
	if len(candidates) == 0 { // none of those that the course leaves
		return alive[0]
	}
	return candidates[c.scattered()%uint64(len(candidates))]
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
		// the next delta may be for the same counter
		c.nodes[leader].apply(delivery{table: m.Table, key: m.Key, content: one})
	}
	p.Stamp = c.scattered()
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
