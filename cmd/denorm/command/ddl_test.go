package command

import (
	"bytes"
	"io"
	"net"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/denorm-go/denorm/cassandratest"
	"github.com/denorm-go/denorm/schema"
	"github.com/denorm-go/denorm/tables"
)

// A set of tables that name their keyspace is written, and compared, in the keyspace of a tenant.
func TestDDLMaps(t *testing.T) {
	t.Parallel()
	type user struct{ ID, Name string }
	users := tables.Must(tables.New[user]("user", tables.Table{Keyspace: "crm", Name: "users", PartKey: []string{"id"}}))
	jobs := tables.Must(tables.New[user]("job", tables.Table{Name: "jobs", PartKey: []string{"id"}}))
	both := schema.Must(schema.Declare(schema.Sets(users, jobs)))
	declared := schema.Must(schema.Declare(schema.Sets(users)))
	c := cassandratest.Listen(t, 1)
	c.Create(both.In(map[string]string{"crm": "acme", "": "acme"}).Statements()...)
	host := " --hosts " + net.JoinHostPort(c.Config().Hosts[0], strconv.Itoa(c.Config().Port))
	c.Create("CREATE KEYSPACE umbrella WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}")
	for _, test := range []struct {
		declared *schema.Schema
		args     string
		code     int
		says     string
	}{
		{declared, "--map crm=acme", ExitFine, "CREATE TABLE acme.users ("},
		{both, "--map crm=acme,=acme", ExitFine, "CREATE TABLE acme.jobs ("},
		{both, "--map crm=acme --keyspace acme", ExitFine, "CREATE TABLE acme.jobs ("},
		{both, "--map crm=acme,=acme --keyspace acme", ExitError, "--keyspace and --map both say where tables belong that name no keyspace"},
		{declared, "--map crm=acme,shop=acme", ExitError, `--map: no table is declared in keyspace "shop"`},
		{declared, "--map crm=Acme", ExitError, `--map: "Acme" is not a name of`},
		{declared, "--map crm=acme" + host, ExitError, "--map is for what is declared: leave it out, or add --migrate"},
		{both, "--migrate" + host, ExitError, "table jobs names no keyspace: say which with --keyspace"},
		{both, "--migrate --map crm=acme" + host, ExitError, "table jobs names no keyspace: say which with --keyspace"},
		{
			schema.Must(schema.Declare(schema.CQL("CREATE TYPE shop.place (town text); CREATE TYPE place (town text)"))), "--migrate" + host, ExitError,
			"type place names no keyspace: say which with --keyspace",
		},
		{declared, "--migrate" + host, ExitFound, "-- keyspace crm: does not exist."},
		{declared, "--migrate --map crm=acme" + host, ExitFine, "differences in acme, of which 0 matter"},
		{both, "--migrate --map crm=acme --keyspace acme" + host, ExitFine, "differences in acme, of which 0 matter"},
		{declared, "--migrate --map crm=umbrella" + host, ExitFound, "CREATE TABLE umbrella.users ("},
		{declared, "--migrate --map crm=nobody" + host, ExitFound, "-- keyspace nobody: does not exist."},
	} {
		out, code := ddl(t, test.declared, test.args)
		if code != test.code || !strings.Contains(out, test.says) {
			t.Errorf("%s: exit code %d\n%s", test.args, code, out)
		}
	}
}

// A comparison is made from the datacentre of the service: LocalSerial in several datacentres needs it.
func TestDDLInADatacentre(t *testing.T) {
	t.Parallel()
	type user struct{ ID, Name string }
	users := tables.Must(tables.New[user]("user", tables.Table{Keyspace: "crm", Name: "users", PartKey: []string{"id"}}))
	declared := schema.Must(schema.Declare(schema.Sets(users)))
	c := cassandratest.Listen(t, 1)
	c.Create(declared.In(map[string]string{}).Statements()...)
	host := net.JoinHostPort(c.Config().Hosts[0], strconv.Itoa(c.Config().Port))
	for local, want := range map[string]int{"dc1": ExitFine, "dc9": ExitError} {
		out, code := ddl(t, declared, "--migrate --local-dc "+local+" --hosts "+host)
		if code != want || code == ExitError && !strings.Contains(out, local) {
			t.Errorf("%s: exit code %d\n%s", local, code, out)
		}
	}
	if out, code := ddl(t, declared, "--local-dc dc1"); code != ExitError || !strings.Contains(out, "--local-dc needs --hosts") {
		t.Errorf("exit code %d\n%s", code, out)
	}
	for _, local := range []string{"dc1", ""} {
		s := source{cluster: cluster{hosts: []string{host}, localDC: local}, timeout: 10 * time.Second}
		from, err := s.connect()
		if err != nil {
			t.Fatal(err)
		}
		if got := from.Settings().LocalDC; got != local {
			t.Errorf("datacentre %q, want %q", got, local)
		}
		from.Close()
	}
}

// ddl runs the command, and gives its output and error.
func ddl(t *testing.T, declared *schema.Schema, args string) (string, int) {
	t.Helper()
	var out bytes.Buffer
	root := New(Declared(declared))
	root.SetOut(&out)
	root.SetErr(io.Discard)
	root.SetArgs(append([]string{"ddl"}, strings.Fields(args)...))
	err := root.ExecuteContext(t.Context())
	if err != nil {
		out.WriteString(err.Error())
	}
	return out.String(), ExitCode(err)
}
