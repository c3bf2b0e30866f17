package hosts

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/denorm-go/denorm/cassandratest"
	"github.com/gocql/gocql"
)

var readKeyspaces = cassandratest.Text("SELECT keyspace_name, replication FROM system_schema.keyspaces")

func TestKeyspaces(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := start(t, 5, nil)
		for _, keyspace := range []string{"home", "annex", "shop"} {
			for i := range 60 {
				id := fmt.Sprint(keyspace, i)
				replicas := b.server.Replicas(keyspace, []byte(id))
				var nodes []int
				a := &Attempt{Keyspace: keyspace, Key: []byte(id)}
				for range replicas {
					err := b.attempt(a, time.Second, func(ctx context.Context) error {
						return b.session.Query("INSERT INTO "+keyspace+".orders (id, text) VALUES (?, ?)", id, "").WithContext(ctx).Exec()
					})
					if err != nil {
						t.Fatal(err)
					}
					journal := b.server.Journal(cassandratest.Execute)
					nodes = append(nodes, journal[len(journal)-1].Node)
					if a.Host().ConnectAddress().String() != b.server.Node(nodes[len(nodes)-1]).Address() {
						t.Fatal("the attempt names another host")
					}
				}
				slices.Sort(nodes)
				slices.Sort(replicas)
				if !slices.Equal(nodes, replicas) {
					t.Fatalf("%s %s: sent to %v, replicas %v", keyspace, id, nodes, replicas)
				}
			}
		}
		if n := len(b.server.Journal(cassandratest.Execute, readKeyspaces)); n != 1 {
			t.Errorf("keyspaces are read %d times", n)
		}
	})
}

// both tells two policies of hosts, and asks the first.
type both struct {
	*Policy
	other gocql.HostSelectionPolicy
}

func (p both) Init(s *gocql.Session) {
	p.Policy.Init(s)
	p.other.Init(s)
}

func (p both) SetPartitioner(name string) {
	p.Policy.SetPartitioner(name)
	p.other.SetPartitioner(name)
}

func (p both) KeyspaceChanged(e gocql.KeyspaceUpdateEvent) {
	p.Policy.KeyspaceChanged(e)
	p.other.KeyspaceChanged(e)
}

func (p both) AddHosts(hosts []*gocql.HostInfo) {
	p.Policy.AddHosts(hosts)
	for _, h := range hosts {
		p.other.AddHost(h)
	}
}

func (p both) AddHost(h *gocql.HostInfo) {
	p.Policy.AddHost(h)
	p.other.AddHost(h)
}

// The replicas are those of gocql's own policy in the keyspace of the session. (The tokens of these nodes alternate.
// With two tokens of one node side by side, gocql may count the node twice.)
func TestLikeGocql(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		theirs := gocql.TokenAwareHostPolicy(gocql.RoundRobinHostPolicy())
		b := start(t, 5, func(c *gocql.ClusterConfig) {
			c.Keyspace = "shop"
			c.PoolConfig.HostSelectionPolicy = both{c.PoolConfig.HostSelectionPolicy.(*Policy), theirs}
		})
		for i := range 500 {
			r := request{ctx: context.Background(), keyspace: "shop", key: fmt.Append(nil, "order", i)}
			var plans [2][]string
			for j, p := range []gocql.HostSelectionPolicy{b.policy, theirs} {
				next := p.Pick(r)
				for range 3 {
					plans[j] = append(plans[j], next().Info().HostID())
				}
				slices.Sort(plans[j])
			}
			if !slices.Equal(plans[0], plans[1]) {
				t.Fatalf("%q: %v, gocql %v", r.key, plans[0], plans[1])
			}
		}
	})
}

// Before the keyspaces are known a request does not wait for them.
func TestKeyspacesUnread(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := start(t, 5, func(c *gocql.ClusterConfig) { c.Keyspace = "" }) // or the session has them read
		b.server.When(cassandratest.Execute, readKeyspaces).Do(cassandratest.Delay(time.Second))
		begin := time.Now()
		if err := b.send("order"); err != nil || time.Since(begin) > 100*time.Millisecond {
			t.Errorf("%v after %v", err, time.Since(begin))
		}
		if owner := b.server.Replicas("shop", []byte("order"))[0]; b.sent(owner) != 1 {
			t.Error("not sent to the owner of the token")
		}
		<-time.After(2 * time.Second)
		for range 100 {
			if err := b.send("order"); err != nil {
				t.Fatal(err)
			}
		}
		for _, n := range b.server.Replicas("shop", []byte("order")) {
			if b.sent(n) < 10 {
				t.Errorf("%d of 101 to node %d", b.sent(n), n)
			}
		}
	})
}

// A read of the keyspaces that fails is repeated when they are needed, after a second.
func TestKeyspacesFail(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := start(t, 3, func(c *gocql.ClusterConfig) { c.Keyspace = "" })
		reads := func() int { return len(b.server.Journal(cassandratest.Execute, readKeyspaces)) }
		b.server.When(cassandratest.Execute, readKeyspaces, cassandratest.Nth(1, 2)).
			Do(cassandratest.Fail(cassandratest.Overloaded))
		for range 50 {
			if err := b.send("order"); err != nil {
				t.Fatal(err)
			}
			<-time.After(100 * time.Millisecond)
		}
		if n := reads(); n != 3 {
			t.Errorf("read %d times", n)
		}
		if _, ok := b.policy.ring.Load().keyspaces["shop"]; !ok {
			t.Error("unknown")
		}
	})
}
