package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/examples/orders"
)

// limit is how many orders a reader wants.
const limit = 20

// reads are those of one who lists orders.
type reads struct{ session *gocql.Session }

// listed is what reading one status of one set is like.
type listed struct {
	set       string
	status    orders.Status
	rows      int // that the reader gets: limit, or all there are
	latencies []time.Duration
	timeouts  int // reads that the server gave up on; their latencies are until then
	scan      scan
}

// measure reads each status of each set in turn, in random order within a round, so that a slow moment of the machine
// meets all of them.
func (s reads) measure(ctx context.Context, rounds int) ([]listed, error) {
	var results []listed
	var statements []string
	for _, set := range ways {
		for _, status := range orders.Statuses {
			results = append(results, listed{set: set.name, status: status})
			statements = append(statements, fmt.Sprintf(
				`SELECT order_id, total, updated_at FROM %s WHERE status = ? LIMIT %d`, set.status, limit))
		}
	}
	const warmUp = 10
	for round := range rounds + warmUp {
		for _, i := range rand.Perm(len(results)) {
			r := &results[i]
			begin := time.Now()
			iter := s.session.Query(statements[i], r.status).WithContext(ctx).Iter()
			rows := iter.NumRows()
			err := iter.Close()
			var timeout *gocql.RequestErrReadTimeout
			switch {
			case err == nil:
				r.rows = rows
			case !errors.As(err, &timeout):
				return nil, fmt.Errorf("read %s of %s: %w", r.status, r.set, err)
			case round >= warmUp:
				r.timeouts++
			}
			if round >= warmUp {
				r.latencies = append(r.latencies, time.Since(begin))
			}
		}
	}
	for i := range results {
		var err error
		if results[i].scan, err = s.scan(ctx, statements[i], results[i].status); err != nil {
			return nil, fmt.Errorf("trace %s of %s: %w", results[i].status, results[i].set, err)
		}
	}
	return results, nil
}
