package schema_test

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/denorm-go/denorm/internal/describe"
	"github.com/denorm-go/denorm/schema"
	"github.com/denorm-go/denorm/tables"
)

type lot struct {
	ID, Owner, City string
	At              time.Time
}

var (
	lotsByID    = tables.Table{Name: "by_id", PartKey: []string{"id"}}
	lotsByOwner = tables.Table{Name: "by_owner", PartKey: []string{"owner"}, SortKey: []string{"id"}}
	lotsByCity  = tables.Table{Name: "by_city", PartKey: []string{"city"}, SortKey: []string{"owner", "id"}}
)

// lots declares a set over some of the tables.
func lots(name string, options ...tables.Option) tables.Described {
	return tables.Must(tables.New[lot](name, options...))
}

func ttl(table string, d time.Duration) schema.Declaration {
	return schema.With(table, schema.Options{TTL: d})
}

// A table that two sets share keeps what each of them promises, in either order.
func TestLifetimesOfSharedTables(t *testing.T) {
	t.Parallel()
	one, two := lots("one", lotsByID), lots("two", lotsByID, lotsByOwner)
	chained, next := lots("chained", lotsByID, lotsByOwner), lots("next", lotsByOwner, lotsByCity)
	const hour = time.Hour
	for name, test := range map[string]struct {
		sets    []tables.Described
		options []schema.Declaration
		want    string // empty for none
	}{
		"one table alone":      {[]tables.Described{one, two}, nil, ""},
		"base of both":         {[]tables.Described{one, two}, []schema.Declaration{ttl("by_id", hour)}, "With by_owner: TTL is 0s, and the base table by_id has 1h0m0s"},
		"query table and base": {[]tables.Described{chained, next}, []schema.Declaration{ttl("by_owner", hour)}, "With by_city: TTL is 0s, and the base table by_owner has 1h0m0s"},
		"each its own base": {
			[]tables.Described{chained, next},
			[]schema.Declaration{ttl("by_id", 2*hour), ttl("by_owner", hour), ttl("by_city", 90*time.Minute)},
			"With by_city: TTL is 1h30m0s, and the base table by_owner has 1h0m0s",
		},
		"together": {[]tables.Described{chained, next}, []schema.Declaration{ttl("by_id", 2*hour), ttl("by_owner", hour), ttl("by_city", hour)}, ""},
		"the same": {[]tables.Described{two, two}, []schema.Declaration{ttl("by_id", hour)}, "With by_owner: TTL is 0s"},
	} {
		for range 2 {
			_, err := schema.Declare(append(test.options, schema.Sets(test.sets...))...)
			if test.want == "" && err != nil || test.want != "" && (err == nil || strings.Count(err.Error(), test.want) != 1 || strings.Contains(err.Error(), "\n")) {
				t.Errorf("%s, %s first: %v, want %s", name, describe.Of(test.sets[0].Internal()).Entity, err, test.want)
			}
			slices.Reverse(test.sets)
		}
	}
}

const (
	defaultTTL = "default_time_to_live"
	grace      = "gc_grace_seconds"
)

// altered is a live schema as declared, where some tables have other options. Those that rotate are there for two
// months.
func altered(declared *schema.Schema, option string, values map[string]string) *schema.Schema {
	out := &schema.Schema{Keyspaces: slices.Clone(declared.Keyspaces), Types: declared.Types}
	for _, t := range declared.Tables {
		t.Options = maps.Clone(t.Options)
		if value, ok := values[t.Name]; ok {
			t.Options[option] = value
		}
		if !t.Rotates(t.Name + "_2026_01") {
			out.Tables = append(out.Tables, t)
			continue
		}
		for _, month := range []string{"_2026_01", "_2026_02"} {
			one := t
			one.Name += month
			out.Tables = append(out.Tables, one)
		}
	}
	return out
}

// told gives the differences that hurt, by table, and fails where a table has several.
func told(t *testing.T, found []schema.Difference) map[string]string {
	t.Helper()
	out := make(map[string]string)
	for _, d := range schema.Breaking(found) {
		if out[d.Table] != "" {
			t.Errorf("twice: %v", found)
		}
		out[d.Table] = d.Reason
	}
	return out
}

