package command

import (
	"crypto/tls"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"

	"github.com/gocql/gocql"
	"github.com/spf13/pflag"

	"github.com/denorm-go/denorm/internal/driver"
	"github.com/denorm-go/denorm/internal/each"
	"github.com/denorm-go/denorm/schema"
	"github.com/denorm-go/denorm/session"
)

// PasswordEnv names the environment variable with the password for --username. Everybody who lists processes could see
// a flag.
const PasswordEnv = "DENORM_PASSWORD"

// access is how to get into a cluster, by flags.
type access struct {
	username      string
	plaintext     bool
	tls           bool
	ca, cert, key string
	serverName    string
}

func (a *access) flags(f *pflag.FlagSet) {
	f.StringVar(&a.username, "username", "", "user name; the password is read from $"+PasswordEnv+"; sent over TLS only")
	f.BoolVar(&a.plaintext, "plaintext-credentials", false, "send user name and password without TLS, for everybody on the way to read")
	f.BoolVar(&a.tls, "tls", false, "connect with TLS, and verify the nodes against the authorities of the system; the other --tls flags imply it")
	f.StringVar(&a.ca, "tls-ca", "", "file with the authorities that the nodes are verified against, instead of those of the system")
	f.StringVar(&a.cert, "tls-cert", "", "file with a certificate of this client, where nodes demand one; with --tls-key")
	f.StringVar(&a.key, "tls-key", "", "file with the key of --tls-cert")
	f.StringVar(&a.serverName, "tls-server-name", "", "a name that the certificates of all nodes share, instead of their addresses")
}

// apply puts the flags into a configuration, or says what is wrong with them.
func (a *access) apply(config *gocql.ClusterConfig) error {
	if (a.cert == "") != (a.key == "") {
		return errors.New("--tls-cert and --tls-key go together")
	}
	encrypted := a.tls || a.ca != "" || a.cert != "" || a.serverName != ""
	if encrypted {
		config.SslOpts = &gocql.SslOptions{
			Config:                 &tls.Config{MinVersion: tls.VersionTLS12, ServerName: a.serverName},
			CaPath:                 a.ca,
			CertPath:               a.cert,
			KeyPath:                a.key,
			EnableHostVerification: true,
		}
	}
	if a.plaintext && (a.username == "" || encrypted) {
		return errors.New("--plaintext-credentials is for --username without TLS")
	}
	if a.username == "" {
		return nil
	}
	if !encrypted && !a.plaintext {
		return errors.New("--username without TLS sends the password in clear: add --tls or --tls-ca, or --plaintext-credentials")
	}
	password := os.Getenv(PasswordEnv)
	if password == "" {
		return fmt.Errorf("--username needs its password in the environment: set %s", PasswordEnv)
	}
	config.Authenticator = gocql.PasswordAuthenticator{Username: a.username, Password: password}
	return nil
}

// cluster is the cluster of a command, by flags.
type cluster struct {
	access  access
	hosts   []string
	localDC string
}

func (c *cluster) flags(f *pflag.FlagSet) {
	f.StringSliceVar(&c.hosts, "hosts", nil, "nodes of the cluster, host or host:port")
	localDCFlag(f, &c.localDC)
	c.access.flags(f)
}

// localDCFlag is the flag of session.LocalDC.
func localDCFlag(f *pflag.FlagSet, name *string) {
	f.StringVar(name, "local-dc", "", "datacentre of the service (default: all nodes are equally near)")
}

// mapFlag is the flag of the keyspaces of a tenant.
func mapFlag(f *pflag.FlagSet, keyspaces *map[string]string) {
	f.StringToStringVar(keyspaces, "map", nil, "DECLARED=PHYSICAL names of keyspaces, for one tenant of several")
}

// checkMap rejects a --map of a keyspace in which nothing is declared: its name is misspelt.
func checkMap(keyspaces map[string]string, declared *schema.Schema) error {
	used := slices.Concat(
		each.Of(declared.Tables, keyspaceOf),
		each.Of(declared.Types, func(t schema.Type) string { return t.Keyspace }),
		each.Of(declared.Keyspaces, func(k schema.Keyspace) string { return k.Name }))
	for _, name := range slices.Sorted(maps.Keys(keyspaces)) {
		if !slices.Contains(used, name) {
			return fmt.Errorf("--map: no table is declared in keyspace %q", name)
		}
	}
	return nil
}

// open opens a session whose own keyspace is the given one.
func (c *cluster) open(keyspace string, options ...session.Option) (*session.Session, error) {
	config := gocql.NewCluster(c.hosts...)
	driver.Silence(config)
	if err := c.access.apply(config); err != nil {
		return nil, err
	}
	config.Keyspace = keyspace
	s, err := session.Open(config, append(options, session.LocalDC(c.localDC))...)
	if err != nil {
		return nil, fmt.Errorf("connect to %v: %w", c.hosts, err)
	}
	return s, nil
}

// connect opens a session for a look at the cluster.
func (s *source) connect() (*session.Session, error) {
	return s.open("", session.Adjust(func(config *gocql.ClusterConfig) {
		config.Timeout, config.ConnectTimeout = s.timeout, s.timeout
		config.Events.DisableSchemaEvents = true
	}))
}
