package coordinator

import (
	"slices"

	"github.com/denorm-go/denorm/internal/cassandra/catalog"
	"github.com/denorm-go/denorm/internal/cassandra/merge"
	"github.com/denorm-go/denorm/internal/cassandra/query"
	"github.com/denorm-go/denorm/internal/cassandra/replica"
	"github.com/gocql/gocql"
)

// instance is the lightweight transactions of one partition.
type instance struct {
	ballot    int64           // the largest, in microseconds
	committed int64           // the ballot of the last that was committed
	last      *query.Mutation // the last committed, while some replica may lack it
	open      *proposal
}

// instanceOf names an instance.
type instanceOf struct {
	table gocql.UUID
	key   string
}

// proposal is what was accepted and not committed.
type proposal struct {
	ballot   int64
	mutation query.Mutation
	by       []int // who has accepted it
}

// transact carries out a statement or batch with conditions (StorageProxy.cas). Promises, proposal and commit are one
// step, at the nodes that are up.
func (c *Cluster) transact(r Request) Reply {
	target, err := c.target(r)
	if err != nil {
		return refused(err)
	}
	if serial(r.Consistency) {
		return refused(invalid(name(r.Consistency) +
			" is not supported as conditional update commit consistency. Use ANY if you mean " +
			`"make sure it is accepted but I don't care how many replicas commit it for non-SERIAL reads"`))
	}
	replicas := c.replicas(target.table, target.key)
	serial := gocql.Consistency(r.Serial)
	if r.Serial == 0 {
		serial = gocql.Consistency(gocql.Serial)
	}
	if failure := c.finish(target.table, target.key, replicas, serial); failure != nil {
		if failure.Code == gocql.ErrCodeReadTimeout {
			failure.Code, failure.WriteType = gocql.ErrCodeWriteTimeout, "CAS"
			return Reply{Err: failure, After: casTimeout}
		}
		return refused(failure)
	}
	level := gocql.Quorum // of the read within
	if serial == gocql.Consistency(gocql.LocalSerial) {
		level = gocql.LocalQuorum
	}
	if short := c.short(level, target.table, replicas); short != nil {
		return refused(short)
	}
	up := c.up(replicas)
	in := c.instance(target.table, target.key)
	ballot := max(c.env(r, Bound{}).Now, in.ballot+1)
	in.ballot = ballot
	if r.Course.Stage == Promised {
		return c.contended(serial, len(replicas))
	}
	// what was not heard of is out: also a transaction that is rejected proposes, an empty update (CASSANDRA-12126)
	in.open = nil
	// A majority is read, as plain reads do: what a plain write has brought to one replica alone may be seen, or not.
	current := r.visible(c.gather(target.table, target.key, nil, c.ask(replicas, r.Node, c.required(level, target.table))))
	reply, applied, err := c.decide(r, target, current)
	if err != nil || !applied {
		reply.Err = err
		return reply
	}
	r.Timestamp = ballot
	mutation, err := c.proposed(r, target, ballot)
	if err != nil {
		return refused(err)
	}
	in.open = &proposal{ballot, mutation, up}
	switch r.Course.Stage {
	case Proposed:
		in.open.by = up[:1]
		fallthrough
	case Accepted:
		reply = c.contended(serial, len(replicas))
		reply.Wrote = true
		return reply
	case Done, Stored, Promised:
	}
	// The commit looks again, before it sends anything (StorageProxy.commitPaxos). What was accepted stays, and the next
	// round finishes it.
	if short := c.short(r.Consistency, target.table, replicas); short != nil {
		return Reply{Err: short, Wrote: true}
	}
	acks := c.commit(in, replicas, r.Course.Replicas)
	if need := c.required(r.Consistency, target.table); acks < need && r.Consistency != gocql.Any {
		// which does not wait for it
		return Reply{After: writeTimeout, Wrote: true, Err: &ReplicaError{ // it is decided: only the commit has timed out
			Code: gocql.ErrCodeWriteTimeout, Level: r.Consistency, Received: acks, Required: need, WriteType: "SIMPLE",
		}}
	}
	reply.Wrote = true
	return reply
}

