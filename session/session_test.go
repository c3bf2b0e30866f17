package session_test

import (
	"strings"
	"testing"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/cassandratest"
	"github.com/denorm-go/denorm/session"
)

// One session for writes and reads is rejected, in whichever order it is given; two readers, or two writers, may share
// one.
func TestOneSessionForBoth(t *testing.T) {
	t.Parallel()
	cassandratest.Test(t, 1, func(t *testing.T, c *cassandratest.Cluster) {
		connect := func() *gocql.Session {
			s, err := session.Connect(session.Configure(c.Config(), "dc1"))
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(s.Close)
			return s
		}
		both := func(writes, reads *gocql.Session) error {
			_, err := session.New(writes, reads)
			return err
		}
		a, b := connect(), connect()
		for i, err := range []error{both(a, b), both(nil, b), both(a, b), both(a, connect())} {
			if err != nil {
				t.Errorf("%d: %v", i, err)
			}
		}
		for i, err := range []error{both(nil, a), both(b, connect()), both(connect(), a), both(a, a)} {
			if err == nil || !strings.Contains(err.Error(), "session") {
				t.Errorf("%d: one session writes and reads: %v", i, err)
			}
		}
	})
}
