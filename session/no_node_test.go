package session_test

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/cassandratest"
	"github.com/denorm-go/denorm/internal/request"
	"github.com/denorm-go/denorm/session"
)

// A request that finds no node of the local datacentre says which that is, in whichever way the session was opened.
func TestNoNodeNamesTheDatacentre(t *testing.T) {
	t.Parallel()
	for _, local := range []string{"dc1", ""} {
		for how, open := range map[string]func(*gocql.ClusterConfig) (*session.Session, error){
			"Open": func(c *gocql.ClusterConfig) (*session.Session, error) { return session.Open(c, session.LocalDC(local)) },
			"New": func(c *gocql.ClusterConfig) (*session.Session, error) {
				writes, err := session.Connect(session.Configure(c, local))
				if err != nil {
					return nil, err
				}
				reads, err := session.Connect(session.Configure(c, local))
				if err != nil {
					return nil, err
				}
				return session.New(writes, reads)
			},
		} {
			synctest.Test(t, func(t *testing.T) {
				t.Cleanup(func() { <-time.After(10 * time.Minute) }) // for what gocql leaves behind
				c := cassandratest.Start(t, 2)
				s, err := open(c.Config())
				if err != nil {
					t.Fatal(err)
				}
				defer s.Writes().Close()
				defer s.Reads().Close()
				if got := s.With().Settings().LocalDC; got != local {
					t.Errorf("%s: datacentre %q, want %q", how, got, local)
				}
				c.Node(1).Stop()
				c.Node(2).Stop()
				<-time.After(time.Minute)
				r := request.New("shop", []byte("a"))
				r.Begin(t.Context())
				err = r.End(s.Reads().Query("SELECT key FROM system.local").WithContext(r).Exec())
				want := "no node of datacentre dc1 can be reached: "
				if !errors.Is(err, gocql.ErrNoConnections) || strings.HasPrefix(err.Error(), want) != (local != "") {
					t.Errorf("%s: %v", how, err)
				}
			})
		}
	}
}
