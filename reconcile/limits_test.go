package reconcile_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/cassandratest"
	"github.com/denorm-go/denorm/examples/orders"
	"github.com/denorm-go/denorm/reconcile"
	"github.com/denorm-go/denorm/tables"
)

// note is patched, has elements and may expire.
type note struct {
	ID, Owner gocql.UUID
	Status    string
	Text      *string
	Tags      map[string]string
	EndsAt    *time.Time
}

func noteSet(more ...tables.Option) *tables.Set[note] {
	return tables.Must(tables.New[note]("note", append([]tables.Option{
		tables.Table{Name: "notes", PartKey: []string{"id"}},
		tables.Table{Name: "notes_by_owner", PartKey: []string{"owner"}, SortKey: []string{"id"}},
		tables.Table{Name: "notes_by_status", PartKey: []string{"status"}, SortKey: []string{"id"}},
	}, more...)...))
}

// planted runs a repair of what statements have left, half an hour later. It gives what was found.
func planted[T any](t *testing.T, c *cassandratest.Cluster, set *tables.Set[T], statements []string, options ...reconcile.Option,
) (*world, []reconcile.Finding) {
	t.Helper()
	x := &world{Cluster: c, t: t}
	x.s, x.w, x.r = openSet(t, c, set, reconcile.Settle(30*time.Second))
	for n, statement := range statements {
		x.exec(statement, time.Now().UnixMicro()+int64(n))
	}
	<-time.After(time.Hour / 2)
	report, err := x.r.Repair(t.Context(), set, options...)
	if err != nil && !errors.Is(err, reconcile.ErrDrift) && !errors.Is(err, reconcile.ErrUnsafe) {
		t.Fatal(err)
	}
	return x, slices.Collect(report.Findings())
}

// count counts the rows that a query gives.
func (x *world) count(query string) (n int) {
	x.t.Helper()
	iter := x.s.Reads().Query(query).Iter()
	n = iter.NumRows()
	if err := iter.Close(); err != nil {
		x.t.Fatal(err)
	}
	return n
}

const (
	anID    = "11111111-1111-1111-1111-111111111111"
	anOwner = "22222222-2222-2222-2222-222222222222"
)

var handed = reconcile.OnRemoval(func(reconcile.Removal) error { return nil })

