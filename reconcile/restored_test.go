package reconcile_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/denorm-go/denorm/cassandratest"
	"github.com/denorm-go/denorm/reconcile"
)

// A query table that was truncated is rebuilt while writers write, and a base table that was restored from an older backup gets back what
// was written since, from the query tables. What was deleted since is Shadowed: a delete in the query tables covers it, and the service
// deletes it again.
func TestTablesThatWereTruncatedOrRestored(t *testing.T) {
	t.Parallel()
	for name, damage := range map[string]func(*desk, []ticketRow){
		"a query table is truncated": func(d *desk, _ []ticketRow) { d.exec("TRUNCATE tickets_by_owner") },
		"the base table is restored": func(d *desk, old []ticketRow) {
			d.exec("TRUNCATE tickets")
			for _, o := range old {
				d.exec("INSERT INTO tickets (ticket_id,owner,state,note,updated_at) VALUES (?,?,?,?,?) USING TIMESTAMP ?",
					o.TicketID, o.Owner, o.State, o.Note, o.UpdatedAt, o.UpdatedAt)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
				d := newDesk(t, c)
				r := rand.New(rand.NewPCG(5, 6))
				for range 200 {
					d.act(newTickets, r)
				}
				backup := d.rows("tickets")
				<-time.After(time.Hour)
				for range 200 {
					d.act(newTickets, r)
				}
				<-time.After(time.Hour)
				damage(d, backup)
				stop := func() {}
				if strings.HasPrefix(name, "a query") { // a service that reads a base table without its newest rows must not write
					stop = d.busy(newTickets, 2)
				}
				var err error
				var report *reconcile.Report
				for range 3 {
					if report, err = d.r.Repair(t.Context(), newTickets, handed, reconcile.MaxRemovals(10_000)); err == nil {
						break
					}
				}
				stop()
				<-time.After(time.Minute)
				shadowed := make(map[string]bool)
				for f := range report.Findings() {
					if f.Outcome == reconcile.Shadowed {
						shadowed[f.Entity()] = true
					} else if f.Outcome != reconcile.Repaired {
						t.Error(f)
					}
				}
				if deleted := d.deleteAgain(); len(shadowed) != deleted || deleted == 0 && strings.HasPrefix(name, "the base") {
					t.Errorf("%d of %d deleted tickets are shadowed: %v\n%v", len(shadowed), deleted, err, report)
				}
				if wrong := d.wrong(); len(wrong) > 0 {
					t.Errorf("%d faults:\n%s", len(wrong), strings.Join(wrong[:min(9, len(wrong))], "\n"))
				}
				if report, err = d.r.Verify(t.Context(), newTickets); err != nil {
					t.Errorf("%v\n%v", err, report)
				}
			})
		})
	}
}

// deleteAgain deletes the tickets that there are, and should not be.
func (d *desk) deleteAgain() (deleted int) {
	for _, row := range d.rows("tickets") {
		if at, known := d.done[row.TicketID]; known && d.attempted[row.TicketID][at] == nil {
			deleted++
			d.write(row.TicketID, nil, newTickets.Delete(row))
		}
	}
	return deleted
}

// A base table that was damaged ends a repair before it puts much into it, unless that is asked for.
func TestRestoredBaseTableNeedsMaxRemovals(t *testing.T) {
	t.Parallel()
	cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
		d := newDesk(t, c)
		for n := range 200 {
			row := ticketRow{Owner: fmt.Sprint("owner", n), State: "new"}
			row.TicketID[0], row.TicketID[1] = byte(n), 1
			d.write(row.TicketID, &row, newTickets.Insert(row))
		}
		<-time.After(time.Hour)
		d.exec("TRUNCATE tickets")
		if report, err := d.r.Repair(t.Context(), newTickets, handed); !errors.Is(err, reconcile.ErrTooMuch) {
			t.Errorf("%v\n%v", err, report)
		}
		if report, err := d.r.Repair(t.Context(), newTickets, handed, reconcile.MaxRemovals(200)); err != nil {
			t.Errorf("%v\n%v", err, report)
		}
		if wrong := d.wrong(); len(wrong) > 0 {
			t.Errorf("%d faults:\n%s", len(wrong), strings.Join(wrong[:min(9, len(wrong))], "\n"))
		}
	})
}
