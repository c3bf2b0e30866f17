package suite

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/reconcile"
	"github.com/denorm-go/denorm/schema"
	"github.com/denorm-go/denorm/tables"
	"github.com/denorm-go/denorm/writer"
	"github.com/denorm-go/denorm/writer/bulk"
)

// contact has collections with a cell for each element: sets and maps, which are written, and a list, which is only
// read.
type contact struct {
	ID, Team, Name string
	Level          string
	Tags           map[string]struct{}
	Rates          map[string]int32
	Phones         []string
	UpdatedAt      int64
	Version        gocql.UUID
}

// collectionMode is one of the ways in which a set is written.
type collectionMode struct {
	name    string
	options []tables.Option
	queries []tables.Table // the first have the list
	lists   int            // tables with the list, the base table included
	write   func(w *writer.Writer) *writer.Writer
	bulk    bool
	patches bool
}

func collectionModes() []collectionMode {
	byTeam := tables.Table{Name: "team", PartKey: []string{"team"}, SortKey: []string{"id"}}
	withoutList := []string{"id", "team", "name", "level", "tags", "rates", "updated_at", "version"}
	moving := func(column string) tables.Table {
		return tables.Table{Name: column, PartKey: []string{column}, SortKey: []string{"id"}, Columns: withoutList}
	}
	stamp, versioned := tables.Stamp("updated_at"), tables.Versioned("version")
	group := func(w *writer.Writer) *writer.Writer { return w.With(writer.Group(4 << 10)) }
	return []collectionMode{
		{name: "plain", queries: []tables.Table{byTeam}, lists: 2, patches: true},
		{name: "logged", options: []tables.Option{stamp, tables.Atomic()}, queries: []tables.Table{byTeam}, lists: 2},
		{name: "grouped", options: []tables.Option{stamp}, queries: []tables.Table{byTeam}, lists: 2, write: group},
		{name: "bulk", options: []tables.Option{stamp}, queries: []tables.Table{byTeam}, lists: 2, bulk: true},
		{
			name: "oneof", options: []tables.Option{stamp, tables.OneOf("level", "low", "high")},
			queries: []tables.Table{byTeam, moving("level")},
			lists:   2,
		},
		{
			name: "single", options: []tables.Option{stamp, tables.SingleWriter("level")},
			queries: []tables.Table{byTeam, moving("level")},
			lists:   2,
		},
		{name: "versioned", options: []tables.Option{versioned}, queries: []tables.Table{byTeam, moving("level")}, lists: 2},
		{name: "compared", options: []tables.Option{tables.Compare("name"), tables.Mark("version")}, lists: 1},
	}
}

// set is the set of a mode, with tables of its own.
func (m *collectionMode) set() *tables.Set[contact] {
	options := append([]tables.Option{
		tables.Table{Name: m.name + "_contacts", PartKey: []string{"id"}}, tables.ReadOnly("phones"),
	}, m.options...)
	for _, t := range m.queries {
		t.Name = m.table(t.Name)
		options = append(options, t)
	}
	return tables.Must(tables.New[contact]("contact_"+m.name, options...))
}

func (m *collectionMode) table(query string) string { return m.name + "_contacts_by_" + query }

// collectionsSchema has the tables of all modes.
func collectionsSchema() *schema.Schema {
	sets := each(collectionModes(), func(m collectionMode) tables.Described { return m.set() })
	for _, set := range copiedNumbers {
		sets = append(sets, set)
	}
	return schema.Must(schema.Declare(schema.Sets(sets...)))
}

type collectionTests struct{ *Place }

// What is sent twice, as after an answer that was lost, leaves sets and maps as it would once. A list that no set
// writes stays as it is until its row is deleted, and is read with its row. Cassandra itself would double it.
func (p collectionTests) WrittenTwice(t *testing.T) {
	for _, m := range collectionModes() {
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			m.writeTwice(t, p.Place)
		})
	}
	t.Run("a list by hand", func(t *testing.T) {
		t.Parallel()
		for range 2 {
			p.exec(t, "INSERT INTO plain_contacts (id, phones) VALUES ('doubled', ['1', '2']) USING TIMESTAMP 100")
		}
		got := cell[[]string](t, p.Place, "SELECT phones FROM plain_contacts WHERE id = 'doubled'")
		wantRows(t, "sent twice", got, []string{"1", "2", "1", "2"})
	})
}

