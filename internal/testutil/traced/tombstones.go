// Package traced tells what replicas read for a request, as they say themselves in its trace.
package traced

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gocql/gocql"
)

// Tombstones sends a query with tracing on, and returns how many tombstones the replica met that met most: replicas
// differ by what has not arrived yet. It waits up to a minute for the trace, which nodes write behind.
func Tombstones(ctx context.Context, session *gocql.Session, q *gocql.Query) (most int, err error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	var t trace
	if err := q.WithContext(ctx).Trace(&t).Iter().Close(); err != nil {
		return 0, err
	}
	for {
		most, complete, err := t.tombstones(ctx, session)
		if err != nil || complete {
			return most, err
		}
		select {
		case <-ctx.Done():
			return 0, fmt.Errorf("the trace is not complete: %w", ctx.Err())
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// trace is the id of the trace of a request.
type trace struct{ id []byte }

// Trace implements gocql.Tracer.
func (t *trace) Trace(id []byte) { t.id = id }

func (t *trace) tombstones(ctx context.Context, session *gocql.Session) (most int, complete bool, err error) {
	var duration *int // null until the request has ended
	err = session.Query(`SELECT duration FROM system_traces.sessions WHERE session_id = ?`, t.id).WithContext(ctx).
		Scan(&duration)
	if err != nil && !errors.Is(err, gocql.ErrNotFound) {
		return 0, false, err
	}
	events := session.Query(`SELECT activity FROM system_traces.events WHERE session_id = ?`, t.id).WithContext(ctx).Iter()
	for activity := ""; events.Scan(&activity); {
		if n, ok := parse(activity); ok {
			most, complete = max(most, n), duration != nil
		}
	}
	return most, complete, events.Close()
}

// parse reads an event of a trace.
func parse(activity string) (tombstones int, ok bool) {
	_, err := fmt.Sscanf(activity, "Read %d live rows and %d tombstone", new(int), &tombstones)
	return tombstones, err == nil
}
