package session_test

import (
	"testing"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/cassandratest"
	"github.com/denorm-go/denorm/session"
)

// A Session has a datacentre if both its writes and its reads are limited to it, as they are opened.
func TestDatacentreOfBothSessions(t *testing.T) {
	t.Parallel()
	cassandratest.Test(t, 1, func(t *testing.T, c *cassandratest.Cluster) {
		everywhere := func(config *gocql.ClusterConfig) { config.HostFilter = nil }
		connect := func(local string, change ...func(*gocql.ClusterConfig)) *gocql.Session {
			config := session.Configure(c.Config(), local)
			for _, f := range change {
				f(config)
			}
			s, err := session.Connect(config)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(s.Close)
			return s
		}
		once := func(f func(*gocql.ClusterConfig)) session.Option {
			calls := 0
			return session.Adjust(func(config *gocql.ClusterConfig) {
				if calls++; calls == 1 {
					f(config)
				}
			})
		}
		filtered := func(config *gocql.ClusterConfig) {
			config.HostFilter = session.Configure(c.Config(), "dc1").HostFilter
		}
		foreign := func(config *gocql.ClusterConfig) { session.SelectHosts(config, gocql.DCAwareRoundRobinPolicy("dc1")) }
		for name, test := range map[string]struct {
			open func() (*session.Session, error)
			want string
		}{
			"both":             {func() (*session.Session, error) { return session.New(connect("dc1"), connect("dc1")) }, "dc1"},
			"only reads":       {func() (*session.Session, error) { return session.New(connect(""), connect("dc1")) }, ""},
			"only writes":      {func() (*session.Session, error) { return session.New(connect("dc1"), connect("")) }, ""},
			"no writes":        {func() (*session.Session, error) { return session.New(nil, connect("dc1")) }, "dc1"},
			"no filter at end": {func() (*session.Session, error) { return session.New(nil, connect("dc1", everywhere)) }, ""},
			"a filter at end":  {func() (*session.Session, error) { return session.New(nil, connect("", filtered)) }, "dc1"},
			"another policy": {func() (*session.Session, error) {
				return session.New(nil, connect("dc1", foreign, everywhere))
			}, ""},
			"opened": {func() (*session.Session, error) { return session.Open(c.Config(), session.LocalDC("dc1")) }, "dc1"},
			"opened, and one adjusted": {func() (*session.Session, error) {
				return session.Open(c.Config(), session.LocalDC("dc1"), once(everywhere))
			}, ""},
			"opened, with another policy": {func() (*session.Session, error) {
				return session.Open(c.Config(), session.LocalDC("dc1"), session.Adjust(foreign))
			}, "dc1"},
		} {
			s, err := test.open()
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			t.Cleanup(s.Close)
			if got := s.Settings().LocalDC; got != test.want {
				t.Errorf("%s: datacentre %q, want %q", name, got, test.want)
			}
		}
	})
}