// What is repaired of a set that takes patches has the columns of other tables' keys, expires when it did, and is
// handed out before it is removed; elements, which have times of their own, are only compared.
func TestPatchedRows(t *testing.T) {
	t.Parallel()
	const base, byOwner = "INSERT INTO notes (id,owner,status,text) VALUES (", "INSERT INTO notes_by_owner (owner,id,status,text) VALUES ("
	tests := []struct {
		name    string
		set     *tables.Set[note]
		plant   []string
		options []reconcile.Option
		outcome reconcile.Outcome
		reason  string
		after   time.Duration
		rows    map[string]int
	}{
		{
			name: "a create that died half-way", set: noteSet(), plant: []string{byOwner + anOwner + "," + anID + ",'s','x') USING TIMESTAMP ?"},
			outcome: reconcile.Repaired,
			rows: map[string]int{
				"SELECT id FROM notes WHERE owner=" + anOwner + " AND text='x' ALLOW FILTERING": 1, "SELECT id FROM notes_by_status WHERE status='s'": 1,
			},
		},
		{
			name: "a base row without the columns of other tables' keys", set: noteSet(),
			plant: []string{
				"INSERT INTO notes (id,text) VALUES (" + anID + ",'x') USING TIMESTAMP ?", byOwner + anOwner + "," + anID + ",'s','x') USING TIMESTAMP ?",
				"INSERT INTO notes_by_status (status,id,owner,text) VALUES ('s'," + anID + "," + anOwner + ",'x') USING TIMESTAMP ?",
			},
			outcome: reconcile.Repaired,
			rows:    map[string]int{"SELECT id FROM notes WHERE owner=" + anOwner + " AND status='s' ALLOW FILTERING": 1},
		},
		{
			name: "one that expires", set: noteSet(),
			plant:   []string{byOwner + anOwner + "," + anID + ",'s','x') USING TTL 7200 AND TIMESTAMP ?"},
			outcome: reconcile.Repaired, after: 2 * time.Hour,
			rows: map[string]int{"SELECT id FROM notes": 0, "SELECT id FROM notes_by_owner": 0, "SELECT id FROM notes_by_status": 0},
		},
		{
			name: "a value that was removed, and nobody to hand it to", set: noteSet(),
			plant: []string{
				base + anID + "," + anOwner + ",'s','x') USING TIMESTAMP ?", byOwner + anOwner + "," + anID + ",'s','x') USING TIMESTAMP ?",
				"INSERT INTO notes_by_status (status,id,owner) VALUES ('s'," + anID + "," + anOwner + ") USING TIMESTAMP ?",
				"INSERT INTO notes (id,text) VALUES (" + anID + ",null) USING TIMESTAMP ?",
			},
			outcome: reconcile.Found, reason: "handed out", rows: map[string]int{"SELECT id FROM notes_by_owner WHERE text='x' ALLOW FILTERING": 1},
		},
		{
			name: "a value that was removed", set: noteSet(),
			plant: []string{
				base + anID + "," + anOwner + ",'s','x') USING TIMESTAMP ?", byOwner + anOwner + "," + anID + ",'s','x') USING TIMESTAMP ?",
				"INSERT INTO notes_by_status (status,id,owner) VALUES ('s'," + anID + "," + anOwner + ") USING TIMESTAMP ?",
				"INSERT INTO notes (id,text) VALUES (" + anID + ",null) USING TIMESTAMP ?",
			},
			options: []reconcile.Option{handed},
			outcome: reconcile.Repaired, rows: map[string]int{"SELECT id FROM notes_by_owner WHERE text='x' ALLOW FILTERING": 0},
		},
		{
			name: "elements", set: noteSet(),
			plant: []string{
				base + anID + "," + anOwner + ",'s','x') USING TIMESTAMP ?", byOwner + anOwner + "," + anID + ",'s','x') USING TIMESTAMP ?",
				"INSERT INTO notes_by_status (status,id,owner,text) VALUES ('s'," + anID + "," + anOwner + ",'x') USING TIMESTAMP ?",
				"UPDATE notes USING TIMESTAMP ? SET tags = tags + {'a':'b'} WHERE id=" + anID,
			},
			outcome: reconcile.Found, reason: "tags has elements",
			rows: map[string]int{"SELECT id FROM notes_by_owner WHERE tags CONTAINS 'b' ALLOW FILTERING": 0},
		},
		{
			name: "a row that expires, and moves", set: noteSet(tables.SingleWriter("status")),
			plant: []string{
				base + anID + "," + anOwner + ",'s','x') USING TTL 7200 AND TIMESTAMP ?",
				byOwner + anOwner + "," + anID + ",'s','x') USING TTL 7200 AND TIMESTAMP ?",
			},
			outcome: reconcile.Repaired, after: 2 * time.Hour,
			rows: map[string]int{"SELECT id FROM notes": 0, "SELECT id FROM notes_by_owner": 0, "SELECT id FROM notes_by_status": 0},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
				x, found := planted(t, c, tt.set, tt.plant, tt.options...)
				if len(found) == 0 {
					t.Error("nothing is found")
				}
				for _, f := range found {
					if f.Outcome != tt.outcome || !strings.Contains(f.Reason, tt.reason) {
						t.Error(f)
					}
				}
				<-time.After(tt.after)
				for query, want := range tt.rows {
					if got := x.count(query); got != want {
						t.Errorf("%s: %d rows, want %d", query, got, want)
					}
				}
			})
		})
	}
}

type pair struct {
	ID, Status string
	Note       *string
}

