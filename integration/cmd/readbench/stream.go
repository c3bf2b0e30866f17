package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/denorm-go/denorm/internal/entity"
	"github.com/denorm-go/denorm/reader"
	"github.com/denorm-go/denorm/session"
	"github.com/denorm-go/denorm/tables"
	"github.com/gocql/gocql"
)

const (
	hours   = 24
	buckets = 10
	name    = "plant-7"
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

const schema = `CREATE TABLE IF NOT EXISTS %s.measurements (stream text, hour text, bucket int, ts timeuuid, value double, note text,
	PRIMARY KEY ((stream, hour, bucket), ts)) WITH CLUSTERING ORDER BY (ts DESC)`

// stream is the data on a cluster.
type stream struct {
	settings
	session *session.Session
	reader  *reader.Reader
	from    time.Time
	drop    bool
}

// begins is the first moment of the stream.
var begins = time.Date(2024, 5, 1, 0, 0, 0, 0, time.UTC)

func openStream(ctx context.Context, hosts []string, s settings) (*stream, error) {
	st := &stream{settings: s, from: begins}
	admin := gocql.NewCluster(hosts...)
	admin.ProtoVersion, admin.Timeout, admin.ConnectTimeout = 4, time.Minute, time.Minute
	creates, err := admin.CreateSession()
	if err != nil {
		return nil, err
	}
	defer creates.Close()
	if st.keyspace == "" {
		st.keyspace, st.drop = fmt.Sprintf("readbench_%d", time.Now().Unix()), true
	}
	for _, statement := range []string{
		fmt.Sprintf(`CREATE KEYSPACE IF NOT EXISTS %s WITH replication = {'class': 'NetworkTopologyStrategy', 'replication_factor': %d}`,
			st.keyspace, min(3, len(hosts))),
		fmt.Sprintf(schema, st.keyspace),
	} {
		if err := creates.Query(statement).WithContext(ctx).Exec(); err != nil {
			return nil, err
		}
	}
	config := gocql.NewCluster(hosts...)
	config.Keyspace = st.keyspace
	patient := session.Adjust(func(c *gocql.ClusterConfig) { c.ConnectTimeout = time.Minute })
	if st.session, err = session.Open(config, patient); err != nil {
		return nil, err
	}
	if st.reader, err = reader.New(st.session); err != nil {
		return nil, err
	}
	return st, st.load(ctx)
}

func (st *stream) close() {
	if st.drop {
		_ = st.session.Reads().Query("DROP KEYSPACE " + st.keyspace).Exec()
	}
	st.session.Close()
}

// load writes the rows, those of one partition in batches, unless they are there.
func (st *stream) load(ctx context.Context) error {
	var last gocql.UUID
	err := st.session.Reads().Query(`SELECT ts FROM measurements WHERE stream = ? AND hour = ? AND bucket = 0 LIMIT 1`, name,
		st.from.Format("2006-01-02-15")).WithContext(ctx).Scan(&last)
	if err == nil {
		return nil
	}
	if !errors.Is(err, gocql.ErrNotFound) {
		return err
	}
	const size = 100
	batches := make(chan []entity.Mutation)
	var wg sync.WaitGroup
	var failed atomic.Pointer[error]
	for range 8 {
		wg.Go(func() {
			for batch := range batches {
				if err := st.send(ctx, batch); err != nil {
					failed.Store(&err)
				}
			}
		})
	}
	pending := make(map[string][]entity.Mutation)
	step := hours * time.Hour / time.Duration(st.rows)
	for i := range st.rows {
		at := st.from.Add(time.Duration(i) * step)
		row := Measurement{name, gocql.UUIDFromTime(at), float64(i), strings.Repeat("x", 60)}
		r, err := measurements.Insert(row).Internal().Render(at.UnixMicro(), nil)
		if err != nil {
			return err
		}
		key := string(r.Mutations[0].PartitionKey)
		if pending[key] = append(pending[key], r.Mutations[0]); len(pending[key]) == size {
			batches <- pending[key]
			delete(pending, key)
		}
		if failed.Load() != nil || ctx.Err() != nil {
			break
		}
		if i%100_000 == 0 {
			fmt.Fprintf(os.Stderr, "readbench: %d of %d rows\n", i, st.rows)
		}
	}
	for _, batch := range pending {
		batches <- batch
	}
	close(batches)
	wg.Wait()
	if err := failed.Load(); err != nil {
		return *err
	}
	return ctx.Err()
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
	return st.from.Add(time.Duration(n) * time.Hour).Format("2006-01-02-15")
}

// all is the query of the whole stream.
func (st *stream) all() reader.Query[Measurement] {
	return reader.From(measurements, "measurements").Eq("stream", name).GtOrEq("ts", st.from).Lt("ts", st.from.Add(hours*time.Hour))
}
