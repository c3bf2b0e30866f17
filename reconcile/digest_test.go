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
	"github.com/denorm-go/denorm/internal/tablerow"
	"github.com/denorm-go/denorm/reconcile"
	"github.com/denorm-go/denorm/retry"
	"github.com/denorm-go/denorm/schema"
	"github.com/denorm-go/denorm/session"
	"github.com/denorm-go/denorm/tables"
	"github.com/denorm-go/denorm/writer"
)

// thing has columns of each kind that is compared in a way of its own.
type thing struct {
	ThingID int
	Status  string
	Owner   *string // of a key: without it there is no row
	Note    *string
	Labels  map[string]struct{}
	Stamp   int64
}

var things = map[string]*tables.Set[thing]{
	"moving": tables.Must(tables.New[thing]("thing",
		tables.Table{Name: "things", PartKey: []string{"thing_id"}},
		tables.Table{Name: "things_by_status", PartKey: []string{"status"}, SortKey: []string{"thing_id"}, Columns: []string{"owner", "stamp"}},
		tables.Table{Name: "things_by_owner", PartKey: []string{"owner"}, SortKey: []string{"thing_id"}},
		tables.OneOf("status", "a", "b", "c"), tables.SingleWriter("owner"), tables.Stamp("stamp"))),
	"in buckets": tables.Must(tables.New[thing]("thing",
		tables.Table{Name: "things", PartKey: []string{"thing_id"}},
		tables.Table{Name: "things_by_status", PartKey: []string{"status", "bucket"}, SortKey: []string{"thing_id"}},
		tables.Derive("bucket", tables.Hash(2, "thing_id")),
		tables.OneOf("status", "a", "b", "c"), tables.Stamp("stamp"))),
	"patched": tables.Must(tables.New[thing]("thing",
		tables.Table{Name: "things", PartKey: []string{"thing_id"}},
		tables.Table{Name: "things_by_status", PartKey: []string{"status"}, SortKey: []string{"thing_id"}},
		tables.Table{Name: "things_keys", PartKey: []string{"status", "thing_id"}, Columns: []string{"note"}})),
}

// drift changes one row of one table, or removes it, or one value of it, as nothing in the library would.
func drift(x *gocql.Session, s *tables.Set[thing], id int, at int64) error {
	layouts := tablerow.Layouts(s.Internal())
	table := one(layouts...)
	value := map[string]string{
		"thing_id": fmt.Sprint(id), "status": one("'a'", "'b'", "'c'"), "owner": one("'x'", "'y'"), "bucket": one("0", "1"),
		"note": one("'n'", "''", "null"), "labels": one("{'l'}", "{'k','l'}", "null"), "stamp": fmt.Sprint(at),
	}
	key := slices.Concat(table.Partition(), table.Clustering())
	columns, values := slices.Clone(key), []string{}
	for _, c := range table.Regular() {
		if one(true, false) {
			columns = append(columns, c)
		}
	}
	where := make([]string, len(key))
	for i, c := range key {
		where[i] = c + " = " + value[c]
	}
	for _, c := range columns {
		values = append(values, value[c])
	}
	time := fmt.Sprintf(" USING TIMESTAMP %d", at)
	if one(true, false, false, false) {
		return x.Query("DELETE FROM " + table.Name() + time + " WHERE " + strings.Join(where, " AND ")).Exec()
	}
	if one(true, false, false, false) {
		time += fmt.Sprintf(" AND TTL %d", one(20, 3000))
	}
	return x.Query("INSERT INTO " + table.Name() + " (" + strings.Join(columns, ", ") + ") VALUES (" + strings.Join(values, ", ") + ")" + time).Exec()
}

func one[T any](list ...T) T { return list[rand.IntN(len(list))] }

// differences are the findings of a report as text.
func differences(r *reconcile.Report, err error) (out []string) {
	if err != nil && !errors.Is(err, reconcile.ErrDrift) {
		out = append(out, err.Error())
	}
	for f := range r.Findings() {
		out = append(out, fmt.Sprint(f.Class, f.Table, f.Column, f.BaseTime.UnixMicro(), f.RowTime.UnixMicro(), f.Key()))
	}
	slices.Sort(out)
	return out
}