// A row without any value says nothing of its time: under a former key it is removed by the base row's.
func TestKeysAlone(t *testing.T) {
	t.Parallel()
	set := tables.Must(tables.New[pair]("pair", tables.Table{Name: "pairs", PartKey: []string{"id"}},
		tables.Table{Name: "pairs_by_status", PartKey: []string{"status"}, SortKey: []string{"id"}}, tables.SingleWriter("status")))
	cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
		x, found := planted(t, c, set, []string{
			"INSERT INTO pairs_by_status (status,id) VALUES ('s','a') USING TIMESTAMP ?", "INSERT INTO pairs (id,status,note) VALUES ('a','t',null) USING TIMESTAMP ?",
			"INSERT INTO pairs_by_status (status,id) VALUES ('t','a') USING TIMESTAMP ?",
		}, handed)
		if len(found) != 1 || found[0].Class != reconcile.Ghost || found[0].Outcome != reconcile.Repaired {
			t.Error(found)
		}
		if got := x.count("SELECT id FROM pairs_by_status"); got != 1 {
			t.Errorf("%d rows", got)
		}
	})
}

// A row that is put is put with its nulls as long as an older write, with values there, may be delivered. Of an older
// row they are left out: they would be tombstones that cover nothing.
func TestNullsOfOldRows(t *testing.T) {
	t.Parallel()
	set := tables.Must(tables.New[pair]("pair", tables.Table{Name: "pairs", PartKey: []string{"id"}},
		tables.Table{Name: "pairs_by_status", PartKey: []string{"status"}, SortKey: []string{"id"}}, tables.SingleWriter("status")))
	for _, tt := range []struct {
		name    string
		age     time.Duration
		options []reconcile.Option
		unset   bool
	}{
		{"young", time.Hour, nil, false},
		{"old", 3 * time.Hour, nil, true},
		{"old by its timestamp, which may be younger", 3 * time.Hour, []reconcile.Option{reconcile.OldTimestamps()}, false},
	} {
		for _, backfill := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, backfill %t", tt.name, backfill), func(t *testing.T) {
				t.Parallel()
				cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
					s, _, r := openSet(t, c, set, append(tt.options, reconcile.Settle(30*time.Second))...)
					x := &world{Cluster: c, t: t, s: s}
					for _, table := range []string{"pairs", "pairs_by_status"} {
						x.exec("ALTER TABLE " + table + " WITH gc_grace_seconds = 14400") // nothing is delivered after two hours
					}
					for _, id := range []string{"a", "b"} {
						x.exec("INSERT INTO pairs (id,status) VALUES ('"+id+"','s') USING TIMESTAMP ?", time.Now().UnixMicro())
					}
					<-time.After(tt.age)
					var err error
					if backfill {
						_, err = r.Backfill(t.Context(), set, "pairs_by_status", reconcile.Writers(time.Now()))
					} else {
						_, err = r.Repair(t.Context(), set)
					}
					puts := c.Journal(cassandratest.Table("pairs_by_status"), cassandratest.Text("INSERT"))
					if err != nil || len(puts) < 2 {
						t.Errorf("%v, %d puts", err, len(puts))
					}
					for _, put := range puts {
						for _, statement := range put.Statements {
							if v, there := statement.Value("note"); there && v.Unset != tt.unset {
								t.Errorf("%s: unset %t", statement.Text, v.Unset)
							}
						}
					}
				})
			})
		}
	}
}

// Where a table is dropped, or the base table truncated, a repair ends and says so.
func TestTablesGone(t *testing.T) {
	t.Parallel()
	t.Run("dropped", func(t *testing.T) {
		t.Parallel()
		cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
			x := newWorld(t, c, 20)
			rule := c.When(cassandratest.Table("orders_by_user")).Do(cassandratest.Fail(cassandratest.Code(gocql.ErrCodeInvalid)))
			report, err := x.r.Repair(t.Context(), orders.Orders, handed)
			if !errors.Is(err, reconcile.ErrIncomplete) || errors.Is(err, reconcile.ErrDrift) || rule.Handled() == 0 {
				t.Errorf("%v\n%v", err, report)
			}
		})
	})
	t.Run("truncated", func(t *testing.T) {
		t.Parallel()
		cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
			x := newWorld(t, c, 300)
			x.exec("TRUNCATE orders_by_id")
			report, err := x.r.Repair(t.Context(), orders.Orders, handed)
			if !errors.Is(err, reconcile.ErrTooMuch) {
				t.Errorf("%v\n%v", err, report)
			}
			if n := x.count("SELECT order_id FROM orders_by_id"); n > 100 {
				t.Errorf("%d rows were put back", n)
			}
		})
	})
}
