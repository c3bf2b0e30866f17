package reconcile_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/cassandratest"
	"github.com/denorm-go/denorm/reconcile"
	"github.com/denorm-go/denorm/session"
	"github.com/denorm-go/denorm/tables"
	"github.com/denorm-go/denorm/writer"
)

// ticketRow gets another query table, tickets_by_owner.
type ticketRow struct {
	TicketID  gocql.UUID
	Owner     string
	State     string
	Note      *string
	UpdatedAt int64
}

func deskTickets(more ...tables.Option) *tables.Set[ticketRow] {
	return tables.Must(tables.New[ticketRow]("ticket", append([]tables.Option{
		tables.Table{Name: "tickets", PartKey: []string{"ticket_id"}},
		tables.Table{Name: "tickets_by_state", PartKey: []string{"state"}, SortKey: []string{"ticket_id"}},
		tables.OneOf("state", "new", "open", "done"), tables.Stamp("updated_at"),
	}, more...)...))
}

var (
	oldTickets = deskTickets()
	newTickets = deskTickets(tables.Table{Name: "tickets_by_owner", PartKey: []string{"owner"}, SortKey: []string{"state", "ticket_id"}, Hidden: true})
)

// desk is a service whose writers note what they do.
type desk struct {
	*cassandratest.Cluster
	t *testing.T
	s *session.Session
	w *writer.Writer
	r *reconcile.Reconciler

	mu        sync.Mutex
	attempted map[gocql.UUID]map[int64]*ticketRow // by timestamp; nil: a delete
	done      map[gocql.UUID]int64                // the largest timestamp of a write that is complete
	ids       []gocql.UUID
}

func newDesk(t *testing.T, c *cassandratest.Cluster) *desk {
	t.Helper()
	d := &desk{Cluster: c, t: t, attempted: make(map[gocql.UUID]map[int64]*ticketRow), done: make(map[gocql.UUID]int64)}
	d.s, d.w, d.r = openSet(t, c, newTickets, reconcile.Settle(30*time.Second))
	return d
}

