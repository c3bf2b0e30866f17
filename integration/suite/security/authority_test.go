package security

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
	"net"
	"time"
)

// authority signs certificates. It is made again in each run, so that no key is ever in a repository.
type authority struct {
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
}

// lifetime is how long certificates are valid: longer than a run, and over before the clock that [expired] sets.
const lifetime = 24 * time.Hour

func newAuthority(name string) authority {
	key := newKey()
	template := template(name)
	template.IsCA, template.BasicConstraintsValid = true, true
	template.KeyUsage = x509.KeyUsageCertSign
	return authority{certificate: sign(template, template, key, key), key: key}
}

// server issues a certificate for a node that is known by these names and addresses.
func (a authority) server(name string, names []string, addresses ...string) keyPair {
	t := template(name)
	t.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
	t.DNSNames = names
	for _, address := range addresses {
		t.IPAddresses = append(t.IPAddresses, net.ParseIP(address))
	}
	return a.issue(t)
}

// client issues a certificate for a service.
func (a authority) client(name string) keyPair {
	t := template(name)
	t.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}
	return a.issue(t)
}

func (a authority) issue(template *x509.Certificate) keyPair {
	key := newKey()
	return keyPair{certificate: sign(template, a.certificate, key, a.key), key: key}
}

// pool is what trusts the authority and nobody else.
func (a authority) pool() *x509.CertPool {
	pool := x509.NewCertPool()
	pool.AddCert(a.certificate)
	return pool
}

// keyPair is a certificate and its key.
type keyPair struct {
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
}

func (p keyPair) tls() tls.Certificate {
	return tls.Certificate{Certificate: [][]byte{p.certificate.Raw}, PrivateKey: p.key}
}

// keyPEM is the private key as a file would hold it.
func (p keyPair) keyPEM() string {
	der, err := x509.MarshalPKCS8PrivateKey(p.key)
	must(err)
	return pemBlock("PRIVATE KEY", der)
}

func certificatePEM(certificate *x509.Certificate) string {
	return pemBlock("CERTIFICATE", certificate.Raw)
}

func pemBlock(kind string, der []byte) string {
	var b bytes.Buffer
	must(pem.Encode(&b, &pem.Block{Type: kind, Bytes: der}))
	return b.String()
}

func template(name string) *x509.Certificate {
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 64))
	must(err)
	now := time.Now()
	return &x509.Certificate{
		SerialNumber: serial, Subject: pkix.Name{CommonName: name},
		NotBefore: now.Add(-time.Hour), NotAfter: now.Add(lifetime),
	}
}

func newKey() *ecdsa.PrivateKey {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(err)
	return key
}

func sign(template, parent *x509.Certificate, key, parentKey *ecdsa.PrivateKey) *x509.Certificate {
	der, err := x509.CreateCertificate(rand.Reader, template, parent, &key.PublicKey, parentKey)
	must(err)
	certificate, err := x509.ParseCertificate(der)
	must(err)
	return certificate
}

// must is for what cannot fail but with a broken machine.
func must(err error) {
	if err != nil {
		panic(err)
	}
}