func (m *collectionMode) writeTwice(t *testing.T, p *Place) {
	set, w := m.set(), p.Writer
	if m.write != nil {
		w = m.write(w)
	}
	last := time.Now().UnixMicro()
	twice := func(change tables.Change) {
		t.Helper()
		last = max(last+1, time.Now().UnixMicro())
		m.send(t, w, change, last)
		if m.lists > 1 || change.Kind() != tables.Delete { // a delete leaves no mark by which Compare would know it
			m.send(t, w, change, last)
		}
	}
	row := contact{
		ID: gocql.MustRandomUUID().String(), Team: gocql.MustRandomUUID().String(), Name: "Ann", Level: "low",
		Tags:  map[string]struct{}{"a": {}, "b": {}},
		Rates: map[string]int32{"x": 1, "y": 2},
	}
	twice(set.Insert(row))
	m.want(t, p, row)
	for _, table := range m.tables() { // as other code does
		p.exec(t, "UPDATE "+table+" SET phones = ['1', '2', '1']"+where(table, row))
	}
	row = value(writer.Load(t.Context(), w, "load", set, row))(t)
	wrong(t, !slices.Equal(row.Phones, []string{"1", "2", "1"}), "read with its row, the list is %q", row.Phones)
	m.rejects(t, p, row)

	after := row
	after.Name, after.Tags, after.Rates = "Eve", map[string]struct{}{"b": {}, "c": {}}, map[string]int32{"y": 3, "z": 4}
	if m.lists <= len(m.queries) { // a table without the list
		after.Level = "high"
	}
	twice(set.Update(row, after))
	m.want(t, p, after)
	if m.patches {
		after.Tags, after.Rates = map[string]struct{}{"d": {}}, nil
		twice(set.Patch(after, tables.Elements("tags"), tables.Without("rates", "y")))
		after.Tags, after.Rates = map[string]struct{}{"b": {}, "c": {}, "d": {}}, map[string]int32{"z": 4}
		m.want(t, p, after)
	}
	after = value(writer.Load(t.Context(), w, "load", set, after))(t)
	twice(set.Delete(after))
	for _, table := range m.tables() {
		var name *string
		var phones []string
		err := p.Session.Reads().Query("SELECT name, phones FROM "+table+where(table, after)).Scan(&name, &phones)
		wrong(t, err == nil && (name != nil || phones != nil) || err != nil && err != gocql.ErrNotFound, "%s: after the delete there are %v and %q, %v", //nolint:errorlint // the driver's
			table, name, phones, err)
	}
}

// send carries out a change at a time.
func (m *collectionMode) send(t *testing.T, w *writer.Writer, change tables.Change, at int64) {
	t.Helper()
	if !m.bulk {
		Write(t, w.With(writer.At(at)), "write", change)
		return
	}
	b := bulk.WriteAll(t.Context(), w, "write", func(yield func(bulk.Item, error) bool) {
		yield(bulk.Item{Change: change, At: at}, nil)
	})
	for done := range b.All() {
		must(t, done.Err)
	}
	must(t, b.Err())
}

// rejects are the changes that would have to write the list.
func (m *collectionMode) rejects(t *testing.T, p *Place, row contact) {
	t.Helper()
	set, other := m.set(), row
	other.Phones = append(slices.Clone(row.Phones), "3")
	fresh := other
	fresh.ID, fresh.Version = gocql.MustRandomUUID().String(), gocql.UUID{}
	moved, none := row, row
	moved.Name, moved.Team, none.Phones = "Eve", "another", nil
	changes := map[string]tables.Change{
		"an insert": set.Insert(fresh), "another list": set.Update(row, other), "no list": set.Update(row, none),
	}
	if m.patches {
		changes["an upsert"], changes["a patch"] = set.Upsert(fresh), set.Patch(other, tables.Column("phones"))
	}
	for name, c := range changes {
		wantError(t, name, errorOf(p.Writer.Write(t.Context(), "write", c)), writer.ErrInvalid, "column phones",
			"denorm adopt --copy")
	}
	if m.name == "versioned" { // the keys of other sets cannot change so
		wantError(t, "a move", errorOf(p.Writer.Write(t.Context(), "write", set.Update(row, moved))), writer.ErrInvalid,
			m.table("team"), "column phones",
			"leave it out of the Columns")
	}
}

// tables are those of the mode, which begin with those that have the list.
func (m *collectionMode) tables() []string {
	out := []string{m.name + "_contacts"}
	for _, t := range m.queries {
		out = append(out, m.table(t.Name))
	}
	return out[:m.lists]
}

