package cassandratest

import (
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gocql/gocql"
)

// What a test has the cluster call may itself call the cluster.
func TestCallbacksCallTheCluster(t *testing.T) {
	bubble(t, func(t trial, c *Cluster, s *gocql.Session) {
		written := 0
		c.Watch(func(r Request) {
			written = len(c.Journal(Table("notes"), Execute, Where(func(q Request) bool { return q.Number <= r.Number && len(c.Node(q.Node).open()) > 0 })))
		})
		var other int
		c.When(Table("notes"), Nth(1), Where(func(r Request) bool { return len(c.Node(r.Node).open()) > 0 })).Choose(func(r Request) []Step {
			other = r.Node%3 + 1
			c.Node(other).Stop()
			return nil
		})
		if err := s.Query(insertNote, 1, "milk").Consistency(gocql.Quorum).Exec(); err != nil {
			t.Error(err)
		}
		if written != 1 || alone(c, other, 1) {
			t.Errorf("%d writes were seen; node %d, stopped meanwhile, has it: %v", written, other, alone(c, other, 1))
		}
	})
}

// Rules see requests in the order of the journal, also those of several connections.
func TestRulesSeeTheOrderOfTheJournal(t *testing.T) {
	t.Parallel()
	c := Listen(t, 3)
	s := open(t, c, func(config *gocql.ClusterConfig) { config.NumConns = 4 })
	var seen []int
	c.When(Table("notes")).Choose(func(r Request) []Step {
		seen = append(seen, r.Number)
		return nil
	})
	var wg sync.WaitGroup
	for worker := range 20 {
		wg.Go(func() {
			for i := range 50 {
				if err := s.Query(insertNote, 100*worker+i, "milk").Exec(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if len(seen) != 1000 || !slices.IsSorted(seen) {
		t.Errorf("%d requests, in order: %v", len(seen), slices.IsSorted(seen))
	}
}

// What a frozen node has taken in it does not do if it is killed before it goes on.
func TestFrozenRequestsDieWithTheNode(t *testing.T) {
	bubble(t, func(t trial, c *Cluster, s *gocql.Session) {
		for n := range 3 {
			c.Node(n + 1).Freeze()
		}
		b := s.NewBatch(gocql.UnloggedBatch) // which prepares nothing without values
		b.Query(`INSERT INTO shop.notes (id, text) VALUES (2, 'tea')`)
		go func() { _ = s.ExecuteBatch(b) }()
		<-time.After(time.Second)
		for n := range 3 {
			c.Node(n + 1).Stop()
		}
		synctest.Wait()
		<-time.After(time.Second)
		for _, r := range c.Journal(Table("notes")) {
			if r.Applied > 0 {
				t.Errorf("applied: %v", r)
			}
		}
	})
}
