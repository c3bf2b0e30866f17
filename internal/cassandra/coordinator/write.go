package coordinator

import (
	"slices"

	"github.com/denorm-go/denorm/internal/cassandra/catalog"
	"github.com/denorm-go/denorm/internal/cassandra/query"
	"github.com/denorm-go/denorm/internal/cql/ast"
	"github.com/gocql/gocql"
)

// single carries out a statement that is in no batch. The level is looked at first, and in batches not at all
// (ModificationStatement.executeWithoutCondition).
func (c *Cluster) single(r Request, s Bound) Reply {
	switch {
	case s.Table.Counter && r.Consistency == gocql.Any:
		return refused(invalid("Consistency level ANY is not yet supported for counter table " + s.Table.Name))
	case s.Table.Counter && serial(r.Consistency):
		return refused(invalid("Counter operations are inherently non-serializable"))
	case serial(r.Consistency):
		return refused(invalid("You must use conditional updates for serializable writes"))
	}
	mutations, err := s.Write.Mutations(c.env(r, s), false)
	if err != nil {
		return refused(err)
	}
	if s.Table.Counter {
		return c.count(r, mutations)
	}
	return c.write(r, mutations, "SIMPLE")
}

// write brings mutations to their replicas one after the other. What comes before one that cannot be sent has been sent
// then (StorageProxy.mutate). At SERIAL, which only batches get here with, a quorum is enough.
func (c *Cluster) write(r Request, mutations []query.Mutation, kind string) Reply {
	var late *ReplicaError
	for i, m := range mutations {
		replicas := c.replicas(m.Table, m.Key)
		need := c.required(r.Consistency, m.Table)
		if short := c.short(r.Consistency, m.Table, replicas); short != nil {
			return Reply{Err: short, Wrote: i > 0}
		}
		acks, hints := c.spread(m, replicas, r.Course.Replicas)
		if r.Consistency == gocql.Any {
			acks += hints
		}
		if acks < need && (late == nil || acks < late.Received) {
			late = &ReplicaError{
				Code: gocql.ErrCodeWriteTimeout, Level: r.Consistency, Received: acks, Required: need,
				WriteType: kind,
			}
		}
	}
	if late != nil {
		return Reply{Err: late, After: writeTimeout, Wrote: true}
	}
	return Reply{Wrote: true}
}

func serial(level gocql.Consistency) bool {
	return level == gocql.Consistency(gocql.Serial) || level == gocql.Consistency(gocql.LocalSerial)
}

// everyone is the numbers of all nodes.
func (c *Cluster) everyone() []int {
	var out []int
	for i := range c.nodes[1:] {
		out = append(out, i+1)
	}
	return out
}

func (c *Cluster) alive(replicas []int) (n int) {
	for _, number := range replicas {
		if c.nodes[number].alive() {
			n++
		}
	}
	return n
}

// short says that a level is out of reach; nil if it is not. At ANY the coordinator itself is enough
// (ReplicaPlans.assureSufficientLiveReplicas).
func (c *Cluster) short(level gocql.Consistency, t *catalog.Table, replicas []int) *ReplicaError {
	need := c.required(level, t)
	if alive := c.alive(replicas); alive < need && level != gocql.Any {
		return unavailable(level, need, alive)
	}
	return nil
}

// spread sends a mutation to its replicas, or to none but some. It says how many acknowledge it, and for how many that
// are known to be away there is a hint at once (StorageProxy.sendToHintedReplicas).
func (c *Cluster) spread(m query.Mutation, replicas, only []int) (acks, hints int) {
	for _, number := range replicas {
		if only != nil && !slices.Contains(only, number) {
			continue
		}
		n := c.nodes[number]
		switch {
		case n.send(delivery{table: m.Table, key: m.Key, content: m.Partition}):
			acks++
		case !n.alive() && n.hinted(m.Table):
			hints++
		}
	}
	return acks, hints
}

// batch carries out a batch.
func (c *Cluster) batch(r Request) Reply {
	conditional, counters := false, 0
	for _, s := range r.Statements {
		if s.Write == nil {
			return refused(invalid("Invalid statement in batch: only UPDATE, INSERT and DELETE statements are allowed."))
		}
		if s.Write.Condition != nil {
			conditional = true
		}
		if s.Table.Counter {
			counters++
		}
	}
	switch {
	case len(r.Statements) == 0:
		return Reply{}
	case r.Kind == ast.Counter && counters < len(r.Statements):
		return refused(invalid("Cannot include non-counter statement in a counter batch"))
	case r.Kind == ast.Logged && counters > 0:
		return refused(invalid("Cannot include a counter statement in a logged batch"))
	case r.Kind == ast.Unlogged && counters > 0 && counters < len(r.Statements):
		return refused(invalid("Counter and non-counter mutations cannot exist in the same batch"))
	case conditional:
		return c.transact(r)
	}
	mutations, err := c.mutations(r, false)
	if err != nil {
		return refused(err)
	}
	if counters > 0 {
		return c.count(r, mutations)
	}
	groups := groupMutations(mutations)
	if len(groups) > 1 && size(mutations) > batchLimit {
		return refused(invalid("Batch too large"))
	}
	switch {
	case r.Kind == ast.Logged && len(groups) > 1:
		return c.logged(r, mutations)
	case len(groups) == 1: // one mutation, however many statements
		return c.write(r, mutations, "SIMPLE")
	}
	return c.write(r, begun(r, mutations), "UNLOGGED_BATCH")
}

// begun are the mutations that are sent: all, unless the coordinator dies in between. What has one partition key goes
// together.
func begun(r Request, mutations []query.Mutation) []query.Mutation {
	if r.Course.Replicas == nil {
		return mutations
	}
	half := (len(groupMutations(mutations)) + 1) / 2
	seen := make(map[[2]string]bool)
	return slices.DeleteFunc(slices.Clone(mutations), func(m query.Mutation) bool {
		key := [2]string{m.Table.Keyspace, m.Key}
		if len(seen) < half {
			seen[key] = true
		}
		return !seen[key]
	})
}

// mutations are those of all statements of a batch, or of a lightweight transaction.
func (c *Cluster) mutations(r Request, transaction bool) ([]query.Mutation, error) {
	var out []query.Mutation
	for _, s := range r.Statements {
		ms, err := s.Write.Mutations(c.env(r, s), transaction)
		if err != nil {
			return nil, err
		}
		out = append(out, ms...)
	}
	return out, nil
}

// groupMutations are the partition keys by keyspace: what has one of them is one mutation to Cassandra.
func groupMutations(mutations []query.Mutation) map[[2]string]bool {
	out := make(map[[2]string]bool)
	for _, m := range mutations {
		out[[2]string{m.Table.Keyspace, m.Key}] = true
	}
	return out
}

// batchLimit is batch_size_fail_threshold, in bytes.
const batchLimit = 50 << 10

// size is about the number of bytes of mutations.
func size(mutations []query.Mutation) (n int) {
	for _, m := range mutations {
		n += len(m.Key)
		for _, row := range m.Partition.Rows {
			for _, k := range row.Key {
				n += len(k)
			}
			for _, cell := range row.Cells {
				n += len(cell.Path) + len(cell.Value) + 8
			}
		}
	}
	return n
}
