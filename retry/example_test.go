package retry_test

import (
	"context"
	"fmt"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/retry"
)

// What an error says of a write. A timeout says nothing: the replicas may have it.
func ExampleClassify() {
	for _, err := range []error{
		gocql.ErrTimeoutNoResponse,
		gocql.ErrNoConnections,
		&gocql.RequestErrWriteTimeout{WriteType: "SIMPLE", Received: 1, BlockFor: 2},
		&gocql.RequestErrUnavailable{Required: 2, Alive: 1},
	} {
		v := retry.Classify(err, retry.Partition)
		fmt.Printf("%-30s not applied: %-5t retry: %t\n", v.Reason, v.Class.NotApplied(), v.Retry)
	}
	// Output:
	// no_response                    not applied: false retry: true
	// no_connections                 not applied: true  retry: true
	// write_timeout.simple           not applied: false retry: true
	// unavailable                    not applied: true  retry: true
}

// A write whose first attempt times out and whose second one is rejected may have been applied: what is known is the
// sum of its attempts.
func ExampleRetrier_Do() {
	retrier, err := retry.New(retry.Policy{MaxAttempts: 2}, retry.NewBudget(100, 0.1))
	if err != nil {
		panic(err)
	}
	outcome, err := retrier.Do(context.Background(), retry.Partition, func(_ context.Context, attempt int) error {
		if attempt == 1 {
			return gocql.ErrTimeoutNoResponse
		}
		return gocql.ErrNoConnections
	}, nil)
	fmt.Println(outcome.Attempts, outcome.Class.NotApplied())
	fmt.Println(err)
	// Output:
	// 2 false
	// gocql: no hosts available in the pool
}
