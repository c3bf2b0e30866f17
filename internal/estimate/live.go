package estimate

import (
	"context"
	"fmt"

	"github.com/denorm-go/denorm/internal/catalog"
	"github.com/denorm-go/denorm/internal/request"
	"github.com/denorm-go/denorm/schema"
	"github.com/denorm-go/denorm/session"
	"github.com/gocql/gocql"
)

// Live is what a node reports about a table. It covers the partitions of which the node is the first replica, in its
// data files: data appears after a flush and some time, which is five minutes unless the node is configured otherwise.
type Live struct {
	Table schema.ID
	// MeanBytes is the mean size of a partition, 0 if nothing is reported. Cassandra computes it from a histogram with
	// steps of 20 %, by their upper ends, so it is up to a fifth too large.
	MeanBytes float64
	// LargestBytes is the size of the largest partition, in steps of a MiB, 0 if the server does not report it.
	LargestBytes float64
}

// Measure reads what the coordinator reports about a table.
func Measure(ctx context.Context, s *session.Session, table schema.ID) (Live, error) {
	l := Live{Table: table}
	var mean, count int64
	var bytes, counted, ranges, sum float64
	id := []any{table.Keyspace, table.Name}
	if err := catalog.Each(ctx, s.Reads(), gocql.One, `SELECT mean_partition_size, partitions_count FROM system.size_estimates
		WHERE keyspace_name = ? AND table_name = ?`, id, func() {
		counted += float64(count)
		bytes += float64(mean) * float64(count)
		if mean > 0 {
			ranges++
			sum += float64(mean)
		}
	}, &mean, &count); err != nil {
		return l, fmt.Errorf("estimate: read the sizes of %s: %w", table, request.Shown(err))
	}
	switch {
	case counted > 0:
		l.MeanBytes = bytes / counted
	case ranges > 0: // too few partitions for the node to count them
		l.MeanBytes = sum / ranges
	}
	var mebibytes int64
	_ = catalog.Each(ctx, s.Reads(), gocql.One,
		`SELECT mebibytes FROM system_views.max_partition_size WHERE keyspace_name = ? AND table_name = ?`, id,
		func() { l.LargestBytes = float64(mebibytes) * (1 << 20) }, &mebibytes) // not all servers have it
	return l, nil
}

// Volume converts what is reported into a volume to compute with: as many rows, of the width that New assumes, as fill
// the reported bytes. It returns false if nothing is reported.
func (l Live) Volume(s *schema.Schema) (schema.Volume, bool) {
	v := schema.Volume{Table: l.Table, Measured: true}
	e, err := New(s, v)
	if err != nil || l.MeanBytes == 0 {
		return v, false
	}
	v.Rows = max(e.Rows(l.MeanBytes), 1)
	v.Largest = max(1, e.Rows(l.LargestBytes)/v.Rows)
	return v, true
}

// Rows returns how many rows a partition of the given size has.
func (e *Estimate) Rows(bytes float64) float64 { return max(0, (bytes-e.partition.Bytes)/e.row.Bytes) }
