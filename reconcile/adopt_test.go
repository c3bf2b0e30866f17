package reconcile_test

import (
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/cassandratest"
	"github.com/denorm-go/denorm/reconcile"
	"github.com/denorm-go/denorm/tables"
)

// The set of tables that were written by hand, while they are adopted and afterwards.
var (
	byOwner = tables.Table{Name: "tickets_by_owner", PartKey: []string{"owner"}, SortKey: []string{"state", "ticket_id"}}
	adopted = deskTickets(byOwner)
	foreign = deskTickets(byOwner, tables.UnstampedRows())
)

// valueOf is a line of a table without the stamp, by ticket.
func valueOf(lines []string) map[string]string {
	out := make(map[string]string)
	for _, line := range lines {
		out[line[:36]] = line[:strings.LastIndexByte(line, ' ')]
	}
	return out
}

// misadopted says in what the tables are not equal, or not as the newest writes of tickets that the library has
// written, or for the others as the base table was.
func (d *desk) misadopted(base map[string]string) (out []string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	have := d.table("tickets")
	for _, name := range handTables[1:] {
		other := d.table(name)
		for _, pair := range [][2][]string{{have, other}, {other, have}} {
			for _, line := range pair[0] {
				if !slices.Contains(pair[1], line) {
					out = append(out, "not in tickets and "+name+": "+line)
				}
			}
		}
	}
	values, seen := valueOf(have), make(map[string]bool)
	for id, at := range d.done {
		seen[id.String()] = true
		row := d.attempted[id][at]
		switch {
		case row == nil && values[id.String()] != "":
			out = append(out, "is deleted, and there: "+values[id.String()])
		case row != nil && !slices.Contains(have, row.line()):
			out = append(out, "an acknowledged write is not there: "+row.line()+", but "+values[id.String()])
		}
	}
	for id, line := range base {
		if !seen[id] && values[id] != line {
			out = append(out, "was not written, and is another one: "+line+", is "+values[id])
		}
		seen[id] = true
	}
	for id, line := range values {
		if !seen[id] {
			out = append(out, "is there, and was not: "+line)
		}
	}
	for _, line := range have {
		if strings.HasSuffix(line, " 0") {
			out = append(out, "has no stamp: "+line)
		}
	}
	return out
}

// The base row is read, and a moment later that of a query table; in between the ticket is deleted with the library, or
// another one written. Its stamps, which follow, change nothing.
func TestStampLosesToNewerWrites(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*desk, ticketRow){
		"deleted": func(d *desk, o ticketRow) { d.write(o.TicketID, nil, foreign.Delete(o)) },
		"written": func(d *desk, o ticketRow) {
			after := o
			after.State = "open"
			d.write(o.TicketID, &after, foreign.Update(o, after))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
				d := newDesk(t, c)
				h := &byHand{desk: d, Rand: rand.New(rand.NewPCG(1, 2))}
				o := ticketRow{TicketID: gocql.MustRandomUUID(), Owner: "owner", State: "new"}
				for _, table := range handTables {
					h.put(true, table, o)
				}
				<-time.After(time.Hour)
				read := d.When(cassandratest.Table("tickets_by_owner"), cassandratest.Where(func(r cassandratest.Request) bool {
					return isRead(r) && strings.Contains(r.Statements[0].Text, "ticket_id = ?")
				})).Do(cassandratest.Apply, cassandratest.Delay(5*time.Second))
				var group sync.WaitGroup
				group.Go(func() {
					<-time.After(33 * time.Second) // 30 s are for Settle
					if read.Handled() == 0 {
						t.Error("no row is being read")
					}
					read.End()
					change(d, o)
				})
				report, err := d.r.Adopt(t.Context(), foreign, reconcile.Writers(time.Now()))
				group.Wait()
				if err != nil || report.Stamped != 1 {
					t.Errorf("%v, %d stamped\n%v", err, report.Stamped, report)
				}
				if wrong := d.misadopted(nil); len(wrong) > 0 {
					t.Error(strings.Join(wrong, "\n"))
				}
				if report, err = d.r.Verify(t.Context(), adopted); err != nil {
					t.Errorf("%v\n%v", err, report)
				}
			})
		})
	}
}