// target is the partition of a lightweight transaction.
type target struct {
	table *catalog.Table
	key   string
}

func (c *Cluster) target(r Request) (target, error) {
	var out target
	for i, s := range r.Statements {
		keys, _, err := s.Write.Keys(c.env(r, s))
		verb := map[bool]string{true: "deletions", false: "updates"}[s.Write.Deletes()]
		partitions, rows := s.Write.Lists()
		switch {
		case err != nil:
			return out, err
		case partitions:
			return out, invalid("IN on the partition key is not supported with conditional " + verb)
		case rows:
			return out, invalid("IN on the clustering key columns is not supported with conditional " + verb)
		case i > 0 && s.Table != out.table:
			return out, invalid("Batch with conditions cannot span multiple tables")
		case i > 0 && keys[0] != out.key:
			return out, invalid("Batch with conditions cannot span multiple partitions")
		}
		if _, given, err := s.Write.Time(c.env(r, s)); err != nil || given {
			return out, invalid("Cannot provide custom timestamp for conditional BATCH")
		}
		out = target{s.Table, keys[0]}
	}
	return out, nil
}

// finish carries out what the last transaction of a partition has left, if a majority of the replicas is up.
func (c *Cluster) finish(t *catalog.Table, key string, replicas []int, level gocql.Consistency) *ReplicaError {
	need := len(replicas)/2 + 1
	if alive := c.alive(replicas); alive < need {
		return unavailable(level, need, alive)
	}
	up := c.up(replicas)
	if len(up) < need {
		return &ReplicaError{Code: gocql.ErrCodeReadTimeout, Level: level, Received: len(up), Required: need}
	}
	in := c.instances[instanceOf{t.ID, key}]
	if in == nil {
		return nil
	}
	if in.last != nil {
		if c.spread(*in.last, up, nil); len(up) == len(replicas) {
			in.last = nil
		}
	}
	if in.open == nil {
		return nil
	}
	heard := up[:need] // a majority, not always the same
	if c.scattered()>>63 == 0 {
		heard = up[len(up)-need:]
	}
	if !slices.ContainsFunc(in.open.by, func(n int) bool { return slices.Contains(heard, n) }) {
		return nil
	}
	in.ballot++
	in.open.ballot = in.ballot
	in.open.mutation.Partition = restamp(in.open.mutation.Partition, in.ballot)
	in.open.mutation.Partition.Stamp = c.scattered()
	c.commit(in, replicas, nil)
	return nil
}

// commit brings the accepted proposal to the replicas.
func (c *Cluster) commit(in *instance, replicas, only []int) (acks int) {
	mutation := in.open.mutation
	acks, _ = c.spread(mutation, replicas, only)
	in.committed, in.open = in.open.ballot, nil
	if acks < len(replicas) {
		in.last = &mutation
	}
	return acks
}

func (c *Cluster) up(replicas []int) []int {
	var out []int
	for _, number := range replicas {
		if c.nodes[number].state == Up {
			out = append(out, number)
		}
	}
	return out
}

func (c *Cluster) instance(t *catalog.Table, key string) *instance {
	name := instanceOf{t.ID, key}
	in := c.instances[name]
	if in == nil {
		in = &instance{}
		c.instances[name] = in
	}
	return in
}

func (c *Cluster) contended(level gocql.Consistency, replicas int) Reply {
	return Reply{After: casTimeout, Err: &ReplicaError{
		Code: gocql.ErrCodeWriteTimeout, Level: level, Received: 0, Required: replicas/2 + 1, WriteType: "CAS",
	}}
}

// visible is a partition with those columns that conditions are about. If a statement with a condition writes to static
// columns, it is all of those, and if any statement is about a row, all others (BatchStatement,
// CQL3CasRequest.columnsToRead).
func (r Request) visible(p *replica.Partition) *replica.Partition {
	if p == nil {
		return p
	}
	read := make(map[string]bool)
	statics, regulars := false, false
	for _, s := range r.Statements {
		regulars = regulars || s.Write.Rows()
		if s.Write.Condition == nil {
			continue
		}
		statics = statics || s.Write.Statics()
		for _, column := range s.Write.Condition.Columns() {
			read[column.Name] = true
		}
	}
	only := func(r *replica.Row) *replica.Row {
		out := *r
		out.Cells = slices.DeleteFunc(slices.Clone(r.Cells), func(c replica.Cell) bool { return !read[c.Column] })
		return &out
	}
	out := *p
	if p.Static != nil && !statics {
		out.Static = only(p.Static)
	}
	if !regulars {
		out.Rows = make([]*replica.Row, len(p.Rows))
		for i, row := range p.Rows {
			out.Rows[i] = only(row)
		}
	}
	return &out
}

