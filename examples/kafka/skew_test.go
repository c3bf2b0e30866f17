package kafka

import (
	"context"
	"encoding/json"
	"log/slog"
	"testing"
	"time"

	"github.com/gocql/gocql"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/denorm-go/denorm/cassandratest"
	"github.com/denorm-go/denorm/session"
	"github.com/denorm-go/denorm/writer"
	"github.com/denorm-go/denorm/writer/bulk"
)

// An event that is ahead of this clock is not left out: it holds its partition until it is written. One before 1990 is
// written by nobody.
func TestEventOfAnotherClock(t *testing.T) {
	cassandratest.Test(t, 1, func(t *testing.T, c *cassandratest.Cluster) {
		c.Create(Schema.In(map[string]string{"": "shop"}).Statements()...)
		config := c.Config()
		config.Keyspace = "shop"
		s, err := session.Open(config)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		w, err := writer.New(s)
		if err != nil {
			t.Fatal(err)
		}
		for at, want := range map[time.Time]int64{time.Now().Add(15 * time.Second): -1, time.Unix(0, 0): 1} {
			var records []*kgo.Record
			for offset, at := range []time.Time{at, time.Now()} {
				value, err := json.Marshal(Event{Shipment: Shipment{ShipmentID: gocql.MustRandomUUID(), Customer: "ann"}, At: at})
				if err != nil {
					t.Fatal(err)
				}
				records = append(records, &kgo.Record{Offset: int64(offset), Value: value})
			}
			fetches := kgo.Fetches{{Topics: []kgo.FetchTopic{{Partitions: []kgo.FetchPartition{{Records: records}}}}}}
			saved := int64(-1)
			run := bulk.WriteAll(t.Context(), w, op, items(fetches, w, slog.New(slog.DiscardHandler)), bulk.Checkpoint(func(_ context.Context, _ string, up int64) error {
				saved = up
				return nil
			}))
			for range run.All() { // what it gives is in saved
			}
			if saved != want || (run.Err() == nil) != (want == 1) {
				t.Errorf("event of %v: committed up to %d, want %d: %v", at, saved, want, run.Err())
			}
		}
	})
}
