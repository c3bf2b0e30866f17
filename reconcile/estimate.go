package reconcile

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/internal/request"
	"github.com/denorm-go/denorm/tables"
)

// Estimate is how much a run over a set has to read and send, based on the table sizes that nodes report.
type Estimate struct {
	Entity string
	// Tables are the tables that a run compares, the base table first.
	Tables []TableEstimate
	// Spool is how many bytes a Verify writes to temporary files ([Spool]); 0 if its records fit into memory.
	Spool int64
	// Requests is how many requests a Verify needs at least to read all tables. Rows that differ need more.
	Requests int64
	// Puts is how many requests a Backfill of one query table needs at least to read the base table and put each row.
	// Then it verifies the table.
	Puts int64
}

// TableEstimate is what nodes report of a table.
type TableEstimate struct {
	Table string // physical, with its keyspace
	// Rows is the number of rows of the base table, for each table: each base row has at most one row in a query table.
	// It is the number of partitions or, with clustering columns, that number times the rows per partition in a sample.
	Rows int64
	// Bytes is the size of one replica, before compression. Rows that were written in parts, or several times, count
	// several times until they are compacted. 0 means not known: no node reports the table, or it has so few partitions
	// that nodes cannot tell how many.
	Bytes int64
}

// ErrUnknown is matched by the error of [Reconciler.Estimate] if no node reports the size of the base table.
var ErrUnknown = errors.New("denorm: reconcile: the size is not known")

// Estimate reads from the nodes the sizes of a set's tables (system.size_estimates), and changes nothing. Give the
// options [Tables] and [PageSize] of the run. Nodes report what is in their data files, a few minutes after it was
// flushed. Nodes that do not answer are assumed to own as much data as the others. The error matches [ErrUnknown] if
// the base table is not reported, and ErrInvalid as the error of [Reconciler.Verify] does.
//
// The command denorm estimate answers another question: how large partitions become.
func (r *Reconciler) Estimate(ctx context.Context, set tables.Described, options ...Option) (Estimate, error) {
	j, err := r.open(ctx, set, options)
	if err != nil {
		return Estimate{}, err
	}
	e := Estimate{Entity: j.entity}
	for _, t := range j.compared() {
		s, err := j.sizes(ctx, t)
		if err != nil {
			return Estimate{}, fmt.Errorf("denorm: reconcile: sizes of %s not read: %w", t.qualified(), err)
		}
		partitions, size := s.total()
		e.Tables = append(e.Tables, TableEstimate{Table: t.qualified(), Bytes: int64(size)})
		if t != j.base() {
			continue
		}
		if partitions == 0 {
			return Estimate{}, fmt.Errorf("%w: no node reports table %s: it is empty, or run nodetool flush and nodetool refreshsizeestimates on each node", ErrUnknown, t.qualified())
		}
		each, err := j.rowsPerPartition(ctx)
		if err != nil {
			return Estimate{}, fmt.Errorf("denorm: reconcile: %w", err)
		}
		e.Tables[0].Rows = int64(partitions * each)
	}
	e.count(e.Tables[0].Rows, int64(j.pageSize))
	return e, nil
}

// count says what follows from the rows of the base table.
func (e *Estimate) count(rows, page int64) {
	for i := range e.Tables {
		e.Tables[i].Rows = rows
	}
	reading := segmentsPerTable + rows/page // requests that read one table
	e.Requests, e.Puts = int64(len(e.Tables))*reading, reading+rows
	if spool := 2 * recordSize * rows * int64(len(e.Tables)-1); spool > spoolParts*spoolChunk {
		e.Spool = spool
	}
}

// recordSize is about what a row takes in a spool.
const recordSize = 120

// sizes are what nodes report of a table.
type sizes struct {
	ranges map[[2]string]size // by range of tokens
	// A node counts partitions by samples, and at least one a file in each of its ranges. Where all ranges have that few,
	// there may be fewer.
	vague bool
}

// sampled is of how many partitions a node samples one (min_index_interval).
const sampled = 128

type size struct{ partitions, mean int64 }

// sizes asks as many nodes as there are, each but once if all goes well.
func (j *job) sizes(ctx context.Context, t *table) (sizes, error) {
	// The request goes to nodes that it has not gone to before.
	r := request.New("", nil)
	var peers int
	err := j.do(ctx, points, r, func(ctx context.Context) error {
		return j.query(ctx, "SELECT count(*) FROM system.peers", gocql.One).Scan(&peers)
	})
	out := sizes{ranges: make(map[[2]string]size)}
	for n := 0; n <= peers && err == nil; n++ {
		err = j.do(ctx, points, r, func(ctx context.Context) error {
			iter := j.query(ctx, "SELECT range_start, range_end, partitions_count, mean_partition_size FROM system.size_estimates "+
				"WHERE keyspace_name = ? AND table_name = ?", gocql.One, t.keyspace, t.Name()).Iter()
			var limits [2]string
			most, least := int64(0), int64(math.MaxInt64)
			for s := (size{}); iter.Scan(&limits[0], &limits[1], &s.partitions, &s.mean); {
				out.ranges[limits] = s
				most, least = max(most, s.partitions), min(least, s.partitions)
			}
			out.vague = out.vague || iter.NumRows() > 1 && most == least && most < sampled
			return iter.Close()
		})
	}
	return out, err
}

// total is what all nodes have, by the part of the ring that is reported; 0 is not known.
func (s sizes) total() (partitions, size float64) {
	var share float64
	for limits, r := range s.ranges {
		share += ringShare(limits[0], limits[1])
		partitions += float64(r.partitions)
		size += float64(r.partitions) * float64(r.mean)
	}
	switch share = min(share, 1); {
	case share == 0:
		return 0, 0
	case s.vague:
		size = 0
	}
	return partitions / share, size / share
}

// samples is of how many parts of the ring the first page is read.
const samples = 8

// rowsPerPartition is how many rows a partition of the base table has, by a sample. What a partition has beyond a page
// is not counted.
func (j *job) rowsPerPartition(ctx context.Context) (float64, error) {
	t := j.base()
	if len(t.Clustering()) == 0 {
		return 1, nil
	}
	var rows, partitions float64
	for _, in := range segments(samples) {
		var last []byte
		_, err := j.visit(ctx, t, in, defaultPageSize, mark{}, func(iter *gocql.Iter) ([]byte, error) {
			return eachRow(iter, t, func(values [][]byte) error {
				rows++
				if key := bytes.Join(values[:t.Table.Part], []byte{0}); partitions == 0 || !bytes.Equal(key, last) {
					partitions++
					last = key
				}
				return nil
			})
		})
		if err != nil {
			return 0, err
		}
	}
	return max(1, rows) / max(1, partitions), nil
}

// ringShare is the part of the ring between two tokens of the Murmur3 partitioner.
func ringShare(low, high string) float64 {
	a, errA := strconv.ParseInt(low, 10, 64)
	b, errB := strconv.ParseInt(high, 10, 64)
	if errA != nil || errB != nil {
		return 0
	}
	return float64(uint64(b)-uint64(a)) / math.Pow(2, 64) // around the end of the ring too
}
