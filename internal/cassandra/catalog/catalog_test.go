package catalog_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/internal/cassandra/catalog"
	"github.com/denorm-go/denorm/internal/cassandra/option"
	"github.com/denorm-go/denorm/internal/cql/ast"
)

func parse(t *testing.T, text string) ast.Statement {
	t.Helper()
	stmt, err := ast.Parse(text)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return stmt
}

// newSchema has the keyspace ks and what the statements make in it.
func newSchema(t *testing.T, statements ...string) *catalog.Schema {
	t.Helper()
	s := catalog.New()
	define(t, s, "CREATE KEYSPACE ks WITH replication = {'class': 'NetworkTopologyStrategy', 'dc1': 3}")
	for _, text := range statements {
		define(t, s, text)
	}
	return s
}

func define(t *testing.T, s *catalog.Schema, text string) *catalog.Change {
	t.Helper()
	c, err := s.Define(parse(t, text), "ks")
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return c
}

func refuse(t *testing.T, s *catalog.Schema, text string) *catalog.Error {
	t.Helper()
	version := s.Version()
	change, err := s.Define(parse(t, text), "")
	var refused *catalog.Error
	if !errors.As(err, &refused) || change != nil || s.Version() != version {
		t.Fatalf("%s: %v, %v, and the version changed: %v", text, change, err, s.Version() != version)
	}
	return refused
}

func names(columns []*catalog.Column) []string {
	var out []string
	for _, c := range columns {
		out = append(out, c.Name)
	}
	return out
}

func TestColumnsComeAsSelectGivesThem(t *testing.T) {
	t.Parallel()
	s := newSchema(t, `CREATE TABLE t (z int, y int, x int static, b text, w int, a int static, p int, q int, PRIMARY KEY ((q, p), y, b))
		WITH CLUSTERING ORDER BY (y DESC, b ASC) AND gc_grace_seconds = 7 AND default_time_to_live = 9`)
	table := s.Table("ks", "t")
	if got, want := names(table.Columns), []string{"q", "p", "y", "b", "a", "x", "w", "z"}; !slices.Equal(got, want) {
		t.Errorf("columns %v, want %v", got, want)
	}
	if !slices.Equal(names(table.Partition), []string{"q", "p"}) ||
		!slices.Equal(names(table.Clustering), []string{"y", "b"}) {
		t.Errorf("key %v, %v", names(table.Partition), names(table.Clustering))
	}
	if !table.Static || table.Counter || table.System || table.GCGrace != 7 || table.DefaultTTL != 9 {
		t.Errorf("%+v", table)
	}
	for i, c := range table.Columns {
		if c.Index != i || table.Column(c.Name) != c {
			t.Errorf("column %d is %+v", i, c)
		}
	}
	if c := table.Column("b"); c.Kind != catalog.Clustering || c.Position != 1 || c.Descending ||
		!table.Column("y").Descending {
		t.Errorf("%+v", c)
	}
	if table.Column("nope") != nil || s.Table("ks", "nope") != nil || s.Table("nope", "t") != nil ||
		s.Keyspace("nope") != nil {
		t.Error("something that is not there was found")
	}
}

func TestCompare(t *testing.T) {
	t.Parallel()
	table := newSchema(t, "CREATE TABLE t (p int, a int, b text, PRIMARY KEY (p, a, b)) WITH CLUSTERING ORDER BY (a "+
		"DESC, b ASC)").
		Table("ks", "t")
	row := func(a byte, b ...string) [][]byte {
		out := [][]byte{{0, 0, 0, a}}
		for _, text := range b {
			out = append(out, []byte(text))
		}
		return out
	}
	for _, c := range []struct {
		a, b [][]byte
		want int
	}{
		{row(1, "a"), row(1, "a"), 0},
		{row(2, "a"), row(1, "b"), -1},
		{row(1, "a"), row(1, "b"), -1},
		{row(1, "b"), row(1, "a"), 1},
		{row(1), row(1, "a"), 0},
		{row(0), row(1, "a"), 1},
		{nil, row(1, "a"), 0},
	} {
		if got := table.Compare(c.a, c.b); got != c.want {
			t.Errorf("%q and %q: %d, want %d", c.a, c.b, got, c.want)
		}
	}
}

