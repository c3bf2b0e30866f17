package reader_test

import (
	"testing"
	"time"

	"github.com/denorm-go/denorm/cassandratest"
	"github.com/denorm-go/denorm/reader"
	"github.com/denorm-go/denorm/retry"
)

// A node that does not answer is soon asked no more, also by reads whose attempts have less than a second each.
func TestSilentNode(t *testing.T) {
	t.Parallel()
	for _, limit := range []time.Duration{300 * time.Millisecond, 900 * time.Millisecond, 1200 * time.Millisecond} {
		t.Run(limit.String(), func(t *testing.T) {
			t.Parallel()
			cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
				l := open(t, c)
				l.write(3, func(int) bool { return false })
				r := l.r.With(reader.Retry(retry.Policy{AttemptTimeout: limit}))
				read := func() time.Duration {
					began := time.Now()
					if _, _, err := reader.List(t.Context(), r, "list", reader.From(l.set, "docs").Eq("tenant", "a")); err != nil {
						t.Error(err)
					}
					return time.Since(began)
				}
				read()
				c.Node(2).Silence()
				slow, all := 0, 0
				for began := time.Now(); time.Since(began) < 30*time.Second; time.Sleep(20 * time.Millisecond) {
					if took := read(); time.Since(began) > 10*time.Second {
						if all++; took >= limit {
							slow++
						}
					}
				}
				if slow > 5 {
					t.Errorf("from 10 s on %d of %d reads waited for the silent node", slow, all)
				}
			})
		})
	}
}
