package reconcile_test

import (
	"context"
	"errors"
	"fmt"
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

// rowsOf are the tickets that a table has, a line each, and without their versions.
func rowsOf(t *testing.T, s *session.Session, table string) (out []string) {
	t.Helper()
	iter := s.Reads().Query("SELECT id, agent, text FROM " + table).Prefetch(0).Iter()
	for row := (ticket{}); iter.Scan(&row.ID, &row.Agent, &row.Text); row = (ticket{}) {
		if row.Agent != "" { // else it remembers a delete
			out = append(out, fmt.Sprint(row.ID, " ", row.Agent, " ", row.Text))
		}
	}
	if err := iter.Close(); err != nil {
		t.Fatal(err)
	}
	slices.Sort(out)
	return out
}

// A stored run of a set with Versioned that cannot begin, as there is none to resume, is an error.
func TestAdoptVersionedDoesNotBegin(t *testing.T) {
	t.Parallel()
	cassandratest.Test(t, 1, func(t *testing.T, c *cassandratest.Cluster) {
		_, _, r := openSet(t, c, tickets, reconcile.State("shop"))
		c.Create(reconcile.StateSchema("shop"))
		writers := reconcile.Writers(time.Now().Add(-time.Hour))
		if report, err := r.Adopt(t.Context(), tickets, writers, reconcile.Resume(gocql.TimeUUID())); err == nil || report != nil {
			t.Errorf("%v, %v", report, err)
		}
	})
}

// A set with Versioned takes over tables that were written by hand: each base row gets a version, and what disagrees
// with it goes. A process that dies in the middle leaves what the next one does; rows that cannot have a version are
// named.
func TestAdoptVersioned(t *testing.T) {
	t.Parallel()
	cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
		s, w, r := openSet(t, c, tickets)
		exec := func(statement string, values ...any) {
			t.Helper()
			if err := s.Writes().Query(statement, values...).DefaultTimestamp(false).Exec(); err != nil {
				t.Fatal(err)
			}
		}
		now := time.Now()
		put := func(table string, id int, agent, text, using string) {
			t.Helper()
			exec("INSERT INTO "+table+" (id, agent, text) VALUES (?,?,?) USING TIMESTAMP ?"+using, id, agent, text, now.UnixMicro()+int64(id))
		}
		for id := range 40 {
			put("tickets", id, "ada", "broken", "")
			switch {
			case id < 10: // a move that left the row under the former key
				put("tickets_by_agent", id, "bob", "broken", "")
				put("tickets_by_agent", id, "ada", "broken", "")
			case id < 20: // and one that wrote the base table alone
				put("tickets_by_agent", id, "bob", "broken", "")
			case id < 30: // a change that wrote another table alone
				put("tickets_by_agent", id, "ada", "repaired", "")
			}
		}
		put("tickets_by_agent", 99, "eve", "of nobody", "")
		exec("INSERT INTO tickets_by_agent (id, agent, text) VALUES (98, 'eve', 'ahead') USING TIMESTAMP ?", now.Add(3*time.Hour).UnixMicro())
		put("tickets", 50, "ada", "expires", " AND TTL 864000")
		exec("INSERT INTO tickets (id, agent, text) VALUES (51, 'ada', 'ahead') USING TIMESTAMP ?", now.Add(time.Hour).UnixMicro())
		<-time.After(time.Minute)
		ended := reconcile.Writers(time.Now())
		if report, err := r.Adopt(t.Context(), tickets, ended, reconcile.DryRun()); !errors.Is(err, reconcile.ErrIncomplete) || report.Stamped != 40 ||
			len(report.Tables) != 2 || !slices.Equal(report.NotCompared, []string{"shop.tickets_by_agent, under other keys"}) {
			t.Errorf("a dry run: %v\n%v", err, report)
		}
		before := rowsOf(t, s, "tickets_by_agent")
		// Until it has a version a row cannot be changed; new ones can be written.
		move := func(id int) error {
			_, err := writer.Modify(t.Context(), w, "move", tickets, ticket{ID: id}, func(o ticket) (ticket, error) {
				o.Agent = "eve"
				return o, nil
			})
			return err
		}
		if err := move(5); !errors.Is(err, writer.ErrInvalid) || !strings.Contains(err.Error(), "denorm adopt") {
			t.Error(err)
		}
		if _, err := w.Write(t.Context(), "create", tickets.Insert(ticket{ID: 60, Agent: "ada", Text: "new"})); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 95*time.Second) // 90 s are for Settle
		first, err := r.Adopt(ctx, tickets, ended, reconcile.Rate(10))
		if err == nil || first.Stamped == 0 {
			t.Errorf("the first run was not stopped half-way: %v\n%v", err, first)
		}
		cancel()
		var mu sync.Mutex
		var removed []reconcile.Removal
		keep := reconcile.OnRemoval(func(r reconcile.Removal) error {
			mu.Lock()
			defer mu.Unlock()
			removed = append(removed, r)
			return nil
		})
		report, err := r.Adopt(t.Context(), tickets, ended, keep)
		if text := fmt.Sprint(err, report); !errors.Is(err, reconcile.ErrIncomplete) || !strings.Contains(text, "it expires") || len(removed) == 0 {
			t.Errorf("%v\n%v", err, report)
		}
		if err := move(5); err != nil {
			t.Error(err)
		}
		loaded, err := writer.Load(t.Context(), w, "load", tickets, ticket{ID: 6})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(t.Context(), "delete", tickets.Delete(loaded)); err != nil {
			t.Fatal(err)
		}
		exec("DELETE FROM tickets WHERE id = 50")
		<-time.After(time.Hour)
		if report, err = r.Adopt(t.Context(), tickets, reconcile.Writers(time.Now()), keep); !errors.Is(err, reconcile.ErrDrift) || report.Stamped != 1 {
			t.Errorf("%v\n%v", err, report)
		}
		for f := range report.Findings() { // removed at its time it would hide what is written until then
			if ahead := f.Entity() == "id = 98"; ahead == (f.Outcome == reconcile.Repaired) || ahead && !strings.Contains(f.Reason, "clock of a writer was ahead") {
				t.Error(f)
			}
		}
		<-time.After(3 * time.Hour)
		if report, err = r.Adopt(t.Context(), tickets, reconcile.Writers(time.Now()), keep); err != nil || report.Stamped != 0 {
			t.Errorf("%v\n%v", err, report)
		}
		want := []string{"5 eve broken", "51 ada ahead", "60 ada new"}
		for id := range 40 {
			if id != 5 && id != 6 {
				want = append(want, fmt.Sprint(id, " ada broken"))
			}
		}
		slices.Sort(want)
		for _, table := range []string{"tickets", "tickets_by_agent"} {
			if got := rowsOf(t, s, table); !slices.Equal(got, want) {
				t.Errorf("%s has\n%s", table, strings.Join(got, "\n"))
			}
		}
		if report, err := r.Verify(t.Context(), tickets); err != nil {
			t.Errorf("%v\n%v", err, report)
		}
		for _, line := range before {
			gone := !slices.Contains(want, line) && !strings.HasSuffix(line, "repaired")
			if out := slices.ContainsFunc(removed, func(r reconcile.Removal) bool {
				return line == fmt.Sprint(r.Values["id"], " ", strings.Trim(r.Values["agent"], "'"), " ", strings.Trim(r.Values["text"], "'"))
			}); gone && !out && !strings.HasPrefix(line, "5 ") && !strings.HasPrefix(line, "6 ") {
				t.Errorf("%s was removed, and not handed out", line)
			}
		}
		t.Logf("%d rows were removed", len(removed))
	})
}