func monthly() tables.Described {
	return lots("monthly",
		tables.Table{Name: "lots", PartKey: []string{"id"}, SortKey: []string{"at"}, Rotate: tables.Month("at")},
		tables.Table{Name: "lots_by_owner", PartKey: []string{"owner"}, SortKey: []string{"at", "id"}, Rotate: tables.Month("at")})
}

// A live default_time_to_live takes rows that stay as declared, also where another table of the set declares a TTL.
func TestDefaultTTLWhereAnotherTableDeclaresOne(t *testing.T) {
	t.Parallel()
	const vanish = "rows vanish that the declaration keeps"
	three, chained, next := lots("three", lotsByID, lotsByOwner, lotsByCity), lots("chained", lotsByID, lotsByOwner), lots("next", lotsByOwner, lotsByCity)
	for name, test := range map[string]struct {
		sets []tables.Described
		with string
		live map[string]string
		want []string
	}{
		"base and query table": {[]tables.Described{three}, "by_owner", map[string]string{"by_id": "3600", "by_city": "60"}, []string{"by_city", "by_id"}},
		"of another set":       {[]tables.Described{chained, next}, "by_city", map[string]string{"by_owner": "3600"}, []string{"by_owner"}},
		"rotates":              {[]tables.Described{monthly()}, "lots_by_owner", map[string]string{"lots": "3600"}, []string{"lots_2026_01", "lots_2026_02"}},
	} {
		for range 2 {
			declared := schema.Must(schema.Declare(schema.Sets(test.sets...), ttl(test.with, schema.Day)))
			found := told(t, schema.Compare(declared, altered(declared, defaultTTL, test.live)))
			for table, reason := range found {
				if !strings.Contains(reason, vanish) {
					t.Errorf("%s: %s: %s", name, table, reason)
				}
			}
			if got := slices.Sorted(maps.Keys(found)); !slices.Equal(got, test.want) {
				t.Errorf("%s: %v, want %v", name, got, test.want)
			}
			slices.Reverse(test.sets)
		}
	}
}

// What tables of one set need together is looked at in each table that rotates, under its own name.
func TestTablesThatRotateTogether(t *testing.T) {
	t.Parallel()
	declared := schema.Must(schema.Declare(schema.Sets(monthly())))
	found := told(t, schema.Compare(declared, altered(declared, grace, map[string]string{"lots": "0", "lots_by_owner": "0"})))
	for _, table := range []string{"lots_2026_01", "lots_2026_02", "lots_by_owner_2026_01", "lots_by_owner_2026_02"} {
		if !strings.Contains(found[table], "the batchlog would drop every logged batch that the table is in") {
			t.Errorf("%s: %v", table, found)
		}
	}
	in := func(keyspace string, t tables.Table) tables.Table {
		t.Keyspace = keyspace
		return t
	}
	declared = schema.Must(schema.Declare(schema.Sets(lots("apart", in("a", tables.Table{
		Name: "lots", PartKey: []string{"id"}, SortKey: []string{"at"},
		Rotate: tables.Month("at"),
	}), in("b", tables.Table{Name: "lots_by_owner", PartKey: []string{"owner"}, SortKey: []string{"at", "id"}, Rotate: tables.Month("at")})))))
	live := altered(declared, "", nil)
	live.Keyspaces = []schema.Keyspace{
		{Name: "a", Replication: map[string]string{"class": "NetworkTopologyStrategy", "dc1": "3"}},
		{Name: "b", Replication: map[string]string{"class": "NetworkTopologyStrategy", "dc1": "1"}},
	}
	if found := told(t, schema.Compare(declared, live)); !strings.Contains(found[""], "in which entity apart also has tables") {
		t.Errorf("replication: %v", found)
	}
}

// Tables of an entity may be left out of a schema, which is data.
func TestEntityWithoutItsTables(t *testing.T) {
	t.Parallel()
	for _, n := range []int{0, 1} {
		declared := schema.Must(schema.Declare(schema.Sets(lots("two", lotsByID, lotsByOwner))))
		live := altered(declared, "", nil)
		declared.Tables = declared.Tables[n : n+1]
		if found := told(t, schema.Compare(declared, live)); len(found) > 0 {
			t.Errorf("without table %d: %v", 1-n, found)
		}
		if _, err := schema.Declare(declared); err != nil {
			t.Error(err)
		}
	}
}

