package security

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/integration/harness/cluster"
	"github.com/denorm-go/denorm/session"
)

// A service that may not connect is told once, which host it was and what is wrong, and does not knock again and again.
func TestRefusals(t *testing.T) {
	t.Parallel()
	host, plain := net.JoinHostPort(node.extra.Host(), "9142"), net.JoinHostPort(node.extra.Host(), "9042")
	other := newAuthority("another authority")
	services := make(map[string]*service)
	cases := map[string]struct {
		change func(s *service)
		want   []string // in the text of the error, alongside the host
		host   string   // empty: host
		is     func(err error) bool
		dials  int // at most
	}{
		"wrong password": {
			change: func(s *service) { s.login("shop", random()) },
			want:   []string{"credentials rejected", "Provided username shop and/or password are incorrect"},
			is:     isCredentials, dials: 1,
		},
		"no such role": {
			change: func(s *service) { s.login("shopp", node.password) },
			want:   []string{"credentials rejected", "shopp"}, is: isCredentials, dials: 1,
		},
		"no password": {
			change: func(s *service) { s.config.Authenticator = nil },
			want:   []string{"credentials missing", "Authenticator", "PasswordAuthenticator"}, dials: 1,
		},
		"another datacentre": {
			change: func(s *service) { session.Configure(s.config, "eu-west") },
			want:   []string{"no host that answers is in datacentre eu-west, the one given to Configure", "is in dc1"}, dials: 1,
		},
		"certificate for another address": {
			change: func(s *service) { s.config.Hosts, s.wire.to = []string{"127.0.0.12"}, host },
			host:   "127.0.0.12:9142", want: []string{"certificate is for another name", "valid for 127.0.0.11, not 127.0.0.12"},
			is: is[x509.HostnameError], dials: 1,
		},
		// The first connection knows the name; all others know the address that the node was reached at. gocql's own error
		// is: no connections were made when creating the session.
		"certificate for the name alone": {
			change: func(s *service) { s.config.Hosts, s.wire.to = []string{"localhost"}, host },
			host:   "127.0.0.1:9142", want: []string{"certificate is for another name", "not 127.0.0.1", "ServerName"},
			is: is[x509.HostnameError], dials: 1 + 3, // gocql's ReconnectionPolicy: three, a second apart
		},
		"certificate expired": {
			change: func(s *service) {
				s.config.SslOpts.Time = func() time.Time { return time.Now().Add(2 * lifetime) }
			},
			want: []string{"node's certificate is not valid", "has expired"}, is: is[x509.CertificateInvalidError], dials: 1,
		},
		"certificate of another authority": {
			change: func(s *service) { s.config.SslOpts.RootCAs = other.pool() },
			want:   []string{"authority that SslOpts does not trust", "unknown authority"}, is: is[x509.UnknownAuthorityError], dials: 1,
		},
		"nothing said about verification": {
			change: func(s *service) { s.config.SslOpts = new(gocql.SslOptions) },
			want:   []string{"authority that SslOpts does not trust"}, is: is[x509.UnknownAuthorityError], dials: 1,
		},
		"no certificate of the client": {
			change: func(s *service) { s.config.SslOpts.Certificates = nil },
			want:   []string{"certificate of this client"}, dials: 4, // gocql tries the control connection again
		},
		"certificate of a client of another authority": {
			change: func(s *service) {
				pair := other.client("shop").tls()
				// Given back in any case: Go sends none that the server does not ask for.
				s.config.SslOpts.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
					return &pair, nil
				}
			},
			want: []string{"certificate of this client"}, dials: 4,
		},
		"plain text to the TLS port": {
			change: func(s *service) { s.config.SslOpts = nil },
			want:   []string{"expects TLS", "SslOpts"},
			dials:  1,
		},
		"TLS to the plain text port": {
			change: func(s *service) { s.config.Port = plainPort },
			host:   plain, want: []string{"no TLS at this port"}, is: is[tls.RecordHeaderError], dials: 1,
		},
		"no such keyspace": {
			change: func(s *service) { s.config.Keyspace = "shopp" },
			host:   "keyspace shopp", want: []string{"is it there?"}, dials: 1 + 1,
			is: func(err error) bool { return errors.Is(err, gocql.ErrNoConnectionsStarted) },
		},
	}
	for name := range cases {
		if cluster.Differs(node.extra.Version(), t.Name(), name) {
			delete(cases, name)
		}
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			s := newService("shop", node.password)
			services[name] = s
			session.Configure(s.config, "dc1")
			c.change(s)
			opened, err := session.Connect(s.config)
			if err == nil {
				opened.Close()
				t.Fatal("the session was opened")
			}
			t.Logf("%d connections: %v", s.wire.count(), err)
			if c.host == "" {
				c.host = host
			}
			for _, want := range append(c.want, c.host) {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("the error does not say %q: %v", want, err)
				}
			}
			if lines := strings.Count(err.Error(), "\n"); lines > 0 || len(err.Error()) > 400 {
				t.Errorf("the error has %d lines, %d bytes: %v", lines+1, len(err.Error()), err)
			}
			if c.is != nil && !c.is(err) {
				t.Errorf("the error does not wrap its cause: %#v", err)
			}
			s.keepsSecrets(t, err)
		})
	}
	// Long enough for a session that lives on to knock again.
	<-time.After(2 * services["wrong password"].config.ReconnectInterval)
	for name, s := range services {
		if n := s.wire.count(); n > cases[name].dials || n == 0 {
			t.Errorf("%s: %d connections, want at most %d", name, n, cases[name].dials)
		}
		s.keepsSecrets(t)
	}
}

// login changes the credentials.
func (s *service) login(user, password string) {
	s.config.Authenticator = gocql.PasswordAuthenticator{Username: user, Password: password}
	s.secrets = append(s.secrets, passwordForms(user, password)...)
}

func isCredentials(err error) bool {
	var server gocql.RequestError
	return errors.As(err, &server) && server.Code() == gocql.ErrCodeCredentials
}

func is[E error](err error) bool {
	var target E
	return errors.As(err, &target)
}