// TestTablesNeverChange has to hold because prepared statements keep them.
func TestTablesNeverChange(t *testing.T) {
	t.Parallel()
	s := newSchema(t, "CREATE TYPE u (a int)", "CREATE TABLE t (p int PRIMARY KEY, v frozen<u>, w int)")
	before, keyspace, version := s.Table("ks", "t"), s.Keyspace("ks"), s.Version()
	for _, text := range []string{
		"ALTER TYPE u ADD b int", "ALTER TABLE t ADD x int", "ALTER TABLE t DROP w", "ALTER TABLE t RENAME p TO q",
		"ALTER TABLE t WITH gc_grace_seconds = 1",
		"ALTER KEYSPACE ks WITH durable_writes = false",
	} {
		define(t, s, text)
		if s.Version() == version {
			t.Errorf("%s: the version is the same", text)
		}
		version = s.Version()
	}
	after := s.Table("ks", "t")
	if after == before || after.ID != before.ID {
		t.Errorf("after ALTER the table is %p with %v, before %p with %v", after, after.ID, before, before.ID)
	}
	if tables := keyspace.Tables(); len(tables) != 1 || tables[0] != before {
		t.Errorf("the keyspace of before has %v", tables)
	}
	if !slices.Equal(names(before.Columns), []string{"p", "v", "w"}) || before.GCGrace != 864000 ||
		len(before.Column("v").Type.Elems()) != 1 || !keyspace.Durable {
		t.Errorf("the table of before is %+v", before)
	}
	if !slices.Equal(names(after.Columns), []string{"q", "v", "x"}) || after.GCGrace != 1 ||
		len(after.Column("v").Type.Elems()) != 2 || s.Keyspace("ks").Durable {
		t.Errorf("the table of after is %+v", after)
	}
}

func TestChanges(t *testing.T) {
	t.Parallel()
	s := catalog.New()
	if tables := s.Keyspace("system_schema").Tables(); len(tables) != 11 || tables[0].Name != "aggregates" {
		t.Errorf("system_schema has %d tables", len(tables))
	}
	for _, c := range []struct {
		text, typ, target, object string
		table                     bool
		dropped                   []string
	}{
		{
			"CREATE KEYSPACE ks WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}", "CREATED", "KEYSPACE",
			"", false, nil,
		},
		{"ALTER KEYSPACE ks WITH durable_writes = false", "UPDATED", "KEYSPACE", "", false, nil},
		{"CREATE TYPE u (a int)", "CREATED", "TYPE", "u", false, nil},
		{"ALTER TYPE u ADD b int", "UPDATED", "TYPE", "u", false, nil},
		{"DROP TYPE u", "DROPPED", "TYPE", "u", false, nil},
		{"CREATE TABLE t (a int PRIMARY KEY, b int, c int)", "CREATED", "TABLE", "t", true, nil},
		{"ALTER TABLE t DROP (b, c)", "UPDATED", "TABLE", "t", true, []string{"b", "c"}},
		{"ALTER TABLE t ADD d int", "UPDATED", "TABLE", "t", true, nil},
		{"CREATE INDEX i ON t (d)", "UPDATED", "TABLE", "t", true, nil},
		{"DROP INDEX i", "UPDATED", "TABLE", "t", true, nil},
		{
			"CREATE MATERIALIZED VIEW v AS SELECT * FROM t WHERE d IS NOT NULL AND a IS NOT NULL PRIMARY KEY (d, a)", "CREATED",
			"TABLE", "v", true, nil,
		},
		{"DROP MATERIALIZED VIEW v", "DROPPED", "TABLE", "v", true, nil},
		{"DROP TABLE t", "DROPPED", "TABLE", "t", true, nil},
		{"DROP KEYSPACE ks", "DROPPED", "KEYSPACE", "", false, nil},
	} {
		got := define(t, s, c.text)
		if got.Type != c.typ || got.Target != c.target || got.Keyspace != "ks" || got.Object != c.object ||
			(got.Table != nil) != c.table || !slices.Equal(got.Dropped, c.dropped) {
			t.Errorf("%s: %+v", c.text, got)
		}
	}
}

