package command

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A password goes over TLS, or nowhere, unless the user has said in so many words that it may.
func TestCredentialsAreNotSentInClear(t *testing.T) {
	const password = "Feldhamster0815"
	t.Setenv(PasswordEnv, password)
	files := newAuthority(t)
	for name, c := range map[string]struct {
		flags    string
		env      string // the password
		encrypts bool   // the node speaks TLS
		says     string
		first    string // what the node gets: nothing, a frame in clear, or one over TLS
	}{
		"no TLS":              {"--username shop", password, false, "add --tls or --tls-ca, or --plaintext-credentials", ""},
		"in so many words":    {"--username shop --plaintext-credentials", password, false, "connect to", "clear"},
		"no credentials":      {"", password, false, "connect to", "clear"},
		"no password":         {"--username shop --tls", "", true, "set DENORM_PASSWORD", ""},
		"key missing":         {"--tls-cert " + files.cert, password, true, "--tls-cert and --tls-key go together", ""},
		"certificate missing": {"--tls-key " + files.key, password, true, "--tls-cert and --tls-key go together", ""},
		"no authority":        {"--tls-ca " + files.key, password, true, "has no certificate", ""},
		"system":              {"--username shop --tls", password, true, "the node's certificate is of an authority that SslOpts does not trust", ""},
		"authority":           {"--username shop --tls-ca " + files.ca, password, true, "connect to", "tls"},
		"client":              {"--tls-ca " + files.ca + " --tls-cert " + files.cert + " --tls-key " + files.key, password, true, "connect to", "tls client"},
		"name":                {"--username shop --tls-ca " + files.ca + " --tls-server-name cassandra.example", password, true, "connect to", "tls"},
		"another name":        {"--username shop --tls-ca " + files.ca + " --tls-server-name other.example", password, true, "for another name", ""},
		"no TLS there":        {"--username shop --tls", password, false, "no TLS at this port", "hello"},
	} {
		t.Setenv(PasswordEnv, c.env)
		address, got := files.node(t, c.encrypts)
		root := New()
		root.SetOut(io.Discard)
		root.SetErr(io.Discard)
		root.SetArgs(append([]string{"ddl", "--timeout", "2s", "--hosts", address}, strings.Fields(c.flags)...))
		err := root.ExecuteContext(t.Context())
		if err == nil || !strings.Contains(err.Error(), c.says) || strings.Contains(err.Error(), password) {
			t.Errorf("%s: %v, want %s", name, err, c.says)
		}
		first := ""
		select {
		case first = <-got:
		default:
		}
		if first != c.first {
			t.Errorf("%s: the node got %q, want %q", name, first, c.first)
		}
	}
}

// authority is files of certificates, for nodes and clients.
type authority struct {
	ca, cert, key string
	pair          tls.Certificate
	pool          *x509.CertPool
}

func newAuthority(t *testing.T) *authority {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), IsCA: true,
		BasicConstraintsValid: true, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, DNSNames: []string{"cassandra.example"},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	a := &authority{
		ca: filepath.Join(dir, "ca.pem"), cert: filepath.Join(dir, "ca.pem"), key: filepath.Join(dir, "key.pem"),
		pair: tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, pool: x509.NewCertPool(),
	}
	for path, block := range map[string]*pem.Block{a.ca: {Type: "CERTIFICATE", Bytes: der}, a.key: {Type: "PRIVATE KEY", Bytes: private}} {
		if err := os.WriteFile(path, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	certificate, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	a.pool.AddCert(certificate)
	return a
}

// node is a port that says what it was sent first, and hangs up.
func (a *authority) node(t *testing.T, encrypts bool) (address string, got chan string) {
	t.Helper()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	got = make(chan string, 100)
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go a.answer(conn, encrypts, got)
		}
	}()
	return l.Addr().String(), got
}

func (a *authority) answer(conn net.Conn, encrypts bool, got chan string) {
	defer func() { _ = conn.Close() }()
	_ = conn.SetDeadline(time.Now().Add(time.Second))
	what := "clear"
	var in io.ReadWriter = conn
	if encrypts {
		server := tls.Server(conn, &tls.Config{
			Certificates: []tls.Certificate{a.pair}, ClientAuth: tls.VerifyClientCertIfGiven, ClientCAs: a.pool, MinVersion: tls.VersionTLS12,
		})
		if server.Handshake() != nil {
			return
		}
		what, in = "tls", server
		if len(server.ConnectionState().PeerCertificates) > 0 {
			what = "tls client"
		}
	}
	first := make([]byte, 1)
	if _, err := io.ReadFull(in, first); err != nil {
		return
	}
	if first[0] == 22 { // a handshake of TLS
		got <- "hello"
		_, _ = fmt.Fprint(conn, "not TLS at all")
		return
	}
	got <- what
}
