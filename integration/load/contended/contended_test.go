package contended_test

import (
	"errors"
	"flag"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/integration/harness/parallel"
	"github.com/denorm-go/denorm/integration/load/contended"
	"github.com/denorm-go/denorm/integration/suite/nodes"
	"github.com/denorm-go/denorm/internal/testutil/suite"
	"github.com/denorm-go/denorm/internal/testutil/testsession"
	"github.com/denorm-go/denorm/session"
	"github.com/denorm-go/denorm/writer"
)

var long = flag.Bool("long", false, "run loads at full length")

const (
	writers = 16
	contend = 100 // orders
	skew    = 500 * time.Millisecond
)

func length(short, full time.Duration) time.Duration {
	if *long {
		return full
	}
	return short
}

// clients are writers of processes whose clocks are wrong by up to skew, half of them behind.
func clients(t *testing.T, p *suite.Place, skewed bool) []contended.Client {
	t.Helper()
	var out []contended.Client
	var client *session.Session
	for i := range writers {
		if i%4 == 0 {
			client = testsession.New(t, p.Connect(t), p.Session.Reads())
		}
		ahead := time.Duration(0)
		if skewed {
			ahead = skew * time.Duration(2*i-writers+1) / (writers - 1)
		}
		w, err := writer.New(client, writer.WithClock(writer.NewClock(func() time.Time { return time.Now().Add(ahead) })))
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, contended.Library{Writer: w})
	}
	return out
}

func create(t *testing.T, p *suite.Place) []gocql.UUID {
	t.Helper()
	ids := make([]gocql.UUID, contend)
	err := parallel.Do(writers, contend, func(i int) error {
		ids[i] = gocql.MustRandomUUID()
		_, err := p.Writer.Write(t.Context(), "createOrder", contended.Orders.Insert(contended.Order{OrderID: ids[i], Status: "new"}))
		return errors.Join(err, insertByHand(p.Session.Reads(), ids[i]))
	})
	if err != nil {
		t.Fatal(err)
	}
	return ids
}

// insertByHand inserts an order into the tables by hand.
func insertByHand(s *gocql.Session, id gocql.UUID) error {
	version := gocql.TimeUUID()
	for _, table := range []string{"hand_by_id", "hand_by_status"} {
		if err := s.Query("INSERT INTO "+table+" (order_id, status, changes, version) VALUES (?, 'new', 0, ?)", id, version).Exec(); err != nil {
			return err
		}
	}
	return nil
}

// Sixteen writers with skewed clocks move the same hundred orders, and one change in twenty is of a client that dies in
// the middle: no ghost, no missing row, no lost update.
func TestContendedOrders(t *testing.T) {
	p := nodes.Cassandra.Open(t, 3, contended.Schema...)
	orders := create(t, p)
	d := length(5*time.Second, time.Minute)
	tally := contended.Run(t.Context(), clients(t, p, true), orders, d, 20)
	if err := contended.Finish(t.Context(), p.Writer, orders); err != nil {
		t.Fatal(err)
	}
	found, err := contended.Check(t.Context(), p.Session.Reads(), tally, "orders_by_id", "orders_by_status")
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%v: %d acknowledged (%.0f a second), %d unknown, %d surely not applied, %d clients killed; %v", d, tally.Acknowledged.Load(),
		float64(tally.Acknowledged.Load())/d.Seconds(), tally.Unknown.Load(), tally.Refused.Load(), tally.Killed.Load(), found)
	if found != (contended.Findings{}) {
		t.Errorf("found %v", found)
	}
	if tally.Acknowledged.Load() == 0 || tally.Killed.Load() == 0 {
		t.Error("no change, or no client killed")
	}
}

// The same load without faults, by the library and by hand, in turns: what versions cost, and what doing without them
// does.
func TestContendedOrdersByHand(t *testing.T) {
	p := nodes.Cassandra.Open(t, 3, contended.Schema...)
	orders := create(t, p)
	rounds, d := 2, length(3*time.Second, 10*time.Second)
	if *long {
		rounds = 6
	}
	library := clients(t, p, false)
	var hand []contended.Client
	for range writers / 4 {
		client := testsession.New(t, p.Connect(t), p.Session.Reads())
		for range 4 {
			hand = append(hand, contended.Hand{Writes: client.Writes(), Reads: client.Reads()})
		}
	}
	var byLibrary, byHand, unknownLibrary, unknownHand int64
	for round := range 2 * rounds {
		if round%2 == 0 {
			tally := contended.Run(t.Context(), library, orders, d, 0)
			byLibrary, unknownLibrary = byLibrary+tally.Acknowledged.Load(), unknownLibrary+tally.Unknown.Load()
		} else {
			tally := contended.Run(t.Context(), hand, orders, d, 0)
			byHand, unknownHand = byHand+tally.Acknowledged.Load(), unknownHand+tally.Unknown.Load()
		}
	}
	if err := contended.Finish(t.Context(), p.Writer, orders); err != nil {
		t.Fatal(err)
	}
	none := new(contended.Tally)
	found, err := contended.Check(t.Context(), p.Session.Reads(), none, "orders_by_id", "orders_by_status")
	if err != nil {
		t.Fatal(err)
	}
	foundHand, err := contended.Check(t.Context(), p.Session.Reads(), none, "hand_by_id", "hand_by_status")
	if err != nil {
		t.Fatal(err)
	}
	seconds := d.Seconds() * float64(rounds)
	t.Logf("committed a second: %.1f by the library (%d unknown), %.1f by hand (%d unknown): %.2f times; library: %v; by hand: %v",
		float64(byLibrary)/seconds, unknownLibrary, float64(byHand)/seconds, unknownHand, float64(byLibrary)/float64(max(1, byHand)), found, foundHand)
	if found != (contended.Findings{}) {
		t.Errorf("found %v", found)
	}
	for range 20 {
		collide(t, p)
	}
}

// collide moves an open order by two requests that have both read it as open. Both are acknowledged, and it is then
// listed twice.
func collide(t *testing.T, p *suite.Place) {
	t.Helper()
	hand := contended.Hand{Writes: p.Session.Writes()}
	read := contended.Order{OrderID: gocql.MustRandomUUID(), Status: "open", Version: gocql.TimeUUID()}
	if err := hand.Move(t.Context(), read, read); err != nil {
		t.Fatal(err)
	}
	var requests sync.WaitGroup
	for _, status := range []string{"paid", "cancelled"} {
		requests.Go(func() {
			moved := read
			moved.Status = status
			if err := hand.Move(t.Context(), read, moved); err != nil {
				t.Error(err)
			}
		})
	}
	requests.Wait()
	var listed []string
	iter := p.Session.Reads().Query("SELECT status FROM hand_by_status WHERE status IN ('open', 'paid', 'cancelled') AND order_id = ?", read.OrderID).
		Consistency(gocql.All).Iter()
	for status := ""; iter.Scan(&status); {
		listed = append(listed, status)
	}
	if err := iter.Close(); err != nil {
		t.Fatal(err)
	}
	if slices.Sort(listed); !slices.Equal(listed, []string{"cancelled", "paid"}) {
		t.Errorf("listed as %q: the README says that two requests by hand leave an order under both of their statuses", listed)
	}
}
