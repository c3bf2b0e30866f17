package describe_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/denorm-go/denorm/internal/describe"
	"github.com/denorm-go/denorm/tables"
	"github.com/gocql/gocql"
)

// Processes of a rollout differ in Hidden: neither the fingerprint nor what is written tells. The base table cannot be
// hidden.
func TestHiddenChangesNoWrite(t *testing.T) {
	t.Parallel()
	type item struct{ ID, City string }
	declare := func(base, query bool) (*tables.Set[item], error) {
		return tables.New[item]("item", tables.Table{Name: "items", PartKey: []string{"id"}, Hidden: base},
			tables.Table{Name: "items_by_city", PartKey: []string{"city"}, SortKey: []string{"id"}, Hidden: query})
	}
	shown, hidden := tables.Must(declare(false, false)), tables.Must(declare(false, true))
	if a, b := describe.Of(shown.Internal()), describe.Of(hidden.Internal()); !reflect.DeepEqual(a, b) {
		t.Errorf("described as %v and %v", a, b)
	}
	written := func(s *tables.Set[item]) []string {
		r, err := s.Insert(item{"a", "Bonn"}).Internal().Render(1, nil)
		if err != nil {
			t.Fatal(err)
		}
		var out []string
		for _, m := range r.Mutations {
			out = append(out, m.Statement)
		}
		return out
	}
	if a, b := written(shown), written(hidden); len(a) != 2 || !slices.Equal(a, b) {
		t.Errorf("written as %v and %v", a, b)
	}
	if _, err := declare(true, false); err == nil || !strings.Contains(err.Error(), "the base table cannot be Hidden") {
		t.Errorf("a hidden base table: %v", err)
	}
}

// A table's fingerprint says what concerns its own key, and the conditions of its set.
func TestFingerprint(t *testing.T) {
	t.Parallel()
	type event struct {
		ID      gocql.UUID
		Kind    string
		Level   int32
		Small   int8
		Flag    bool
		Day     time.Time
		City    string
		Ts      time.Time
		Version gocql.UUID
		Stamp   int64
		Ends    time.Time
	}
	by := func(name string, part ...string) tables.Table {
		return tables.Table{Name: name, PartKey: part, SortKey: []string{"id"}}
	}
	changing := tables.Must(tables.New[event]("event",
		tables.Table{Name: "events", PartKey: []string{"id"}}, by("by_kind", "kind", "city"), by("by_level", "level"),
		by("by_small", "small"),
		by("by_flag", "flag"), by("by_day", "day"), by("by_slot", "slot"), by("by_hour", "hour"),
		tables.OneOf("kind", "a", `b"; [`), tables.OneOf[int32]("level", -300, 4), tables.OneOf[int8]("small", -1),
		tables.OneOf("flag", true, false),
		tables.OneOf("day", time.Unix(0, 0)), tables.Type("day", "date"), tables.SingleWriter("city"), tables.Stamp("stamp"),
		tables.ExpiresAt("ends"), tables.SweepInserts(),
		tables.Derive("slot", tables.Hash(4, "city")),
		tables.Derive("hour", tables.Hour("ts"), tables.Since{Time: time.UnixMilli(1500).UTC(), Bucket: tables.Day("ts")}),
	))
	versioned := tables.Must(tables.New[event]("event",
		tables.Table{Name: "events", PartKey: []string{"id"}}, by("by_city", "city"),
		tables.Table{Name: "of_kind", PartKey: []string{"kind"}, Unique: true},
		tables.Table{Name: "of_city", PartKey: []string{"city"}, Unique: true},
		tables.Versioned("version"), tables.LocalSerial()))
	rotating := tables.Must(tables.New[event]("event",
		tables.Table{Name: "events", PartKey: []string{"id"}, SortKey: []string{"ts"}, Rotate: tables.Month("ts")}))
	compared := tables.Must(tables.New[event]("event",
		tables.Table{Name: "events", PartKey: []string{"id"}}, tables.Compare("level", "kind"), tables.Mark("version")))
	transactional := tables.Must(tables.New[event]("event",
		tables.Table{Name: "events", PartKey: []string{"id"}}, tables.Table{
			Name: "of_kind", PartKey: []string{"kind"},
			Unique: true,
		},
		tables.Versioned("version"), tables.Transactional()))
	identified := tables.Must(tables.New[event]("event",
		tables.Table{Name: "events", PartKey: []string{"city"}, SortKey: []string{"ts", "id"}}, by("by_kind", "kind"),
		tables.ID("id")))
	var got []string
	for _, set := range []tables.Described{changing, versioned, rotating, compared, transactional, identified} {
		for _, table := range describe.Of(set.Internal()).Tables {
			got = append(got, table.Name+" "+table.Fingerprint)
		}
	}
	want := []string{
		`events [denorm:1 stamp stamp; expires-at ends; sweep-inserts]`,
		`by_kind [denorm:1 one-of kind "a" "b\"; \x5b"; single-writer city; stamp stamp; expires-at ends; sweep-inserts]`,
		`by_level [denorm:1 one-of level -300 4; stamp stamp; expires-at ends; sweep-inserts]`,
		`by_small [denorm:1 one-of small -1; stamp stamp; expires-at ends; sweep-inserts]`,
		`by_flag [denorm:1 one-of flag true false; stamp stamp; expires-at ends; sweep-inserts]`,
		`by_day [denorm:1 one-of day 0x80000000; stamp stamp; expires-at ends; sweep-inserts]`,
		`by_slot [denorm:1 single-writer city; bucket slot hash(4,city); stamp stamp; expires-at ends; sweep-inserts]`,
		`by_hour [denorm:1 bucket hour hour(ts) from 1970-01-01T00:00:01.5Z by ts day(ts); stamp stamp; expires-at ends; sweep-inserts]`,
		`events [denorm:1 versioned version; local-serial; unique of_city of_kind]`,
		`by_city [denorm:1 versioned version; local-serial]`,
		`of_kind [denorm:1 versioned version; local-serial; owners events]`,
		`of_city [denorm:1 versioned version; local-serial; owners events]`,
		`events [denorm:1 rotate month(ts)]`,
		`events [denorm:1 compare kind level; mark version]`,
		`events [denorm:1 versioned version; transactional; unique of_kind]`,
		`of_kind [denorm:1 versioned version; transactional; owners events]`,
		`events [denorm:1 id id]`,
		`by_kind [denorm:1 id id]`,
	}
	for i := range max(len(got), len(want)) {
		if i >= len(got) || i >= len(want) || got[i] != want[i] {
			t.Fatalf("got\n%q\nwant\n%q", got, want)
		}
	}
}
