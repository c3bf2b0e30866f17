package drift

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/examples/orders"
	"github.com/denorm-go/denorm/reconcile"
	"github.com/denorm-go/denorm/schema"
	"github.com/denorm-go/denorm/tables"
)

// Planted is a difference that was planted.
type Planted struct {
	kind

	ID     gocql.UUID
	Status orders.Status // of an order that is there afterwards
}

// kind is one of the kinds of differences between the tables of a set.
type kind struct {
	Set  string
	Name string
	// Found is what is found of the entity: for each row its table, and in what way it disagrees with the base row. It is
	// sorted.
	Found   []string
	does    []string          // see [planter.statements]
	Outcome reconcile.Outcome // of a repair while all nodes are up
	moves   bool              // the status is the status of moved afterwards
	Gone    bool              // there is no base row afterwards
	created bool              // the order is not one of those that were loaded
}

// kinds of differences: what is sent, mostly at a time above that of the order.
var kinds = []kind{
	{
		Name:    "a move that wrote the base table alone",
		Found:   []string{"orders_by_status ghost", "orders_by_status missing", "orders_by_user differing"},
		does:    []string{put("orders_by_id", "{moved}", now)},
		Outcome: reconcile.Repaired, moves: true,
	},
	{
		Name: "a move that left an old row under the same key", Found: []string{"orders_by_user differing"},
		does:    []string{put("orders_by_id", "{moved}", now), put("orders_by_status", "{moved}", now), remove("orders_by_status", "status = {status} AND order_id = {id}")},
		Outcome: reconcile.Repaired, moves: true,
	},
	{
		Name: "a move that left the row under the former key", Found: []string{"orders_by_status ghost"},
		does:    []string{put("orders_by_id", "{moved}", now), put("orders_by_user", "{moved}", now), put("orders_by_status", "{moved}", now)},
		Outcome: reconcile.Repaired, moves: true,
	},
	{
		Name: "a delete that wrote the base table alone", Found: []string{"orders_by_status orphan", "orders_by_user orphan"},
		does:    []string{remove("orders_by_id", "order_id = {id}")},
		Outcome: reconcile.Repaired, Gone: true,
	},
	{
		Name: "a create that did not write the base table", Found: []string{"orders_by_status orphan", "orders_by_user orphan"},
		does:    []string{put("orders_by_user", "{status}", now), put("orders_by_status", "{status}", now)},
		Outcome: reconcile.Repaired, created: true,
	},
	{
		Name: "a move that wrote a query table alone", Found: []string{"orders_by_status newer"},
		does:    []string{put("orders_by_status", "{moved}", now)},
		Outcome: reconcile.Repaired, moves: true,
	},
	{
		Name: "an old row under a status that is none of the declared", Found: []string{"orders_by_status ghost"},
		does:    []string{put("orders_by_status", "'lost'", before)},
		Outcome: reconcile.Repaired,
	},
	{
		Name: "a newer row under a status that is none of the declared", Found: []string{"orders_by_status newer"},
		does:    []string{put("orders_by_status", "'lost'", now)},
		Outcome: reconcile.Found,
	},
	{
		Name: "a row that a delete of a lost write covers", Found: []string{"orders_by_user missing"},
		does:    []string{remove("orders_by_user", "user_id = {user} AND order_id = {id}")},
		Outcome: reconcile.Shadowed,
	},
	{
		Name: "a key alone, without a base row", Found: []string{"orders_by_user undatable"},
		does:    []string{"INSERT INTO orders_by_user (user_id, order_id) VALUES ({user}, {id}) USING TIMESTAMP {" + now},
		Outcome: reconcile.Found, Gone: true, created: true,
	},
}

// put puts a row into a table at a time, as a part of a write does.
func put(table, status, at string) string {
	return fmt.Sprintf("INSERT INTO %s (order_id, user_id, status, total, updated_at) VALUES ({id}, {user}, %s, {total}, {%s) USING TIMESTAMP {%[3]s",
		table, status, at)
}

// remove removes the row of an order from a table.
func remove(table, where string) string {
	return "DELETE FROM " + table + " USING TIMESTAMP {" + now + " WHERE " + where
}

// created is the first number of the orders that are planted, and were not loaded.
const created = 1 << 30

// planter sends parts of writes: loaded is the time of what was there before, at that of what is planted.
type planter struct {
	s          *gocql.Session
	loaded, at int64
	errs       []error
}

