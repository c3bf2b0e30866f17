package routing_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gocql/gocql"
	"gopkg.in/inf.v0"

	"github.com/denorm-go/denorm/examples/orders"
	"github.com/denorm-go/denorm/integration/harness/cluster"
	"github.com/denorm-go/denorm/internal/testutil/testsession"
	"github.com/denorm-go/denorm/session"
	"github.com/denorm-go/denorm/writer"
)

// traces collects the ids of the requests that a session had the nodes trace.
type traces struct {
	mu  sync.Mutex
	ids [][]byte
}

// Trace implements gocql.Tracer.
func (t *traces) Trace(id []byte) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.ids = append(t.ids, slices.Clone(id))
}

func (t *traces) take() [][]byte {
	t.mu.Lock()
	defer t.mu.Unlock()
	ids := t.ids
	t.ids = nil
	return ids
}

// account is what the nodes say of one request: who coordinated it, and who put the row into a table.
type account struct {
	coordinator string
	replicas    []string
}

// read waits until the account of a request is complete: nodes write it in the background. PREPAREs are traced too;
// they write to no table, and there is no account of them.
func read(ctx context.Context, t *testing.T, session *gocql.Session, id []byte, replicas int) (account, bool) {
	t.Helper()
	for {
		var a account
		var kind string
		err := session.Query(`SELECT coordinator, request FROM system_traces.sessions WHERE session_id = ?`, id).
			WithContext(ctx).Consistency(gocql.All).Scan(&a.coordinator, &kind)
		if err == nil && strings.HasPrefix(kind, "Preparing") {
			return a, false
		}
		iter := session.Query(`SELECT activity, source FROM system_traces.events WHERE session_id = ?`, id).
			WithContext(ctx).Consistency(gocql.All).Iter()
		var activity, source string
		for iter.Scan(&activity, &source) {
			if strings.HasPrefix(activity, "Adding to orders") && !slices.Contains(a.replicas, source) {
				a.replicas = append(a.replicas, source)
			}
		}
		if err == nil && iter.Close() == nil && len(a.replicas) == replicas && a.coordinator != "" {
			return a, true
		}
		select {
		case <-time.After(200 * time.Millisecond):
		case <-ctx.Done():
			t.Logf("no account of request %x: %+v, %v", id, a, err) // a node that is busy drops what it has traced
			return a, false
		}
	}
}

// Requests of writes to a keyspace that is not the session's go to a replica, as the nodes' own accounts show. gocql's
// policy takes them for requests to the session's keyspace, and chooses among its replicas.
func TestWritesGoToReplicas(t *testing.T) {
	t.Parallel()
	cluster.Need(t, 3)
	home := cluster.Keyspace(t, 3)
	for _, replicas := range []int{1, 2} {
		t.Run(fmt.Sprint(replicas), func(t *testing.T) {
			t.Parallel()
			keyspace := cluster.Keyspace(t, replicas, orders.Schema.Statements()...)
			for name, policy := range map[string]func(*gocql.ClusterConfig){
				"denorm": func(*gocql.ClusterConfig) {},
				"gocql": func(c *gocql.ClusterConfig) {
					c.PoolConfig.HostSelectionPolicy = gocql.TokenAwareHostPolicy(gocql.RoundRobinHostPolicy(), gocql.ShuffleReplicas())
				},
			} {
				writes := cluster.Session(t, home, func(c *gocql.ClusterConfig) { session.Configure(c, "") }, policy)
				s := testsession.New(t, writes, cluster.Session(t, home), session.Keyspaces(map[string]string{"": keyspace}))
				w, err := writer.New(s, writer.Concurrent())
				if err != nil {
					t.Fatal(err)
				}
				write := func() {
					if _, err := w.Write(t.Context(), "createOrder", orders.Orders.Insert(orders.New(gocql.MustRandomUUID(), inf.NewDec(1, 0)))); err != nil {
						t.Fatal(err)
					}
				}
				for range 20 { // statements are prepared, and the policy reads the keyspaces
					write()
				}
				var seen traces
				complete, elsewhere, coordinators := 0, 0, map[string]int{}
				reader := cluster.Session(t, "")
				for round := 0; complete < 20 && round < 10; round++ { // orders of which a busy node has dropped an account are replaced by others
					ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
					var wg sync.WaitGroup
					accounts := make([][]account, 20-complete)
					writes.SetTrace(&seen)
					for i := range accounts {
						write()
						for _, id := range seen.take() {
							wg.Go(func() {
								if a, ok := read(ctx, t, reader, id, replicas); ok {
									seen.mu.Lock()
									defer seen.mu.Unlock()
									accounts[i] = append(accounts[i], a)
								}
							})
						}
					}
					writes.SetTrace(nil)
					wg.Wait()
					cancel()
					for _, order := range accounts {
						for _, a := range order {
							coordinators[a.coordinator]++
							if !slices.Contains(a.replicas, a.coordinator) {
								elsewhere++
							}
						}
						if len(order) > 3 {
							t.Errorf("%d requests of an order, want 3", len(order))
						}
						if len(order) == 3 {
							complete++
						}
					}
				}
				t.Logf("%s, %d replicas: %d requests went to a node that is no replica; by node %v", name, replicas, elsewhere, coordinators)
				if complete != 20 {
					t.Errorf("accounts of all 3 requests of %d orders, want 20", complete)
				}
				if name == "denorm" && elsewhere > 0 {
					t.Errorf("%d requests went to nodes that are no replicas", elsewhere)
				}
			}
		})
	}
}
