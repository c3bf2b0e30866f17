package writer

import (
	"strings"
	"testing"
	"testing/synctest"

	"github.com/denorm-go/denorm/cassandratest"
	"github.com/gocql/gocql"
)

// Who names a datacentre that no node is in is told so, and which one the nodes are in.
func TestConnectNamesTheDatacentre(t *testing.T) {
	t.Parallel()
	for want, filter := range map[string]func(*gocql.ClusterConfig){
		"no host that answers is in datacentre eu-west, which Configure was told: 127.0.0.": func(c *gocql.ClusterConfig) { Configure(c, "eu-west") },
		"HostFilter leaves no host: 127.0.0.":                                               func(c *gocql.ClusterConfig) { c.HostFilter = gocql.DenyAllFilter() },
	} {
		synctest.Test(t, func(t *testing.T) {
			unwind(t)
			config := Configure(cassandratest.Start(t, 3).Config(), "dc1")
			filter(config)
			session, err := Connect(config)
			if err == nil {
				session.Close()
				t.Fatal("there is a session")
			}
			if text := err.Error(); !strings.HasPrefix(text, "denorm: no session: "+want) || !strings.Contains(text, " is in dc1") {
				t.Error(text)
			}
		})
	}
}