// Plant plants so many differences of all kinds on the first orders of those loaded, and on new ones, and as many of
// each kind in the tables of [Small].
func Plant(s *gocql.Session, count int, loaded, at int64) ([]Planted, error) {
	p := &planter{s: s, loaded: loaded, at: at}
	var out []Planted
	for i := range count {
		k := kinds[i%len(kinds)]
		n := i
		if k.created {
			n += created
		}
		o := Order(n, loaded)
		moved := orders.Statuses[(i+1)%len(orders.Statuses)]
		p.statements(k, o.OrderID, "{user}", o.UserID.String(), "{total}", o.Total.String(), "{status}", "'"+string(o.Status)+"'", "{moved}", "'"+string(moved)+"'")
		k.Set = "order"
		d := Planted{kind: k, ID: o.OrderID}
		switch {
		case k.moves:
			d.Status = moved
		case !k.Gone:
			d.Status = o.Status
		}
		out = append(out, d)
		if err := errors.Join(p.errs...); err != nil {
			return nil, err
		}
	}
	for _, k := range smallKinds {
		for range max(1, count/len(kinds)) {
			id := gocql.MustRandomUUID()
			p.statements(k, id)
			out = append(out, Planted{kind: k, ID: id})
		}
	}
	return out, errors.Join(p.errs...)
}

// Desk moves from room to room, by one writer at a time. Its query table lacks a column.
type Desk struct {
	DeskID    gocql.UUID
	Room      string
	Width     int
	Note      string
	UpdatedAt int64
}

// Profile never moves, and takes patches.
type Profile struct {
	UserID      gocql.UUID
	Team        string
	Name, Motto *string
}

// Ticket is written by transactions.
type Ticket struct {
	TicketID    gocql.UUID
	Agent, Text string
	Version     gocql.UUID
}

// The sets with other rules than orders, which have little more than what is planted in them.
var (
	Desks = tables.Must(tables.New[Desk]("desk",
		tables.Table{Name: "desks", PartKey: []string{"desk_id"}},
		tables.Table{Name: "desks_by_room", PartKey: []string{"room"}, SortKey: []string{"desk_id"}, Columns: []string{"width"}},
		tables.SingleWriter("room"),
		tables.Stamp("updated_at"),
	))
	Profiles = tables.Must(tables.New[Profile]("profile",
		tables.Table{Name: "profiles", PartKey: []string{"user_id"}},
		tables.Table{Name: "profiles_by_team", PartKey: []string{"team"}, SortKey: []string{"user_id"}},
	))
	Tickets = tables.Must(tables.New[Ticket]("ticket",
		tables.Table{Name: "tickets", PartKey: []string{"ticket_id"}},
		tables.Table{Name: "tickets_by_agent", PartKey: []string{"agent"}, SortKey: []string{"ticket_id"}},
		tables.Versioned("version"),
	))
	// SmallSchema is their tables.
	SmallSchema = schema.Must(schema.Declare(schema.Sets(Desks, Profiles, Tickets)))
	// SmallTables are their tables by set, each base table first.
	SmallTables = [][]string{{"desks", "desks_by_room"}, {"profiles", "profiles_by_team"}, {"tickets", "tickets_by_agent"}}
)

// The times of what was there before, of what is planted, and just below that of what was there.
const (
	then   = "then}"
	now    = "now}"
	before = "before}"
)