func TestNothingChanges(t *testing.T) {
	t.Parallel()
	s := newSchema(t, "CREATE TABLE t (a int PRIMARY KEY)", "CREATE TYPE u (a int)")
	version := s.Version()
	for _, text := range []string{
		"CREATE TABLE IF NOT EXISTS t (a int PRIMARY KEY)", "CREATE TYPE IF NOT EXISTS u (b int)",
		"DROP TABLE IF EXISTS nope",
		"CREATE KEYSPACE IF NOT EXISTS ks WITH replication = {'class': 'SimpleStrategy'}", "DROP KEYSPACE IF EXISTS nope",
		"DROP TYPE IF EXISTS nope", "DROP INDEX IF EXISTS nope", "DROP MATERIALIZED VIEW IF EXISTS nope",
		"ALTER TABLE IF EXISTS nope ADD a int", "ALTER TYPE IF EXISTS nope ADD a int",
		"ALTER KEYSPACE IF EXISTS nope WITH durable_writes = true",
	} {
		if c := define(t, s, text); c != nil || s.Version() != version {
			t.Errorf("%s: %+v", text, c)
		}
	}
}

func TestFactor(t *testing.T) {
	t.Parallel()
	s := catalog.New()
	for options, want := range map[string]int{
		"'class': 'SimpleStrategy', 'replication_factor': 2":                              2,
		"'class': 'SimpleStrategy', 'replication_factor': 9":                              9,
		"'class': 'SimpleStrategy'":                                                       1,
		"'class': 'NetworkTopologyStrategy', 'dc1': 3":                                    3,
		"'class': 'NetworkTopologyStrategy', 'replication_factor': 4":                     4,
		"'class': 'NetworkTopologyStrategy', 'replication_factor': 4, 'dc1': '2'":         2,
		"'class': 'org.apache.cassandra.locator.SimpleStrategy', 'replication_factor': 0": 0,
		"'class': 'NetworkTopologyStrategy', 'dc1': 2, 'dc2': 0":                          2,
	} {
		define(t, s, "CREATE KEYSPACE k WITH replication = {"+options+"}")
		if got := s.Keyspace("k").Factor(); got != want {
			t.Errorf("{%s}: factor %d, want %d", options, got, want)
		}
		define(t, s, "DROP KEYSPACE k")
	}
}

