package session

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"log"
	"math/big"
	"net"
	"testing"
	"time"

	"github.com/gocql/gocql"
)

// Without a word on verification gocql verifies nothing, and neither of the two may make less of it than the caller
// said.
func TestVerified(t *testing.T) {
	t.Parallel()
	open := &tls.Config{InsecureSkipVerify: true}
	for name, c := range map[string]struct {
		given *gocql.SslOptions
		want  bool // verified by gocql
	}{
		"authority alone":      {&gocql.SslOptions{CaPath: "ca.pem"}, true},
		"said":                 {&gocql.SslOptions{EnableHostVerification: true}, true},
		"config":               {&gocql.SslOptions{Config: &tls.Config{MinVersion: tls.VersionTLS13}}, true},
		"off in so many words": {&gocql.SslOptions{Config: open}, false},
		"both":                 {&gocql.SslOptions{Config: open, EnableHostVerification: true}, true},
	} {
		before := *c.given
		cluster := gocql.NewCluster("10.0.0.1")
		cluster.SslOpts = c.given
		got := Configure(cluster, "").SslOpts
		if verifies := got.EnableHostVerification || got.Config != nil && !got.InsecureSkipVerify; verifies != c.want {
			t.Errorf("%s: verified %v", name, verifies)
		}
		if *c.given != before || got.Config != before.Config || got.CaPath != before.CaPath {
			t.Errorf("%s: what is the caller's was changed", name)
		}
	}
	if Configure(gocql.NewCluster("10.0.0.1"), "").SslOpts != nil {
		t.Error("TLS where nobody asked for it")
	}
}

// What would be sent in clear, or under a broken TLS, although TLS was asked for is not sent at all.
func TestConnectRejectsTLSThatDoesNotProtect(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		tls    *gocql.SslOptions
		dialer gocql.HostDialer
		want   error // nil: connects
	}{
		"host dialer":        {&gocql.SslOptions{CaPath: "ca.pem"}, plainHostDialer{}, errHostDialer},
		"host dialer alone":  {nil, plainHostDialer{}, nil},
		"minimum of TLS 1.0": {&gocql.SslOptions{Config: &tls.Config{MinVersion: tls.VersionTLS10}}, nil, errOldTLS},
		"minimum of TLS 1.1": {&gocql.SslOptions{Config: &tls.Config{MinVersion: tls.VersionTLS11}}, nil, errOldTLS},
		"minimum of SSL 3":   {&gocql.SslOptions{Config: &tls.Config{MinVersion: 0x0300}}, nil, errOldTLS},
		"maximum of TLS 1.1": {&gocql.SslOptions{Config: &tls.Config{MaxVersion: tls.VersionTLS11}}, nil, errOldTLS},
		"minimum of TLS 1.2": {&gocql.SslOptions{Config: &tls.Config{MinVersion: tls.VersionTLS12}}, nil, nil},
		"nothing said":       {&gocql.SslOptions{Config: new(tls.Config)}, nil, nil},
	} {
		connected := make(chan []byte, 10)
		cluster := Configure(gocql.NewCluster("10.0.0.9"), "")
		cluster.Logger = log.New(io.Discard, "", 0)
		cluster.SslOpts = c.tls
		node := &scriptedDialer{node: func(conn net.Conn) {
			first := make([]byte, 1)
			_, _ = conn.Read(first)
			connected <- first
		}}
		cluster.Dialer = node
		if c.dialer != nil {
			cluster.HostDialer = plainHostDialer{node}
		}
		_, err := Connect(cluster)
		if c.want == nil {
			if len(connected) == 0 || errors.Is(err, errHostDialer) || errors.Is(err, errOldTLS) {
				t.Errorf("%s: no connection was tried: %v", name, err)
			}
			continue
		}
		if !errors.Is(err, c.want) || len(connected) > 0 {
			t.Errorf("%s: %v, %d connections, want %v", name, err, len(connected), c.want)
		}
	}
}

func serveTLS(pair tls.Certificate, then func(net.Conn)) func(net.Conn) {
	return func(c net.Conn) {
		server := tls.Server(c, &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12})
		if server.Handshake() == nil {
			then(server)
		}
	}
}

func selfSigned(t *testing.T, address string) tls.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{net.ParseIP(address)},
		IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	leaf, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key, Leaf: leaf}
}

func privateKey(t *testing.T, pair tls.Certificate) []byte {
	t.Helper()
	key, err := pair.PrivateKey.(*ecdsa.PrivateKey).Bytes()
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func poolOf(pair tls.Certificate) *x509.CertPool {
	pool := x509.NewCertPool()
	pool.AddCert(pair.Leaf)
	return pool
}
