package schema_test

import (
	"context"
	"testing"
	"time"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/integration/harness/cluster"
	"github.com/denorm-go/denorm/internal/testutil/testsession"
	"github.com/denorm-go/denorm/retry"
	"github.com/denorm-go/denorm/schema"
	"github.com/denorm-go/denorm/session"
	"github.com/denorm-go/denorm/writer"
)

func open(t *testing.T) *session.Session {
	t.Helper()
	cluster.Need(t, 3)
	return testsession.New(t, nil, cluster.Session(t, "", patient))
}

func patient(c *gocql.ClusterConfig) { c.Timeout = 30 * time.Second }

func differences(t *testing.T, on *session.Session, declared *schema.Schema) []schema.Difference {
	t.Helper()
	found, err := schema.Differences(t.Context(), on, declared)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// wantNone wants the live schema to be exactly as declared.
func wantNone(t *testing.T, on *session.Session, declared *schema.Schema, when string) {
	t.Helper()
	if found := differences(t, on, declared); len(found) > 0 {
		t.Fatalf("%s: %s", when, &schema.DifferenceError{Differences: found})
	}
}

// create creates a schema in its empty keyspaces.
func create(t *testing.T, on *session.Session, s *schema.Schema) {
	t.Helper()
	if err := ensure(t, on, s); err != nil {
		t.Fatal(err)
	}
}

// newWriter waits for slow nodes: a timeout says nothing about what is tested here.
func newWriter(t *testing.T, on *session.Session) *writer.Writer {
	t.Helper()
	w, err := writer.New(on, writer.Timeout(time.Minute), writer.Retry(retry.Policy{AttemptTimeout: 20 * time.Second}))
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// flush has the nodes write tables to disk.
func flush(t *testing.T, keyspace string, tables ...string) {
	t.Helper()
	var statements []string
	for _, table := range tables {
		statements = append(statements, "ALTER TABLE "+table+" WITH memtable_flush_period_in_ms = 1000")
	}
	cluster.ChangeSchema(t, keyspace, statements...)
}

// ensure is schema.Ensure with time: gossip takes a second or more a statement, and tests that change other keyspaces
// meanwhile leave few moments in which the nodes agree.
func ensure(t *testing.T, on *session.Session, s *schema.Schema) error {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 8*time.Minute)
	defer cancel()
	return schema.Ensure(ctx, on, s)
}