func where(table string, row contact) string {
	if strings.HasSuffix(table, "_by_team") {
		return fmt.Sprintf(" WHERE team = '%s' AND id = '%s'", row.Team, row.ID)
	}
	return fmt.Sprintf(" WHERE id = '%s'", row.ID)
}

// want compares the rows in the tables that have the list.
func (m *collectionMode) want(t *testing.T, p *Place, row contact) {
	t.Helper()
	for _, table := range m.tables() {
		var got contact
		var tags []string
		must(t, p.Session.Reads().Query("SELECT name, tags, rates, phones FROM "+table+where(table, row)).
			Scan(&got.Name, &tags, &got.Rates, &got.Phones))
		text := func(c contact, tags []string) string {
			return fmt.Sprintf("%q %q %v %q", c.Name, tags, c.Rates, c.Phones)
		}
		is, want := text(got, tags), text(row, slices.Sorted(maps.Keys(row.Tags)))
		wrong(t, is != want, "%s: it is %s, want %s", table, is, want)
	}
}

// number is a contact whose list is copied into another column.
type number struct {
	ID, Team, Name string
	Phones         []string
	Numbers        []string
	UpdatedAt      int64
	Version        gocql.UUID
}

func numbers(name string, option tables.Option) *tables.Set[number] {
	return tables.Must(tables.New[number]("number_"+name,
		tables.Table{Name: name + "_numbers", PartKey: []string{"id"}},
		tables.Table{Name: name + "_numbers_by_team", PartKey: []string{"team"}, SortKey: []string{"id"}},
		tables.ReadOnly("phones"), tables.Type("numbers", "frozen<list<text>>"), option))
}

var copiedNumbers = map[string]*tables.Set[number]{
	"stamped":   numbers("stamped", tables.Stamp("updated_at")),
	"versioned": numbers("versioned", tables.Versioned("version")),
}

// Lists that were written by hand are copied at their own times: again when they have changed, and not over what was
// written later.
func (p collectionTests) ListsAreCopied(t *testing.T) {
	for name, set := range copiedNumbers {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			copyLists(t, p.Place, name, set)
		})
	}
}

func copyLists(t *testing.T, p *Place, name string, set *tables.Set[number]) {
	ago := time.Now().Add(-time.Hour).UnixMicro()
	base, query := name+"_numbers", name+"_numbers_by_team"
	for i, table := range []string{base, query} {
		p.exec(t, fmt.Sprintf("INSERT INTO %s (id, team, name, phones) VALUES ('a', 'x', 'Ann', ['1', '2', '1']) USING "+
			"TIMESTAMP %d", table, ago+int64(i)))
	}
	again := func(seconds int64, element string) {
		for _, row := range []string{base + " USING TIMESTAMP ? SET phones = phones + ? WHERE id = 'a'", query +
			" USING TIMESTAMP ? SET phones = phones + ? WHERE team = 'x' AND id = 'a'"} {
			p.exec(t, "UPDATE "+row, ago+seconds*1_000_000, []string{element})
		}
	}
	again(1, "3")
	r := value(reconcile.New(p.Session, reconcile.Settle(time.Second),
		reconcile.OnRemoval(func(reconcile.Removal) error { return nil })))(t)
	run := func(copied, kept int, want ...string) {
		t.Helper()
		report := value(r.Adopt(t.Context(), set, reconcile.Copy("phones", "numbers"),
			reconcile.Writers(time.Now().Add(-10*time.Second))))(t)
		wrong(t, report.Copied != copied || report.Kept != kept, "%d copied, %d kept, want %d and %d", report.Copied,
			report.Kept, copied, kept)
		for _, table := range []string{base, query} {
			wantRows(t, table, cell[[]string](t, p, "SELECT numbers FROM "+table), want)
		}
	}
	run(1, 0, "1", "2", "1", "3")
	run(0, 0, "1", "2", "1", "3")
	timed := p.Session.Reads().Query("SELECT MAXWRITETIME(phones) FROM "+base).Exec() == nil // 4.1 does not tell
	if name == "stamped" && timed {
		at := cell[int64](t, p, "SELECT WRITETIME(numbers) FROM "+base)
		wrong(t, at != ago+1_000_000, "it was written %d us after its list", at-ago-1_000_000)
		again(2, "4")
		run(1, 0, "1", "2", "1", "3", "4")
	}
	must(t, errorOf(writer.Modify(t.Context(), p.Writer, "write", set, number{ID: "a"}, func(n number) (number, error) {
		n.Numbers = []string{"5"}
		return n, nil
	})))
	run(0, 1, "5")
}
