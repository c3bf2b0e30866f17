package session

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/internal/testutil/drivertest"
)

// What a node can have against a client, without a node: package integration/suite/security has the same on a real one.
func TestConnectNamesWhatIsWrong(t *testing.T) {
	t.Parallel()
	errNoRoute := errors.New("no route to host")
	pair := selfSigned(t, "10.0.0.1")
	key := string(privateKey(t, pair))
	for name, c := range map[string]struct {
		node   func(net.Conn) // what the node does with a connection
		dial   error
		tls    *gocql.SslOptions
		want   string
		unwrap error
		limit  time.Duration // ConnectTimeout; 0: that of Configure
	}{
		"out of reach": {dial: errNoRoute, want: "denorm: no session: 10.0.0.9:9042: no route to host", unwrap: errNoRoute},
		"wrong password": {
			node: refusePassword,
			want: "denorm: no session: 10.0.0.9:9042: credentials rejected: Provided username shop and/or password are incorrect",
		},
		"plain text to a TLS port": {
			node: func(c net.Conn) { _, _ = c.Read(make([]byte, 9)); _ = c.Close() }, unwrap: io.EOF,
			want: "denorm: no session: 10.0.0.9:9042: closed by the node at the first request, as a port does that expects TLS " +
				"(SslOpts is not set): EOF",
		},
		"plain text to a TLS port that answers with an alert": { // as that of Cassandra 4.1
			node: func(c net.Conn) {
				_, _ = c.Read(make([]byte, 9))
				_, _ = c.Write([]byte{21, 3, 3, 0, 2, 2, 80})
				_, _ = io.Copy(io.Discard, c)
			},
			want: "denorm: no session: 10.0.0.9:9042: this port expects TLS (SslOpts is not set): " +
				"gocql: unsupported protocol response version: 21",
		},
		"closed with TLS": {
			node: serveTLS(pair, func(c net.Conn) { _, _ = c.Read(make([]byte, 9)); _ = c.Close() }), unwrap: io.EOF,
			tls:  &gocql.SslOptions{Config: &tls.Config{InsecureSkipVerify: true}},
			want: "denorm: no session: 10.0.0.9:9042: EOF",
		},
		"TLS to a plain text port": {
			node: func(c net.Conn) {
				go func() { _, _ = c.Write([]byte("\x84\x00\x00\x00\x00\x00\x00\x00\x00")) }()
				_, _ = io.Copy(io.Discard, c)
			},
			tls: new(gocql.SslOptions), want: "denorm: no session: 10.0.0.9:9042: no TLS at this port, or not this protocol: " +
				"tls: first record does not look like a TLS handshake",
		},
		// A paused node, for one. The session was never opened and never rejected.
		"silent before the handshake": {
			node: func(c net.Conn) { _, _ = io.Copy(io.Discard, c) }, tls: new(gocql.SslOptions),
			want: "denorm: no session: 10.0.0.9:9042: read pipe: i/o timeout", unwrap: os.ErrDeadlineExceeded,
			limit: 50 * time.Millisecond,
		},
		"another name": {
			node: serveTLS(pair, func(net.Conn) {}), tls: &gocql.SslOptions{Config: &tls.Config{
				RootCAs: poolOf(pair), Certificates: []tls.Certificate{pair},
			}},
			want: "denorm: no session: 10.0.0.9:9042: the node's certificate is for another name (nodes are known by address, " +
				"unless SslOpts.Config.ServerName is a name that all certificates share): tls: failed to verify certificate: " +
				"x509: certificate is valid for 10.0.0.1, not 10.0.0.9",
		},
		// gocql would not verify here at all, and send the password to whoever answers.
		"unknown authority, of which nothing was said": {
			node: serveTLS(selfSigned(t, "10.0.0.9"), func(net.Conn) {}), tls: new(gocql.SslOptions),
			want: "denorm: no session: 10.0.0.9:9042: the node's certificate is of an authority that SslOpts does not trust: " +
				"tls: failed to verify certificate: x509: certificate signed by unknown authority",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const password = "Feldhamster0815"
			dialer := &scriptedDialer{node: c.node, err: c.dial}
			var driverLog bytes.Buffer
			cluster := Configure(gocql.NewCluster("10.0.0.9"), "")
			cluster.Dialer, cluster.SslOpts = dialer, c.tls
			cluster.Authenticator = gocql.PasswordAuthenticator{Username: "shop", Password: password}
			cluster.Logger = log.New(&driverLog, "", 0)
			if c.limit > 0 {
				cluster.ConnectTimeout = c.limit
			}
			_, err := Connect(cluster)
			// A pipe has no room: which of the two runs into the limit depends on who was first.
			if err == nil || strings.ReplaceAll(err.Error(), "write pipe", "read pipe") != c.want {
				t.Fatalf("error\n%v, want\n%s", err, c.want)
			}
			if c.unwrap != nil && !errors.Is(err, c.unwrap) {
				t.Errorf("%v is not in %#v", c.unwrap, err)
			}
			for _, text := range []string{fmt.Sprintf("%v %+v %#v", err, err, err), driverLog.String()} {
				for _, secret := range []string{password, key} {
					if strings.Contains(text, secret) {
						t.Errorf("error or log shows a secret:\n%s", text)
					}
				}
			}
			if cluster.SslOpts != c.tls || cluster.ConnectObserver != nil || cluster.Dialer != gocql.Dialer(dialer) {
				t.Error("the config was changed")
			}
		})
	}
}