// The fingerprint of a live table is compared with what each set declares of it.
func TestFingerprintOfSharedTable(t *testing.T) {
	t.Parallel()
	type sale struct {
		ID, Status string
		UpdatedAt  int64
	}
	of := func(name string, values ...string) tables.Described {
		return tables.Must(tables.New[sale](name, tables.Table{Name: "sales", PartKey: []string{"id"}},
			tables.Table{Name: "sales_by_status", PartKey: []string{"status"}, SortKey: []string{"id"}}, tables.OneOf("status", values...), tables.Stamp("updated_at")))
	}
	before, grown := of("before", "open"), of("grown", "open", "done")
	live := altered(schema.Must(schema.Declare(schema.Sets(before))), "", nil)
	for _, sets := range [][]tables.Described{{before, grown}, {grown, before}} {
		options := schema.With("sales_by_status", schema.Options{Comment: "a page"})
		live.Tables[1].Options["comment"] = "'a page'"
		found := schema.Compare(schema.Must(schema.Declare(schema.Sets(sets...), options)), live)
		if len(found) != 1 || !found[0].Note || !strings.Contains(found[0].Fix, `'a page [denorm:1 one-of status "open" "done"`) {
			t.Errorf("%v", found)
		}
	}
}

// A schema and what else is declared stand in any order, and the schema stays as it is.
func TestDeclareTakesASchemaInAnyOrder(t *testing.T) {
	t.Parallel()
	type less struct{ ID, Owner string }
	fewer := tables.Must(tables.New[less]("fewer", lotsByID))
	first := schema.Must(schema.Declare(schema.Sets(fewer)))
	first.Tables[0].Columns = append(make([]schema.Column, 0, 9), first.Tables[0].Columns...) // a slice that has room
	other := schema.Must(schema.Declare(schema.Keyspaces(schema.Keyspace{Name: "k"})))
	for name, test := range map[string]struct {
		parts []schema.Declaration
		want  string // empty for none
	}{
		"set":       {[]schema.Declaration{first, schema.Sets(lots("one", lotsByID))}, ""},
		"schemas":   {[]schema.Declaration{first, schema.Must(schema.Declare(schema.Sets(lots("one", lotsByID))))}, "table by_id is declared twice"},
		"text":      {[]schema.Declaration{first, schema.CQL("CREATE TABLE by_id (id text PRIMARY KEY)")}, "table by_id is declared twice"},
		"keyspaces": {[]schema.Declaration{other, schema.Keyspaces(schema.Keyspace{Name: "k"})}, "keyspace k is declared twice"},
		"keyspace of text": {
			[]schema.Declaration{
				schema.CQL("CREATE KEYSPACE k WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}"),
				schema.Keyspaces(schema.Keyspace{Name: "k"}),
			},
			"keyspace k is declared twice",
		},
	} {
		var texts []string
		for range 2 {
			s, err := schema.Declare(test.parts...)
			if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
				t.Errorf("%s: %v, want %s", name, err, test.want)
			}
			if err == nil {
				texts = append(texts, s.CQL())
			}
			slices.Reverse(test.parts)
		}
		if len(slices.Compact(texts)) > 1 {
			t.Errorf("%s: %s", name, texts)
		}
	}
	columns := first.Tables[0].Columns
	if more := columns[:len(columns)+1]; more[len(columns)].Name != "" {
		t.Errorf("a column was added to what the caller has: %v", more)
	}
}

// What is inside a frozen value is frozen in any case, and sets have no other values of user-defined types.
func TestFrozenFieldsOfTypes(t *testing.T) {
	t.Parallel()
	const list, frozen = "CREATE TYPE k.address (street text, tags list<text>)", "CREATE TYPE k.address (street text, tags frozen<list<text>>)"
	set := homes[street]("user", "k")
	for name, parts := range map[string][]schema.Declaration{
		"set": {set}, "set before text": {set, schema.CQL(list)}, "set after text": {schema.CQL(list), set},
	} {
		declared := schema.Must(schema.Declare(parts...))
		for _, text := range []string{list, frozen} {
			live := altered(declared, "", nil)
			live.Types = parse(t, text).Types
			if found := schema.Compare(declared, live); len(found) > 0 {
				t.Errorf("%s, live %s: %v", name, text, found)
			}
		}
	}
	// A column of a text may have values that are not frozen.
	if found := schema.Compare(parse(t, list), parse(t, frozen)); len(found) != 1 {
		t.Errorf("no set: %v", found)
	}
}
