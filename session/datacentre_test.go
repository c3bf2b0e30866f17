package session

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/denorm-go/denorm/cassandratest"
	"github.com/gocql/gocql"
)

// Who names a datacentre that no node is in is told so, and which one the nodes are in.
func TestConnectNamesTheDatacentre(t *testing.T) {
	t.Parallel()
	for want, filter := range map[string]func(*gocql.ClusterConfig){
		"no host that answers is in datacentre eu-west, the one given to Configure: 127.0.0.": func(c *gocql.ClusterConfig) {
			Configure(c, "eu-west")
		},
		"HostFilter leaves no host: 127.0.0.": func(c *gocql.ClusterConfig) {
			c.HostFilter = gocql.DenyAllFilter()
		},
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
			if text := err.Error(); !strings.HasPrefix(text, "denorm: no session: "+want) ||
				!strings.Contains(text, " is in dc1") {
				t.Error(text)
			}
		})
	}
	synctest.Test(t, func(t *testing.T) {
		unwind(t)
		s, err := Open(cassandratest.Start(t, 3).Config(), LocalDC("eu-west"))
		if err == nil {
			s.Close()
			t.Fatal("there is a session")
		}
		if !strings.Contains(err.Error(), "is in datacentre eu-west, the one given to LocalDC: 127.0.0.") {
			t.Error(err)
		}
	})
}

// A HostFilter that is set before Configure stays in force, however often Configure is called; a datacentre takes the
// place of the one that Configure was told before.
func TestConfigureKeepsHostFilter(t *testing.T) {
	t.Parallel()
	for want, configure := range map[string]func(*gocql.ClusterConfig){
		"127.0.0.2:9042": func(c *gocql.ClusterConfig) { Configure(Configure(c, "eu-west"), "dc1") },
		"HostFilter and datacentre eu-west, the one given to Configure, leave no host": func(c *gocql.ClusterConfig) {
			Configure(c, "eu-west")
		},
	} {
		synctest.Test(t, func(t *testing.T) {
			unwind(t)
			var got []string
			config := cassandratest.Start(t, 3).Config()
			config.HostFilter = gocql.HostFilterFunc(func(h *gocql.HostInfo) bool {
				return h.ConnectAddress().String() == "127.0.0.2"
			})
			configure(config)
			session, err := Connect(config)
			if err != nil {
				got = append(got, err.Error())
			} else {
				defer session.Close()
				<-time.After(time.Minute) // for all pools to be there
				for range 10 {
					iter := session.Query("SELECT key FROM system.local").Iter()
					got = append(got, iter.Host().ConnectAddressAndPort())
					if err := iter.Close(); err != nil {
						t.Fatal(err)
					}
				}
			}
			for _, text := range got {
				if !strings.Contains(text, want) {
					t.Errorf("%s, want %s", text, want)
				}
			}
		})
	}
}

// unwind gives what gocql leaves behind, such as pauses before it connects again, the time to end.
func unwind(t *testing.T) {
	t.Helper()
	t.Cleanup(func() { <-time.After(10 * time.Minute) })
}
