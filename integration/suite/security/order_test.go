package security

import (
	"context"
	"crypto/x509"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gocql/gocql"
	"gopkg.in/inf.v0"

	"github.com/denorm-go/denorm/examples/orders"
	"github.com/denorm-go/denorm/integration/harness/cluster"
	"github.com/denorm-go/denorm/session"
	"github.com/denorm-go/denorm/writer"
)

// With the right password and certificates everything works, and nobody on the way reads any of it.
func TestOrder(t *testing.T) {
	t.Parallel()
	s := newService("shop", node.password)
	w := s.writer(t)
	order := orders.New(gocql.MustRandomUUID(), inf.NewDec(1999, 2))
	res, err := w.Write(t.Context(), "createOrder", orders.Orders.Insert(order))
	if err != nil {
		t.Fatal(err)
	}
	order.UpdatedAt = res.Timestamp
	paid := order
	paid.Status = orders.Paid
	if _, err = w.Write(t.Context(), "payOrder", orders.Orders.Update(order, paid)); err != nil {
		t.Fatal(err)
	}
	reads := s.connect(t)
	for statement, args := range map[string][]any{
		`SELECT status FROM orders_by_id WHERE order_id = ?`:                         {order.OrderID},
		`SELECT status FROM orders_by_user WHERE user_id = ? AND order_id = ?`:       {order.UserID, order.OrderID},
		`SELECT status FROM orders_by_status WHERE status = 'paid' AND order_id = ?`: {order.OrderID},
	} {
		var status orders.Status
		if err := reads.Query(statement, args...).WithContext(t.Context()).Scan(&status); err != nil || status != orders.Paid {
			t.Errorf("%s: %q, %v", statement, status, err)
		}
	}
	exported := s.exported(t)
	for _, span := range []string{"createOrder", "payOrder"} {
		if !strings.Contains(exported, span) {
			t.Errorf("there is no span %s", span)
		}
	}
	s.keepsSecrets(t)
	for _, text := range []string{node.password, "orders_by_id"} {
		if s.wire.carried(text) {
			t.Errorf("%q can be read on the wire", text)
		}
	}
}

// The configuration of the README: nothing but files.
func TestFiles(t *testing.T) {
	t.Parallel()
	s := newService("shop", node.password)
	s.config.SslOpts = &gocql.SslOptions{
		CaPath:   writeFile(t, certificatePEM(node.trusted.certificate)),
		CertPath: writeFile(t, certificatePEM(node.client.certificate)),
		KeyPath:  writeFile(t, node.client.keyPEM()),
	}
	s.connect(t)
	s.config.SslOpts.CaPath = writeFile(t, certificatePEM(newAuthority("another authority").certificate))
	if _, err := session.Connect(session.Configure(s.config, "dc1")); !is[x509.UnknownAuthorityError](err) {
		t.Errorf("with another authority: %v", err)
	}
	s.keepsSecrets(t)
}

func writeFile(t *testing.T, text string) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "file.pem")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// The test of the wire in [TestOrder] would be worth nothing if it could not fail: without TLS the password is there
// for everybody to read.
func TestPlainTextShowsThePassword(t *testing.T) {
	t.Parallel()
	if cluster.Differs(node.extra.Version(), t.Name(), "native_transport_port_ssl") {
		t.Skip("the node has no port without TLS")
	}
	s := newService("shop", node.password)
	s.config.Port, s.config.SslOpts = plainPort, nil
	s.connect(t)
	if !s.wire.carried(node.password) {
		t.Error("the password was not seen on the wire")
	}
	s.keepsSecrets(t)
}

// What the caller says in so many words is obeyed, and nothing less: [TestRefusals] has the case of options that say
// nothing.
func TestVerificationIsTurnedOffInSoManyWords(t *testing.T) {
	t.Parallel()
	s := newService("shop", node.password)
	s.config.Hosts, s.wire.to = []string{"127.0.0.12"}, node.extra.Host()+":9142"
	s.config.SslOpts.RootCAs = nil
	s.config.SslOpts.InsecureSkipVerify = true
	s.connect(t)
	// Or, better, a name that all nodes share.
	named := newService("shop", node.password)
	named.config.Hosts, named.wire.to = []string{"127.0.0.12"}, node.extra.Host()+":9142"
	named.config.SslOpts.ServerName = "localhost"
	named.connect(t)
}

