package main

import (
	"context"
	"errors"
	"flag"
	"strings"
	"time"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/integration/harness/parallel"
	"github.com/denorm-go/denorm/internal/entity"
	"github.com/denorm-go/denorm/reader"
	"github.com/denorm-go/denorm/schema"
	"github.com/denorm-go/denorm/session"
	"github.com/denorm-go/denorm/tables"
)

const (
	hours      = 24
	buckets    = 10
	streamName = "plant-7"
)

// Measurement is a row of the stream.
type Measurement struct {
	Stream string
	Ts     gocql.UUID
	Value  float64
	Note   string
}

var measurements = tables.Must(tables.New[Measurement]("measurement",
	tables.Table{Name: "measurements", PartKey: []string{"stream", "hour", "bucket"}, SortKey: []string{"ts DESC"}},
	tables.Derive("hour", tables.Hour("ts")),
	tables.Derive("bucket", tables.Hash(buckets, "ts")),
	tables.Type("ts", "timeuuid"),
))

// readBench reads a stream.
type readBench struct{ rows, newestRounds, scanRounds, times int }

func (b *readBench) flags(f *flag.FlagSet) {
	f.IntVar(&b.rows, "rows", 1_000_000, "how many rows the stream has; they are loaded if the keyspace is new")
	f.IntVar(&b.newestRounds, "newest", 15, "how many rounds of reading the newest rows")
	f.IntVar(&b.scanRounds, "scans", 5, "how many rounds of reading all rows")
	f.IntVar(&b.times, "times", 60, "how often each contender reads the newest rows in a round")
}

func (b *readBench) schema() *schema.Schema {
	return schema.Must(schema.Declare(schema.Sets(measurements)))
}

func (b *readBench) run(ctx context.Context, p *place) (map[string]string, error) {
	st := &stream{readBench: *b, session: p.session}
	var err error
	if st.reader, err = reader.New(p.session); err != nil {
		return nil, err
	}
	if err := st.load(ctx); err != nil {
		return nil, err
	}
	newest, err := st.measureNewest(ctx)
	if err != nil {
		return nil, err
	}
	scans, err := st.measureScans(ctx)
	if err != nil {
		return nil, err
	}
	return map[string]string{"reading.md": b.report(p.hosts, newest, scans)}, nil
}

// stream is the data on a cluster.
type stream struct {
	readBench
	session *session.Session
	reader  *reader.Reader
}

// begins is the first moment of the stream.
var begins = time.Date(2024, 5, 1, 0, 0, 0, 0, time.UTC)

// load writes the rows, those of one partition in batches, unless they are there.
func (st *stream) load(ctx context.Context) error {
	var last gocql.UUID
	err := st.session.Reads().Query(inBucket+" LIMIT 1", streamName, st.hour(0), 0).WithContext(ctx).Scan(nil, &last, nil, nil)
	if !errors.Is(err, gocql.ErrNotFound) {
		return err
	}
	const size = 100
	step := hours * time.Hour / time.Duration(st.rows)
	return parallel.Do(8, hours, func(h int) error {
		pending := make(map[string][]entity.Mutation)
		for i := h * st.rows / hours; i < (h+1)*st.rows/hours; i++ {
			at := begins.Add(time.Duration(i) * step)
			row := Measurement{streamName, gocql.UUIDFromTime(at), float64(i), strings.Repeat("x", 60)}
			r, err := measurements.Insert(row).Internal().Render(at.UnixMicro(), nil)
			if err != nil {
				return err
			}
			key := string(r.Mutations[0].PartitionKey)
			if pending[key] = append(pending[key], r.Mutations[0]); len(pending[key]) == size {
				if err := st.send(ctx, pending[key]); err != nil {
					return err
				}
				delete(pending, key)
			}
		}
		for _, batch := range pending {
			if err := st.send(ctx, batch); err != nil {
				return err
			}
		}
		progress("rows of hour %d of %d", h+1, hours)
		return nil
	})
}

func (st *stream) send(ctx context.Context, batch []entity.Mutation) error {
	var err error
	for range 5 {
		b := st.session.Writes().NewBatch(gocql.UnloggedBatch).WithContext(ctx)
		for i := range batch {
			b.Entries = append(b.Entries, gocql.BatchEntry{Stmt: batch[i].Statement, Args: batch[i].Args, Idempotent: true})
		}
		if err = st.session.Writes().ExecuteBatch(b); err == nil || ctx.Err() != nil {
			return err
		}
	}
	return err
}

// hour is the text of hour n.
func (st *stream) hour(n int) string {
	return begins.Add(time.Duration(n) * time.Hour).Format("2006-01-02-15")
}

// all is the query of the whole stream.
func (st *stream) all() reader.Query[Measurement] {
	return reader.From(measurements, "measurements").Eq("stream", streamName).GtOrEq("ts", begins).Lt("ts", begins.Add(hours*time.Hour))
}