// write carries out a change, and resumes it until it is complete.
func (d *desk) write(id gocql.UUID, row *ticketRow, c tables.Change) {
	res, err := d.w.Write(context.Background(), "write", c)
	at := res.Timestamp
	for e := (*writer.Error)(nil); errors.As(err, &e) && e.Resumable(); _, err = d.w.Resume(context.Background(), e) {
		at = e.Timestamp
		<-time.After(time.Second)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if at == 0 {
		return // rejected
	}
	if d.attempted[id] == nil {
		d.attempted[id], d.ids = make(map[int64]*ticketRow), append(d.ids, id)
	}
	if row != nil {
		row.UpdatedAt = at
	}
	d.attempted[id][at] = row
	if err == nil {
		d.done[id] = max(d.done[id], at)
	} else {
		d.t.Errorf("a write is left half done: %v", err)
	}
}

// act is one random write: a ticket is created, changed, moved or deleted.
func (d *desk) act(set *tables.Set[ticketRow], r *rand.Rand) {
	d.mu.Lock()
	id, known := gocql.UUID{}, len(d.ids)
	if known > 0 {
		id = d.ids[r.IntN(known)]
	}
	d.mu.Unlock()
	if known < 20 || r.IntN(8) == 0 {
		row := ticketRow{TicketID: gocql.MustRandomUUID(), Owner: fmt.Sprint("owner", r.IntN(3)), State: "new"}
		d.write(row.TicketID, &row, set.Insert(row))
		return
	}
	before, err := writer.Load(context.Background(), d.w, "load", set, ticketRow{TicketID: id})
	if err != nil {
		return // deleted
	}
	if r.IntN(6) == 0 {
		d.write(id, nil, set.Delete(before))
		return
	}
	after := before
	after.State = []string{"new", "open", "done"}[r.IntN(3)]
	if after.Note = nil; r.IntN(2) == 0 {
		note := fmt.Sprint(r.IntN(9))
		after.Note = &note
	}
	d.write(id, &after, set.Update(before, after))
}

// busy writes with several goroutines until the function that it returns is called.
func (d *desk) busy(set *tables.Set[ticketRow], writers int) (stop func()) {
	ended := make(chan struct{})
	var group sync.WaitGroup
	for n := range writers {
		group.Go(func() {
			r := rand.New(rand.NewPCG(7, uint64(n)))
			for {
				select {
				case <-ended:
					return
				case <-time.After(time.Duration(r.IntN(400)) * time.Millisecond):
					d.act(set, r)
				}
			}
		})
	}
	return func() { close(ended); group.Wait() }
}

func (d *desk) exec(statement string, values ...any) {
	d.t.Helper()
	if err := d.s.Writes().Query(statement, values...).DefaultTimestamp(false).Exec(); err != nil {
		d.t.Fatal(err)
	}
}

// rows are those of a table.
func (d *desk) rows(table string) (out []ticketRow) {
	d.t.Helper()
	iter := d.s.Reads().Query("SELECT ticket_id, owner, state, note, updated_at FROM " + table).Prefetch(0).Iter()
	for row := (ticketRow{}); iter.Scan(&row.TicketID, &row.Owner, &row.State, &row.Note, &row.UpdatedAt); row = (ticketRow{}) {
		out = append(out, row)
	}
	if err := iter.Close(); err != nil {
		d.t.Fatal(err)
	}
	return out
}

// table reads a table, a line a row.
func (d *desk) table(name string) []string {
	d.t.Helper()
	var out []string
	for _, row := range d.rows(name) {
		out = append(out, row.line())
	}
	slices.Sort(out)
	return out
}

func (o *ticketRow) line() string {
	note := "-"
	if o.Note != nil {
		note = *o.Note
	}
	return fmt.Sprint(o.TicketID, " ", o.Owner, " ", o.State, " ", note, " ", o.UpdatedAt)
}

// wrong says in what the tables are not as the newest writes of all tickets, and which rows were put that nobody wrote.
func (d *desk) wrong() (out []string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	var want []string
	for id, at := range d.done {
		if row := d.attempted[id][at]; row != nil {
			want = append(want, row.line())
		}
	}
	slices.Sort(want)
	for _, name := range []string{"tickets", "tickets_by_state", "tickets_by_owner"} {
		have := d.table(name)
		for _, line := range have {
			if _, ok := slices.BinarySearch(want, line); !ok {
				out = append(out, name+" has "+line)
			}
		}
		for _, line := range want {
			if _, ok := slices.BinarySearch(have, line); !ok {
				out = append(out, name+" lacks "+line)
			}
		}
	}
	for _, r := range d.Journal(cassandratest.Table("tickets_by_owner")) {
		for _, s := range r.Statements {
			if at, ok := s.Value("[timestamp]"); ok && len(at.Bytes) == 8 && strings.HasPrefix(s.Text, "INSERT") && s.Table == "tickets_by_owner" {
				out = append(out, d.invented(s, int64(binary.BigEndian.Uint64(at.Bytes)))...)
			}
		}
	}
	return out
}

// invented says that a row was put at a time at which no such row was written.
func (d *desk) invented(s cassandratest.Statement, at int64) []string {
	value := func(column string) []byte { v, _ := s.Value(column); return v.Bytes }
	var id gocql.UUID
	copy(id[:], value("ticket_id"))
	row := d.attempted[id][at]
	if row != nil && row.Owner == string(value("owner")) && row.State == string(value("state")) {
		return nil
	}
	return []string{fmt.Sprintf("%s at %d was put, and is no write's", s.Text, at)}
}

// A new table is filled while writers create, move, change and delete, and once more after it was stopped half-way. In
// the end it has the rows of the base table, and no row was put that is not one of a write that was made.
func TestBackfill(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name      string
		faults    bool
		oldWriter bool // one that does not know the table writes on
	}{{name: "writers write"}, {name: "requests time out", faults: true}, {name: "an old writer is alive", oldWriter: true}} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
				d := newDesk(t, c)
				r := rand.New(rand.NewPCG(1, 2))
				for range 200 {
					d.act(oldTickets, r)
				}
				old := func() {}
				if test.oldWriter {
					old = d.busy(oldTickets, 1)
				}
				began := time.Now()
				stop := d.busy(newTickets, 4)
				if test.faults {
					d.disturb()
				}
				put, tries, most := 0, 0, 9
				var report *reconcile.Report
				if test.oldWriter {
					most = 2
				}
				for err := error(nil); tries == 0 || err != nil && tries < most; tries++ {
					limit := time.Hour
					if tries == 0 {
						limit = 37 * time.Second // 30 s are for Settle
					}
					ctx, cancel := context.WithTimeout(t.Context(), limit)
					report, err = d.r.Backfill(ctx, newTickets, "tickets_by_owner", reconcile.Writers(began), reconcile.Rate(50))
					cancel()
					put += report.Put
					if tries == 0 && err == nil {
						t.Error("the first run was not stopped half-way")
					}
					if (err == nil) != (report.Err() == nil) {
						t.Errorf("%v, and the report says %v", err, report.Err())
					}
				}
				stop()
				old()
				<-time.After(time.Minute)
				if report.Err() != nil != test.oldWriter || put == 0 {
					t.Errorf("%d tries, %d rows put: %v", tries, put, report.Err())
				}
				if wrong := d.wrong(); (len(wrong) > 0) != test.oldWriter {
					t.Errorf("%d faults:\n%s", len(wrong), strings.Join(wrong[:min(9, len(wrong))], "\n"))
				}
				t.Logf("%d tickets, %d tries, %d rows put", len(d.ids), tries, put)
			})
		})
	}
}

