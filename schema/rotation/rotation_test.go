package rotation

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/denorm-go/denorm/internal/catalog"
	"github.com/denorm-go/denorm/schema"
	"github.com/denorm-go/denorm/tables"
	"github.com/gocql/gocql"
)

type event struct {
	ID gocql.UUID
	At time.Time
}

func eventsBy(b tables.Bucket) *tables.Set[event] {
	return tables.Must(tables.New[event]("event",
		tables.Table{Name: "events", PartKey: []string{"id"}, SortKey: []string{"at"}, Rotate: b},
		tables.Table{Name: "all_events", PartKey: []string{"id"}, SortKey: []string{"at"}}))
}

// fake is a keyspace with tables, which all have one comment.
type fake struct {
	names   []string
	comment string
	err     error
	done    []string
}

func (f *fake) tables(context.Context, string) ([]catalog.Table, error) {
	var out []catalog.Table
	for _, name := range f.names {
		out = append(out, catalog.Table{Name: name, Comment: f.comment})
	}
	return out, f.err
}

func (f *fake) execute(_ context.Context, statement string) error {
	f.done = append(f.done, statement)
	return f.err
}

const definition = `(
    id uuid,
    at timestamp,
    PRIMARY KEY (id, at)
) WITH comment = '[denorm:1 rotate month(at)]'
    AND gc_grace_seconds = 3600`

// short is an option of the table.
var short = []schema.Declaration{schema.With("events", schema.Options{GCGrace: time.Hour})}

// A number without a unit is of nanoseconds, and would drop every table but the present one.
func TestWindowInAnotherUnit(t *testing.T) {
	t.Parallel()
	for _, w := range []Window{{Retain: 365}, {Ahead: 31}, {Back: 86400}, {Retain: 365 * 24 * 3600}} {
		if err := w.valid(); err == nil || !strings.Contains(err.Error(), "30 * 24 * time.Hour") {
			t.Errorf("%+v: %v", w, err)
		}
	}
	if err := (Window{Retain: time.Hour}).valid(); err != nil {
		t.Error(err)
	}
}

// asOf runs a test with a clock that says now.
func asOf(t *testing.T, now time.Time, test func(t *testing.T)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		t.Helper()
		time.Sleep(time.Until(now))
		test(t)
	})
}

// A time in another unit would drop every table. What drops none may be of any year that tables have.
func TestPlanOfAnotherTime(t *testing.T) {
	t.Parallel()
	present := time.Date(2026, 6, 1, 0, 0, 0, 0, time.UTC)
	const year = 365 * 24 * time.Hour
	for name, tc := range map[string]struct {
		now  time.Time
		w    Window
		want string // nothing for no error
	}{
		"milliseconds":               {time.Unix(present.UnixMilli(), 0), Window{Retain: 2 * year}, "of the year 58384: pass time.Now()"},
		"and nothing dropped":        {time.Unix(present.UnixMilli(), 0), Window{}, "of the year 58384: pass time.Now()"},
		"before all":                 {time.Unix(-1, 0), Window{}, "of the year 1969: pass time.Now()"},
		"a century ahead":            {present.Add(100 * year), Window{Retain: 2 * year}, "is over 10 years from this clock, and 1 tables"},
		"a clock that is far ahead":  {present.Add(-15 * year), Window{Retain: time.Hour}, "is over 10 years from this clock"},
		"in nine years":              {present.Add(9 * year), Window{Retain: 2 * year}, ""},
		"a century, nothing dropped": {present.Add(100 * year), Window{Retain: 200 * year}, ""},
		"the first":                  {time.Unix(0, 0), Window{Retain: year}, ""},
	} {
		f := &fake{names: []string{"events_2001_03"}}
		r, err := newTables(f, in("shop"), "", eventsBy(tables.Month("at")), "events", nil)
		if err != nil {
			t.Fatal(err)
		}
		var p Plan
		asOf(t, present, func(t *testing.T) {
			t.Helper()
			p, err = r.Plan(t.Context(), tc.now, tc.w)
		})
		switch {
		case tc.want == "" && err != nil:
			t.Errorf("%s: %v", name, err)
		case tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want) || len(p.Statements()) > 0):
			t.Errorf("%s: %v, %v", name, p, err)
		}
	}
}

