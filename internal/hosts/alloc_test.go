//go:build !race

package hosts

import (
	"context"
	"fmt"
	"testing"

	"github.com/denorm-go/denorm/cassandratest"
	"github.com/gocql/gocql"
)

// A request costs the plan and the function that gives it, also while a node is out of rotation. Its end costs nothing.
func TestAllocations(t *testing.T) { //nolint:paralleltest // AllocsPerRun counts the whole process
	w := newTown(0, 0, 0, 0, 0)
	key := w.key(1)
	for range 2 {
		a, r := attempt("ks3", key)
		var attempt, plain gocql.ExecutableQuery = r, request{ctx: context.Background(), keyspace: "ks3", key: key}
		if n := testing.AllocsPerRun(1000, func() {
			a.Next(context.Background())
			a.before().count = 0 // as a request that has tried nothing yet
			w.policy.Pick(attempt)().Mark(nil)
			a.End(Answered)
		}); n > 2 {
			t.Errorf("an attempt: %v allocations", n)
		}
		if n := testing.AllocsPerRun(1000, func() { w.policy.Pick(plain)().Mark(nil) }); n > 2 {
			t.Errorf("another request: %v allocations", n)
		}
		w.silence(2)
	}
}

// BenchmarkPick makes a plan and asks for its first host, alongside gocql's own policy, of five nodes and a keyspace
// with three replicas.
func BenchmarkPick(b *testing.B) {
	ours, theirs := New(gocql.RoundRobinHostPolicy()), gocql.TokenAwareHostPolicy(gocql.RoundRobinHostPolicy(),
		gocql.ShuffleReplicas())
	s := cassandratest.Start(b, 5)
	s.Create(`CREATE KEYSPACE shop WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 3}`)
	c := s.Config()
	c.Keyspace = "shop"
	c.PoolConfig.HostSelectionPolicy = both{ours, theirs}
	session, err := c.CreateSession()
	if err != nil {
		b.Fatal(err)
	}
	defer session.Close()
	keys := make([][]byte, 1000)
	for i := range keys {
		keys[i] = fmt.Append(nil, "order ", i)
	}
	for name, p := range map[string]gocql.HostSelectionPolicy{"denorm": ours, "gocql": theirs} {
		r := &request{ctx: context.Background(), keyspace: "shop"}
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for i := range b.N {
				r.key = keys[i%len(keys)]
				p.Pick(r)().Mark(nil)
			}
		})
	}
	b.Run("denorm attempt", func(b *testing.B) {
		b.ReportAllocs()
		a := &Attempt{Keyspace: "shop"}
		r := &request{ctx: a}
		for i := range b.N {
			a.Key = keys[i%len(keys)]
			a.Next(context.Background())
			a.before().count = 0
			ours.Pick(r)().Mark(nil)
			a.End(Answered)
		}
	})
}