// A row that expires by the default of its table ends in the new table when it ends in the base table, and a column
// that is older than its row is put at its own time. Rows that are put again do not live longer.
func TestBackfillKeepsTimes(t *testing.T) {
	t.Parallel()
	cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
		d := newDesk(t, c)
		for _, name := range []string{"tickets", "tickets_by_state", "tickets_by_owner"} {
			d.exec("ALTER TABLE " + name + " WITH default_time_to_live = 3600")
		}
		note := "text"
		row := ticketRow{TicketID: gocql.MustRandomUUID(), Owner: "owner", State: "new", Note: &note}
		d.write(row.TicketID, &row, oldTickets.Insert(row))
		created := row.UpdatedAt
		<-time.After(10 * time.Minute)
		for _, table := range []string{"tickets", "tickets_by_state"} { // by a process that does not know the note
			d.exec("INSERT INTO "+table+" (ticket_id,owner,state,updated_at) VALUES (?,?,?,?) USING TTL 3000 AND TIMESTAMP ?", row.TicketID, row.Owner, row.State,
				created+9, created+9)
		}
		<-time.After(10 * time.Minute)
		read := func(table string) (noteAt, at int64, noteTTL, ttl int, err error) {
			err = d.s.Reads().Query("SELECT WRITETIME(note), WRITETIME(updated_at), TTL(note), TTL(updated_at) FROM "+table).Scan(&noteAt, &at, &noteTTL, &ttl)
			return noteAt, at, noteTTL, ttl, err
		}
		for range 2 {
			report, err := d.r.Backfill(t.Context(), newTickets, "tickets_by_owner", reconcile.Writers(time.Now()))
			if err != nil || report.Put != 1 || report.Tables[1].Rows != 1 {
				t.Fatalf("%v\n%v", err, report)
			}
			_, _, wantNote, want, _ := read("tickets")
			noteAt, at, noteTTL, ttl, err := read("tickets_by_owner")
			if err != nil || noteAt != created || at != created+9 || ttl > want || ttl < want-3 || noteTTL > wantNote || noteTTL < wantNote-3 || noteTTL == 0 {
				t.Errorf("%v: at %d and %d after the insert, for %d of %d s and %d of %d s", err, noteAt-created, at-created, noteTTL, wantNote, ttl, want)
			}
		}
		<-time.After(time.Hour)
		if rows := d.table("tickets_by_owner"); len(rows) > 0 {
			t.Errorf("there is still %v", rows)
		}
	})
}