// A wrong password is wrong everywhere: an error of a hundred lines would not say more.
func TestConnectErrorIsShort(t *testing.T) {
	t.Parallel()
	cluster := Configure(gocql.NewCluster("10.0.0.1", "10.0.0.2", "10.0.0.3", "10.0.0.4", "10.0.0.5"), "")
	seen := new(seenConnects)
	cluster.Dialer, cluster.ConnectObserver = &scriptedDialer{err: errors.New("no route")}, seen
	cluster.Logger = log.New(io.Discard, "", 0)
	_, err := Connect(cluster)
	if err == nil || strings.Count(err.Error(), ": no route") != 3 || !strings.HasSuffix(err.Error(), "; and 2 more") {
		t.Errorf("error %v", err)
	}
	if seen.errs != 5 {
		t.Errorf("the caller's observer was told of %d connections of 5", seen.errs)
	}
}

// What gocql says of a connection that was closed while it started depends on which of its goroutines was first. All
// but the right thing must not hide the right thing.
func TestConnectErrorOfAClosedConnection(t *testing.T) {
	t.Parallel()
	vague, telling := errors.New(startupTimeout), errors.New("remote error: tls: certificate required")
	host := drivertest.Host("", "10.0.0.1")
	start := time.Now()
	for name, c := range map[string]struct {
		seen      []error
		took      time.Duration
		encrypted bool
		want      string
	}{
		"vague first":  {[]error{vague, telling}, time.Millisecond, true, "10.0.0.1:0: " + telling.Error()},
		"vague second": {[]error{telling, vague}, time.Millisecond, true, "10.0.0.1:0: " + telling.Error()},
		"vague alone": {[]error{vague}, time.Millisecond, true, "often for the certificate of this client: " +
			startupTimeout},
		"plain text": {[]error{vague}, time.Millisecond, false, "(SslOpts is not set): " + startupTimeout},
		"a timeout":  {[]error{vague}, time.Second, false, "10.0.0.1:0: " + startupTimeout},
	} {
		o := &opening{patience: time.Second}
		for _, err := range c.seen {
			o.ObserveConnect(gocql.ObservedConnect{Host: host, Start: start, End: start.Add(c.took), Err: err})
		}
		e := &connectError{driver: gocql.ErrNoConnectionsStarted, refusals: o.refusals, encrypted: c.encrypted}
		if got := e.Error(); !strings.HasSuffix(got, c.want) {
			t.Errorf("%s: %s, want ... %s", name, got, c.want)
		}
	}
}

// gocql has reasons without a host, too.
func TestConnectErrorOfTheDriver(t *testing.T) {
	t.Parallel()
	refused := refusal{host: "10.0.0.1:9042", err: errors.New("no route")}
	for want, e := range map[string]connectError{
		"denorm: no session: gocql: bad CA": {driver: errors.New("gocql: bad CA")},
		"denorm: no session: no connections were made when creating the session: keyspace shop cannot be used, is it " +
			"there? Create it, or open the session without ClusterConfig.Keyspace": {
			driver: gocql.ErrNoConnectionsStarted, keyspace: "shop",
		},
		// Nodes of other datacentres are left out in any session: they are no reason for what is wrong with the local ones.
		"denorm: no session: no connections were made when creating the session: keyspace stock cannot be used, is it " +
			"there? Create it, or open the session without ClusterConfig.Keyspace": {
			driver: gocql.ErrNoConnectionsStarted, keyspace: "stock", filtered: "no host that answers is in datacentre dc1",
		},
		"denorm: no session: 10.0.0.1:9042: no route": {
			driver: gocql.ErrNoConnectionsStarted, keyspace: "shop", refusals: []refusal{refused},
		},
		// Whoever answers at the address says this, perhaps to a terminal.
		`denorm: no session: 10.0.0.1:9042: \x1b[2Jcome\nin`: {
			driver:   gocql.ErrNoConnectionsStarted,
			refusals: []refusal{{host: "10.0.0.1:9042", err: errors.New("\x1b[2Jcome\nin")}},
		},
		"denorm: no session: 10.0.0.1:9042: no route; gocql: host was filtered: 10.0.0.2": {
			driver: errors.New("gocql: host was filtered: 10.0.0.2"), refusals: []refusal{refused},
		},
	} {
		if got := e.Error(); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
		if !errors.Is(&e, e.driver) {
			t.Errorf("the driver's error is not in %v", &e)
		}
	}
}

