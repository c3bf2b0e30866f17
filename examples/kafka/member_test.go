package kafka

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/gocql/gocql"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/denorm-go/denorm/cassandratest"
	"github.com/denorm-go/denorm/session"
	"github.com/denorm-go/denorm/writer"
)

// nodes are in this process: it gives their session and a writer.
func nodes(t *testing.T) (*cassandratest.Cluster, *session.Session, *writer.Writer) {
	t.Helper()
	c := cassandratest.Start(t, 1)
	c.Create(Schema.In(map[string]string{"": "shop"}).Statements()...)
	config := c.Config()
	config.Keyspace = "shop"
	s, err := session.Open(config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	w, err := writer.New(s)
	if err != nil {
		t.Fatal(err)
	}
	return c, s, w
}

// begin starts a consumer, and gives its error when the test calls the function.
func begin(t *testing.T, broker *kfake.Cluster, w *writer.Writer) (end func() error) {
	t.Helper()
	client, err := kgo.NewClient(append(Options(group, topic), kgo.SeedBrokers(broker.ListenAddrs()...))...)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- Consume(ctx, client, w, slog.New(slog.DiscardHandler)) }()
	end = func() error {
		cancel()
		err := <-ended
		client.CloseAllowingRebalance()
		return err
	}
	return end
}

// The group puts a consumer out while it writes, as after a pause of the process, and takes it in again with the same
// partitions. It goes on after the records that it had polled, so all of these have to be written.
func TestConsumerIsPutOut(t *testing.T) {
	const some = 3_000
	was := *records
	*records = some
	defer func() { *records = was }()
	c, s, w := nodes(t)
	broker, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.SeedTopics(partitions, topic))
	if err != nil {
		t.Fatal(err)
	}
	defer broker.Close()
	want := produce(t, broker)
	slow := c.When(cassandratest.Table("shipments", "shipments_by_customer")).Do(cassandratest.Delay(100 * time.Millisecond))
	end := begin(t, broker, w)
	lags := watch(t, broker)
	lags.await(some - 1) // it writes
	groups, err := lags.admin.DescribeGroups(t.Context(), group)
	if err != nil || len(groups[group].Members) != 1 {
		t.Fatal(groups, err)
	}
	leave := kmsg.NewPtrLeaveGroupRequest()
	leave.Group = group
	leave.Members = []kmsg.LeaveGroupRequestMember{{MemberID: groups[group].Members[0].MemberID}}
	if answer, err := leave.RequestWith(t.Context(), lags.client); err != nil || answer.ErrorCode != 0 {
		t.Fatal(answer, err)
	}
	time.Sleep(1500 * time.Millisecond) // a commit is rejected
	slow.End()
	wrong := func() (n int) {
		for id, row := range want {
			var state string
			err := s.Reads().Query(`SELECT state FROM shipments WHERE shipment_id = ?`, id).Scan(&state)
			if err != nil && !errors.Is(err, gocql.ErrNotFound) {
				t.Fatal(err)
			}
			if state != row.State {
				n++
			}
		}
		return n
	}
	for deadline := time.Now().Add(time.Minute); wrong() > 0 && time.Now().Before(deadline); {
		time.Sleep(100 * time.Millisecond)
	}
	if err := end(); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if n := wrong(); n > 0 {
		t.Errorf("%d of %d shipments are not as their last record says", n, len(want))
	}
}

// A record that decodes and that no writer takes is left out like one that does not decode: no later consumer would
// write it either, and the records after it wait.
func TestConsumerLeavesOutWhatCannotBeWritten(t *testing.T) {
	_, s, w := nodes(t)
	broker, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.SeedTopics(1, topic))
	if err != nil {
		t.Fatal(err)
	}
	defer broker.Close()
	lags := watch(t, broker)
	id := gocql.MustRandomUUID()
	values := []string{
		`{"at":"2026-01-01T00:00:00Z"}`,
		`{"at":"1970-01-01T00:00:01Z","shipment":{"ShipmentID":"` + id.String() + `","Customer":"c"}}`,
		`{"at":"2026-01-01T00:00:00Z","shipment":{"ShipmentID":"` + id.String() + `","Customer":"","State":"s"}}`,
		`{"at":"2026-01-01T00:00:00Z","shipment":{"ShipmentID":"` + id.String() + `","Customer":"c","State":"s"}}`,
	}
	for _, value := range values {
		if err := lags.client.ProduceSync(t.Context(), &kgo.Record{Topic: topic, Value: []byte(value)}).FirstErr(); err != nil {
			t.Fatal(err)
		}
	}
	end := begin(t, broker, w)
	committed := func() int64 {
		all, err := lags.admin.FetchOffsets(t.Context(), group)
		if err != nil {
			return -1 // there is no group yet
		}
		o, _ := all.Lookup(topic, 0)
		return o.At
	}
	for deadline := time.Now().Add(time.Minute); committed() != int64(len(values)) && time.Now().Before(deadline); {
		time.Sleep(50 * time.Millisecond)
	}
	if err := end(); !errors.Is(err, context.Canceled) {
		t.Errorf("the process ends, and so does the one in its place: %v", err)
	}
	var state string
	if err := s.Reads().Query(`SELECT state FROM shipments WHERE shipment_id = ?`, id).Scan(&state); err != nil || state != "s" {
		t.Errorf("%q %v", state, err)
	}
	if at := committed(); at != int64(len(values)) {
		t.Errorf("committed %d", at)
	}
}