// Verify, by digests, finds in any drift what it finds by looking each row up.
func TestDigestFindsWhatLookupsFind(t *testing.T) {
	t.Parallel()
	for name, set := range things {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cassandratest.Test(t, 1, func(t *testing.T, c *cassandratest.Cluster) {
				s, w, r := openSet(t, c, set, reconcile.Settle(30*time.Second), reconcile.Spool(t.TempDir()))
				const entities = 150
				owner := "x"
				for id := range entities {
					row := thing{ThingID: id, Status: "a", Owner: &owner, Labels: map[string]struct{}{"l": {}}}
					if _, err := w.Write(t.Context(), "create", set.Insert(row)); err != nil {
						t.Fatal(err)
					}
				}
				<-time.After(time.Minute)
				for range entities { // a third has none
					at := time.Now().Add(-one(0, time.Hour)).UnixMicro()
					if err := drift(s.Writes(), set, rand.IntN(entities), at); err != nil {
						t.Fatal(err)
					}
				}
				<-time.After(time.Hour / 2)
				want := differences(r.Verify(t.Context(), set, reconcile.Lookup()))
				got := differences(r.Verify(t.Context(), set))
				if !slices.Equal(got, want) || len(want) < entities/4 {
					t.Errorf("digests found %d, lookups %d\n%s\n\n%s", len(got), len(want), strings.Join(got, "\n"), strings.Join(want, "\n"))
				}
			})
		})
	}
}

// openSet creates the tables of a set in keyspace shop, and opens a session with all that works on them.
func openSet(t *testing.T, c *cassandratest.Cluster, set tables.Described, options ...reconcile.Option,
) (*session.Session, *writer.Writer, *reconcile.Reconciler) {
	t.Helper()
	c.Create(schema.Must(schema.Declare(schema.Sets(set))).In(map[string]string{"": "shop"}).Statements()...)
	config := c.Config()
	config.Keyspace = "shop"
	s, err := session.Open(config, session.Budget(retry.NewBudget(1<<30, 0)))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	w, err := writer.New(s, writer.WithClock(writer.NewClock(time.Now)))
	if err != nil {
		t.Fatal(err)
	}
	r, err := reconcile.New(s, options...)
	if err != nil {
		t.Fatal(err)
	}
	return s, w, r
}

// Rows whose counterparts could not be read are not taken for differences: the report is incomplete, and nobody looks
// at each of them.
func TestDigestOfUnreadRanges(t *testing.T) {
	t.Parallel()
	for _, table := range []string{"things", "things_by_status"} {
		t.Run(table, func(t *testing.T) {
			t.Parallel()
			cassandratest.Test(t, 1, func(t *testing.T, c *cassandratest.Cluster) {
				_, w, r := openSet(t, c, things["in buckets"], reconcile.Settle(30*time.Second), reconcile.Spool(t.TempDir()))
				const entities, ranges = 300, 256
				for id := range entities {
					if _, err := w.Write(t.Context(), "create", things["in buckets"].Insert(thing{ThingID: id, Status: "a"})); err != nil {
						t.Fatal(err)
					}
				}
				c.When(cassandratest.Table(table)).Do(cassandratest.Fail(cassandratest.Overloaded))
				report, err := r.Verify(t.Context(), things["in buckets"])
				if !errors.Is(err, reconcile.ErrIncomplete) || errors.Is(err, reconcile.ErrDrift) || report.Uncovered != ranges {
					t.Errorf("%v\n%v", err, report)
				}
			})
		})
	}
}

// A repair of tables that agree reads each of them once, and no row by itself.
func TestRepairReadsTablesOnce(t *testing.T) {
	t.Parallel()
	cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
		x := newWorld(t, c, 30)
		rows := func(options ...reconcile.Option) int {
			of := []cassandratest.Matcher{cassandratest.Text(" = ?"), cassandratest.Where(func(r cassandratest.Request) bool { return isRead(r) && !r.System() })}
			before := len(c.Journal(of...))
			if report, err := x.r.Repair(t.Context(), orders.Orders, options...); err != nil || report.Tables[2].Rows != 30 {
				t.Errorf("%v\n%v", err, report)
			}
			return len(c.Journal(of...)) - before
		}
		if n := rows(); n > 0 {
			t.Errorf("%d rows are read one by one", n)
		}
		if n := rows(reconcile.Lookup()); n < 4*30 { // two of each base row, one of each row of a query table
			t.Errorf("with Lookup %d rows are read one by one", n)
		}
	})
}
