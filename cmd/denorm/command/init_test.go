package command

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/cassandratest"
	"github.com/denorm-go/denorm/cmd/denorm/internal/initialize"
	"github.com/denorm-go/denorm/schema"
	"github.com/denorm-go/denorm/session"
)

// initShop is a cluster with orders and visits that were written by hand.
func initShop(t *testing.T) (c *cassandratest.Cluster, host string, db *gocql.Session) {
	t.Helper()
	c = cassandratest.Listen(t, 1)
	c.Create("CREATE KEYSPACE shop WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
		"CREATE TABLE shop.orders (order_id uuid PRIMARY KEY, user_id uuid, status text, total int, notes list<text>)",
		"CREATE TABLE shop.orders_by_user (user_id uuid, order_id uuid, status text, total int, PRIMARY KEY (user_id, order_id))",
		"CREATE TABLE shop.orders_by_status (status text, order_id uuid, user_id uuid, PRIMARY KEY (status, order_id)) WITH gc_grace_seconds = 0",
		"CREATE TABLE shop.visits (visit_id uuid PRIMARY KEY, page text, seen int)",
		"CREATE TABLE shop.visits_by_page (page text, visit_id uuid, seen int, PRIMARY KEY (page, visit_id))",
		"CREATE TABLE shop.settings (name text PRIMARY KEY, value text)")
	config := c.Config()
	config.Keyspace = "shop"
	db, err := config.CreateSession()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(db.Close)
	for n := range 40 {
		var total *int
		if n%4 != 0 {
			total = &n
		}
		status := []string{"open", "paid"}[n%2]
		byHand(t, db, "INSERT INTO orders (order_id, user_id, status, total) VALUES (?, ?, ?, ?) USING TIMESTAMP ?",
			gocql.MustRandomUUID(), gocql.MustRandomUUID(), status, total, int64(1_700_000_000_000))
		byHand(t, db, "INSERT INTO visits (visit_id, page, seen) VALUES (?, ?, 1) USING TTL 3600", gocql.MustRandomUUID(), fmt.Sprint(n%5))
	}
	return c, net.JoinHostPort(config.Hosts[0], strconv.Itoa(config.Port)), db
}

func byHand(t *testing.T, db *gocql.Session, statement string, values ...any) {
	t.Helper()
	if err := db.Query(statement, values...).Exec(); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
}

// runInit runs denorm init.
func runInit(t *testing.T, args ...string) string {
	t.Helper()
	var out bytes.Buffer
	root := New()
	root.SetOut(&out)
	root.SetArgs(append([]string{"init"}, args...))
	if err := root.ExecuteContext(t.Context()); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// Of a live keyspace the rows say where null is, which values a key has, and what expires. The statements that are
// written end what Validate finds, and a second run changes nothing.
func TestInit(t *testing.T) {
	t.Parallel()
	c, host, db := initShop(t)
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module example.org/shop\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	args := []string{"--hosts", host, "--keyspace", "shop", "--sample", "800", "--out", filepath.Join(dir, "shop")}
	out := runInit(t, args...)
	for _, want := range []string{
		"2 entities, 1 tables alone", "null in 10 of 40 rows that were read: total", "write times in milliseconds: 40 of 40 rows that were read",
		"rows expire: 40 of 40 rows that were read end by a TTL", "2 values in 40 rows", "sets.go: written",
		"  A guess: fields without * had no null in 40 rows that were read.\n",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("the report lacks %q:\n%s", want, out)
		}
	}
	sets := readFile(t, filepath.Join(dir, "shop", "sets.go"))
	for _, want := range []string{
		"Total     *int32 // null in 10 of 40", `// tables.OneOf("status", "open", "paid"), //`, `tables.ExpiresAt("expires_at"),`,
		"// A guess: fields without * had no null in 40 rows that were read.\ntype Order struct", `// tables.OneOf("page", ...), //`,
		"// A list that is not frozen is only read", `tables.ReadOnly("notes"),`, `Columns: []string{"user_id"}`,
	} {
		if !strings.Contains(sets, want) {
			t.Errorf("sets.go lacks %q:\n%s", want, sets)
		}
	}
	s, err := session.New(nil, db)
	if err != nil {
		t.Fatal(err)
	}
	live, err := schema.Read(t.Context(), s, "shop")
	if err != nil {
		t.Fatal(err)
	}
	plan := initialize.New(live, nil)
	samples, err := plan.Samples(t.Context(), s, 100, func(string) {})
	if err != nil {
		t.Fatal(err)
	}
	plan = initialize.New(live, samples)
	declared := schema.Must(schema.Declare(schema.Sets(plan.Sets()...)))
	if err := schema.Validate(t.Context(), s, declared); err == nil {
		t.Error("the tables lack the stamp, and Validate finds nothing")
	}
	for _, statement := range strings.Split(readFile(t, filepath.Join(dir, "shop", "migrate.cql")), ";\n") {
		if code := withoutComments(statement); code != "" {
			c.Create(code)
		}
	}
	if err := schema.Validate(t.Context(), s, declared); err != nil {
		t.Errorf("after migrate.cql: %v", err)
	}
	if out := runInit(t, args...); strings.Count(out, ": unchanged") != 3 {
		t.Errorf("a second run changes more than migrate.cql:\n%s", out)
	}
}