// A row whose time is a moment ahead gets its stamp once no write in flight can be older. One that was written by hand
// after the last such process was said to have ended gets none, and is not repaired; the error says so.
func TestAdoptFindsWritersByHand(t *testing.T) {
	t.Parallel()
	cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
		d := newDesk(t, c)
		h := &byHand{desk: d, Rand: rand.New(rand.NewPCG(1, 2)), skew: 20 * time.Second}
		began := time.Now()
		create := func(tables ...string) {
			o := ticketRow{TicketID: gocql.MustRandomUUID(), Owner: "owner", State: "new"}
			for _, table := range tables {
				h.put(true, table, o)
			}
		}
		adopt := func(ended time.Time, stamped, findings int, says string) {
			t.Helper()
			report, err := d.r.Adopt(t.Context(), adopted, reconcile.Writers(ended))
			found := len(slices.Collect(report.Findings()))
			if report.Stamped != stamped || found != findings || (err == nil) != (says == "") || err != nil && !strings.Contains(err.Error(), says) {
				t.Errorf("%v, %d stamped, %d findings\n%v", err, report.Stamped, found, report)
			}
		}
		create(handTables...)
		adopt(began, 1, 0, "")
		if took := time.Since(began); took < 50*time.Second {
			t.Errorf("the row was adopted after %v", took)
		}
		ended := time.Now().Add(-time.Minute)
		create(handTables...)
		create("tickets")
		<-time.After(time.Minute)
		adopt(ended, 0, 2, "after the time of Writers")
		adopt(time.Now(), 2, 2, "")
		if report, err := d.r.Verify(t.Context(), adopted); err != nil {
			t.Errorf("%v\n%v", err, report)
		}
	})
}

// Rows by hand that expire do so as a whole, whether a stamp was written or they were put again.
func TestAdoptedRowsExpire(t *testing.T) {
	t.Parallel()
	cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
		d := newDesk(t, c)
		for n, names := range [][]string{handTables, handTables[:2]} {
			id := gocql.MustRandomUUID()
			for i, table := range names {
				at := time.Now().UnixMicro() + int64(10*n+i)
				if err := d.s.Writes().Query("INSERT INTO "+table+" (ticket_id,owner,state) VALUES (?,'owner','new') USING TTL 7200 AND TIMESTAMP ?", id, at).
					DefaultTimestamp(false).Exec(); err != nil {
					t.Fatal(err)
				}
			}
		}
		<-time.After(time.Hour)
		report, err := d.r.Adopt(t.Context(), adopted, reconcile.Writers(time.Now()))
		if !errors.Is(err, reconcile.ErrUnsafe) || errors.Is(err, reconcile.ErrDrift) || report.Stamped == 0 {
			t.Errorf("%v\n%v", err, report)
		}
		if report, err = d.r.Verify(t.Context(), adopted); !errors.Is(err, reconcile.ErrUnsafe) || errors.Is(err, reconcile.ErrDrift) || report.Tables[2].Rows != 2 {
			t.Errorf("%v\n%v", err, report)
		}
		<-time.After(time.Hour)
		for _, table := range handTables {
			if rows := d.table(table); len(rows) > 0 {
				t.Errorf("%s has %v", table, rows)
			}
		}
	})
}

