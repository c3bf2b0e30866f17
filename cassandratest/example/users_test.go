package example

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/cassandratest"
)

// store is the code under test. It uses gocql and knows nothing of the test.
type store struct{ session *gocql.Session }

var errTaken = errors.New("the name is taken")

// register adds a user. After another error than errTaken it may be called again.
func (s store) register(ctx context.Context, name, email string) error {
	row := make(map[string]any)
	applied, err := s.session.Query(`INSERT INTO users (name, email) VALUES (?, ?) IF NOT EXISTS`, name, email).
		WithContext(ctx).MapScanCAS(row)
	if err != nil {
		return err
	}
	if !applied && row["email"] != email { // the same email: an earlier call was applied, and its answer was lost
		return errTaken
	}
	return nil
}

// open gives a store on a cluster of the test.
func open(t *testing.T, c *cassandratest.Cluster) store {
	t.Helper()
	c.Create(`
		CREATE KEYSPACE app WITH replication = {'class': 'NetworkTopologyStrategy', 'dc1': 3};
		CREATE TABLE app.users (name text PRIMARY KEY, email text);`)
	config := c.Config()
	config.Keyspace, config.Timeout = "app", 2*time.Second
	session, err := config.CreateSession()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(session.Close)
	return store{session}
}

func TestNameIsTaken(t *testing.T) {
	t.Parallel()
	cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
		s := open(t, c)
		if err := s.register(t.Context(), "ann", "ann@example.com"); err != nil {
			t.Fatal(err)
		}
		if err := s.register(t.Context(), "ann", "other@example.com"); !errors.Is(err, errTaken) {
			t.Errorf("a second user of the name: %v", err)
		}
	})
}

// The user is added, and the service does not learn of it. Its second call must not find the name taken by itself.
func TestAnswerIsLost(t *testing.T) {
	t.Parallel()
	cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
		s := open(t, c)
		lost := c.When(cassandratest.Table("users")).Do(cassandratest.Apply, cassandratest.Drop)
		start := time.Now()
		if err := s.register(t.Context(), "ann", "ann@example.com"); !errors.Is(err, gocql.ErrTimeoutNoResponse) {
			t.Errorf("without an answer: %v", err)
		}
		if waited := time.Since(start).Round(time.Second); waited != 2*time.Second { // virtual time: the test does not wait
			t.Errorf("waited %v", waited)
		}
		if lost.Handled() != 1 {
			t.Fatalf("%d requests have met the rule", lost.Handled())
		}
		lost.End() // the network works again
		if err := s.register(t.Context(), "ann", "ann@example.com"); err != nil {
			t.Errorf("the second call: %v", err)
		}
	})
}

func TestNodesStop(t *testing.T) {
	t.Parallel()
	cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
		s := open(t, c)
		c.Node(3).Stop()
		<-time.After(10 * time.Second) // until the other nodes know
		if err := s.register(t.Context(), "ann", "ann@example.com"); err != nil {
			t.Errorf("with two nodes of three: %v", err)
		}
		c.Node(2).Stop()
		<-time.After(10 * time.Second)
		var unavailable *gocql.RequestErrUnavailable
		if err := s.register(t.Context(), "bob", "bob@example.com"); !errors.As(err, &unavailable) || unavailable.Alive != 1 {
			t.Errorf("with one node of three: %v", err)
		}
		c.Heal()
		<-time.After(time.Minute) // until gocql has connected again
		if err := s.register(t.Context(), "bob", "bob@example.com"); err != nil {
			t.Errorf("with all nodes: %v", err)
		}
	})
}
