package reconcile_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/cassandratest"
	"github.com/denorm-go/denorm/examples/orders"
	"github.com/denorm-go/denorm/reconcile"
	"github.com/denorm-go/denorm/tables"
	"github.com/denorm-go/denorm/writer"
)

// A query table that was truncated is rebuilt while writers write, and a base table that was restored from an older
// backup gets back what was written since, from the query tables. What was deleted since is Shadowed: a delete in the
// query tables covers it, and the service deletes it again.
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
				for _, repair := range []reconcile.Option{reconcile.Rewrite(), reconcile.DryRun()} { // as docs/runbook.md has it
					if report, err = d.r.Repair(t.Context(), newTickets, handed, reconcile.MaxRemovals(10_000), repair); err != nil {
						t.Errorf("%v\n%v", err, report)
					}
				}
				if wrong := d.wrong(); len(wrong) > 0 {
					t.Errorf("%d faults after Rewrite:\n%s", len(wrong), strings.Join(wrong[:min(9, len(wrong))], "\n"))
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

// A base table of a set with Versioned was restored, and lacks rows and later versions: the rows of the query table are
// the only copies, so a repair leaves them, and says how to write them through the set.
func TestRestoredVersioned(t *testing.T) {
	t.Parallel()
	cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
		s, w, r := openSet(t, c, tickets)
		write := func(change tables.Change) gocql.UUID {
			t.Helper()
			res, err := w.Write(t.Context(), "ticket", change)
			if err != nil {
				t.Fatal(err)
			}
			return res.Version
		}
		const deleted = 30 // since the backup
		backup := make([]ticket, 31)
		for id := range backup {
			backup[id] = ticket{ID: id, Agent: "ada", Text: "old"}
			backup[id].Version = write(tickets.Insert(backup[id]))
		}
		<-time.After(time.Hour)
		for _, row := range backup[:5] {
			row.Text = "new"
			write(tickets.Update(backup[row.ID], row))
		}
		write(tickets.Delete(backup[deleted]))
		if err := w.Wait(t.Context()); err != nil {
			t.Fatal(err)
		}
		want := rowsOf(t, s, "tickets")
		<-time.After(time.Hour)
		exec := func(statement string, values ...any) {
			t.Helper()
			if err := s.Writes().Query(statement, values...).Exec(); err != nil {
				t.Fatal(err)
			}
		}
		exec("TRUNCATE tickets")
		for _, row := range append(backup[:20:20], backup[deleted]) {
			exec("INSERT INTO tickets (id, agent, text, version, done) VALUES (?, ?, ?, ?, ?)", row.ID, row.Agent, row.Text, row.Version, row.Version)
		}
		c.Node(3).Stop() // a removal would not wait for it
		<-time.After(time.Minute)
		report, err := r.Repair(t.Context(), tickets, handed, reconcile.MaxRemovals(100))
		if !errors.Is(err, reconcile.ErrDrift) {
			t.Errorf("%v\n%v", err, report)
		}
		reasons := map[reconcile.Class]string{reconcile.Orphan: "Insert the entity", reconcile.Newer: "Update the base row to it", reconcile.Missing: "delete the entity again"}
		found := make(map[reconcile.Class]int)
		for f := range report.Findings() {
			if found[f.Class]++; !strings.Contains(f.Reason, reasons[f.Class]) {
				t.Errorf("%s: %s", f.Class, f)
			}
		}
		if got := fmt.Sprint(found); got != fmt.Sprint(map[reconcile.Class]int{reconcile.Orphan: 10, reconcile.Newer: 5, reconcile.Missing: 1}) {
			t.Errorf("found %s", got)
		}
		if got := rowsOf(t, s, "tickets_by_agent"); !slices.Equal(got, want) {
			t.Fatalf("after the repair the table has\n%s", strings.Join(got, "\n"))
		}
		var rows []ticket
		iter := s.Reads().Query("SELECT id, agent, text FROM tickets_by_agent").Iter()
		for row := (ticket{}); iter.Scan(&row.ID, &row.Agent, &row.Text); {
			rows = append(rows, row)
		}
		if err := iter.Close(); err != nil {
			t.Fatal(err)
		}
		for _, row := range rows {
			base, err := writer.Load(t.Context(), w, "load", tickets, row)
			switch {
			case writer.OutcomeOf(err) == writer.NotFound:
				write(tickets.Insert(row))
			case err != nil:
				t.Fatal(err)
			case row.Text != base.Text:
				row.Version = base.Version
				write(tickets.Update(base, row))
			}
		}
		write(tickets.Delete(backup[deleted]))
		if report, err := r.Verify(t.Context(), tickets); err != nil {
			t.Errorf("%v\n%v", err, report)
		}
		if got := rowsOf(t, s, "tickets"); !slices.Equal(got, want) {
			t.Errorf("the base table has\n%s", strings.Join(got, "\n"))
		}
	})
}