// What a version puts into a query table is counted: rows that were missing, and rows with other values, whichever
// was written later.
func TestAdoptVersionedCountsWrongRows(t *testing.T) {
	t.Parallel()
	cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
		s, _, r := openSet(t, c, tickets)
		now := time.Now()
		put := func(table string, id int, text string, at time.Time) {
			t.Helper()
			if err := s.Writes().Query("INSERT INTO "+table+" (id, agent, text) VALUES (?, 'ada', ?) USING TIMESTAMP ?", id, text, at.UnixMicro()).
				DefaultTimestamp(false).Exec(); err != nil {
				t.Fatal(err)
			}
		}
		for id, query := range []string{"", "right", "wrong", "wrong", "right"} {
			put("tickets", id, "right", now)
			if query != "" {
				put("tickets_by_agent", id, query, now.Add(time.Duration(id-2)*time.Minute)) // the wrong one older, and newer
			}
		}
		<-time.After(10 * time.Minute)
		for _, options := range [][]reconcile.Option{{reconcile.DryRun()}, nil, nil} {
			report, err := r.Adopt(t.Context(), tickets, append(options, reconcile.Writers(time.Now().Add(-5*time.Minute)))...)
			found := report.Tables[1].Found
			switch adopted := report.Stamped == 0; {
			case adopted:
				if err != nil || len(slices.Collect(report.Findings())) != 0 {
					t.Errorf("%v\n%v", err, report)
				}
			case found[reconcile.Missing] != 1 || found[reconcile.Differing] != 2 || (err == nil) != (options == nil):
				t.Errorf("%v\n%v", err, report)
			}
			for f := range report.Findings() {
				if (f.Outcome == reconcile.Repaired) != (options == nil) {
					t.Error(f)
				}
			}
		}
		if report, err := r.Verify(t.Context(), tickets); err != nil {
			t.Errorf("%v\n%v", err, report)
		}
	})
}

