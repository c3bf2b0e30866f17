package drift

import (
	"context"
	"maps"
	"slices"
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
)

// smallKind is a kind of differences in one of these sets.
type smallKind struct {
	set, name string
	found     []string
	plant     func(p *planter, id gocql.UUID)
	outcome   reconcile.Outcome
	gone      bool
}

var smallKinds = []smallKind{
	{
		set: "desk", name: "SingleWriter: a create that wrote the base table alone", found: []string{"desks_by_room missing"},
		plant: func(p *planter, id gocql.UUID) { p.desk(id, "hall", p.at) }, outcome: reconcile.Repaired,
	},
	{
		set: "desk", name: "SingleWriter: a move that left the row under the former key", found: []string{"desks_by_room ghost"},
		plant: func(p *planter, id gocql.UUID) {
			p.deskOf(id, "attic", 100, p.loaded)
			p.desk(id, "hall", p.at)
			p.deskOf(id, "hall", 100, p.at)
		},
		outcome: reconcile.Repaired,
	},
	{
		set: "desk", name: "SingleWriter: a create of which the tables that it wrote lack columns", found: []string{"desks_by_room orphan"},
		plant: func(p *planter, id gocql.UUID) { p.deskOf(id, "hall", 100, p.at) }, outcome: reconcile.Found, gone: true,
	},
	{
		set: "desk", name: "SingleWriter: a change that wrote a table alone which lacks columns", found: []string{"desks_by_room newer"},
		plant: func(p *planter, id gocql.UUID) {
			p.desk(id, "hall", p.loaded)
			p.deskOf(id, "hall", 120, p.at)
		},
		outcome: reconcile.Found,
	},
	{
		set: "profile", name: "Patch: a create that wrote the base table alone", found: []string{"profiles_by_team missing"},
		plant: func(p *planter, id gocql.UUID) { p.profile("profiles", id) }, outcome: reconcile.Repaired,
	},
	{
		set: "profile", name: "Patch: a patch that wrote the base table alone", found: []string{"profiles_by_team differing"},
		plant: patched("UPDATE profiles USING TIMESTAMP ? SET motto = 'later' WHERE user_id = ?"), outcome: reconcile.Repaired,
	},
	{
		set: "profile", name: "Patch: a patch that wrote a query table alone", found: []string{"profiles_by_team differing"},
		plant: patched("UPDATE profiles_by_team USING TIMESTAMP ? SET motto = 'later' WHERE team = 'blue' AND user_id = ?"), outcome: reconcile.Repaired,
	},
	{
		set: "profile", name: "Patch: a null that wrote the base table alone", found: []string{"profiles_by_team differing"},
		plant: patched("DELETE motto FROM profiles USING TIMESTAMP ? WHERE user_id = ?"), outcome: reconcile.Repaired,
	},
	{
		set: "ticket", name: "Versioned: a create that wrote the base table alone", found: []string{"tickets_by_agent missing"},
		plant: func(p *planter, id gocql.UUID) { p.ticket(id, "ada", "broken", p.at) }, outcome: reconcile.Repaired,
	},
	{
		set: "ticket", name: "Versioned: a change that left an old row", found: []string{"tickets_by_agent differing"},
		plant: func(p *planter, id gocql.UUID) {
			p.ticketOf(id, "ada", p.loaded)
			p.ticket(id, "ada", "mended", p.at)
		},
		outcome: reconcile.Repaired,
	},
	{
		set: "ticket", name: "Versioned: a move that left the row under the former key", found: []string{"tickets_by_agent ghost"},
		plant: func(p *planter, id gocql.UUID) {
			p.ticketOf(id, "bob", p.loaded)
			p.ticket(id, "ada", "broken", p.at)
			p.ticketOf(id, "ada", p.at)
		},
		outcome: reconcile.Repaired,
	},
	{
		set: "ticket", name: "Versioned: a row that no version explains", found: []string{"tickets_by_agent orphan"},
		plant: func(p *planter, id gocql.UUID) { p.ticketOf(id, "ada", p.at) }, outcome: reconcile.Repaired, gone: true,
	},
}