// What cannot be filled, or not yet, is rejected before a row is put; the end of the last old writer is waited for.
func TestBackfillRejects(t *testing.T) {
	t.Parallel()
	cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
		d := newDesk(t, c)
		began := time.Now()
		ended := reconcile.Writers(began)
		for want, options := range map[string][]reconcile.Option{
			"say with option Writers":                   nil,
			"the time of Writers is in the future":      {reconcile.Writers(time.Now().Add(time.Minute))},
			"DryRun has no effect: Verify says":         {ended, reconcile.DryRun()},
			"has default_time_to_live":                  {ended},
			"is less than an hour":                      {ended, ended},
			"set ticket has no table tickets_by_colour": {ended},
		} {
			table := "tickets_by_owner"
			statements := []string{"default_time_to_live = 0", "gc_grace_seconds = 864000"}
			switch {
			case strings.HasPrefix(want, "has default"):
				statements[0] = "default_time_to_live = 60"
			case strings.HasPrefix(want, "is less"):
				statements[1] = "gc_grace_seconds = 3599"
			case strings.HasPrefix(want, "set"):
				table = "tickets_by_colour"
			}
			for _, s := range statements {
				if err := d.s.Writes().Query("ALTER TABLE tickets_by_owner WITH " + s).Exec(); err != nil {
					t.Fatal(err)
				}
			}
			report, err := d.r.Backfill(t.Context(), newTickets, table, options...)
			if !errors.Is(err, reconcile.ErrInvalid) || !strings.Contains(err.Error(), want) || report != nil {
				t.Errorf("%q: %v", want, err)
			}
			if err := d.s.Writes().Query("ALTER TABLE tickets_by_owner WITH default_time_to_live = 0 AND gc_grace_seconds = 864000").Exec(); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := d.r.Backfill(t.Context(), newTickets, "tickets_by_owner", ended); err != nil || time.Since(began) < 30*time.Second {
			t.Errorf("%v after %v", err, time.Since(began))
		}
	})
}

// disturb lets requests fail for two minutes: they are lost, or their answers, or they are applied after the client has
// given up.
func (d *desk) disturb() {
	var rules []*cassandratest.Rule
	for n, steps := range [][]cassandratest.Step{
		{cassandratest.Drop},
		{cassandratest.Apply, cassandratest.Drop},
		{cassandratest.Drop, cassandratest.Delay(5 * time.Second), cassandratest.Apply},
		{cassandratest.Delay(time.Second)},
	} {
		rules = append(rules, d.When(cassandratest.Where(func(r cassandratest.Request) bool {
			return r.Number%17 == n && (r.Kind == cassandratest.Execute || r.Kind == cassandratest.Batch) && r.On("tickets_by_owner")
		})).Do(steps...))
	}
	go func() {
		<-time.After(2 * time.Minute)
		for _, r := range rules {
			if r.End(); r.Handled() == 0 {
				d.t.Error("a rule has met nothing")
			}
		}
	}()
}

// A set whose Patches end by themselves cannot be filled, and the error names what its caller knows.
func TestBackfillRejectsWhatAPatchHasWritten(t *testing.T) {
	t.Parallel()
	type lease struct {
		ID   int32
		Desk string
		Ends time.Time
	}
	leases := tables.Must(tables.New[lease]("lease",
		tables.Table{Name: "leases", PartKey: []string{"id"}},
		tables.Table{Name: "leases_by_desk", PartKey: []string{"desk"}, SortKey: []string{"id"}},
		tables.ExpiresAt("ends")))
	cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
		_, _, r := openSet(t, c, leases)
		_, err := r.Backfill(t.Context(), leases, "leases_by_desk", reconcile.Writers(time.Now()))
		if want := "what a Patch with an expiry has written"; !errors.Is(err, reconcile.ErrInvalid) ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	})
}
