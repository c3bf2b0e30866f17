package main

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"time"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/examples/orders"
	"github.com/denorm-go/denorm/integration/harness/sleep"
)

// seen is what a replica reads for one request.
type seen struct{ live, tombstones int }

// reads list orders.
type reads struct{ session *gocql.Session }

// traced learns under which id a request was traced.
type traced struct{ id []byte }

// Trace implements gocql.Tracer.
func (t *traced) Trace(id []byte) { t.id = id }

// scan reads with request tracing on.
func (s reads) scan(ctx context.Context, statement string, status orders.Status) (seen, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	var t traced
	if err := s.session.Query(statement, status).WithContext(ctx).Trace(&t).Iter().Close(); err != nil {
		return seen{}, err
	}
	var failed error
	if err := sleep.Until(ctx, 100*time.Millisecond, func() error { // traces are written behind
		done, err := s.traceDone(ctx, t.id)
		if failed = err; err == nil && !done {
			return errors.New("it has no duration yet")
		}
		return nil
	}); err != nil {
		return seen{}, fmt.Errorf("the trace is not complete: %w", err)
	}
	if failed != nil {
		return seen{}, failed
	}
	return s.largestScan(ctx, t.id)
}

func (s reads) traceDone(ctx context.Context, id []byte) (bool, error) {
	var duration *int
	err := s.session.Query(`SELECT duration FROM system_traces.sessions WHERE session_id = ?`, id).WithContext(ctx).Scan(&duration)
	if errors.Is(err, gocql.ErrNotFound) {
		return false, nil
	}
	return duration != nil, err
}

// largestScan is that of the replica that read most: they differ by what has not arrived yet.
func (s reads) largestScan(ctx context.Context, id []byte) (seen, error) {
	var largest seen
	found := false
	events := s.session.Query(`SELECT activity FROM system_traces.events WHERE session_id = ?`, id).WithContext(ctx).Iter()
	for activity := ""; events.Scan(&activity); {
		if read, ok := parseActivity(activity); ok && (!found || read.tombstones > largest.tombstones) {
			largest, found = read, true
		}
	}
	if err := events.Close(); err != nil {
		return seen{}, err
	}
	if !found {
		return seen{}, errors.New("no replica says in the trace what it has read")
	}
	return largest, nil
}

var readActivity = regexp.MustCompile(`^Read (\d+) live rows and (\d+) tombstone`)

func parseActivity(activity string) (seen, bool) {
	match := readActivity.FindStringSubmatch(activity)
	if match == nil {
		return seen{}, false
	}
	live, err1 := strconv.Atoi(match[1])
	tombstones, err2 := strconv.Atoi(match[2])
	return seen{live: live, tombstones: tombstones}, err1 == nil && err2 == nil
}