// What ALTER KEYSPACE leaves open stays as it was, and a replication_factor changes no datacenter that has one.
func TestFactorIsAltered(t *testing.T) {
	t.Parallel()
	s := catalog.New()
	define(t, s, "CREATE KEYSPACE k WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 2}")
	for _, step := range []struct {
		options string
		want    int
	}{
		{"'class': 'SimpleStrategy'", 2},
		{"'class': 'NetworkTopologyStrategy'", 2},
		{"'class': 'NetworkTopologyStrategy', 'replication_factor': 3", 2},
		{"'class': 'NetworkTopologyStrategy', 'dc1': 3", 3},
		{"'class': 'SimpleStrategy'", 1},
	} {
		define(t, s, "ALTER KEYSPACE k WITH replication = {"+step.options+"}")
		if got := s.Keyspace("k").Factor(); got != step.want {
			t.Errorf("{%s}: factor %d, want %d", step.options, got, step.want)
		}
	}
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	s := newSchema(t, "CREATE TABLE t (a int PRIMARY KEY, b int)", "CREATE TYPE p (x int)",
		"CREATE TABLE pairs (k frozen<list<frozen<p>>> PRIMARY KEY)")
	for text, want := range map[string]catalog.Error{
		"ALTER TYPE ks.p ADD y int": {
			Code: gocql.ErrCodeInvalid, Message: "Cannot add new field y of type int to user type ks.p as the type is being " +
				"used in partition key by the " +
				"following tables: ks.pairs",
		},
		"ALTER TYPE ks.p ADD y frozen<map<int, frozen<p>>>": {
			Code: gocql.ErrCodeInvalid, Message: "Cannot add new field y of type frozen<map<int, frozen<ks.p>>> to user type " +
				"ks.p as it would " +
				"create a circular reference",
		},
		"CREATE TABLE ks.t (a int PRIMARY KEY)": {
			Code: gocql.ErrCodeAlreadyExists, Message: `Cannot add already existing table "t" to keyspace "ks"`, Keyspace: "ks",
			Table: "t",
		},
		"CREATE KEYSPACE ks WITH replication = {'class': 'SimpleStrategy'}": {
			Code: gocql.ErrCodeAlreadyExists, Message: `Cannot add existing keyspace "ks"`, Keyspace: "ks",
		},
		"DROP TABLE system.local":     {Code: gocql.ErrCodeUnauthorized, Message: "system keyspace is not user-modifiable."},
		"ALTER TABLE ks.t WITH x = 1": {Code: gocql.ErrCodeSyntax, Message: "Unknown property 'x'"},
		"ALTER TABLE ks.t DROP a":     {Code: gocql.ErrCodeInvalid, Message: "Cannot drop PRIMARY KEY column a"},
		"CREATE KEYSPACE k WITH replication = {'class': 'X'}": {
			Code: gocql.ErrCodeConfig, Message: "Unable to find replication strategy class 'org.apache.cassandra.locator.X'",
		},
		// Cassandra leaves out a datacenter with 0 replicas before it looks whether there is one.
		"CREATE KEYSPACE k WITH replication = {'class': 'NetworkTopologyStrategy', 'dc1': 0}": {
			Code: gocql.ErrCodeConfig, Message: "Configuration for at least one datacenter must be present",
		},
		"CREATE KEYSPACE k WITH replication = {'class': 'NetworkTopologyStrategy', 'replication_factor': '0'}": {
			Code: gocql.ErrCodeConfig, Message: "Configuration for at least one datacenter must be present",
		},
		"ALTER KEYSPACE ks WITH replication = {'class': 'NetworkTopologyStrategy', 'dc1': 0, 'replication_factor': 3}": {
			Code: gocql.ErrCodeConfig, Message: "Configuration for at least one datacenter must be present",
		},
		"CREATE KEYSPACE k WITH replication = {'class': 'NetworkTopologyStrategy', 'dc1': 3000000000}": {
			Code: gocql.ErrCodeConfig, Message: `For input string: "3000000000"`,
		},
		"CREATE KEYSPACE k WITH replication = {'class': 'NetworkTopologyStrategy', 'dc1': -1}": {
			Code: gocql.ErrCodeConfig, Message: "Replication factor must be non-negative, found -1",
		},
		"CREATE TABLE u (a int PRIMARY KEY)": {
			Code: gocql.ErrCodeInvalid, Message: "No keyspace has been specified. USE a keyspace, or explicitly specify " +
				"keyspace.tablename",
		},
		"CREATE TABLE ks.u (a int PRIMARY KEY, v vector<float, 3>)": {
			Code: gocql.ErrCodeInvalid, Reason: option.Unsupported,
			Message: "not supported by the in-process Cassandra: type vector<float, 3>",
		},
		"CREATE TABLE ks.u (a int PRIMARY KEY, v 'org.X')": {
			Code: gocql.ErrCodeInvalid, Reason: option.Unsupported,
			Message: "not supported by the in-process Cassandra: type 'org.X'",
		},
		"TRUNCATE ks.t": {
			Code: gocql.ErrCodeInvalid, Reason: option.Unsupported,
			Message: "not supported by the in-process Cassandra: *ast.Truncate",
		},
	} {
		if got := refuse(t, s, text); *got != want {
			t.Errorf("%s: %+v, want %+v", text, *got, want)
		}
	}
}