// gocql does not say which hosts have no address. No name here is asked for in DNS.
func TestConnectNamesHostsWithoutAddress(t *testing.T) {
	t.Parallel()
	for want, hosts := range map[string][]string{
		`denorm: no session: no address found for host "a..b", "c..d"`: {
			"a..b",
			"c..d",
		},
		`denorm: no session: no address found for host "127.0.0.1,127.0.0.2" (it takes one string for each host)`: {
			"127.0.0.1,127.0.0.2",
		},
		`denorm: no session: no address found for host "a..1", "a..2", "a..3", and 1 more`: {
			"a..1",
			"a..2", "a..3", "a..4",
		},
	} {
		cluster := gocql.NewCluster(hosts...)
		cluster.Logger = log.New(io.Discard, "", 0)
		if _, err := Connect(cluster); err == nil || err.Error() != want {
			t.Errorf("got  %v\nwant %s", err, want)
		}
	}
}

// A config that has been given to Connect before, as by a service that waits for its nodes, or for its second session,
// is as good as new where Configure has set it up. gocql panics where it has not, and two sessions would share what
// chooses their hosts.
func TestConnectAgain(t *testing.T) {
	t.Parallel()
	errNoRoute := errors.New("no route to host")
	config := func(policy gocql.HostSelectionPolicy) *gocql.ClusterConfig {
		c := gocql.NewCluster("10.0.0.9")
		c.ProtoVersion = 4
		c.Logger = log.New(io.Discard, "", 0)
		c.Dialer = &scriptedDialer{err: errNoRoute}
		c.PoolConfig.HostSelectionPolicy = policy
		return c
	}
	near := config(nil)
	SelectHosts(near, gocql.DCAwareRoundRobinPolicy("dc1"))
	for name, c := range map[string]struct {
		config *gocql.ClusterConfig
		again  error
	}{
		"configured":          {Configure(config(nil), "dc1"), errNoRoute},
		"no policy":           {config(nil), errNoRoute},
		"SelectHosts":         {near, errShared},
		"token-aware":         {config(gocql.TokenAwareHostPolicy(gocql.RoundRobinHostPolicy())), errShared},
		"shared by no policy": {config(gocql.RoundRobinHostPolicy()), errNoRoute},
	} {
		if _, err := Connect(c.config); !errors.Is(err, errNoRoute) {
			t.Errorf("%s: %v", name, err)
		}
		_, err := Connect(c.config)
		if !errors.Is(err, c.again) || errors.Is(c.again, errShared) &&
			err.Error() != "denorm: no session: the host selection policy "+
				"is of another session: call Configure, or SelectHosts, before each Connect" {
			t.Errorf("%s, again: %v", name, err)
		}
	}
	if _, err := Connect(nil); err == nil || err.Error() != "denorm: no session: the config is nil" {
		t.Errorf("no config: %v", err)
	}
}

// plainHostDialer makes connections without TLS, whatever SslOpts says: gocql leaves that to it.
type plainHostDialer struct{ dialer gocql.Dialer }

func (d plainHostDialer) DialHost(ctx context.Context, host *gocql.HostInfo) (*gocql.DialedHost, error) {
	conn, err := d.dialer.DialContext(ctx, "tcp", host.ConnectAddressAndPort())
	if err != nil {
		return nil, err
	}
	return &gocql.DialedHost{Conn: conn}, nil
}

// scriptedDialer leads every connection to a node that is a function.
type scriptedDialer struct {
	node func(net.Conn)
	err  error
}

func (d *scriptedDialer) DialContext(context.Context, string, string) (net.Conn, error) {
	if d.err != nil {
		return nil, d.err
	}
	client, server := net.Pipe()
	go func() {
		defer server.Close() //nolint:errcheck // it is a pipe
		d.node(server)
	}()
	return client, nil
}

// refusePassword plays a node with PasswordAuthenticator that knows another password: SUPPORTED, AUTHENTICATE, ERROR.
func refusePassword(c net.Conn) {
	const (
		supported, authenticate, failure = 0x06, 0x03, 0x00
		class                            = "org.apache.cassandra.auth.PasswordAuthenticator"
		message                          = "Provided username shop and/or password are incorrect"
	)
	text := func(s string) []byte { return append([]byte{0, byte(len(s))}, s...) }
	for _, answer := range []struct {
		opcode byte
		body   []byte
	}{{supported, []byte{0, 0}}, {authenticate, text(class)}, {failure, append([]byte{0, 0, 1, 0}, text(message)...)}} {
		header := make([]byte, 9)
		if _, err := io.ReadFull(c, header); err != nil {
			return
		}
		if _, err := io.CopyN(io.Discard, c, int64(header[7])<<8|int64(header[8])); err != nil {
			return
		}
		frame := []byte{0x84, 0, header[2], header[3], answer.opcode, 0, 0, 0, byte(len(answer.body))}
		if _, err := c.Write(append(frame, answer.body...)); err != nil {
			return
		}
	}
	_, _ = io.Copy(io.Discard, c)
}

type seenConnects struct{ errs int }

func (s *seenConnects) ObserveConnect(c gocql.ObservedConnect) {
	if c.Err != nil {
		s.errs++
	}
}