// A table whose rows cannot be read is a line of the report, and nothing is said of its nulls. Others are sampled.
func TestInitWithoutASample(t *testing.T) {
	t.Parallel()
	c, host, _ := initShop(t)
	rule := c.When(cassandratest.Table("orders"), cassandratest.Text("SELECT")).Do(cassandratest.Fail(cassandratest.Code(gocql.ErrCodeUnauthorized)))
	out := runInit(t, "--hosts", host, "--keyspace", "shop")
	for _, want := range []string{
		"  no rows were read: ", "  A guess: no rows were read, so a column that can be null needs a pointer here.\n",
		"rows expire: 40 of 40 rows that were read end by a TTL",
	} {
		if !strings.Contains(out, want) || rule.Handled() == 0 {
			t.Errorf("the report lacks %q:\n%s", want, out)
		}
	}
}

// What a deleted entity leaves in an adopted Versioned set is no row of the sample: nothing in it is null, or expires.
func TestInitOfVersionedRows(t *testing.T) {
	t.Parallel()
	c := cassandratest.Listen(t, 1)
	c.Create("CREATE KEYSPACE shop WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
		"CREATE TABLE shop.orders (order_id uuid PRIMARY KEY, status text, version timeuuid, pending blob, done timeuuid, recent map<tinyint, timeuuid>)"+
			" WITH comment = '[denorm:1 versioned version]'",
		"CREATE TABLE shop.orders_by_status (status text, order_id uuid, PRIMARY KEY (status, order_id)) WITH comment = '[denorm:1 versioned version]'")
	config := c.Config()
	config.Keyspace = "shop"
	db, err := config.CreateSession()
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for range 5 {
		byHand(t, db, "INSERT INTO orders (order_id, status, version) VALUES (?, 'open', ?)", gocql.MustRandomUUID(), gocql.TimeUUID())
		byHand(t, db, "INSERT INTO orders (order_id, version, done) VALUES (?, ?, ?) USING TTL 3600", gocql.MustRandomUUID(), gocql.TimeUUID(), gocql.TimeUUID())
	}
	out := runInit(t, "--hosts", net.JoinHostPort(config.Hosts[0], strconv.Itoa(config.Port)), "--keyspace", "shop")
	if !strings.Contains(out, "had no null in 5 rows that were read") || strings.Contains(out, "null in 5 of") || strings.Contains(out, "expire") {
		t.Error(out)
	}
}

// The service's code is not read as CQL: that is one error that says what to name, before a node is asked.
func TestInitOfCode(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	code := filepath.Join(dir, "bookings.go")
	text := "package shop\n\nconst tables = `CREATE TABLE a (id uuid PRIMARY KEY); CREATE TABLE b (id uuid PRIMARY KEY);`\n\n" +
		"func f() {\n\tfor i := 0; i < 3; i++ {\n\t\tdb.Query(`DELETE FROM a WHERE id = ?`, i)\n\t}\n}\n"
	if err := os.WriteFile(code, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	const says = ": is not CQL (line 1: want a statement, not \"package\"): copy the statements into a .cql file (docs/init.md), ? is fine"
	for _, files := range [][]string{{code}, {"testdata/clean.cql", code}, {"--hosts", "127.0.0.1:1", code}} {
		root := New()
		root.SetArgs(append([]string{"init"}, files...))
		root.SetOut(io.Discard)
		if err := root.ExecuteContext(t.Context()); err == nil || err.Error() != code+says {
			t.Error(err)
		}
	}
}

// A folder that files cannot be written into is an error before a node is asked.
func TestInitChecksTheFolderFirst(t *testing.T) {
	t.Parallel()
	root := New()
	root.SetArgs([]string{"init", "--hosts", "127.0.0.1:1", "--out", filepath.Join(t.TempDir(), "shop")})
	if err := root.ExecuteContext(t.Context()); err == nil || !strings.Contains(err.Error(), "no go.mod above it") {
		t.Error(err)
	}
}

func readFile(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// withoutComments is the statement in a text.
func withoutComments(text string) string {
	var lines []string
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, "--") {
			lines = append(lines, line)
		}
	}
	return strings.TrimSpace(strings.Join(lines, ""))
}
