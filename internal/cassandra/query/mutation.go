package query

import (
	"encoding/binary"

	"github.com/denorm-go/denorm/internal/cassandra/catalog"
	"github.com/denorm-go/denorm/internal/cassandra/merge"
	"github.com/denorm-go/denorm/internal/cassandra/replica"
	"github.com/denorm-go/denorm/internal/cql/ast"
)

// Mutation is what a statement writes to one partition.
type Mutation struct {
	Table     *catalog.Table
	Key       string // the partition key, as [RoutingKey] encodes it
	Partition *replica.Partition
	// Deltas are added to counters of the rows of the partition, by row and column; the static row has the number -1.
	Deltas []Delta
}

// Delta is what is added to a counter.
type Delta struct {
	Row    [][]byte
	Static bool
	Column string
	Count  int64
}

// Mutations are what the statement writes. A lightweight transaction does not look at the length of clustering columns
// (ModificationStatement.makeCasRequest).
func (w *Write) Mutations(env *Env, transaction bool) ([]Mutation, error) {
	partitions, rows, err := w.Keys(env)
	if err != nil {
		return nil, err
	}
	at, _, err := w.Time(env)
	if err != nil {
		return nil, err
	}
	expires, err := w.expires(env)
	if err != nil {
		return nil, err
	}
	if w.late != nil {
		return nil, w.late
	}
	out := make([]Mutation, len(partitions))
	for i, key := range partitions {
		out[i] = Mutation{Table: w.table, Key: key, Partition: replica.NewPartition()}
		for _, row := range rows {
			if err := w.fits(row); err != nil && !transaction {
				return nil, err
			}
			if err := w.write(&out[i], row, stamp{at, expires, env}); err != nil {
				return nil, err
			}
		}
		out[i].Partition.Stamp = replica.Stamp(env.Unique())
	}
	return out, nil
}

// fits rejects the key of a row that is too long (ModificationStatement.addUpdates, ClusteringPrefix.validate), but no
// prefix, which stands for a range.
func (w *Write) fits(key [][]byte) error {
	size := 0
	for _, v := range key {
		size += len(v)
	}
	if size > maxKey && len(key) == len(w.table.Clustering) {
		return invalid("Key length of %d is longer than maximum of %d", size, maxKey)
	}
	return nil
}

// write adds what is written to one row, or to the rows of a prefix.
func (w *Write) write(m *Mutation, key [][]byte, s stamp) error {
	p := m.Partition
	if w.rows {
		switch {
		case w.where.from != nil || w.where.to != nil || len(key) > 0 && len(key) < len(w.table.Clustering):
			r, err := w.where.span(s.env, key)
			r.Timestamp = s.timestamp
			p.Ranges = append(p.Ranges, r)
			return err
		case len(key) == 0:
			p.Deletion = s.timestamp
		default:
			row := replica.NewRow(key)
			row.Deletion = s.timestamp
			p.Rows = append(p.Rows, row)
		}
		return nil
	}
	if w.table.Counter {
		return w.count(m, key, s)
	}
	row, static := replica.NewRow(key), replica.NewRow(nil)
	whole := len(key) == len(w.table.Clustering)
	if w.marker && whole {
		row.Marker = merge.Liveness{Timestamp: s.timestamp, Expires: s.expires}
	}
	for i := range w.operations {
		op := &w.operations[i]
		target := row
		if op.column.Kind == catalog.Static {
			target = static
		}
		if err := op.apply(target, s); err != nil {
			return err
		}
	}
	if len(static.Cells) > 0 {
		p.Static = static
	}
	if whole && (w.marker || len(row.Cells) > 0) {
		p.Rows = append(p.Rows, row)
	}
	return nil
}

// count adds the deltas of counters, and the tombstones of a DELETE.
func (w *Write) count(m *Mutation, key [][]byte, s stamp) error {
	for i := range w.operations {
		op := &w.operations[i]
		static := op.column.Kind == catalog.Static
		if op.deletes {
			row := replica.NewRow(key)
			row.Set(replica.Cell{Column: op.column.Name, Cell: merge.Cell{Timestamp: s.timestamp}})
			one := replica.NewPartition()
			if static {
				row.Key, one.Static = nil, row
			} else {
				one.Rows = []*replica.Row{row}
			}
			m.Partition.Merge(one, w.table.Compare)
			continue
		}
		b, unset, err := op.value.eval(s.env)
		switch {
		case err != nil:
			return err
		case unset:
			continue
		case len(b) != 8:
			return invalid("Invalid null value for counter increment")
		}
		n := int64(binary.BigEndian.Uint64(b))
		if op.operator == ast.Remove {
			n = -n
		}
		m.Deltas = append(m.Deltas, Delta{Row: key, Static: static, Column: op.column.Name, Count: n})
	}
	return nil
}
