package writer_test

import (
	"errors"
	"testing"
	"time"

	"github.com/denorm-go/denorm/cassandratest"
	"github.com/denorm-go/denorm/retry"
	"github.com/denorm-go/denorm/session"
	"github.com/denorm-go/denorm/writer"
	"github.com/gocql/gocql"
)

// seats is a slot that alice takes by a change of one attempt.
type seats struct {
	*service
	free slot
	take func(...writer.Option) error
}

func startSeats(t *testing.T, c *cassandratest.Cluster) seats {
	t.Helper()
	s := start(t, c)
	_, written := s.w.Write(t.Context(), "open", slots.Insert(slot{SlotID: "a"}))
	free, unread := writer.Load(t.Context(), s.w, "show", slots, slot{SlotID: "a"})
	if err := errors.Join(written, unread); err != nil {
		t.Fatal(err)
	}
	mine := free
	mine.Holder = "alice"
	once := s.w.With(writer.Retry(retry.Policy{MaxAttempts: 1, AttemptTimeout: time.Second}))
	return seats{s, free, func(options ...writer.Option) error {
		_, err := once.With(options...).Write(t.Context(), "take", slots.Update(free, mine))
		return err
	}}
}

// holder is whose the slot is, as a read at SERIAL shows it.
func (s seats) holder(t *testing.T) (holder string) {
	t.Helper()
	text := "SELECT holder FROM slots WHERE slot_id = 'a'"
	if err := s.reads.Query(text).Consistency(gocql.Consistency(gocql.Serial)).Scan(&holder); err != nil {
		t.Fatal(err)
	}
	return holder
}

// A condition whose replicas have no quorum at SERIAL is not applied, and stays so when they are back.
func TestNoQuorumForACondition(t *testing.T) {
	t.Parallel()
	cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
		s := startSeats(t, c)
		for _, n := range []int{2, 3} {
			c.Node(n).Stop()
		}
		time.Sleep(15 * time.Second) // until the first node takes the others to be down
		err := s.take()
		var unavailable *gocql.RequestErrUnavailable
		if !errors.As(err, &unavailable) || unavailable.Consistency != gocql.Consistency(gocql.Serial) {
			t.Fatalf("want UNAVAILABLE at SERIAL: %v", err)
		}
		if failed := failedWrite(t, err); !failed.NotApplied() || !failed.Resumable() {
			t.Errorf("not applied %t, to be resumed %t: %v", failed.NotApplied(), failed.Resumable(), err)
		}
		if _, again := s.w.Resume(t.Context(), failedWrite(t, err)); failedWrite(t, again).NotApplied() {
			t.Errorf("a Resume says that nothing was applied: %v", again)
		}
		c.Heal()
		time.Sleep(15 * time.Second)
		if got := s.holder(t); got != "" {
			t.Errorf("the slot is %s's", got)
		}
		if _, err := s.w.Resume(t.Context(), failedWrite(t, err)); err != nil || s.holder(t) != "alice" {
			t.Errorf("Resume: %v, and the slot is %s's", err, s.holder(t))
		}
	})
}

// A condition whose proposal was accepted, and whose commit has no quorum, is unknown: the next round finishes it.
func TestNoQuorumForACommit(t *testing.T) {
	t.Parallel()
	cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
		s := startSeats(t, c)
		c.Node(3).Stop()
		time.Sleep(15 * time.Second)
		err := s.take(writer.Consistency(session.All))
		var unavailable *gocql.RequestErrUnavailable
		if !errors.As(err, &unavailable) || unavailable.Consistency != gocql.All {
			t.Fatalf("want UNAVAILABLE at ALL: %v", err)
		}
		if failed := failedWrite(t, err); failed.NotApplied() || !errors.Is(err, writer.ErrUnknown) {
			t.Errorf("not applied %t: %v", failed.NotApplied(), err)
		}
		if got := s.holder(t); got != "alice" {
			t.Errorf("the slot is %q's", got)
		}
	})
}

// An attempt without an answer stays unknown when the next one finds no quorum.
func TestNoQuorumAfterALostAnswer(t *testing.T) {
	t.Parallel()
	cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
		s := startSeats(t, c)
		none := cassandratest.Fail(cassandratest.Unavailable(gocql.Consistency(gocql.Serial), 2, 1))
		slots := cassandratest.Table("slots")
		c.When(slots, cassandratest.Nth(1)).Do(cassandratest.Propose, cassandratest.Drop)
		c.When(slots).Do(none)
		err := s.take(writer.Retry(retry.Policy{MaxAttempts: 3, AttemptTimeout: time.Second}))
		if failed := failedWrite(t, err); failed.NotApplied() || !errors.Is(err, writer.ErrUnknown) {
			t.Errorf("not applied %t: %v", failed.NotApplied(), err)
		}
	})
}