func TestPlan(t *testing.T) {
	t.Parallel()
	day := 24 * time.Hour
	tests := []struct {
		name   string
		by     tables.Bucket
		now    string
		w      Window
		exist  string
		create string
		drop   string
	}{
		{"the month at hand", tables.Month("at"), "2024-01-31T23:59:59Z", Window{}, "", "events_2024_01", ""},
		{"the next one too", tables.Month("at"), "2024-01-31T23:59:00Z", Window{Ahead: time.Minute}, "", "events_2024_01 events_2024_02", ""},
		{"it is there", tables.Month("at"), "2024-12-15T00:00:00Z", Window{Ahead: 31 * day}, "events_2024_12 events_2025_01", "", ""},
		{"late rows", tables.Month("at"), "2024-01-01T00:00:00Z", Window{Back: time.Minute}, "", "events_2023_12 events_2024_01", ""},
		{
			"kept to the last moment", tables.Month("at"), "2024-03-30T23:59:59Z",
			Window{Retain: 59 * day},
			"events_2024_01 events_2024_02 events_2024_03", "", "",
		},
		{
			"and dropped then", tables.Month("at"), "2024-04-01T00:00:00Z",
			Window{Retain: 60 * day},
			"events_2023_11 events_2024_01 events_2024_02 events_2024_03 events_2024_04", "", "events_2023_11 events_2024_01",
		},
		{
			"tables of others", tables.Month("at"), "2024-03-15T00:00:00Z",
			Window{Retain: day},
			"events events_2023_13 events_2023_1 events_2023_011 events_old events_2023_01_01 xevents_2023_01 all_events events_2024_03", "", "",
		},
		{"days", tables.Day("at"), "2024-02-28T12:00:00Z", Window{Ahead: 2 * day}, "", "events_2024_02_28 events_2024_02_29 events_2024_03_01", ""},
		{"hours", tables.Hour("at"), "2023-12-31T23:30:00Z", Window{Ahead: time.Hour}, "", "events_2023_12_31_23 events_2024_01_01_00", ""},
		{
			"weeks, which begin on Thursdays as 1970 did", tables.Every(7*day, "at"), "2024-01-04T00:00:00Z",
			Window{Ahead: 7 * day, Retain: 7 * day},
			"events_2023_12_21 events_2023_12_22 events_2023_12_28", "events_2024_01_04 events_2024_01_11", "events_2023_12_21",
		},
	}
	for _, tc := range tests {
		f := &fake{names: strings.Fields(tc.exist)}
		r, err := newTables(f, in("shop"), "", eventsBy(tc.by), "events", nil)
		if err != nil {
			t.Fatal(err)
		}
		now, err := time.Parse(time.RFC3339, tc.now)
		if err != nil {
			t.Fatal(err)
		}
		var p Plan
		asOf(t, now, func(t *testing.T) {
			t.Helper()
			p, err = r.Plan(t.Context(), now, tc.w)
		})
		if err != nil || strings.Join(p.Create, " ") != tc.create || strings.Join(p.Drop, " ") != tc.drop {
			t.Errorf("%s: create %v, drop %v, %v; want %s and %s", tc.name, p.Create, p.Drop, err, tc.create, tc.drop)
		}
		if len(f.done) > 0 {
			t.Errorf("%s: a plan changed something: %v", tc.name, f.done)
		}
	}
}

