package session

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/gocql/gocql"
)

// What a config shares with other clients of the service stays as it is: neither do they come to trust Cassandra's
// authority, nor to show its certificate.
func TestConnectLeavesTheCallersTLSAlone(t *testing.T) {
	t.Parallel()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "authority"}, NotBefore: time.Now().Add(-time.Hour),
		NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	directory := t.TempDir()
	file := func(name, kind string, data []byte) string {
		path := filepath.Join(directory, name)
		if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: data}), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	authority, own := file("ca.pem", "CERTIFICATE", der), file("key.pem", "PRIVATE KEY", private)
	pool := x509.NewCertPool()
	certificates := make([]tls.Certificate, 1, 4)
	shared := &tls.Config{RootCAs: pool, Certificates: certificates, MinVersion: tls.VersionTLS12}
	cluster := gocql.NewCluster("127.0.0.1:1")
	cluster.SslOpts = &gocql.SslOptions{Config: shared, CaPath: authority, CertPath: authority, KeyPath: own}
	if _, err := Connect(Configure(cluster, "")); err == nil {
		t.Fatal("there is a node at port 1")
	}
	if !pool.Equal(x509.NewCertPool()) || shared.RootCAs != pool {
		t.Error("the caller's pool trusts the authority of CaPath")
	}
	if len(shared.Certificates) != 1 || certificates[:2][1].PrivateKey != nil {
		t.Error("the caller's certificates hold that of CertPath")
	}
	config, err := tlsConfig(cluster.SslOpts)
	if err != nil || len(config.Certificates) != 2 || !bytes.Equal(config.Certificates[1].Certificate[0], der) ||
		config.RootCAs.Equal(pool) {
		t.Errorf("the session's own configuration lacks what was asked for: %v", err)
	}
}
