package schema_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/gocql/gocql"
	"gopkg.in/inf.v0"

	"github.com/denorm-go/denorm/internal/testutil/golden"
	"github.com/denorm-go/denorm/schema"
	"github.com/denorm-go/denorm/tables"
)

type order struct {
	OrderID   gocql.UUID
	UserID    gocql.UUID
	Status    string
	Total     *inf.Dec
	Tags      map[string]struct{}
	UpdatedAt int64
}

func orders(t *testing.T) *tables.Set[order] {
	t.Helper()
	s, err := tables.New[order]("order",
		tables.Table{Name: "orders_by_id", PartKey: []string{"order_id"}},
		tables.Table{Name: "orders_by_user", Keyspace: "shop", PartKey: []string{"user_id"}, SortKey: []string{"order_id DESC"}},
		tables.Table{Name: "orders_by_status", PartKey: []string{"status"}, SortKey: []string{"order_id DESC"}, Columns: []string{"total"}},
		tables.OneOf("status", "open", "paid"), tables.Stamp("updated_at"), tables.Type("order_id", "timeuuid"))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestDeclare(t *testing.T) {
	t.Parallel()
	s, err := schema.Declare(
		schema.Keyspaces(schema.Keyspace{Name: "shop", Replication: schema.Replication(map[string]int{"dc1": 3, "dc2": 2}), NonDurable: true}),
		schema.Sets(orders(t)),
		schema.With("shop.orders_by_user", schema.Options{
			Comment: "a user's page", Compaction: map[string]string{"class": "LeveledCompactionStrategy"},
			Compression: map[string]string{"class": "LZ4Compressor", "chunk_length_in_kb": "4"}, GCGrace: 3 * time.Hour,
		}),
		schema.With("orders_by_status", schema.Options{
			Compaction: schema.TimeWindow(36 * time.Hour), Compression: map[string]string{"enabled": "false"}, TTL: 90 * 24 * time.Hour, GCGrace: schema.NoGCGrace,
			Other: map[string]string{"speculative_retry": "'95p'", "bloom_filter_fp_chance": "0.10"},
		}),
		schema.CQL(`CREATE TYPE place (street text, "City" text); SELECT * FROM orders_by_id WHERE order_id = ?`),
		schema.Accept("DN101", "orders_by_status", "few orders"),
		schema.Expect("orders_by_id", schema.Volume{Rows: 1}),
	)
	if err != nil {
		t.Fatal(err)
	}
	golden.Check(t, "declared.cql", s.CQL())
	e := s.Entities[0]
	if e.Name != "order" || len(e.Tables) != 3 || !e.Timestamped || len(e.Moves) != 1 || e.Moves[0] != "status" {
		t.Errorf("%+v", e)
	}
	if c := s.Table(schema.ID{Name: "orders_by_status"}).Column("status"); c.Domain != 2 {
		t.Errorf("%+v", c)
	}
	if len(s.Queries) != 1 || len(s.Ignores) != 1 || len(s.Volumes) != 1 {
		t.Errorf("%+v", s)
	}
	moved := s.In(map[string]string{"": "tenant", "shop": "tenant_shop"})
	if moved.Keyspaces[0].Name != "tenant_shop" || moved.Table(schema.ID{Keyspace: "tenant", Name: "orders_by_id"}) == nil ||
		moved.Entities[0].Tables[1] != (schema.ID{Keyspace: "tenant_shop", Name: "orders_by_user"}) || s.Tables[0].Keyspace != "" {
		t.Errorf("%s", moved.CQL())
	}
}

// A window without a unit is of nanoseconds, and was left out.
func TestTimeWindow(t *testing.T) {
	t.Parallel()
	for window, fits := range map[time.Duration]bool{24: false, 0: false, 90 * time.Second: false, -time.Hour: false, time.Hour: true, 36 * time.Hour: true} {
		_, err := schema.Declare(schema.Sets(orders(t)), schema.With("orders_by_id", schema.Options{Compaction: schema.TimeWindow(window)}))
		if fits && err != nil || !fits && (err == nil || !strings.Contains(err.Error(), "the window is "+window.String()+", not whole minutes")) {
			t.Errorf("%v: %v", window, err)
		}
	}
}

// Options and volumes of a table may stand before what declares it.
func TestDeclareTakesAnyOrder(t *testing.T) {
	t.Parallel()
	s, err := schema.Declare(schema.With("orders_by_id", schema.Options{GCGrace: time.Hour}), schema.Expect("orders_by_id", schema.Volume{Rows: 1}),
		schema.Sets(orders(t)))
	if err != nil {
		t.Fatal(err)
	}
	if grace := s.Table(schema.ID{Name: "orders_by_id"}).GCGrace(); grace != time.Hour || len(s.Volumes) != 1 {
		t.Errorf("gc_grace_seconds %v, %d volumes", grace, len(s.Volumes))
	}
}

// expected declares a volume.
func expected(t *testing.T, v schema.Volume) []schema.Declaration {
	t.Helper()
	return []schema.Declaration{schema.Sets(orders(t)), schema.Expect("orders_by_id", v)}
}

// An option may be given twice if both say the same.
func TestOptionGivenTwice(t *testing.T) {
	t.Parallel()
	s, err := schema.Declare(schema.Sets(orders(t)), schema.With("orders_by_id", schema.Options{
		GCGrace: time.Hour, Other: map[string]string{"gc_grace_seconds": "'3600'"},
	}))
	if err != nil {
		t.Fatal(err)
	}
	if grace := s.Table(schema.ID{Name: "orders_by_id"}).GCGrace(); grace != time.Hour {
		t.Error(grace)
	}
}

func TestDeclareRefuses(t *testing.T) {
	t.Parallel()
	for want, parts := range map[string][]schema.Declaration{
		"a declaration is nil":                      {nil},
		`With: no table "orders" has been declared`: {schema.With("orders", schema.Options{})},
		`With: no table "t" has been declared: did you mean shop.t?`: {
			schema.CQL("CREATE TABLE shop.t (id uuid PRIMARY KEY)"), schema.With("t", schema.Options{}),
		},
		"table orders_by_id is declared twice":       {schema.Sets(orders(t)), schema.CQL("CREATE TABLE orders_by_id (order_id uuid PRIMARY KEY)")},
		"CQL: line 1":                                {schema.CQL("DROP TABLE t")},
		"default_time_to_live must be whole seconds": {schema.Sets(orders(t)), schema.With("orders_by_id", schema.Options{TTL: time.Millisecond})},
		"gc_grace_seconds must be whole seconds":     {schema.Sets(orders(t)), schema.With("orders_by_id", schema.Options{GCGrace: -time.Hour})},
		"Accept DN101: a reason is missing":          {schema.Accept("DN101", "t", "")},
		`Expect: no table "t" has been declared`:     {schema.Expect("t", schema.Volume{Rows: 1})},
		`Expect orders_by_id: Per 365ns, Window 0s: less than a second: give a time.Duration`: {schema.Sets(orders(t)), schema.Expect("orders_by_id", schema.Volume{Rows: 1, Per: 365})},
		`Expect orders_by_id: Per 0s, Window 30ns: less than a second`:                        {schema.Sets(orders(t)), schema.Expect("orders_by_id", schema.Volume{Rows: 1, Window: 30})},
		`Expect orders_by_id: Per -24h0m0s, Window 0s: less than a second`:                    {schema.Sets(orders(t)), schema.Expect("orders_by_id", schema.Volume{Rows: 1, Per: -schema.Day})},
		`Expect orders_by_id: Width names a column stats, which the table does not have: did you mean status?`: {
			schema.Sets(orders(t)), schema.Expect("orders_by_id", schema.Volume{Rows: 1, Width: map[string]float64{"stats": 4}}),
		},
		`Expect orders_by_id: Filled names a column note`: {
			schema.Sets(orders(t)), schema.Expect("orders_by_id", schema.Volume{Rows: 1, Filled: map[string]float64{"status": 1, "note": 0.4}}),
		},
		"Expect orders_by_id: rows -20: give how many":    expected(t, schema.Volume{Rows: -20}),
		"Expect orders_by_id: growth -0.5: give by how":   expected(t, schema.Volume{Rows: 1, Growth: -0.5}),
		"Expect orders_by_id: rows +Inf: give how many":   expected(t, schema.Volume{Rows: math.Inf(1)}),
		"Expect orders_by_id: largest 0.5: give how many": expected(t, schema.Volume{Rows: 1, Largest: 0.5}),
		"Expect orders_by_id: filled of status 90: give a share from 0 to 1": expected(t, schema.Volume{
			Rows: 1, Filled: map[string]float64{"status": 90},
		}),
		"Expect orders_by_id: width of status -1: give bytes": expected(t, schema.Volume{Rows: 1, Width: map[string]float64{"status": -1}}),
		"CQL: line 2: volume: filled of v 90: give a share": {
			schema.CQL("CREATE TABLE t (k int PRIMARY KEY, v text);\n-- denorm:volume t rows=5 filled.v=90\n"),
		},
		"table orders_by_id: gc_grace_seconds is 3600 by the field GCGrace and 0 by Other: leave one out": {
			schema.Sets(orders(t)), schema.With("orders_by_id", schema.Options{GCGrace: time.Hour, Other: map[string]string{"gc_grace_seconds": "0"}}),
		},
		"comment is 'a' by the field Comment and 'b' by Other": {
			schema.Sets(orders(t)), schema.With("orders_by_id", schema.Options{Comment: "a", Other: map[string]string{"comment": "'b'"}}),
		},
		"With: table orders_by_id is given twice: put its options into one": {
			schema.Sets(orders(t)), schema.With("orders_by_id", schema.Options{TTL: time.Hour}), schema.With("orders_by_id", schema.Options{}),
		},
		`Keyspaces: nothing is declared in keyspace "shp": did you mean shop?: name it`: {
			schema.Keyspaces(schema.Keyspace{Name: "shp"}), schema.Sets(orders(t)),
		},
		"not 864µs: write it with a unit": {
			schema.Sets(orders(t)), schema.With("orders_by_id", schema.Options{GCGrace: 864_000}),
		},
		`option comment: want a literal, not "no": text goes in its quotes: 'no'`: {
			schema.Sets(orders(t)), schema.With("orders_by_id", schema.Options{Other: map[string]string{"comment": "no"}}),
		},
		"keyspace k is declared twice": {schema.Keyspaces(schema.Keyspace{Name: "k"}, schema.Keyspace{Name: "k"})},
		"keyspace k is declared twice, not alike": {
			schema.CQL("CREATE KEYSPACE k WITH replication = {'class': 'NetworkTopologyStrategy', 'dc1': 3};"),
			schema.CQL("CREATE KEYSPACE k WITH replication = {'class': 'NetworkTopologyStrategy', 'dc1': 1};"),
		},
		"Cassandra has removed it": {schema.Sets(orders(t)), schema.With("orders_by_id", schema.Options{Other: map[string]string{"read_repair_chance": "0.1"}})},
		"Invalid boolean value":    {schema.Sets(orders(t)), schema.With("orders_by_id", schema.Options{Other: map[string]string{"cdc": "'maybe'"}})},
		"option speculative_retry": {schema.Sets(orders(t)), schema.With("orders_by_id", schema.Options{Other: map[string]string{"speculative_retry": "'95p"}})},
	} {
		if _, err := schema.Declare(parts...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// A keyspace is used by a table of any declaration. The empty one is the session's, and keyspaces alone are to be
// created.
func TestKeyspacesThatAreUsed(t *testing.T) {
	t.Parallel()
	of := func(name string) schema.Declaration { return schema.Keyspaces(schema.Keyspace{Name: name}) }
	for name, parts := range map[string][]schema.Declaration{
		"of a set":        {of("shop"), schema.Sets(orders(t))},
		"the session's":   {of(""), schema.CQL("CREATE TABLE k.t (k int PRIMARY KEY)")},
		"of a CQL table":  {of("k"), schema.Sets(orders(t)), schema.CQL("CREATE TABLE k.t (k int PRIMARY KEY)")},
		"of a CQL type":   {of("k"), schema.Sets(orders(t)), schema.CQL("CREATE TYPE k.t (k int)")},
		"keyspaces alone": {of("k")},
	} {
		if _, err := schema.Declare(parts...); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Options are rejected under which rows of a set end without the others, or a logged batch would be dropped.
func TestOptionsThatBreakASet(t *testing.T) {
	t.Parallel()
	type plain struct{ ID, Owner string }
	type versioned struct {
		ID, Owner string
		Version   gocql.UUID
	}
	base := tables.Table{Name: "base", PartKey: []string{"id"}}
	query := tables.Table{Name: "by_owner", PartKey: []string{"owner"}, SortKey: []string{"id"}}
	several := tables.Must(tables.New[plain]("plain", base, query))
	alone := tables.Must(tables.New[plain]("plain", base))
	atomic := tables.Must(tables.New[plain]("plain", base, query, tables.Atomic()))
	guarded := tables.Must(tables.New[versioned]("versioned", base, query, tables.Versioned("version")))
	ttl := func(table string, d time.Duration) schema.Declaration {
		return schema.With(table, schema.Options{TTL: d})
	}
	grace := func(table string) schema.Declaration {
		return schema.With(table, schema.Options{GCGrace: schema.NoGCGrace})
	}
	const hour = time.Hour
	for name, test := range map[string]struct {
		set     tables.Described
		options []schema.Declaration
		want    string // empty for none
	}{
		"base alone":          {several, []schema.Declaration{ttl("base", hour)}, "With by_owner: TTL is 0s, and the base table base has 1h0m0s"},
		"base earlier":        {several, []schema.Declaration{ttl("base", hour), ttl("by_owner", 2*hour)}, "With by_owner: TTL is 2h0m0s"},
		"together":            {several, []schema.Declaration{ttl("base", hour), ttl("by_owner", hour)}, ""},
		"base later":          {several, []schema.Declaration{ttl("base", 2*hour), ttl("by_owner", hour)}, ""},
		"query table alone":   {several, []schema.Declaration{ttl("by_owner", hour)}, ""},
		"one table":           {alone, []schema.Declaration{ttl("base", hour)}, ""},
		"versioned base":      {guarded, []schema.Declaration{ttl("base", hour), ttl("by_owner", hour)}, "With base: TTL is 1h0m0s: rows vanish"},
		"versioned query":     {guarded, []schema.Declaration{ttl("by_owner", hour)}, "With by_owner: TTL is 1h0m0s: rows vanish"},
		"no grace, atomic":    {atomic, []schema.Declaration{grace("by_owner")}, "With by_owner: GCGrace is none, and the set is Atomic"},
		"no grace, else":      {several, []schema.Declaration{grace("base")}, ""},
		"no grace, one table": {alone, []schema.Declaration{grace("base")}, ""},
	} {
		_, err := schema.Declare(append(test.options, schema.Sets(test.set))...)
		if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
			t.Errorf("%s: %v, want %s", name, err, test.want)
		}
	}
}

// Only the server can say whether extensions are right: they are those of its plugins.
func TestDeclareExtensions(t *testing.T) {
	t.Parallel()
	own := schema.With("k.t", schema.Options{Other: map[string]string{"extensions": "{'a': '0x00'}"}})
	if _, err := schema.Declare(schema.CQL("CREATE TABLE k.t (id int PRIMARY KEY)"), own); err != nil {
		t.Error(err)
	}
}
