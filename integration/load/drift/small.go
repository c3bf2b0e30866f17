package drift

import (
	"context"
	"fmt"
	"hash/maphash"
	"maps"
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
		set: "desk", name: "SingleWriter: a create that wrote the base table alone", found: []string{"desks_by_room missing"}, outcome: reconcile.Repaired,
		does: []string{desk("hall", now)},
	},
	{
		set: "desk", name: "SingleWriter: a move that left the row under the former key", found: []string{"desks_by_room ghost"}, outcome: reconcile.Repaired,
		does: []string{deskOf("attic", 100, then), desk("hall", now), deskOf("hall", 100, now)},
	},
	{
		set: "desk", name: "SingleWriter: a create of which the tables that it wrote lack columns", found: []string{"desks_by_room orphan"}, outcome: reconcile.Found, gone: true,
		does: []string{deskOf("hall", 100, now)},
	},
	{
		set: "desk", name: "SingleWriter: a change that wrote a table alone which lacks columns", found: []string{"desks_by_room newer"}, outcome: reconcile.Found,
		does: []string{desk("hall", then), deskOf("hall", 120, now)},
	},
	{
		set: "profile", name: "Patch: a create that wrote the base table alone", found: []string{"profiles_by_team missing"}, outcome: reconcile.Repaired,
		does: []string{profile("profiles")},
	},
	{
		set: "profile", name: "Patch: a patch that wrote the base table alone", found: []string{"profiles_by_team differing"}, outcome: reconcile.Repaired,
		does: []string{profile("profiles"), profile("profiles_by_team"), "UPDATE profiles USING TIMESTAMP {now} SET motto = 'later' WHERE user_id = {id}"},
	},
	{
		set: "profile", name: "Patch: a patch that wrote a query table alone", found: []string{"profiles_by_team differing"}, outcome: reconcile.Repaired,
		does: []string{
			profile("profiles"), profile("profiles_by_team"),
			"UPDATE profiles_by_team USING TIMESTAMP {now} SET motto = 'later' WHERE team = 'blue' AND user_id = {id}",
		},
	},
	{
		set: "profile", name: "Patch: a null that wrote the base table alone", found: []string{"profiles_by_team differing"}, outcome: reconcile.Repaired,
		does: []string{profile("profiles"), profile("profiles_by_team"), "DELETE motto FROM profiles USING TIMESTAMP {now} WHERE user_id = {id}"},
	},
	{
		set: "ticket", name: "Versioned: a create that wrote the base table alone", found: []string{"tickets_by_agent missing"}, outcome: reconcile.Repaired,
		does: []string{ticket("tickets", "ada", "broken", now)},
	},
	{
		set: "ticket", name: "Versioned: a change that left an old row", found: []string{"tickets_by_agent differing"}, outcome: reconcile.Repaired,
		does: []string{ticket("tickets_by_agent", "ada", "broken", then), ticket("tickets", "ada", "mended", now)},
	},
	{
		set: "ticket", name: "Versioned: a move that left the row under the former key", found: []string{"tickets_by_agent ghost"}, outcome: reconcile.Repaired,
		does: []string{ticket("tickets_by_agent", "bob", "broken", then), ticket("tickets", "ada", "broken", now), ticket("tickets_by_agent", "ada", "broken", now)},
	},
	{
		set: "ticket", name: "Versioned: a row that no version explains", found: []string{"tickets_by_agent orphan"}, outcome: reconcile.Found, gone: true,
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

// smallTables are the tables of these sets, in pairs, with the id of the entity and the columns that both have.
var smallTables = []struct{ base, query, id, columns string }{
	{"desks", "desks_by_room", "desk_id", "room, width"},
	{"profiles", "profiles_by_team", "user_id", "team, name, motto"},
	{"tickets", "tickets_by_agent", "ticket_id", "agent, text, version"},
}

// cell is a value as the server sends it, in quotes, or null. MapScan makes null a zero value.
type cell string

// UnmarshalCQL implements gocql.Unmarshaler.
func (c *cell) UnmarshalCQL(_ gocql.TypeInfo, data []byte) error {
	*c = "null"
	if data != nil {
		*c = cell(strconv.Quote(string(data)))
	}
	return nil
}

// DifferSmall are the entities of these sets of which the tables do not have the same, read at ALL, and those that have
// a base row.
func DifferSmall(ctx context.Context, s *gocql.Session) (differ, there map[gocql.UUID]bool, err error) {
	differ, there = make(map[gocql.UUID]bool), make(map[gocql.UUID]bool)
	for _, t := range smallTables {
		var both []Contents
		for _, table := range []string{t.base, t.query} {
			rows := make(Contents)
			err := patiently(func() error {
				clear(rows)
				iter := s.Query("SELECT " + t.id + ", " + t.columns + " FROM " + table).Consistency(gocql.All).WithContext(ctx).Iter()
				for {
					var id gocql.UUID
					values, to := make([]cell, len(iter.Columns())-1), []any{&id}
					for i := range values {
						to = append(to, &values[i])
					}
					if !iter.Scan(to...) {
						return iter.Close()
					}
					rows[id] += maphash.String(digestSeed, fmt.Sprint(values))
				}
			})
			if err != nil {
				return nil, nil, err
			}
			both = append(both, rows)
		}
		d, base := compare(both...)
		maps.Copy(differ, d)
		maps.Copy(there, base)
	}
	return differ, there, nil
}
