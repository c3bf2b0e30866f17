package reconcile_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/cassandratest"
	"github.com/denorm-go/denorm/internal/statement"
	"github.com/denorm-go/denorm/reconcile"
	"github.com/denorm-go/denorm/session"
	"github.com/denorm-go/denorm/tables"
	"github.com/denorm-go/denorm/writer"
)

// killedItems are items of which one disagrees in each way.
type killedItems struct {
	*random
	plants []wreck  // nil: rows that were written without the library
	left   []string // by moves that are finished
	age    time.Duration
	// planted are the writes that did not reach all tables.
	planted map[gocql.UUID]attempted
}

// attempted is a write, and what it leaves, empty if it deletes.
type attempted struct {
	mutations []statement.Mutation
	values    string
}

// wreck is a write that did not reach all tables.
type wreck struct {
	name   string
	of     func(rule) bool                                    // nil: all
	before []string                                           // tables that had the item
	change func(x *random, before item) (tables.Change, item) // nil: there is none
	to     []string                                           // tables that got it
	puts   bool                                               // nothing was removed
}

func updated(x *random, before item) (tables.Change, item) {
	after, a := before, int64(7)
	after.A = &a
	return x.set.Update(before, after), after
}

func moved(x *random, before item) (tables.Change, item) {
	after := before
	after.Status = statuses[(slices.Index(statuses, before.Status)+1)%len(statuses)]
	return x.set.Update(before, after), after
}

func deleted(x *random, before item) (tables.Change, item) { return x.set.Delete(before), before }

const base, owners, states = "items", "items_by_owner", "items_by_status"

const newerMoved = "newer, and moved"

var everywhere = []string{base, owners, states}

func moves(r rule) bool { return r.moves }

var wrecks = []wreck{
	{name: "missing", before: []string{base, states}},
	{name: "differing", before: everywhere, change: updated, to: []string{base, states}},
	{name: "ghost", of: moves, before: everywhere, change: moved, to: everywhere, puts: true},
	{name: "missing after a move", of: moves, before: everywhere, change: moved, to: []string{base, owners}},
	{name: "orphan of a delete", before: everywhere, change: deleted, to: []string{base}},
	{name: "orphan of a create", before: []string{states}},
	{name: "newer", before: everywhere, change: updated, to: []string{states}},
	{name: newerMoved, of: func(r rule) bool { return r.moves && !r.single }, before: everywhere, change: moved, to: []string{states}, puts: true},
	{name: "shadowed", before: everywhere, change: deleted, to: []string{owners}},
	{name: "agrees", before: everywhere},
}

// empty empties tables, and those of State.
func empty(c *cassandratest.Cluster, tables ...string) {
	for _, table := range append(tables, "denorm_run", "denorm_run_segment", "denorm_lease", "denorm_finding") {
		c.Create("TRUNCATE shop." + table)
	}
}

func newKilledItems(t *testing.T, c *cassandratest.Cluster, r rule, plants []wreck) *mortal {
	t.Helper()
	x := &random{Cluster: c, rule: r, t: t}
	x.s, x.w, x.r = openSet(t, c, r.set, reconcile.State("shop"), reconcile.Settle(settleKilled), reconcile.Ranges(killedRanges))
	x.Create(reconcile.StateSchema("shop"))
	return &mortal{ward: &killedItems{random: x, plants: plants, age: time.Hour}, t: t, r: x.r}
}

func (k *killedItems) cluster() *cassandratest.Cluster { return k.Cluster }
func (k *killedItems) moved() []string                 { return k.left }
func (k *killedItems) set() tables.Described           { return k.rule.set }

func (k *killedItems) plant() {
	k.left = nil
	empty(k.Cluster, everywhere...)
	k.planted = make(map[gocql.UUID]attempted)
	at := time.Now().Add(-k.age).UnixMicro()
	if k.plants == nil {
		k.plantByHand(at)
	}
	for i, w := range k.plants {
		if w.of != nil && !w.of(k.rule) {
			continue
		}
		a, b := int64(i), int64(100+i)
		before := item{ID: gocql.UUID{15: byte(i + 1)}, Owner: gocql.UUID{14: 1, 15: byte(i + 1)}, Status: "open", A: &a, B: &b}
		k.apply(k.rule.set.Insert(before), before, at+int64(i), func(m statement.Mutation) bool { return slices.Contains(w.before, m.Table) })
		if before.UpdatedAt = at + int64(i); w.change == nil {
			continue
		}
		change, after := w.change(k.random, before)
		if w.name == newerMoved {
			k.left = append(k.left, rowKey(states, map[string]string{"id": before.ID.String(), "status": "'open'"}))
		}
		k.apply(change, after, at+1_000_000+int64(i), func(m statement.Mutation) bool {
			return slices.Contains(w.to, m.Table) && (!w.puts || m.Kind != statement.Remove)
		})
	}
}

// apply sends some mutations of a write, which leaves a row.
func (k *killedItems) apply(c tables.Change, row item, at int64, is func(statement.Mutation) bool) {
	k.t.Helper()
	r, err := c.Internal().Render(at, func(string) string { return "shop" })
	if err != nil {
		k.t.Fatal(err)
	}
	values := row.Status + ", " + stored{a: row.A, b: row.B}.values()
	if c.Kind() == tables.Delete {
		values = ""
	}
	k.planted[row.ID] = attempted{r.Mutations, values}
	for _, m := range r.Mutations {
		if is(m) {
			k.send(m)
		}
	}
}