// patched plants a profile in both tables, and then a patch of one of them.
func patched(statement string) func(*planter, gocql.UUID) {
	return func(p *planter, id gocql.UUID) {
		p.profile("profiles", id)
		p.profile("profiles_by_team", id)
		p.do(statement, p.at, id)
	}
}

func (p *planter) desk(id gocql.UUID, room string, at int64) {
	p.do("INSERT INTO desks (desk_id, room, width, note, updated_at) VALUES (?, ?, 100, 'oak', ?) USING TIMESTAMP ?", id, room, at, at)
}

func (p *planter) deskOf(id gocql.UUID, room string, width int64, at int64) {
	p.do("INSERT INTO desks_by_room (room, desk_id, width) VALUES (?, ?, ?) USING TIMESTAMP ?", room, id, width, at)
}

func (p *planter) profile(table string, id gocql.UUID) {
	p.do("INSERT INTO "+table+" (user_id, team, name, motto) VALUES (?, 'blue', 'ada', 'early') USING TIMESTAMP ?", id, p.loaded)
}

func (p *planter) ticket(id gocql.UUID, agent, text string, at int64) {
	p.do("INSERT INTO tickets (ticket_id, agent, text, version) VALUES (?, ?, ?, ?) USING TIMESTAMP ?", id, agent, text, version(at), at)
}

func (p *planter) ticketOf(id gocql.UUID, agent string, at int64) {
	p.do("INSERT INTO tickets_by_agent (agent, ticket_id, text, version) VALUES (?, ?, 'broken', ?) USING TIMESTAMP ?", agent, id, version(at), at)
}

// version is that of a change at a time.
func version(at int64) gocql.UUID {
	return gocql.TimeUUIDWith(gocql.UUIDFromTime(time.UnixMicro(at)).Timestamp(), 1, []byte{1, 2, 3, 4, 5, 6})
}

// smallTables are the tables of these sets, in pairs, with the id of the entity and the columns that both have.
var smallTables = []struct{ base, query, id, columns string }{
	{"desks", "desks_by_room", "desk_id", "room, width"},
	{"profiles", "profiles_by_team", "user_id", "team, name, motto"},
	{"tickets", "tickets_by_agent", "ticket_id", "agent, text, version"},
}

// DifferSmall are the entities of these sets of which the tables do not have the same, read at ALL, and those that have a base row.
func DifferSmall(ctx context.Context, s *gocql.Session) (differ, there map[gocql.UUID]bool, err error) {
	differ, there = make(map[gocql.UUID]bool), make(map[gocql.UUID]bool)
	for _, t := range smallTables {
		read := func(table string) (map[gocql.UUID]string, error) {
			rows := make(map[gocql.UUID]string)
			err := patiently(func() error {
				clear(rows)
				iter := s.Query("SELECT JSON " + t.id + ", " + t.columns + " FROM " + table).Consistency(gocql.All).WithContext(ctx).Iter()
				var text string
				for iter.Scan(&text) {
					_, rest, _ := strings.Cut(text, `"`+t.id+`": "`)
					id, err := gocql.ParseUUID(rest[:36])
					if err != nil {
						return err
					}
					rows[id] += text
				}
				return iter.Close()
			})
			return rows, err
		}
		base, err := read(t.base)
		if err != nil {
			return nil, nil, err
		}
		query, err := read(t.query)
		if err != nil {
			return nil, nil, err
		}
		for id := range base {
			there[id] = true
		}
		for _, id := range slices.Concat(slices.Collect(maps.Keys(base)), slices.Collect(maps.Keys(query))) {
			if base[id] != query[id] {
				differ[id] = true
			}
		}
	}
	return differ, there, nil
}
