package security

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"log"
	"os"
	"strings"
	"time"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/examples/orders"
	"github.com/denorm-go/denorm/integration/harness/cluster"
)

// Ports of the node: every client is expected to speak TLS on the one and nothing but plain text on the other.
// Cassandra 6 has only one port for clients, here that of TLS.
const (
	plainPort = 9042
	tlsPort   = 9142
)

// maxItems is the guardrail of the node for collections.
const maxItems = 100

// node is a Cassandra node that demands a password of every client and a certificate of those that speak TLS.
var node = newSecureNode()

type secureNode struct {
	extra    cluster.Extra
	trusted  authority
	client   keyPair
	key      keyPair // the node's own
	password string  // of the role shop
}

func newSecureNode() *secureNode {
	n := &secureNode{extra: cluster.Extra{Number: 11, Ports: []int{tlsPort}}, trusted: newAuthority("shop authority")}
	n.key = n.trusted.server("cassandra", []string{"localhost"}, n.extra.Host())
	n.client = n.trusted.client("shop")
	n.password = random()
	n.extra.Settings = n.settings()
	n.extra.Properties = []string{
		"-Dcassandra.superuser_setup_delay_ms=0",        // ten seconds otherwise
		"-Dcassandra.auth_bcrypt_gensalt_log2_rounds=4", // passwords that are checked quickly
	}
	n.extra.Ready = n.ready
	return n
}

func random() string { return gocql.MustRandomUUID().String() }

func (n *secureNode) settings() string {
	port := "native_transport_port_ssl"
	if cluster.Differs(n.extra.Version(), "TestPlainTextShowsThePassword", port) {
		port = "native_transport_port"
	}
	timestamps := "maximum_timestamp_fail_threshold: 1m\nminimum_timestamp_fail_threshold: 3650d"
	if cluster.Differs(n.extra.Version(), "TestVersionedIsNotAheadOfTheClock", "maximum_timestamp_fail_threshold") {
		timestamps = ""
	}
	return fmt.Sprintf(`authenticator: PasswordAuthenticator
authorizer: CassandraAuthorizer
credentials_validity: 0ms
permissions_validity: 0ms
items_per_collection_fail_threshold: %d
%s
%s: %d
client_encryption_options:
  enabled: true
  optional: false
  require_client_auth: true
  ssl_context_factory:
    class_name: org.apache.cassandra.security.PEMBasedSslContextFactory
    parameters:
      private_key: |
%s      trusted_certificates: |
%s`, maxItems, timestamps, port, tlsPort, indent(n.key.keyPEM()+certificatePEM(n.key.certificate)), indent(certificatePEM(n.trusted.certificate)))
}

// indent makes a YAML block of a text.
func indent(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		b.WriteString("        " + line)
	}
	return b.String()
}

func (n *secureNode) start(ctx context.Context) (*cluster.Lease, error) {
	return n.extra.Start(ctx, os.Stderr)
}

// ready makes the keyspace and the role of the service, once there is a superuser to do it.
func (n *secureNode) ready(ctx context.Context) error { return n.administer(ctx, n.statements()...) }

// administer executes statements as the superuser.
func (n *secureNode) administer(ctx context.Context, statements ...string) error {
	c := gocql.NewCluster(n.extra.Host())
	c.Port = tlsPort
	c.ProtoVersion = 4
	c.Timeout, c.ConnectTimeout = 20*time.Second, 20*time.Second
	c.Logger = log.New(io.Discard, "", 0)
	c.Authenticator = gocql.PasswordAuthenticator{Username: "cassandra", Password: "cassandra"}
	c.SslOpts = &gocql.SslOptions{Config: n.tls()}
	c.Events.DisableSchemaEvents = true
	session, err := c.CreateSession()
	if err != nil {
		return err
	}
	defer session.Close()
	for _, statement := range statements {
		if err := session.Query(statement).WithContext(ctx).Exec(); err != nil {
			return err
		}
	}
	return nil
}

func (n *secureNode) statements() []string {
	list := []string{
		`CREATE KEYSPACE IF NOT EXISTS shop WITH replication = {'class': 'NetworkTopologyStrategy', 'replication_factor': 1}`,
	}
	for _, create := range orders.Schema.In(map[string]string{"": "shop"}).Statements() {
		list = append(list, strings.Replace(create, "TABLE ", "TABLE IF NOT EXISTS ", 1))
	}
	return append(list,
		`CREATE ROLE IF NOT EXISTS shop WITH PASSWORD = '`+n.password+`' AND LOGIN = true`,
		`GRANT SELECT ON KEYSPACE shop TO shop`,
		`GRANT MODIFY ON KEYSPACE shop TO shop`,
	)
}

// tls is what a service needs to know of certificates.
func (n *secureNode) tls() *tls.Config {
	return &tls.Config{RootCAs: n.trusted.pool(), Certificates: []tls.Certificate{n.client.tls()}}
}