// Tables of a set with OneOf become those of a set with Versioned: moves and deletes from before hold.
func TestAdoptVersionedAfterOneOf(t *testing.T) {
	t.Parallel()
	type listed struct {
		ID          int
		Agent, Text string
		UpdatedAt   int64
	}
	before := tables.Must(tables.New[listed]("ticket",
		tables.Table{Name: "tickets", PartKey: []string{"id"}},
		tables.Table{Name: "tickets_by_agent", PartKey: []string{"agent"}, SortKey: []string{"id"}},
		tables.OneOf("agent", "ada", "bob", "eve"), tables.Stamp("updated_at"),
	))
	cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
		s, w, r := openSet(t, c, before)
		write := func(change tables.Change) (timestamp int64) {
			t.Helper()
			res, err := w.Write(t.Context(), "ticket", change)
			if err != nil {
				t.Fatal(err)
			}
			return res.Timestamp
		}
		var want []string
		for id := range 30 {
			row := listed{ID: id, Agent: "ada", Text: "broken"}
			row.UpdatedAt = write(before.Insert(row))
			if id%2 == 0 {
				moved := row
				moved.Agent = "bob"
				moved.UpdatedAt = write(before.Update(row, moved))
				row = moved
			}
			if id%5 == 0 {
				write(before.Delete(row))
				continue
			}
			want = append(want, fmt.Sprint(id, " ", row.Agent, " broken"))
		}
		slices.Sort(want)
		c.Create("USE shop", "ALTER TABLE tickets ADD (version timeuuid, pending blob, done timeuuid, recent map<tinyint, timeuuid>)", "ALTER TABLE tickets_by_agent ADD version timeuuid")
		<-time.After(time.Minute)
		if report, err := r.Adopt(t.Context(), tickets, reconcile.Writers(time.Now())); err != nil || report.Stamped != len(want) {
			t.Errorf("%v\n%v", err, report)
		}
		if _, err := writer.Modify(t.Context(), w, "move", tickets, ticket{ID: 2}, func(o ticket) (ticket, error) {
			o.Agent = "carl" // a value that OneOf did not have
			return o, nil
		}); err != nil {
			t.Error(err)
		}
		want[slices.Index(want, "2 bob broken")] = "2 carl broken"
		if report, err := r.Verify(t.Context(), tickets); err != nil {
			t.Errorf("%v\n%v", err, report)
		}
		for _, table := range []string{"tickets", "tickets_by_agent"} {
			if got := rowsOf(t, s, table); !slices.Equal(got, want) {
				t.Errorf("%s has\n%s", table, strings.Join(got, "\n"))
			}
		}
	})
}
