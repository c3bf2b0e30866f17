package schema_test

import (
	"context"
	"testing"

	"github.com/denorm-go/denorm/cassandratest"
	"github.com/denorm-go/denorm/schema"
	"github.com/denorm-go/denorm/session"
)

// An Ensure that was canceled says so once, and nothing of nodes that were not asked.
func TestEnsureCanceled(t *testing.T) {
	t.Parallel()
	cassandratest.Test(t, 1, func(t *testing.T, c *cassandratest.Cluster) {
		s, err := session.Open(c.Config())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(s.Close)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := schema.Ensure(ctx, s, hotel); err == nil || err.Error() != "schema: Ensure: keyspace hotel: context canceled" {
			t.Errorf("%q", err)
		}
	})
}
