package reconcile_test

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/cassandratest"
	"github.com/denorm-go/denorm/reconcile"
	"github.com/denorm-go/denorm/tables"
	"github.com/denorm-go/denorm/writer"
)

type ticket struct {
	ID      int
	Agent   string
	Text    string
	Version gocql.UUID
}

var tickets = tables.Must(tables.New[ticket]("ticket",
	tables.Table{Name: "tickets", PartKey: []string{"id"}},
	tables.Table{Name: "tickets_by_agent", PartKey: []string{"agent"}, SortKey: []string{"id"}},
	tables.Versioned("version"),
))

// Tables of a set with Versioned are verified next to transactions, and repaired: writes that their clients have left
// are finished, rows that are missing are put at the version, and rows that the base table explains are removed. Of
// what it does not remember, a person decides.
func TestVersioned(t *testing.T) {
	t.Parallel()
	cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
		s, w, r := openSet(t, c, tickets, handed)
		exec := func(statement string, values ...any) {
			t.Helper()
			if err := s.Writes().Query(statement, values...).DefaultTimestamp(false).Exec(); err != nil {
				t.Fatal(err)
			}
		}
		write := func(change tables.Change) gocql.UUID {
			t.Helper()
			res, err := w.Write(t.Context(), "ticket", change)
			if err != nil {
				t.Fatal(err)
			}
			return res.Version
		}
		all := make([]ticket, 8)
		for i := range all {
			all[i] = ticket{ID: i, Agent: "ada", Text: "broken"}
			all[i].Version = write(tickets.Insert(all[i]))
		}
		moved := func(o ticket) ticket { o.Agent = "bob"; return o }
		now := time.Now().UnixMicro()
		// 0: the client of a move dies after its transaction.
		dead := c.When(cassandratest.Table("tickets_by_agent")).Do(cassandratest.Drop)
		if _, err := w.With(writer.Timeout(3*time.Second)).Write(t.Context(), "ticket", tickets.Update(all[0], moved(all[0]))); err == nil {
			t.Fatal("no table was lost")
		}
		// 1: and that of a delete.
		if _, err := w.With(writer.Timeout(3*time.Second)).Write(t.Context(), "ticket", tickets.Delete(all[1])); err == nil {
			t.Fatal("no table was lost")
		}
		dead.End()
		// 2: a ghost that is older. 3: one of a deleted entity. 4: an orphan of an entity that never was.
		exec("INSERT INTO tickets_by_agent (agent, id, text) VALUES ('eve', 2, 'x') USING TIMESTAMP ?", now-1_000_000)
		write(tickets.Delete(all[3]))
		exec("INSERT INTO tickets_by_agent (agent, id, text) VALUES ('eve', 3, 'x') USING TIMESTAMP ?", now-1_000_000)
		exec("INSERT INTO tickets_by_agent (agent, id, text) VALUES ('eve', 99, 'x') USING TIMESTAMP ?", now-1_000_000)
		<-time.After(10 * time.Minute)
		verify := func() []string {
			t.Helper()
			report, err := r.Verify(t.Context(), tickets)
			if err != nil && !errors.Is(err, reconcile.ErrDrift) {
				t.Fatal(err)
			}
			var found []string
			for f := range report.Findings() {
				found = append(found, fmt.Sprintf("%s %s %s", f.Class, f.Key(), f.Certainty))
			}
			slices.Sort(found)
			return found
		}
		want := []string{
			"ghost agent = 'ada' AND id = 0 settled",
			"ghost agent = 'eve' AND id = 2 proven",
			"missing agent = 'bob' AND id = 0 settled",
			"orphan agent = 'ada' AND id = 1 settled",
			"orphan agent = 'eve' AND id = 3 proven",
			"orphan agent = 'eve' AND id = 99 proven",
		}
		if got := verify(); !slices.Equal(got, want) {
			t.Errorf("found\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
		report, err := r.Repair(t.Context(), tickets)
		if left := slices.Collect(report.Findings()); !errors.Is(err, reconcile.ErrDrift) || !slices.ContainsFunc(left, func(f reconcile.Finding) bool {
			return f.Entity() == "id = 99" && f.Outcome == reconcile.Found && strings.Contains(f.Reason, "at its own time")
		}) {
			t.Fatalf("%v\n%v", err, report)
		}
		if got := verify(); !slices.Equal(got, want[5:]) {
			t.Errorf("after the repair: %v", got)
		}
		exec("DELETE FROM tickets_by_agent USING TIMESTAMP ? WHERE agent = 'eve' AND id = 99", now-1_000_000)
		// A query table that was truncated is filled again.
		exec("TRUNCATE tickets_by_agent")
		if got := verify(); len(got) != 6 {
			t.Errorf("after a TRUNCATE: %v", got)
		}
		if report, err := r.Repair(t.Context(), tickets); err != nil {
			t.Fatalf("%v\n%v", err, report)
		}
		var ids []int
		iter := s.Reads().Query("SELECT id FROM tickets_by_agent WHERE agent IN ('ada', 'bob', 'eve')").Iter()
		for id := 0; iter.Scan(&id); {
			ids = append(ids, id)
		}
		if err := iter.Close(); err != nil {
			t.Fatal(err)
		}
		if slices.Sort(ids); !slices.Equal(ids, []int{0, 2, 4, 5, 6, 7}) {
			t.Errorf("the tickets of agents are %v", ids)
		}
	})
}

// No write in flight is taken for a difference, though its rows come seconds after its transaction.
func TestVersionedNextToWriters(t *testing.T) {
	t.Parallel()
	cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
		_, w, r := openSet(t, c, tickets, reconcile.Settle(3*time.Second))
		late := c.When(cassandratest.Execute, cassandratest.Text("INSERT INTO shop.tickets_by_agent")).Do(cassandratest.Delay(300 * time.Millisecond))
		over := make(chan struct{})
		var writers sync.WaitGroup
		var writes atomic.Int32
		for id := range 4 {
			writers.Go(func() {
				o := ticket{ID: id, Agent: "0"}
				res, err := w.Write(t.Context(), "ticket", tickets.Insert(o))
				for n := 1; ; n++ {
					if err != nil {
						t.Error(err)
						return
					}
					writes.Add(1)
					o.Version = res.Version
					select {
					case <-over:
						return
					case <-time.After(time.Duration(n%5) * 100 * time.Millisecond):
					}
					next := o
					next.Agent = strconv.Itoa(n % 7)
					res, err = w.Write(t.Context(), "ticket", tickets.Update(o, next))
					o = next
				}
			})
		}
		explained := 0
		for range 10 {
			report, err := r.Verify(t.Context(), tickets)
			if err != nil {
				t.Errorf("%v\n%v", err, report)
			}
			explained += report.InFlight
		}
		close(over)
		writers.Wait()
		if writes.Load() < 50 || late.Handled() < 50 || explained == 0 {
			t.Errorf("%d writes, %d rows late, %d differences explained by them", writes.Load(), late.Handled(), explained)
		}
	})
}