// What cannot be adopted, or not yet, is rejected; a dry run sends nothing.
func TestAdoptRejects(t *testing.T) {
	t.Parallel()
	cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
		d := newDesk(t, c)
		ended := reconcile.Writers(time.Now())
		type plain struct {
			TicketID gocql.UUID
			State    string
		}
		unstamped := tables.Must(tables.New[plain]("ticket", tables.Table{Name: "tickets", PartKey: []string{"ticket_id"}},
			tables.Table{Name: "tickets_by_state", PartKey: []string{"state"}, SortKey: []string{"ticket_id"}}, tables.SingleWriter("state")))
		for _, test := range []struct {
			want    string
			set     tables.Described
			options []reconcile.Option
		}{
			{"say with option Writers", adopted, nil},
			{"the time of Writers is in the future", adopted, []reconcile.Option{reconcile.Writers(time.Now().Add(time.Minute))}},
			{"leave out option Tables", adopted, []reconcile.Option{ended, reconcile.Tables("tickets_by_state")}},
			{"set ticket has neither Stamp nor Versioned", unstamped, []reconcile.Option{ended}},
		} {
			report, err := d.r.Adopt(t.Context(), test.set, test.options...)
			if !errors.Is(err, reconcile.ErrInvalid) || !strings.Contains(err.Error(), test.want) || report != nil {
				t.Errorf("%q: %v", test.want, err)
			}
		}
		c.Create("ALTER TABLE shop.tickets_by_state WITH gc_grace_seconds = 3599")
		if _, err := d.r.Adopt(t.Context(), adopted, ended); !errors.Is(err, reconcile.ErrInvalid) ||
			!strings.Contains(err.Error(), "gc_grace_seconds of table shop.tickets_by_state is less than an hour") {
			t.Error(err)
		}
		c.Create("ALTER TABLE shop.tickets_by_state WITH gc_grace_seconds = 864000", "ALTER TABLE shop.tickets_by_state DROP updated_at")
		if report, err := d.r.Adopt(t.Context(), adopted, ended); !errors.Is(err, reconcile.ErrInvalid) || report != nil ||
			!strings.Contains(err.Error(), "has no column updated_at: ALTER TABLE shop.tickets_by_state ADD updated_at bigint") {
			t.Error(err)
		}
		if read := c.Journal(cassandratest.Table(handTables...)); len(read) > 0 {
			t.Errorf("sent: %v", read)
		}
		c.Create("ALTER TABLE shop.tickets_by_state ADD updated_at bigint")
		h := &byHand{desk: d, Rand: rand.New(rand.NewPCG(1, 2))}
		o := ticketRow{TicketID: gocql.MustRandomUUID(), Owner: "owner", State: "new"}
		for _, table := range handTables {
			h.put(true, table, o)
		}
		moved := o
		moved.TicketID = gocql.MustRandomUUID()
		h.put(true, "tickets_by_state", moved)
		<-time.After(time.Hour)
		report, err := d.r.Adopt(t.Context(), adopted, reconcile.Writers(time.Now()), reconcile.DryRun(),
			reconcile.OnRemoval(func(reconcile.Removal) error { return errors.New("is removed") }))
		if !errors.Is(err, reconcile.ErrDrift) || report.Stamped != 1 || report.OtherTimes != 2 {
			t.Errorf("%v\n%v", err, report)
		}
		for f := range report.Findings() {
			if f.Class != reconcile.Orphan || !strings.Contains(f.Reason, "would be repaired with 1 statements") {
				t.Error(f)
			}
		}
		if rows := d.table("tickets"); len(rows) != 1 || !strings.HasSuffix(rows[0], " 0") {
			t.Error(rows)
		}
	})
}

// Tables that several processes have written by hand, with every class of difference, are adopted while the service
// writes with the library, and its requests fail. Afterwards the tables agree; they have what the base table had, or
// what was written with the library.
func TestAdopt(t *testing.T) {
	t.Parallel()
	cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
		d := newDesk(t, c)
		d.byHand(400)
		base := valueOf(d.table("tickets"))
		<-time.After(time.Hour)
		report, err := d.r.Verify(t.Context(), foreign)
		classes := make(map[reconcile.Class]int)
		for _, table := range report.Tables {
			for class, n := range table.Found {
				classes[class] += n
			}
		}
		if !errors.Is(err, reconcile.ErrDrift) || len(classes) != 6 {
			t.Fatalf("%v: not every class of difference: %v", err, classes)
		}
		ended := time.Now()
		stop := d.busy(foreign, 1)
		d.disturb()
		removed := 0
		keep := func(reconcile.Removal) error {
			d.mu.Lock()
			defer d.mu.Unlock()
			removed++
			return nil
		}
		options := []reconcile.Option{reconcile.Writers(ended), reconcile.Rate(100), reconcile.MaxRemovals(10_000), reconcile.OnRemoval(keep)}
		tries, stamped, others := 0, 0, 0
		for err = errors.New(""); err != nil && tries < 5; tries++ {
			report, err = d.r.Adopt(t.Context(), foreign, options...)
			stamped, others = stamped+report.Stamped, others+report.OtherTimes
		}
		if err != nil {
			t.Errorf("%v\n%v", err, report)
		}
		for f := range report.Findings() {
			if f.Outcome != reconcile.Repaired || f.Class == reconcile.Newer {
				t.Error(f)
			}
		}
		stop()
		<-time.After(time.Minute)
		if report, err = d.r.Verify(t.Context(), adopted); err != nil {
			t.Errorf("%v\n%v", err, report)
		}
		if wrong := d.misadopted(base); len(wrong) > 0 {
			t.Errorf("%d faults:\n%s", len(wrong), strings.Join(wrong[:min(9, len(wrong))], "\n"))
		}
		if removed == 0 || stamped == 0 || others == 0 || len(d.done) == 0 {
			t.Error("too little has happened")
		}
		t.Logf("%v; adopted in %d tries: %d stamped, %d rows with other times, %d removed; %d tickets written with the library meanwhile", classes, tries,
			stamped, others, removed, len(d.done))
	})
}
