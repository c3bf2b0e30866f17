package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gocql/gocql"
)

func TestAccess(t *testing.T) {
	t.Parallel()
	const password = "Feldhamster0815"
	file := filepath.Join(t.TempDir(), "password")
	if err := os.WriteFile(file, []byte(password+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		args string
		env  map[string]string
		says string // empty: it is right
		user string
		tls  gocql.SslOptions
	}{
		"nothing":        {"", nil, "", "", gocql.SslOptions{}},
		"without TLS":    {"-username shop", map[string]string{"CASSANDRA_PASSWORD": password}, "would send the password in clear: add -tls", "", gocql.SslOptions{}},
		"of environment": {"", map[string]string{"CASSANDRA_USERNAME": "shop", "CASSANDRA_PASSWORD": password}, "in clear", "", gocql.SslOptions{}},
		"in clear":       {"-username shop -plaintext-credentials -password-file " + file, nil, "", "shop", gocql.SslOptions{}},
		"no password":    {"-username shop -tls", nil, "set CASSANDRA_PASSWORD, or -password-file", "", gocql.SslOptions{}},
		"no file":        {"-username shop -tls -password-file nowhere", nil, "no such file", "", gocql.SslOptions{}},
		"no key":         {"-tls-cert c.pem", nil, "go together", "", gocql.SslOptions{}},
		"TLS":            {"-username shop -tls -password-file " + file, nil, "", "shop", gocql.SslOptions{EnableHostVerification: true}},
		"certificates": {
			"-tls-key k.pem", map[string]string{
				"CASSANDRA_TLS_CA": "ca.pem", "CASSANDRA_TLS_CERT": "c.pem", "CASSANDRA_USERNAME": "shop", "CASSANDRA_PASSWORD": password,
			}, "", "shop", gocql.SslOptions{CaPath: "ca.pem", CertPath: "c.pem", KeyPath: "k.pem", EnableHostVerification: true},
		},
	} {
		s, err := parse(strings.Fields(c.args), func(name string) string { return c.env[name] })
		if c.says != "" {
			if err == nil || !strings.Contains(err.Error(), c.says) || strings.Contains(err.Error(), password) {
				t.Errorf("%s: %v, want %s", name, err, c.says)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		config := gocql.NewCluster("a")
		s.database.Change(config)
		var got gocql.SslOptions
		if config.SslOpts != nil {
			got = *config.SslOpts
			got.Config = nil
		}
		authenticator, _ := config.Authenticator.(gocql.PasswordAuthenticator)
		if got != c.tls || authenticator.Username != c.user || (authenticator.Password == password) != (c.user != "") {
			t.Errorf("%s: %+v, user %q", name, got, authenticator.Username)
		}
	}
}