// A table that was made for another rotation, as its fingerprint says, is not planned around: it would be dropped too
// early, or stay.
func TestTableOfAnotherRotation(t *testing.T) {
	t.Parallel()
	const day = "events_2024_01_04" // the first of a week, too
	week := tables.Every(7*24*time.Hour, "at")
	for name, tc := range map[string]struct {
		by             tables.Bucket
		table, comment string
		want           string // nothing for no error
	}{
		"its own":            {tables.Day("at"), day, "[denorm:1 rotate day(at)]", ""},
		"its own, with more": {week, day, "who's who [denorm:1 rotate every(168h0m0s,at); versioned v]", ""},
		"longer": {
			tables.Day("at"), day, "who's who [denorm:1 rotate every(168h0m0s,at)]",
			"table shop.events_2024_01_04 was made for every(168h0m0s, at), and the set declares day(at)",
		},
		"shorter":           {week, day, "[denorm:1 rotate day(at)]", "was made for day(at), and the set declares every(168h0m0s, at)"},
		"another column":    {tables.Day("at"), day, "[denorm:1 rotate day(seen_at)]", "was made for day(seen_at), and"},
		"longer names":      {tables.Month("at"), day, "[denorm:1 rotate day(at)]", "was made for day(at), and the set declares month(at)"},
		"shorter names":     {tables.Hour("at"), "events_2024_01", "[denorm:1 rotate month(at)]", "was made for month(at), and the set declares hour(at)"},
		"no rotation":       {tables.Day("at"), day, "[denorm:1 versioned v]", "was made for no rotation, and the set declares day(at)"},
		"a later version":   {tables.Day("at"), day, "[denorm:2 rotate day(at)]", "is of version 2, which this version of the library cannot read"},
		"nonsense":          {tables.Day("at"), day, "[denorm:1 rotate]", "the fingerprint in its comment cannot be read"},
		"no fingerprint":    {tables.Day("at"), day, "who's who", ""},
		"a table of others": {tables.Month("at"), day, "[denorm:1 versioned v]", ""},
		"another name":      {tables.Month("at"), "events_eu_2024_01", "[denorm:1 rotate day(at)]", ""},
		"and its nonsense":  {tables.Month("at"), day, "[denorm:1 rotate]", ""},
	} {
		r, err := newTables(&fake{names: []string{tc.table}, comment: tc.comment}, in("shop"), "", eventsBy(tc.by), "events", nil)
		if err != nil {
			t.Fatal(err)
		}
		var p Plan
		now := time.Date(2025, 1, 15, 0, 0, 0, 0, time.UTC)
		asOf(t, now, func(t *testing.T) {
			t.Helper()
			p, err = r.Plan(t.Context(), now, Window{Retain: 24 * time.Hour})
		})
		switch {
		case tc.want == "" && (err != nil || len(p.Create) == 0):
			t.Errorf("%s: %v, %v", name, p, err)
		case tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want) || len(p.Create)+len(p.Drop) > 0):
			t.Errorf("%s: %v, %v, want %s", name, p, err, tc.want)
		}
	}
}

func TestApply(t *testing.T) {
	t.Parallel()
	f := &fake{names: []string{"events_2023_01", "other"}}
	r, err := newTables(f, in(""), "shop", eventsBy(tables.Month("at")), "events", short)
	if err != nil {
		t.Fatal(err)
	}
	var p Plan
	now := time.Date(2024, 1, 15, 0, 0, 0, 0, time.UTC)
	asOf(t, now, func(t *testing.T) {
		t.Helper()
		p, err = r.Plan(t.Context(), now, Window{Retain: time.Hour})
	})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"CREATE TABLE IF NOT EXISTS shop.events_2024_01 " + definition, "DROP TABLE IF EXISTS shop.events_2023_01"}
	if err := p.Apply(t.Context()); err != nil || !slices.Equal(f.done, want) {
		t.Errorf("done %v, %v, want %v", f.done, err, want)
	}
	if got := p.String(); got != strings.Join(want, ";\n")+";" {
		t.Errorf("the dry run says %s", got)
	}
	if got := (Plan{tables: r}).String(); got != "nothing to do" {
		t.Error(got)
	}
	f.err, f.done = errors.New("no"), nil
	if err := p.Apply(t.Context()); !errors.Is(err, f.err) || len(f.done) != 1 ||
		err.Error() != "rotation: CREATE TABLE IF NOT EXISTS shop.events_2024_01: no" {
		t.Errorf("%v after %v", err, f.done)
	}
	if _, err := r.Plan(t.Context(), time.Now(), Window{}); !errors.Is(err, f.err) {
		t.Error(err)
	}
}

func TestRefused(t *testing.T) {
	t.Parallel()
	set := eventsBy(tables.Day("at"))
	if _, err := New(nil, "shop", set, "events"); err == nil {
		t.Error("no session: want an error")
	}
	for name, err := range map[string]error{
		"a table that does not rotate": second(newTables(&fake{}, in("shop"), "", set, "all_events", nil)),
		"no set":                       second(newTables(&fake{}, in("shop"), "", nil, "events", nil)),
		"a nil set":                    second(newTables(&fake{}, in("shop"), "", (*tables.Set[event])(nil), "events", nil)),
		"no table":                     second(newTables(&fake{}, in("shop"), "", set, "nothing", nil)),
		"a keyspace that is none":      second(newTables(&fake{}, in("shop"), "a; DROP", set, "events", nil)),
		"an option of another table":   second(newTables(&fake{}, in("shop"), "", set, "events", []schema.Declaration{schema.With("event", schema.Options{})})),
	} {
		if err == nil {
			t.Errorf("%s: want an error", name)
		}
	}
	r, err := newTables(&fake{}, in("shop"), "", set, "events", nil)
	if err != nil {
		t.Fatal(err)
	}
	var none context.Context
	if _, err := r.Plan(none, time.Now(), Window{}); err == nil {
		t.Error("no context: want an error")
	}
	if p, err := r.Plan(t.Context(), time.Time{}, Window{}); err == nil || !strings.Contains(err.Error(), "pass time.Now()") || len(p.Create) > 0 {
		t.Errorf("no time: %v, %v", p, err)
	}
	if err := (Plan{tables: r}).Apply(none); err == nil {
		t.Error("no context: want an error")
	}
	for name, w := range map[string]Window{
		"negative": {Ahead: -1}, "kept for less than written": {Back: 2, Retain: 1}, "too many": {Ahead: 1000 * 24 * time.Hour},
	} {
		if _, err := r.Plan(t.Context(), time.Now(), w); err == nil {
			t.Errorf("%s: want an error", name)
		}
	}
}

