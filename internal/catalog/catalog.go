// Package catalog reads the schema tables, of which every node has a copy. Package schema reads them whole, as their
// columns differ by version.
package catalog

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/denorm-go/denorm/internal/driver"
	"github.com/gocql/gocql"
)

// Table is a row of system_schema.tables.
type Table struct {
	Name, Comment string
	ID            gocql.UUID
	GCGrace, TTL  time.Duration
}

// Tables makes one attempt at reading the tables of a keyspace, or the one with the name in only.
func Tables(ctx context.Context, session *gocql.Session, keyspace string, only ...any) (out []Table, err error) {
	statement := "SELECT table_name, comment, id, gc_grace_seconds, default_time_to_live FROM system_schema.tables " +
		"WHERE keyspace_name = ?"
	if len(only) > 0 {
		statement += " AND table_name = ?"
	}
	var t Table
	var grace, ttl int
	err = Each(ctx, session, gocql.One, statement, append([]any{keyspace}, only...), func() {
		t.GCGrace, t.TTL = time.Duration(grace)*time.Second, time.Duration(ttl)*time.Second
		out = append(out, t)
	}, &t.Name, &t.Comment, &t.ID, &grace, &ttl)
	return out, err
}

// Datacentres are those that a replication gives replicas, as far as it names them: a live one does.
func Datacentres(replication map[string]string) []string {
	if !strings.HasSuffix(replication["class"], "NetworkTopologyStrategy") {
		return nil
	}
	return slices.DeleteFunc(slices.Sorted(maps.Keys(replication)), func(name string) bool {
		return name == "class" || replication[name] == "0"
	})
}

// Each makes one attempt at a statement, and calls row when a row of the answer is in dest.
func Each(ctx context.Context, s *gocql.Session, level gocql.Consistency, statement string, values []any, row func(),
	dest ...any,
) error {
	iter := s.Query(statement, values...).WithContext(ctx).Consistency(level).RetryPolicy(driver.NoRetry).Iter()
	for iter.Scan(dest...) {
		row()
	}
	return iter.Close()
}
