package command

import (
	"bytes"
	"io"
	"net"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/cassandratest"
	"github.com/denorm-go/denorm/examples/orders"
	"github.com/denorm-go/denorm/schema"
	"github.com/denorm-go/denorm/tables"
)

// Orders that were written by hand, each table with a time of its own, are adopted. A row that the base row does not
// name is removed once there is a file for it; then the tables agree.
func TestAdopt(t *testing.T) {
	t.Parallel()
	startSignals()
	cassandratest.Test(t, 1, func(t *testing.T, c *cassandratest.Cluster) {
		x := newShopOfOrders(t, c)
		byHand := func(at time.Duration, table string, o orders.Order) {
			if err := x.session.Query("INSERT INTO "+table+" (order_id,user_id,status,total) VALUES (?,?,?,?) USING TIMESTAMP ?", o.OrderID, o.UserID,
				string(o.Status), o.Total, time.Now().Add(at-time.Hour).UnixMicro()).DefaultTimestamp(false).Exec(); err != nil {
				t.Fatal(err)
			}
		}
		for n := range 3 {
			o := orders.New(gocql.MustRandomUUID(), nil)
			byHand(0, "orders_by_id", o)
			byHand(time.Second, "orders_by_user", o)
			byHand(2*time.Second, "orders_by_status", o)
			if o.Status = orders.Paid; n == 0 {
				byHand(3*time.Second, "orders_by_status", o)
			}
		}
		x.want("unadopted.text", ExitFound, "verify", "order")
		adopt := []string{"adopt", "order", "--writers", time.Now().Add(-time.Minute).Format(time.RFC3339)}
		want := func(step string, code int, more ...string) { x.want(step, code, append(adopt, more...)...) }
		want("adopt_dry_run.text", ExitFound, "--dry-run")
		want("adopt_left.text", ExitFound)
		want("adopted.json", ExitFine, "--format", "json", "--removed", filepath.Join(t.TempDir(), "removed.jsonl"))
		want("adopted.text", ExitFine)
		x.want("adopted_agree.text", ExitFine, "verify", "order")
	})
}

// After a verify of rows that were written by hand the next step is adopt, and a dry run of that says what it does not
// look for.
func TestNextStepIsAdopt(t *testing.T) {
	t.Parallel()
	type user struct {
		ID, Name, Email string
		Version         gocql.UUID
	}
	declared := schema.Must(schema.Declare(schema.Sets(tables.Must(tables.New[user]("user",
		tables.Table{Name: "users", PartKey: []string{"id"}},
		tables.Table{Name: "users_by_email", PartKey: []string{"email"}, Unique: true},
		tables.Versioned("version"))))))
	c := cassandratest.Listen(t, 1)
	c.Create(declared.In(map[string]string{"": "shop"}).Statements()...)
	config := c.Config()
	config.Keyspace = "shop"
	s, err := config.CreateSession()
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for _, id := range []string{"1", "2"} {
		if err := s.Query("INSERT INTO users (id, name, email) VALUES (?, 'ada', 'shared') USING TIMESTAMP 1", id).DefaultTimestamp(false).Exec(); err != nil {
			t.Fatal(err)
		}
	}
	at := " user --keyspace shop --settle 1ms --hosts " + net.JoinHostPort(c.Config().Hosts[0], strconv.Itoa(c.Config().Port))
	writers := " --writers " + time.Now().Add(-time.Hour).Format(time.RFC3339)
	for _, step := range []struct {
		args string
		code int
		says string
	}{
		{"verify" + at, ExitError, "denorm adopt user --writers TIME --dry-run says what adopt would do"},
		{"verify --format json" + at, ExitError, `"unadopted": 2`},
		{"adopt --dry-run" + at + writers, ExitFine, "unique keys that two rows have were not looked for: adopt names both rows"},
		{"adopt" + at + writers, ExitFound, "shared"},
		{"verify" + at, ExitFound, "denorm repair user --dry-run says what a repair would send"},
	} {
		var out bytes.Buffer
		root := New(Declared(declared))
		root.SetOut(&out)
		root.SetErr(io.Discard)
		root.SetArgs(strings.Fields(step.args))
		if err := root.ExecuteContext(t.Context()); ExitCode(err) != step.code || !strings.Contains(out.String(), step.says) {
			t.Errorf("%s: %v\n%s\nwant %s", step.args, err, &out, step.says)
		}
	}
}