func second(_ *Tables, err error) error { return err }

// The tables are in the keyspace that is given, or else in that of the declaration, or else in the session's.
func TestKeyspace(t *testing.T) {
	t.Parallel()
	declared := tables.Must(tables.New[event]("event",
		tables.Table{Name: "events", Keyspace: "shop", PartKey: []string{"id"}, SortKey: []string{"at"}, Rotate: tables.Day("at")}))
	for _, tc := range []struct {
		set         tables.Described
		given, want string
	}{
		{declared, "tenant", "tenant"}, {declared, "", "shop"}, {eventsBy(tables.Day("at")), "", "session"},
	} {
		r, err := newTables(&fake{}, in("session"), tc.given, tc.set, "events", nil)
		if err != nil || r.keyspace != tc.want {
			t.Errorf("keyspace %q: %v, %v, want %s", tc.given, r, err, tc.want)
		}
	}
}

// in is a session in a keyspace, without a map.
func in(keyspace string) func(string) (string, error) {
	return func(logical string) (string, error) { return cmp.Or(logical, keyspace), nil }
}

// A set may have tables of one name in two keyspaces, which rotate by different periods: the keyspace says which is
// meant.
func TestRotationTwoKeyspaces(t *testing.T) {
	t.Parallel()
	rotates := func(keyspace string, by tables.Bucket) tables.Table {
		return tables.Table{Name: "events", Keyspace: keyspace, PartKey: []string{"id"}, SortKey: []string{"at"}, Rotate: by}
	}
	both := tables.Must(tables.New[event]("event", rotates("eu", tables.Month("at")), rotates("us", tables.Day("at"))))
	own := tables.Must(tables.New[event]("event", rotates("", tables.Month("at")), rotates("us", tables.Day("at"))))
	one := tables.Must(tables.New[event]("event", rotates("us", tables.Day("at"))))
	now := time.Date(2026, 11, 5, 0, 0, 0, 0, time.UTC)
	for _, tc := range []struct {
		set            tables.Described
		keyspace, name string
		want           string
	}{
		{both, "", "eu.events", "CREATE TABLE IF NOT EXISTS p_eu.events_2026_11 ("},
		{both, "", "us.events", "CREATE TABLE IF NOT EXISTS p_us.events_2026_11_05 ("},
		{both, "tenant", "us.events", "CREATE TABLE IF NOT EXISTS tenant.events_2026_11_05 ("},
		{both, "us", "events", `rotation: the set has more than one table "events" that rotates: name it with its keyspace, as eu.events or us.events`},
		{both, "", "asia.events", `rotation: the set has no table "asia.events" that rotates`},
		{own, "", "events", "CREATE TABLE IF NOT EXISTS p_.events_2026_11 ("},
		{own, "", "us.events", "CREATE TABLE IF NOT EXISTS p_us.events_2026_11_05 ("},
		{one, "", "events", "CREATE TABLE IF NOT EXISTS p_us.events_2026_11_05 ("},
	} {
		physical := func(logical string) (string, error) { return "p_" + logical, nil }
		var got string
		r, err := newTables(&fake{}, physical, tc.keyspace, tc.set, tc.name, nil)
		if err == nil {
			var p Plan
			p, err = r.Plan(t.Context(), now, Window{})
			got = p.String()
		}
		if err != nil {
			got = err.Error()
		}
		if !strings.HasPrefix(got, tc.want) {
			t.Errorf("keyspace %q, name %q: %s, want %s", tc.keyspace, tc.name, got, tc.want)
		}
	}
}
