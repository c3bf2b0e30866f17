package kafka

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"log/slog"
	"maps"
	"path/filepath"
	"testing"
	"time"

	"github.com/gocql/gocql"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/denorm-go/denorm/integration/harness/child"
	"github.com/denorm-go/denorm/integration/harness/cluster"
	"github.com/denorm-go/denorm/session"
	"github.com/denorm-go/denorm/writer"
)

var records = flag.Int("records", 40_000, "records of the topic")

// process is a consumer of its own.
type process struct {
	Brokers  []string `json:"brokers"`
	Hosts    []string `json:"hosts"`
	Keyspace string   `json:"keyspace"`
	Journal  string   `json:"journal"` // the file in which it notes what it has written
}

func TestMain(m *testing.M) {
	var p process
	child.Main(m, &p, p.run)
}

const (
	topic      = "shipments"
	group      = "tables"
	partitions = 6
)

func (p *process) run(ctx context.Context) error {
	config := gocql.NewCluster(p.Hosts...)
	config.Keyspace = p.Keyspace
	s, err := session.Open(config, session.LocalDC("dc1"))
	if err != nil {
		return err
	}
	defer s.Close()
	w, err := writer.New(s, writer.Timeout(10*time.Second))
	if err != nil {
		return err
	}
	client, err := kgo.NewClient(append(Options(group, topic), kgo.SeedBrokers(p.Brokers...), kgo.SessionTimeout(6*time.Second),
		kgo.HeartbeatInterval(time.Second), kgo.RebalanceTimeout(20*time.Second))...)
	if err != nil {
		return err
	}
	defer client.CloseAllowingRebalance()
	notes, err := newJournal(p.Journal)
	if err != nil {
		return err
	}
	if err := Consume(ctx, client, w, slog.New(notes)); ctx.Err() == nil {
		return err
	}
	return nil
}

// Two consumers share a topic. One is killed three times and started again: partitions move each time, and records are
// written twice. In the end the tables are as if each record had come once, in order.
func TestConsumersAreKilled(t *testing.T) {
	keyspace := cluster.Keyspace(t, 3, Schema.Statements()...)
	broker, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.SeedTopics(partitions, topic))
	if err != nil {
		t.Fatal(err)
	}
	defer broker.Close()
	want := produce(t, broker)
	p := process{Brokers: broker.ListenAddrs(), Hosts: cluster.Hosts(t), Keyspace: keyspace}
	var journals []string // of each process
	start := func() *child.Child {
		p.Journal = filepath.Join(t.TempDir(), "journal")
		journals = append(journals, p.Journal)
		c, err := child.Start(p)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	begun := time.Now()
	second, first := start(), start()
	lags := watch(t, broker)
	for kill := range 3 {
		lags.await(*records - (kill+1)**records/5) // while the rest is still to be written
		awaitGrowth(t, journals[len(journals)-1])  // it has partitions, and has written what is not committed
		if err := first.Kill(); err != nil {
			t.Fatal(err)
		}
		first = start()
	}
	lags.await(0)
	for _, c := range []*child.Child{first, second} {
		if err := c.End(); err != nil {
			t.Error(err)
		}
	}
	t.Logf("%d records, a consumer killed three times, in %.1f s", *records, time.Since(begun).Seconds())
	compareJournals(t, journals)
	s := cluster.Session(t, keyspace, func(c *gocql.ClusterConfig) { c.Consistency, c.Timeout = gocql.All, time.Minute })
	for _, table := range []string{"shipments", "shipments_by_customer"} {
		got := make(map[gocql.UUID]Shipment)
		var row Shipment
		iter := s.Query(`SELECT shipment_id, customer, state, place FROM ` + table).PageSize(1000).Iter()
		for iter.Scan(&row.ShipmentID, &row.Customer, &row.State, &row.Place) {
			got[row.ShipmentID] = row
		}
		if err := iter.Close(); err != nil {
			t.Fatal(err)
		}
		if !maps.Equal(got, want) {
			t.Errorf("%s has %d rows, want %d, or some differ", table, len(got), len(want))
		}
	}
}

// compareJournals finds that every record was written, that each process which was killed has given its partitions to
// others, and that records were written twice.
func compareJournals(t *testing.T, journals []string) {
	t.Helper()
	writers := make(map[note]int)                    // of each record
	owners := make([]map[string]bool, len(journals)) // the partitions of each process
	for n, path := range journals {
		owners[n] = make(map[string]bool)
		for _, r := range readJournal(t, path) {
			writers[r]++
			owners[n][r.partition] = true
		}
	}
	twice := 0
	for _, n := range writers {
		if n > 1 {
			twice++
		}
	}
	if len(writers) != *records || twice == 0 {
		t.Errorf("%d of %d records were written, %d of them more than once", len(writers), *records, twice)
	}
	for n := 1; n < len(owners)-1; n++ { // those that were killed
		moved := 0
		for partition := range owners[n] {
			if owners[0][partition] || owners[n+1][partition] {
				moved++
			}
		}
		if moved == 0 {
			t.Errorf("no partition of the process that was killed as number %d went to another", n)
		}
	}
	t.Logf("%d records were written more than once; partitions by process: %v", twice, owners)
}

// produce fills the topic with the lives of shipments, and gives those that are there in the end.
func produce(t *testing.T, broker *kfake.Cluster) map[gocql.UUID]Shipment {
	t.Helper()
	client, err := kgo.NewClient(kgo.SeedBrokers(broker.ListenAddrs()...), kgo.DefaultProduceTopic(topic))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	want, at := make(map[gocql.UUID]Shipment), time.Now().Add(-time.Hour).Truncate(time.Millisecond)
	const stages, block = 5, 500 // shipments at a time, each of which has its whole life
	rows := make([]Shipment, block)
	for n := range *records {
		stage := n / block % stages
		row := &rows[n%block]
		if stage == 0 {
			*row = Shipment{ShipmentID: gocql.MustRandomUUID(), Customer: fmt.Sprintf("customer %d", n%300)}
		}
		row.State, row.Place = fmt.Sprintf("stage %d", stage), fmt.Sprintf("place %d", n)
		e := Event{Shipment: *row, At: at.Add(time.Duration(n) * time.Microsecond), Gone: stage == stages-1 && n%7 == 0}
		value, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		client.Produce(t.Context(), &kgo.Record{Key: e.Shipment.ShipmentID.Bytes(), Value: value}, func(_ *kgo.Record, err error) {
			if err != nil {
				t.Error(err)
			}
		})
		if want[row.ShipmentID] = *row; e.Gone {
			delete(want, row.ShipmentID)
		}
	}
	if err := client.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	return want
}

// lag is how many records are not committed.
type lag struct {
	t      *testing.T
	client *kgo.Client
	admin  *kadm.Client
}

func watch(t *testing.T, broker *kfake.Cluster) *lag {
	t.Helper()
	client, err := kgo.NewClient(kgo.SeedBrokers(broker.ListenAddrs()...))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	return &lag{t, client, kadm.NewClient(client)}
}

// await waits until at most so many are left.
func (l *lag) await(most int) {
	l.t.Helper()
	for deadline := time.Now().Add(20 * time.Minute); ; <-time.After(50 * time.Millisecond) {
		committed, err := l.admin.FetchOffsets(l.t.Context(), group)
		left := *records
		committed.Each(func(o kadm.OffsetResponse) { left -= int(o.At) })
		if err == nil && left <= most {
			return
		}
		if time.Now().After(deadline) {
			l.t.Fatalf("%d records are not committed: %v", left, err)
		}
	}
}
