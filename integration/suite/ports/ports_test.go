package ports_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/cassandratest"
	"github.com/denorm-go/denorm/integration/suite/nodes"
	"github.com/denorm-go/denorm/internal/testutil/suite"
	"github.com/denorm-go/denorm/reconcile"
	"github.com/denorm-go/denorm/schema"
	"github.com/denorm-go/denorm/tables"
)

// places are where the services run: a model of Cassandra, and three real nodes.
var places = map[string]func(t *testing.T) suite.Cassandra{
	"model": model, "nodes": func(*testing.T) suite.Cassandra { return nodes.Cassandra },
}

// everywhere runs a test of a service on its own tables in all places.
func everywhere(t *testing.T, statements []string, test func(p *port)) {
	t.Helper()
	t.Parallel()
	for name, place := range places {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(open(t, place(t), statements))
		})
	}
}

// port is a service on tables that it had before.
type port struct {
	*testing.T
	*suite.Place

	hand *gocql.Session // the session that the service had before
}

func open(t *testing.T, c suite.Cassandra, statements []string) *port {
	t.Helper()
	p := &port{T: t, Place: c.Open(t, 3, statements...)}
	p.hand = c.Dial(t, p.Keyspace)
	return p
}

func (p *port) must(err error) {
	p.Helper()
	if err != nil {
		p.Fatal(err)
	}
}

// by executes a statement by hand.
func (p *port) by(statement string, values ...any) {
	p.Helper()
	p.must(p.hand.Query(statement, values...).Exec())
}

// alter adds what the port needs to the tables.
func (p *port) alter(statements ...string) {
	p.Helper()
	p.ChangeSchema(p.T, p.Keyspace, statements...)
}

// valid wants the live tables to be as sets declare them.
func (p *port) valid(sets ...tables.Described) {
	p.Helper()
	if err := schema.Validate(p.Context(), p.Session, schema.Sets(sets...)); err != nil {
		p.Error(err)
	}
}

// settle is longer than a request takes, where the default is a minute and a half.
const settle = 2 * time.Second

func (p *port) reconciler() *reconcile.Reconciler {
	p.Helper()
	keep := reconcile.OnRemoval(func(reconcile.Removal) error { return nil })
	r, err := reconcile.New(p.Session, reconcile.Settle(settle), reconcile.MaxRemovals(1000), keep)
	p.must(err)
	return r
}

// adopt adopts sets that nobody writes by hand any more, and gives how many differences it has found.
func (p *port) adopt(sets ...tables.Described) int {
	p.Helper()
	return p.all("adopt", sets, func(r *reconcile.Reconciler, set tables.Described) (*reconcile.Report, error) {
		return r.Adopt(p.Context(), set, reconcile.Writers(time.Now()))
	})
}

func (p *port) verify(sets ...tables.Described) {
	p.Helper()
	p.all("verify", sets, func(r *reconcile.Reconciler, set tables.Described) (*reconcile.Report, error) {
		return r.Verify(p.Context(), set)
	})
}

// all runs something over sets, which must succeed, and gives how many differences it has found.
func (p *port) all(
	what string, sets []tables.Described,
	run func(r *reconcile.Reconciler, set tables.Described) (*reconcile.Report, error),
) int {
	p.Helper()
	var found atomic.Int64
	var running sync.WaitGroup
	r := p.reconciler()
	for _, set := range sets {
		running.Go(func() {
			report, err := run(r, set)
			if err != nil {
				p.Errorf("%s: %v\n%v", what, err, report)
			}
			if report != nil {
				found.Add(int64(len(slices.Collect(report.Findings()))))
			}
		})
	}
	running.Wait()
	return int(found.Load())
}

// rows are the rows of a table on all replicas, in order, each as a text of columns.
func (p *port) rows(table, columns string) (out []string) {
	p.Helper()
	iter := p.hand.Query("SELECT " + columns + " FROM " + table).Consistency(gocql.All).Iter()
	for row := make(map[string]any); iter.MapScan(row); row = make(map[string]any) {
		text := make([]string, 0, len(row))
		for _, name := range slices.Sorted(maps.Keys(row)) {
			text = append(text, fmt.Sprintf("%s=%v", name, row[name]))
		}
		out = append(out, strings.Join(text, " "))
	}
	p.must(iter.Close())
	slices.Sort(out)
	return out
}

