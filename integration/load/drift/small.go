package drift

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/reconcile"
	"github.com/denorm-go/denorm/schema"
	"github.com/denorm-go/denorm/tables"
)

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