func (k *killedItems) rows() (out []string) {
	for _, table := range everywhere[1:] {
		for id, rows := range k.read(table) {
			for _, s := range rows {
				out = append(out, rowKey(table, map[string]string{"id": id.String(), "owner": s.owner, "status": "'" + s.status + "'"}))
			}
		}
	}
	slices.Sort(out)
	return out
}

func (k *killedItems) values() string {
	var out []string
	for id, rows := range k.read(base) {
		out = append(out, fmt.Sprintf("%s of %s, %s, %s", id, rows[0].owner, rows[0].status, rows[0].values()))
	}
	slices.Sort(out)
	return strings.Join(out, "\n")
}

// plantByHand plants rows without stamps, of which each table has times of its own.
func (k *killedItems) plantByHand(at int64) {
	for i, row := range []struct {
		base, owners, states string // the status, empty where there is no row
	}{{"open", "open", "open"}, {"open", "", "open"}, {"open", "open", ""}, {"open", "paid", "paid"}, {"", "open", "open"}, {"", "", "paid"}} {
		for n, status := range []string{row.owners, row.states, row.base} {
			if status == "" {
				continue
			}
			err := k.s.Writes().Query("INSERT INTO "+[]string{owners, states, base}[n]+" (id, owner, status, a) VALUES (?, ?, ?, ?) USING TIMESTAMP ?",
				gocql.UUID{15: byte(i + 1)}, gocql.UUID{14: 1, 15: byte(i + 1)}, status, int64(i), at+int64((7*i+5*n)%11)).DefaultTimestamp(false).Exec()
			if err != nil {
				k.t.Fatal(err)
			}
		}
	}
}

// killedTickets are entities of a set with Versioned.
type killedTickets struct {
	*cassandratest.Cluster
	t *testing.T
	s *session.Session
	w *writer.Writer
}

func newKilledTickets(t *testing.T, c *cassandratest.Cluster) *mortal {
	t.Helper()
	s, w, r := openSet(t, c, tickets, reconcile.State("shop"), reconcile.Settle(settleKilled), reconcile.Ranges(killedRanges))
	c.Create(reconcile.StateSchema("shop"))
	return &mortal{ward: &killedTickets{c, t, s, w}, t: t, r: r}
}

func (k *killedTickets) cluster() *cassandratest.Cluster { return k.Cluster }
func (k *killedTickets) set() tables.Described           { return tickets }

// moved are what a client has left that died after its transaction.
func (k *killedTickets) moved() []string {
	return []string{"tickets_by_agent: agent = 'ada' AND id = 4", "tickets_by_agent: agent = 'ada' AND id = 5"}
}

func (k *killedTickets) plant() {
	empty(k.Cluster, "tickets", "tickets_by_agent")
	write := func(dies bool, change tables.Change) gocql.UUID {
		k.t.Helper()
		res, err := k.w.With(writer.Timeout(3*time.Second)).Write(k.t.Context(), "ticket", change)
		if (err != nil) != dies {
			k.t.Fatal(err)
		}
		return res.Version
	}
	all := make([]ticket, 6)
	for i := range all {
		if i == 2 { // 0 is missing, and 1 is put below
			k.Create("TRUNCATE shop.tickets_by_agent")
		}
		all[i] = ticket{ID: i, Agent: "ada", Text: "broken"}
		all[i].Version = write(false, tickets.Insert(all[i]))
	}
	old := time.Now().Add(-time.Hour).UnixMicro()
	for id, agent := range map[int]string{1: "ada", 2: "eve", 3: "eve"} { // differs, a ghost, and an orphan of a delete
		if err := k.s.Writes().Query("INSERT INTO tickets_by_agent (agent, id, text) VALUES (?, ?, 'x') USING TIMESTAMP ?", agent, id, old).
			DefaultTimestamp(false).Exec(); err != nil {
			k.t.Fatal(err)
		}
	}
	write(false, tickets.Delete(all[3]))
	dead := k.When(cassandratest.Table("tickets_by_agent")).Do(cassandratest.Drop)
	after := all[4]
	after.Agent = "bob"
	write(true, tickets.Update(all[4], after))
	write(true, tickets.Delete(all[5]))
	dead.End()
	<-time.After(time.Minute)
}

// read gives the rows of a table that are not those of deleted tickets.
func (k *killedTickets) read(table string) map[string]string {
	out := make(map[string]string)
	iter := k.s.Reads().Query("SELECT agent, id, text FROM " + table).Prefetch(0).Iter()
	var agent, text string
	for id := 0; iter.Scan(&agent, &id, &text); {
		if agent != "" {
			out[rowKey("tickets_by_agent", map[string]string{"agent": "'" + agent + "'", "id": fmt.Sprint(id)})] = text
		}
	}
	if err := iter.Close(); err != nil {
		k.t.Fatal(err)
	}
	return out
}

func (k *killedTickets) differences() (out []string) {
	base, have := k.read("tickets"), k.read("tickets_by_agent")
	for key, text := range have {
		if base[key] != text {
			out = append(out, key)
		}
	}
	for key := range base {
		if _, there := have[key]; !there {
			out = append(out, key)
		}
	}
	slices.Sort(out)
	return out
}

func (k *killedTickets) rows() []string { return slices.Sorted(maps.Keys(k.read("tickets_by_agent"))) }
func (k *killedTickets) values() string { return fmt.Sprint(k.read("tickets")) }