// agree wants tables to have the same rows, so many.
func (p *port) agree(rows int, columns string, tables ...string) {
	p.Helper()
	want := p.rows(tables[0], columns)
	if len(want) != rows {
		p.Errorf("%s has %d rows, want %d: %q", tables[0], len(want), rows, want)
	}
	for _, table := range tables[1:] {
		if got := p.rows(table, columns); !slices.Equal(got, want) {
			p.Errorf("%s has %q, and %s %q", table, got, tables[0], want)
		}
	}
}

// has wants a column of a table to have these values, in order.
func (p *port) has(table, column string, want ...any) {
	p.Helper()
	var rows []string
	for _, value := range want {
		rows = append(rows, fmt.Sprintf("%s=%v", column, value))
	}
	if got := p.rows(table, column); !slices.Equal(got, rows) {
		p.Errorf("%s has %q, want %q", table, got, rows)
	}
}

// lives are how long rows have to live, in minutes, by their id: 0 for a row that stays.
type lives map[string]int

// ends wants a column of each row of tables to end so.
func (p *port) ends(want lives, id, column string, tables ...string) {
	p.Helper()
	for _, table := range tables {
		got := make(lives)
		iter := p.hand.Query("SELECT " + id + ", TTL(" + column + ") FROM " + table).Consistency(gocql.All).Iter()
		for name, ttl := "", (*int)(nil); iter.Scan((*text)(&name), &ttl); ttl = nil {
			got[name] = 0
			if ttl != nil {
				got[name] = int((time.Duration(*ttl)*time.Second + time.Minute - time.Second) / time.Minute)
			}
		}
		p.must(iter.Close())
		if !maps.EqualFunc(got, want, func(a, b int) bool { return a <= b && a >= b-2 && (a == 0) == (b == 0) }) {
			p.Errorf("%s ends in minutes %v, want %v", table, got, want)
		}
	}
}

// text scans a text or a UUID.
type text string

// UnmarshalCQL implements [gocql.Unmarshaler].
func (s *text) UnmarshalCQL(info gocql.TypeInfo, data []byte) error {
	if info.Type() != gocql.TypeUUID && info.Type() != gocql.TypeTimeUUID {
		*s = text(data)
		return nil
	}
	id, err := gocql.UUIDFromBytes(data)
	*s = text(id.String())
	return err
}

// model is a model of Cassandra.
func model(t *testing.T) suite.Cassandra {
	t.Helper()
	c, keyspaces := cassandratest.Start(t, 3), new(atomic.Int64)
	dial := func(tb testing.TB, keyspace string, changes ...suite.Change) *gocql.Session {
		tb.Helper()
		config := c.Config()
		config.Keyspace, config.Consistency = keyspace, gocql.LocalQuorum
		config.Events.DisableSchemaEvents = true
		for _, change := range changes {
			change(config)
		}
		session, err := config.CreateSession()
		if err != nil {
			tb.Fatal(err)
		}
		tb.Cleanup(session.Close)
		return session
	}
	create := func(_ testing.TB, keyspace string, statements ...string) {
		for _, statement := range statements {
			c.Create(strings.Replace(statement, "TABLE ", "TABLE "+keyspace+".", 1))
		}
	}
	return suite.Cassandra{
		MakeKeyspace: func(tb testing.TB, replication int, statements ...string) string {
			tb.Helper()
			name := fmt.Sprintf("port%d", keyspaces.Add(1))
			c.Create(fmt.Sprintf("CREATE KEYSPACE %s WITH replication = {'class': 'NetworkTopologyStrategy', 'dc1': %d}",
				name, replication))
			create(tb, name, statements...)
			return name
		},
		ChangeSchema: create,
		Dial:         dial,
	}
}