// smallKinds are the kinds of differences in these sets.
var smallKinds = []kind{
	{
		Set: "desk", Name: "SingleWriter: a create that wrote the base table alone", Found: []string{"desks_by_room missing"}, Outcome: reconcile.Repaired,
		does: []string{desk("hall", now)},
	},
	{
		Set: "desk", Name: "SingleWriter: a move that left the row under the former key", Found: []string{"desks_by_room ghost"}, Outcome: reconcile.Repaired,
		does: []string{deskOf("attic", 100, then), desk("hall", now), deskOf("hall", 100, now)},
	},
	{
		Set: "desk", Name: "SingleWriter: a create of which the tables that it wrote lack columns", Found: []string{"desks_by_room orphan"}, Outcome: reconcile.Found, Gone: true,
		does: []string{deskOf("hall", 100, now)},
	},
	{
		Set: "desk", Name: "SingleWriter: a change that wrote a table alone which lacks columns", Found: []string{"desks_by_room newer"}, Outcome: reconcile.Found,
		does: []string{desk("hall", then), deskOf("hall", 120, now)},
	},
	{
		Set: "profile", Name: "Patch: a create that wrote the base table alone", Found: []string{"profiles_by_team missing"}, Outcome: reconcile.Repaired,
		does: []string{profile("profiles")},
	},
	{
		Set: "profile", Name: "Patch: a patch that wrote the base table alone", Found: []string{"profiles_by_team differing"}, Outcome: reconcile.Repaired,
		does: []string{profile("profiles"), profile("profiles_by_team"), "UPDATE profiles USING TIMESTAMP {now} SET motto = 'later' WHERE user_id = {id}"},
	},
	{
		Set: "profile", Name: "Patch: a patch that wrote a query table alone", Found: []string{"profiles_by_team differing"}, Outcome: reconcile.Repaired,
		does: []string{
			profile("profiles"), profile("profiles_by_team"),
			"UPDATE profiles_by_team USING TIMESTAMP {now} SET motto = 'later' WHERE team = 'blue' AND user_id = {id}",
		},
	},
	{
		Set: "profile", Name: "Patch: a null that wrote the base table alone", Found: []string{"profiles_by_team differing"}, Outcome: reconcile.Repaired,
		does: []string{profile("profiles"), profile("profiles_by_team"), "DELETE motto FROM profiles USING TIMESTAMP {now} WHERE user_id = {id}"},
	},
	{
		Set: "ticket", Name: "Versioned: a create that wrote the base table alone", Found: []string{"tickets_by_agent missing"}, Outcome: reconcile.Repaired,
		does: []string{ticket("tickets", "ada", "broken", now)},
	},
	{
		Set: "ticket", Name: "Versioned: a change that left an old row", Found: []string{"tickets_by_agent differing"}, Outcome: reconcile.Repaired,
		does: []string{ticket("tickets_by_agent", "ada", "broken", then), ticket("tickets", "ada", "mended", now)},
	},
	{
		Set: "ticket", Name: "Versioned: a move that left the row under the former key", Found: []string{"tickets_by_agent ghost"}, Outcome: reconcile.Repaired,
		does: []string{ticket("tickets_by_agent", "bob", "broken", then), ticket("tickets", "ada", "broken", now), ticket("tickets_by_agent", "ada", "broken", now)},
	},
	{
		Set: "ticket", Name: "Versioned: a row that no version explains", Found: []string{"tickets_by_agent orphan"}, Outcome: reconcile.Found, Gone: true,
		does: []string{ticket("tickets_by_agent", "ada", "broken", now)},
	},
}

func desk(room, at string) string {
	return fmt.Sprintf("INSERT INTO desks (desk_id, room, width, note, updated_at) VALUES ({id}, '%s', 100, 'oak', {%s) USING TIMESTAMP {%[2]s", room, at)
}

func deskOf(room string, width int, at string) string {
	return fmt.Sprintf("INSERT INTO desks_by_room (room, desk_id, width) VALUES ('%s', {id}, %d) USING TIMESTAMP {%s", room, width, at)
}

func profile(table string) string {
	return "INSERT INTO " + table + " (user_id, team, name, motto) VALUES ({id}, 'blue', 'ada', 'early') USING TIMESTAMP {" + then
}

func ticket(table, agent, text, at string) string {
	return fmt.Sprintf("INSERT INTO %s (agent, ticket_id, text, version) VALUES ('%s', {id}, '%s', {version %s) USING TIMESTAMP {%[4]s",
		table, agent, text, at)
}

// statements are what a kind of difference does to an entity. More are other names, and what stands for them.
func (p *planter) statements(k kind, id gocql.UUID, more ...string) {
	values := append([]string{"{id}", id.String()}, more...)
	for name, at := range map[string]int64{now: p.at, then: p.loaded, before: p.loaded - 1} {
		version := gocql.TimeUUIDWith(gocql.UUIDFromTime(time.UnixMicro(at)).Timestamp(), 1, []byte{1, 2, 3, 4, 5, 6})
		values = append(values, "{"+name, strconv.FormatInt(at, 10), "{version "+name, version.String())
	}
	for _, statement := range k.does {
		statement = strings.NewReplacer(values...).Replace(statement)
		p.errs = append(p.errs, patiently(func() error { return p.s.Query(statement).Idempotent(true).Exec() }))
	}
}