// A role that may not write a table is told so at once: the table surely does not have the row, and to ask again is no
// use.
func TestNoPermission(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		grants  []string
		want    map[string]writer.Outcome
		change  func(w *writer.Writer) *writer.Writer
		refused int64 // requests
	}{
		"on any table, fan-out": {
			want: map[string]writer.Outcome{
				"orders_by_id": writer.NotApplied, "orders_by_user": writer.NotApplied, "orders_by_status": writer.NotApplied,
			},
			change: func(w *writer.Writer) *writer.Writer { return w }, refused: 3,
		},
		"on any table, logged batch": {
			want: map[string]writer.Outcome{
				"orders_by_id": writer.NotApplied, "orders_by_user": writer.NotApplied, "orders_by_status": writer.NotApplied,
			},
			change: func(w *writer.Writer) *writer.Writer { return w.With(writer.Logged()) }, refused: 1,
		},
		"on one table": {
			grants: []string{"orders_by_id", "orders_by_user"},
			want: map[string]writer.Outcome{
				"orders_by_id": writer.Applied, "orders_by_user": writer.Applied, "orders_by_status": writer.NotApplied,
			},
			change: func(w *writer.Writer) *writer.Writer { return w }, refused: 1,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newService(newRole(t, c.grants...))
			refused := new(refusals)
			s.config.FrameHeaderObserver = refused
			w := c.change(s.writer(t))
			order := orders.New(gocql.MustRandomUUID(), inf.NewDec(1999, 2))
			refused.Store(0) // gocql asks for much when it opens a session, also for what an old node had
			_, err := w.Write(t.Context(), "createOrder", orders.Orders.Insert(order))
			var failed *writer.Error
			if !errors.As(err, &failed) {
				t.Fatalf("error %v", err)
			}
			t.Logf("%d requests refused: %v", refused.Load(), err)
			applied := 0
			for _, r := range failed.Tables {
				if r.Outcome != c.want[r.Table] || r.Attempts != 1 {
					t.Errorf("%s: %v after %d attempts, want %v after one", r.Table, r.Outcome, r.Attempts, c.want[r.Table])
				}
				if r.Outcome == writer.Applied {
					applied++
				}
			}
			if failed.NotApplied() != (applied == 0) || errors.Is(err, writer.ErrPartial) != (applied > 0) ||
				errors.Is(err, writer.ErrUnknown) {
				t.Errorf("%d tables applied: not applied %v, partial %v, unknown %v", applied, failed.NotApplied(),
					errors.Is(err, writer.ErrPartial), errors.Is(err, writer.ErrUnknown))
			}
			if n := refused.Load(); n != c.refused {
				t.Errorf("%v: %d requests refused, want %d", failed.Mode, n, c.refused)
			}
			if !strings.Contains(err.Error(), "no MODIFY permission on") {
				t.Errorf("the error does not say what is missing: %v", err)
			}
			s.secrets = append(s.secrets, order.UserID.String())
			s.keepsSecrets(t, err)
		})
	}
}

// A password that is changed while a service runs: what it has open goes on, what it opens is rejected, calmly, and
// when the old password is back so is the service.
func TestPasswordChanges(t *testing.T) {
	t.Parallel()
	user, password := newRole(t, "orders_by_id", "orders_by_user", "orders_by_status")
	s := newService(user, password)
	w := s.writer(t)
	write := func() error {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		defer cancel()
		_, err := w.Write(ctx, "createOrder", orders.Orders.Insert(orders.New(gocql.MustRandomUUID(), nil)))
		return err
	}
	changePassword(t, user, random())
	if err := write(); err != nil {
		t.Fatalf("with open connections: %v", err)
	}
	s.wire.cut()
	before, start := s.wire.count(), time.Now()
	var errs []error
	for range 20 {
		err := write()
		if err == nil {
			t.Fatal("a write went through without a connection")
		}
		errs = append(errs, err)
	}
	elapsed := time.Since(start)
	dials := s.wire.count() - before
	t.Logf("20 writes failed in %v, %d connections were tried, last: %v", elapsed, dials, errs[len(errs)-1])
	// Two sessions with a control connection and a pool, each of which tries once a second.
	if most := 10 * int(elapsed/time.Second+2); dials > most {
		t.Errorf("%d connections in %v", dials, elapsed)
	}
	var last *writer.Error
	if !errors.As(errs[len(errs)-1], &last) || !last.NotApplied() {
		t.Errorf("without a connection: %v", errs[len(errs)-1])
	}
	changePassword(t, user, password)
	deadline := time.Now().Add(time.Minute)
	for err := write(); err != nil; err = write() {
		if time.Now().After(deadline) {
			t.Fatalf("with the old password: %v", err)
		}
	}
	if !strings.Contains(s.driverLog.String(), "Provided username "+user+" and/or password are incorrect") {
		t.Errorf("the log does not say why:\n%s", s.driverLog.String())
	}
	s.keepsSecrets(t, errs...)
}
