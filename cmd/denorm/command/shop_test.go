package command

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"regexp"
	"slices"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/gocql/gocql"
	"gopkg.in/inf.v0"

	"github.com/denorm-go/denorm/cassandratest"
	"github.com/denorm-go/denorm/examples/orders"
	"github.com/denorm-go/denorm/internal/testutil/golden"
	"github.com/denorm-go/denorm/session"
)

// shopOfOrders is a cluster with orders.
type shopOfOrders struct {
	t       *testing.T
	cluster *cassandratest.Cluster
	host    string
	session *gocql.Session
}

func newShopOfOrders(t *testing.T, c *cassandratest.Cluster) *shopOfOrders {
	t.Helper()
	c.Create(orders.Schema.In(map[string]string{"": "shop"}).Statements()...)
	config := c.Config()
	config.Keyspace = "shop"
	s, err := config.CreateSession()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	x := &shopOfOrders{t, c, net.JoinHostPort(config.Hosts[0], strconv.Itoa(config.Port)), s}
	for range 10 {
		x.put(orders.New(gocql.MustRandomUUID(), inf.NewDec(1995, 2)), "orders_by_id", "orders_by_user", "orders_by_status")
	}
	return x
}

// put puts an order into some tables, an hour ago.
func (x *shopOfOrders) put(o orders.Order, into ...string) {
	x.t.Helper()
	at := time.Now().Add(-time.Hour).UnixMicro() + o.UpdatedAt
	for _, table := range into {
		if err := x.session.Query("INSERT INTO "+table+" (order_id,user_id,status,total,updated_at) VALUES (?,?,?,?,?) USING TIMESTAMP ?",
			o.OrderID, o.UserID, string(o.Status), o.Total, at, at).DefaultTimestamp(false).Exec(); err != nil {
			x.t.Fatal(err)
		}
	}
}

// missing is an order that one table lacks.
func (x *shopOfOrders) missing() {
	x.put(orders.New(gocql.MustRandomUUID(), nil), "orders_by_id", "orders_by_status")
}

// ghost is an order that was paid, and that is also among the open ones.
func (x *shopOfOrders) ghost() {
	o := orders.New(gocql.MustRandomUUID(), nil)
	x.put(o, "orders_by_status")
	o.Status, o.UpdatedAt = orders.Paid, time.Minute.Microseconds()
	x.put(o, "orders_by_id", "orders_by_user", "orders_by_status")
}

var (
	uuid  = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-`)
	ofRun = regexp.MustCompile(`(?m)(^"?|run |resume |"run": ")` + uuid.String())
)

// startSignals starts the goroutine of package os/signal, which never ends, outside of the bubble of a test. These are
// in virtual time: what a run says depends on how long Settle is compared to a scan.
func startSignals() { signal.Notify(make(chan os.Signal, 1), syscall.SIGALRM) }

// run runs a command on the shop. Nothing it says may have a key, unless it is asked for.
func (x *shopOfOrders) run(args ...string) (out, errs string, code int) {
	x.t.Helper()
	return x.runOn(x.t.Context(), io.Discard, append(args, "--hosts", x.host, "--keyspace", "shop", "--settle", "8s")...) // less than until a line of progress
}

func (x *shopOfOrders) runOn(ctx context.Context, progress io.Writer, args ...string) (out, errs string, code int) {
	x.t.Helper()
	var stdout, stderr bytes.Buffer
	root := New(Declared(orders.Schema), func(c *config) {
		c.terminal = func(io.Writer) bool { return progress != io.Discard }
		c.session = append(c.session, session.Adjust(func(c *gocql.ClusterConfig) { c.Dialer = x.cluster.Config().Dialer }))
	})
	root.SetOut(&stdout)
	root.SetErr(io.MultiWriter(&stderr, progress))
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	if err != nil {
		fmt.Fprint(&stderr, err)
	}
	if !slices.Contains(args, "--keys") && uuid.MatchString(ofRun.ReplaceAllString(stdout.String()+stderr.String(), "")) {
		x.t.Errorf("%v: a key in\n%s%s", args, &stdout, &stderr)
	}
	return stdout.String(), stderr.String(), ExitCode(err)
}

// without replaces what is different in each run.
func without(out string) string {
	out = regexp.MustCompile(`"\d{4}-\d\d-\d\dT[0-9:.]*Z"`).ReplaceAllString(out, `"TIME"`)
	out = regexp.MustCompile(`until \d{4}-\d\d-\d\dT[0-9:]*Z`).ReplaceAllString(out, "until TIME")
	return regexp.MustCompile(`in [0-9.]+m?s\n`).ReplaceAllString(out, "in TIME\n")
}

// want runs a command that writes no errors, and compares its output with a golden file, if a step is named.
func (x *shopOfOrders) want(step string, code int, args ...string) string {
	x.t.Helper()
	out, errs, got := x.run(args...)
	if got != code || errs != "" {
		x.t.Errorf("%s: exit code %d, want %d: %s", step, got, code, errs)
	}
	if step != "" {
		golden.Check(x.t, "reconcile/"+step, without(out))
	}
	return out
}
