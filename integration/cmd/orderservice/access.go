package main

import (
	"crypto/tls"
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"

	"github.com/gocql/gocql"
)

// access is how to get into Cassandra. A password is no flag, which everybody who lists processes would see.
type access struct {
	username, password, passwordFile string
	plaintext                        bool
	tls                              bool
	ca, cert, key, serverName        string
}

func (a *access) flags(flags *flag.FlagSet, env func(string) string) {
	flags.StringVar(&a.username, "username", env("CASSANDRA_USERNAME"), "user of Cassandra; $CASSANDRA_USERNAME, its password is $CASSANDRA_PASSWORD")
	flags.StringVar(&a.passwordFile, "password-file", env("CASSANDRA_PASSWORD_FILE"), "`file` with the password; $CASSANDRA_PASSWORD_FILE")
	flags.BoolVar(&a.plaintext, "plaintext-credentials", false, "send user name and password without TLS, for everybody on the way to read")
	flags.BoolVar(&a.tls, "tls", false, "connect with TLS, and verify the nodes against the authorities of the system; the other -tls flags imply it")
	flags.StringVar(&a.ca, "tls-ca", env("CASSANDRA_TLS_CA"), "`file` with the authorities of the nodes; $CASSANDRA_TLS_CA")
	flags.StringVar(&a.cert, "tls-cert", env("CASSANDRA_TLS_CERT"), "`file` with the certificate of this service; $CASSANDRA_TLS_CERT")
	flags.StringVar(&a.key, "tls-key", env("CASSANDRA_TLS_KEY"), "`file` with its key; $CASSANDRA_TLS_KEY")
	flags.StringVar(&a.serverName, "tls-server-name", env("CASSANDRA_TLS_SERVER_NAME"), "`name` that the certificates of all nodes share; "+
		"$CASSANDRA_TLS_SERVER_NAME")
	a.password = env("CASSANDRA_PASSWORD")
}

// check completes the settings, or says what is wrong with them.
func (a *access) check() error {
	if (a.cert == "") != (a.key == "") {
		return errors.New("-tls-cert and -tls-key go together")
	}
	if a.passwordFile != "" {
		text, err := os.ReadFile(a.passwordFile)
		if err != nil {
			return fmt.Errorf("-password-file: %w", err)
		}
		a.password = strings.TrimRight(string(text), "\r\n")
	}
	switch {
	case a.username == "":
		return nil
	case !a.encrypted() && !a.plaintext:
		return errors.New("-username without TLS would send the password in clear: add -tls, or -tls-ca with the authority of the nodes; " +
			"or -plaintext-credentials if the network to them is trusted")
	case a.password == "":
		return errors.New("-username needs its password: set CASSANDRA_PASSWORD, or -password-file")
	}
	return nil
}

func (a *access) encrypted() bool { return a.tls || a.ca != "" || a.cert != "" || a.serverName != "" }

// apply puts the settings into the configuration of a session.
func (a *access) apply(config *gocql.ClusterConfig) {
	if a.encrypted() {
		config.SslOpts = &gocql.SslOptions{
			Config: &tls.Config{MinVersion: tls.VersionTLS12, ServerName: a.serverName},
			CaPath: a.ca, CertPath: a.cert, KeyPath: a.key, EnableHostVerification: true,
		}
	}
	if a.username != "" {
		config.Authenticator = gocql.PasswordAuthenticator{Username: a.username, Password: a.password}
	}
}