// Rows that are too old to be put into a restored base table stay for as long as nobody says what they are. Rewrite
// puts them there.
func TestRestoredOldRows(t *testing.T) {
	t.Parallel()
	cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
		x := newWorld(t, c, 40)
		x.soon()
		r := x.storing()
		<-time.After(3*time.Hour + 30*time.Minute)
		x.exec("TRUNCATE orders_by_id")
		for _, o := range x.orders[:20] {
			x.put("orders_by_id", o, o.UpdatedAt)
		}
		for range 3 { // nights
			if report, err := r.Repair(t.Context(), orders.Orders, handed); !errors.Is(err, reconcile.ErrDrift) {
				t.Errorf("%v\n%v", err, report)
			}
			<-time.After(2*time.Hour + 10*time.Minute)
		}
		if report, err := r.Repair(t.Context(), orders.Orders, handed, reconcile.MaxRemovals(20), reconcile.Rewrite()); err != nil {
			t.Errorf("%v\n%v", err, report)
		}
		for _, o := range x.orders {
			if rows := x.rows(o); len(rows) != 3 {
				t.Errorf("an order is in %d of 3 tables: %v", len(rows), rows)
			}
		}
	})
}

// Rewrite is how a restored base table gets its rows back, so it removes no row that nothing proves deleted, whatever
// MaxRemovals allows.
func TestRewriteRemovesNothingUnproven(t *testing.T) {
	t.Parallel()
	cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
		x := newWorld(t, c, 1)
		x.soon()
		o := orders.New(gocql.MustRandomUUID(), nil)
		o.Status = "of another service"
		x.put("orders_by_user", o, time.Now().UnixMicro())
		r := x.storing()
		repair := func(options ...reconcile.Option) {
			t.Helper()
			if report, err := r.Repair(t.Context(), orders.Orders, append(options, handed, reconcile.MaxRemovals(20))...); report == nil {
				t.Fatal(err)
			}
		}
		<-time.After(time.Minute)
		repair(reconcile.Rewrite())
		<-time.After(3 * time.Hour)
		repair(reconcile.Rewrite())
		if len(x.rows(o)) != 1 {
			t.Errorf("after Rewrite: %v", x.rows(o))
		}
		if repair(); len(x.rows(o)) != 0 {
			t.Error("not the premise: a repair without Rewrite leaves it")
		}
	})
}

// The option of an adoption, among the defaults of a process, makes no repair remove what a restored base table of a
// Versioned set has lost.
func TestWritersInARepair(t *testing.T) {
	t.Parallel()
	cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
		s, w, r := openSet(t, c, tickets, handed)
		if _, err := w.Write(t.Context(), "ticket", tickets.Insert(ticket{ID: 1, Agent: "ada"})); err != nil {
			t.Fatal(err)
		}
		if err := w.Wait(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := s.Writes().Query("TRUNCATE tickets").Exec(); err != nil {
			t.Fatal(err)
		}
		<-time.After(time.Hour)
		if _, err := r.Repair(t.Context(), tickets, reconcile.Writers(time.Now())); !errors.Is(err, reconcile.ErrDrift) {
			t.Error(err)
		}
		if rows := rowsOf(t, s, "tickets_by_agent"); len(rows) != 1 {
			t.Errorf("the repair has left %v", rows)
		}
	})
}
