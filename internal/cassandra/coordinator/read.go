package coordinator

import (
	"slices"

	"github.com/denorm-go/denorm/internal/cassandra/catalog"
	"github.com/denorm-go/denorm/internal/cassandra/replica"
	"github.com/gocql/gocql"
)

// read carries out a SELECT.
func (c *Cluster) read(r Request, s Bound) Reply {
	if s.Table.System {
		return refused(invalid("a system table that nobody answers for"))
	}
	if r.Consistency == gocql.Any {
		return refused(invalid("ANY ConsistencyLevel is only supported for writes"))
	}
	source := &source{cluster: c, request: r, table: s.Table}
	rows, state, err := s.Read.Run(c.env(r, s), source, r.Page)
	if source.failure != nil {
		reply := Reply{Err: source.failure}
		if source.failure.Code == gocql.ErrCodeReadTimeout {
			reply.After = readTimeout
		}
		return reply
	}
	if err != nil {
		return refused(err)
	}
	return Reply{Columns: s.Read.Columns, Keyspace: s.Table.Keyspace, Table: s.Table.Name, Rows: rows, State: state}
}

// source reads the partitions of a table from as many replicas as the level asks for.
type source struct {
	cluster *Cluster
	request Request
	table   *catalog.Table
	scan    bool
	failure *ReplicaError
}

// Keys implements query.Source. A scan needs the level everywhere on the ring, also where there is nothing.
func (s *source) Keys() ([]string, error) {
	s.scan = true
	for _, replicas := range s.cluster.ring.Everywhere(s.cluster.factor(s.table.Keyspace)) {
		if _, err := s.enough(replicas); err != nil {
			return nil, err
		}
	}
	seen := make(map[string]bool)
	var out []string
	for _, n := range s.cluster.nodes[1:] {
		for _, key := range n.store.Keys(s.table.ID) {
			if !seen[key] {
				seen[key] = true
				out = append(out, key)
			}
		}
	}
	return out, nil
}

// Several implements query.Source (StorageProxy.readWithConsensus).
func (s *source) Several() error {
	if serial(s.request.Consistency) {
		return invalid("SERIAL/LOCAL_SERIAL consistency may only be requested for one partition at a time")
	}
	return nil
}

// Partition implements query.Source.
func (s *source) Partition(key string, row [][]byte) (*replica.Partition, error) {
	c := s.cluster
	replicas := c.replicas(s.table, key)
	level := s.request.Consistency
	if serial(level) && !s.scan { // a scan looks for no transactions
		s.failure = c.finish(s.table, key, replicas, level)
		if s.failure == nil {
			c.instance(s.table, key).open = nil // a read proposes an empty update
		}
		if s.failure != nil {
			return nil, s.failure
		}
	}
	asked, err := s.enough(replicas)
	if err != nil {
		return nil, err
	}
	return c.gather(s.table, key, row, asked), nil
}

// enough chooses as many replicas as the level asks for.
func (s *source) enough(replicas []int) ([]int, error) {
	c, level := s.cluster, s.request.Consistency
	if s.failure = c.short(level, s.table, replicas); s.failure != nil {
		return nil, s.failure
	}
	need := c.required(level, s.table)
	asked := c.ask(replicas, s.request.Node, need)
	if len(asked) < need {
		s.failure = &ReplicaError{
			Code: gocql.ErrCodeReadTimeout, Level: level, Received: len(asked), Required: need, DataPresent: len(asked) > 0,
		}
		return nil, s.failure
	}
	return asked, nil
}

// ask chooses the replicas that are read: those that answer, the coordinator first, the others in turns.
func (c *Cluster) ask(replicas []int, coordinator, need int) []int {
	c.turn++
	asked := make([]int, 0, need)
	if slices.Contains(replicas, coordinator) && c.nodes[coordinator].state == Up {
		asked = append(asked, coordinator)
	}
	for i := range replicas {
		number := replicas[(i+c.turn)%len(replicas)]
		if number != coordinator && c.nodes[number].state == Up && len(asked) < need {
			asked = append(asked, number)
		}
	}
	return asked
}

// gather merges what nodes have of a partition, or of one row of it, and gives it to those that lack some of it, as a
// blocking read repair does, unless the table has none.
func (c *Cluster) gather(t *catalog.Table, key string, row [][]byte, asked []int) *replica.Partition {
	id := t.ID
	parts := make([]*replica.Partition, len(asked))
	same := true
	for i, number := range asked {
		parts[i] = c.nodes[number].store.Partition(id, key)
		same = same && (parts[i] == nil) == (parts[0] == nil) && (parts[i] == nil || parts[i].Stamp == parts[0].Stamp)
	}
	if same {
		return parts[0]
	}
	merged := replica.NewPartition()
	for _, p := range parts {
		switch {
		case p == nil:
		case row != nil:
			merged.Merge(p.Slice(row, t.Compare), t.Compare)
		default:
			merged.Merge(p, t.Compare)
		}
	}
	if !t.Repaired {
		return merged
	}
	merged.Stamp = c.scattered()
	for _, number := range asked {
		if row != nil {
			c.nodes[number].store.Apply(id, key, merged, t.Compare)
		} else {
			c.nodes[number].store.Put(id, key, merged.Clone())
		}
	}
	return merged
}
