// Package kafka keeps the query tables of shipments up to date with a topic: a consumer that writes what it polls with
// bulk.WriteAll.
package kafka

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"log/slog"
	"strconv"
	"time"

	"github.com/gocql/gocql"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/denorm-go/denorm/schema"
	"github.com/denorm-go/denorm/tables"
	"github.com/denorm-go/denorm/writer"
	"github.com/denorm-go/denorm/writer/bulk"
	"github.com/denorm-go/denorm/writer/explain"
)

// Shipment is a row of each of the tables.
type Shipment struct {
	ShipmentID gocql.UUID
	Customer   string
	State      string
	Place      string
}

// Shipments are the tables of a shipment. Its customer never changes.
var Shipments = tables.Must(tables.New[Shipment]("shipment",
	tables.Table{Name: "shipments", PartKey: []string{"shipment_id"}},
	tables.Table{Name: "shipments_by_customer", PartKey: []string{"customer"}, SortKey: []string{"shipment_id"}},
))

// Schema is the tables.
var Schema = schema.Must(schema.Declare(schema.Sets(Shipments)))

// Event is the value of a record, whose key is the id of the shipment: all that is known of it at a time.
type Event struct {
	Shipment Shipment  `json:"shipment"`
	At       time.Time `json:"at"` // of the change, in microseconds: later for each event of a shipment
	Gone     bool      `json:"gone,omitempty"`
}

// Options are what the client of a consumer needs: partitions move to other consumers between two polls only, and
// offsets are committed by Consume.
func Options(group, topic string) []kgo.Opt {
	return []kgo.Opt{kgo.ConsumerGroup(group), kgo.ConsumeTopics(topic), kgo.DisableAutoCommit(), kgo.BlockRebalanceOnPoll()}
}

// written is logged of each record.
const written = "written"

const op = "projectShipment"

// polled is how many records are written between two polls at most: so many are written well within the group's session
// timeout.
const polled = 2_000

// Consume writes the records of the topic until ctx ends, and commits the offsets below which all of a partition are
// written. Its error is why not: then the process ends, and the one that takes its place begins at the committed
// offsets. Each event has its own timestamp, so what is written again changes nothing, be it by two consumers that both
// take a partition for theirs.
func Consume(ctx context.Context, client *kgo.Client, w *writer.Writer, log *slog.Logger) error {
	for {
		fetches := client.PollRecords(ctx, polled)
		if ctx.Err() != nil || fetches.IsClientClosed() {
			return ctx.Err()
		}
		var failed error
		fetches.EachError(func(_ string, _ int32, err error) { failed = errors.Join(failed, err) })
		if failed != nil {
			log.Warn("poll", "error", failed) // the client asks again
		}
		run := bulk.WriteAll(ctx, w, op, items(fetches, w, log), bulk.Checkpoint(commit(client, fetches, log)))
		for done := range run.All() { //nolint:contextcheck // the run has it
			if done.Err != nil {
				log.Error("shipment", "partition", done.Lane, "offset", done.Position, "error", done.Err)
				continue
			}
			log.Debug(written, "partition", done.Lane, "offset", done.Position)
		}
		client.AllowRebalance()
		if err := run.Err(); err != nil {
			return err
		}
	}
}

// items are the changes of the records. A record that is no event is left out, and so is one that no writer takes, such
// as one without a customer: as an item that fails it would keep its partition at the offset before it, in each process
// that begins there.
func items(fetches kgo.Fetches, w *writer.Writer, log *slog.Logger) iter.Seq2[bulk.Item, error] {
	return func(yield func(bulk.Item, error) bool) {
		for record := range fetches.RecordsAll() {
			var e Event
			if err := json.Unmarshal(record.Value, &e); err != nil || e.At.IsZero() {
				log.Error("not an event", "partition", record.Partition, "offset", record.Offset)
				continue
			}
			change := Shipments.Upsert(e.Shipment) // writes the whole row, be it there or not
			if e.Gone {
				change = Shipments.Delete(e.Shipment)
			}
			item := bulk.Item{
				Change: change, At: e.At.UnixMicro(), Lane: strconv.Itoa(int(record.Partition)), Position: record.Offset,
			}
			now := min(item.At, time.Now().UnixMicro()) // an event that is ahead of this clock is valid later: its item fails, and holds its partition
			if _, err := explain.Write(w.With(writer.At(now)), op, change); err != nil {
				log.Error("not a valid event", "partition", record.Partition, "offset", record.Offset, "error", err)
				continue
			}
			if !yield(item, nil) {
				return
			}
		}
	}
}

// commit commits the offset after a record's. That a group rejects it because this consumer is not in it, or not yet,
// is no error, which would end the run: the consumer may get its partitions again, and then it goes on after the
// records that it has polled, so that all of these have to be written. A later commit is of them too. A consumer that
// has got the partitions meanwhile writes them once more.
func commit(client *kgo.Client, fetches kgo.Fetches, log *slog.Logger) func(context.Context, string, int64) error {
	topic := ""
	fetches.EachTopic(func(t kgo.FetchTopic) { topic = t.Topic })
	return func(ctx context.Context, lane string, position int64) (err error) {
		partition, err := strconv.ParseInt(lane, 10, 32)
		if err != nil {
			return err
		}
		offsets := map[string]map[int32]kgo.EpochOffset{topic: {int32(partition): {Epoch: -1, Offset: position + 1}}}
		client.CommitOffsetsSync(ctx, offsets, func(_ *kgo.Client, _ *kmsg.OffsetCommitRequest, answer *kmsg.OffsetCommitResponse, failed error) {
			if err = failed; err != nil {
				return
			}
			for _, t := range answer.Topics {
				for _, p := range t.Partitions {
					err = errors.Join(err, kerr.ErrorForCode(p.ErrorCode))
				}
			}
		})
		if errors.Is(err, kerr.IllegalGeneration) || errors.Is(err, kerr.UnknownMemberID) || errors.Is(err, kerr.RebalanceInProgress) {
			log.Warn("not committed, as the group is sharing the partitions anew", "partition", lane, "offset", position, "error", err)
			return nil
		}
		return err
	}
}
