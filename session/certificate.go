package session

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/gocql/gocql"
)

// verified returns options under which the certificates of nodes are verified, chain and name, unless the caller has
// turned that off explicitly with Config.InsecureSkipVerify. Without a Config gocql verifies nothing at all, even if
// CaPath names an authority, and anyone between the client and a node can receive the password in the node's place.
func verified(options *gocql.SslOptions) *gocql.SslOptions {
	if options == nil || options.Config != nil || options.EnableHostVerification {
		return options
	}
	changed := *options // the caller may use it elsewhere
	changed.EnableHostVerification = true
	return &changed
}

// The mistakes of [checkEncryption]. The texts say what to do.
var (
	errHostDialer = errors.New("SslOpts next to HostDialer gives no TLS: set Dialer, or leave SslOpts nil if the " +
		"HostDialer makes TLS")
	errOldTLS = errors.New("SslOpts.Config allows TLS 1.0 or 1.1: leave MinVersion and MaxVersion zero, or set " +
		"tls.VersionTLS12")
)

// checkEncryption says whether the connections of config would be less private than its SslOpts says.
func checkEncryption(config *gocql.ClusterConfig) error {
	options := config.SslOpts
	if options == nil {
		return nil
	}
	if config.HostDialer != nil {
		return errHostDialer
	}
	old := func(version uint16) bool { return version != 0 && version < tls.VersionTLS12 }
	if c := options.Config; c != nil && (old(c.MinVersion) || old(c.MaxVersion)) {
		return errOldTLS
	}
	return nil
}

// tlsConfig is the configuration that gocql makes of options (connectionpool.go, setupTLSConfig, which it does not
// export).
func tlsConfig(options *gocql.SslOptions) (*tls.Config, error) {
	config := &tls.Config{InsecureSkipVerify: !options.EnableHostVerification} //nolint:gosec // see verified
	if options.Config != nil {
		config = options.Clone() // which shares the pool and the certificates with the caller's
	}
	if options.EnableHostVerification {
		config.InsecureSkipVerify = false
	}
	if options.CaPath != "" {
		pem, err := os.ReadFile(options.CaPath)
		if err != nil {
			return nil, fmt.Errorf("the authorities of SslOpts.CaPath: %w", err)
		}
		if config.RootCAs == nil {
			config.RootCAs = x509.NewCertPool()
		} else {
			config.RootCAs = config.RootCAs.Clone()
		}
		if !config.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("the authorities of SslOpts.CaPath: %s has no certificate", options.CaPath)
		}
	}
	if options.CertPath != "" || options.KeyPath != "" {
		own, err := tls.LoadX509KeyPair(options.CertPath, options.KeyPath)
		if err != nil {
			return nil, fmt.Errorf("the certificate of SslOpts.CertPath and KeyPath: %w", err)
		}
		config.Certificates = append(slices.Clip(config.Certificates), own)
	}
	return config, nil
}