// decide says whether all conditions hold, and gives the answer.
func (c *Cluster) decide(r Request, target target, current *replica.Partition) (Reply, bool, error) {
	reply := Reply{
		Columns: []query.Column{{Name: "[applied]", Type: query.Boolean}}, Keyspace: target.table.Keyspace,
		Table: target.table.Name,
	}
	applied := true
	shown := shown{table: target.table, batch: r.Batch, kinds: make(map[string]query.Existence)}
	for _, s := range r.Statements {
		if s.Write.Condition == nil {
			continue
		}
		env := c.env(r, s)
		_, rows, err := s.Write.Keys(env)
		if err != nil {
			return reply, false, err
		}
		view, there := query.Look(env, target.table, target.key, rows[0], current)
		ok, err := s.Write.Condition.Holds(env, view, there)
		if err != nil {
			return reply, false, err
		}
		applied = applied && ok
		if err := shown.mix(s.Write.Condition, rows[0]); err != nil {
			return reply, false, err
		}
		shown.add(s.Write.Condition, view, rows[0], there)
	}
	if applied {
		reply.Rows = [][][]byte{{{1}}}
		return reply, true, nil
	}
	if !shown.onRow {
		shown.static = query.First(c.env(r, r.Statements[0]), target.table, target.key, current)
	}
	shown.fill(&reply)
	return reply, false, nil
}

// proposed is what the statements write, at the ballot.
func (c *Cluster) proposed(r Request, target target, ballot int64) (query.Mutation, error) {
	out := query.Mutation{Table: target.table, Key: target.key, Partition: replica.NewPartition()}
	mutations, err := c.mutations(r, true)
	if err != nil {
		return out, err
	}
	// The tombstone of a row takes with it what the same batch writes to the row. Those of ranges and of the partition do
	// not: an update keeps them alongside its rows (PartitionUpdate.Builder), and the ballot puts them below.
	deletion, ranges := int64(merge.NoTimestamp), []replica.Range(nil)
	for _, m := range mutations {
		rows := m.Partition.Clone()
		deletion, ranges = max(deletion, rows.Deletion), append(ranges, rows.Ranges...)
		rows.Deletion, rows.Ranges = merge.NoTimestamp, nil
		out.Partition.Merge(rows, target.table.Compare)
	}
	out.Partition.Deletion, out.Partition.Ranges = deletion, ranges
	out.Partition = restamp(out.Partition, ballot)
	return out, nil
}

// restamp is a mutation at a ballot. Tombstones go one microsecond below: a collection that is overwritten keeps its
// new elements (PartitionUpdate.Builder.updateAllTimestamp).
func restamp(p *replica.Partition, ballot int64) *replica.Partition {
	out := p.Clone()
	if out.Deletion != merge.NoTimestamp {
		out.Deletion = ballot - 1
	}
	for i := range out.Ranges {
		out.Ranges[i].Timestamp = ballot - 1
	}
	row := func(r *replica.Row) *replica.Row {
		made := *r
		if made.Deletion != merge.NoTimestamp {
			made.Deletion = ballot - 1
		}
		if made.Marker.Timestamp != merge.NoTimestamp {
			made.Marker.Timestamp = ballot
		}
		made.Cells = slices.Clone(r.Cells)
		for i := range made.Cells {
			made.Cells[i].Timestamp = ballot
			if made.Cells[i].All {
				made.Cells[i].Timestamp--
			}
		}
		return &made
	}
	if out.Static != nil {
		out.Static = row(out.Static)
	}
	for i := range out.Rows {
		out.Rows[i] = row(out.Rows[i])
	}
	return out
}
