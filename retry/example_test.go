package retry_test

import (
	"fmt"
	"time"

	"github.com/cenkalti/backoff/v4"
	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/retry"
)

// What an error says about a write. A timeout says nothing: the replicas may have it.
func ExampleClassify() {
	for _, err := range []error{
		gocql.ErrTimeoutNoResponse,
		gocql.ErrNoConnections,
		&gocql.RequestErrWriteTimeout{WriteType: "SIMPLE", Received: 1, BlockFor: 2},
		&gocql.RequestErrUnavailable{Required: 2, Alive: 1},
	} {
		v := retry.Classify(err, retry.Partition)
		fmt.Printf("%-30s not applied: %-5t retry: %t\n", v.Reason, v.Outcome == retry.NotApplied, v.Retry)
	}
	// Output:
	// no_response                    not applied: false retry: true
	// no_connections                 not applied: true  retry: true
	// write_timeout.simple           not applied: false retry: true
	// unavailable                    not applied: true  retry: true
}

// A write whose first attempt times out and whose second one is rejected may have been applied: what is known is the
// sum of its attempts.
func ExampleOutcome_Then() {
	known := retry.NotApplied // before it is sent
	for _, err := range []error{gocql.ErrTimeoutNoResponse, gocql.ErrNoConnections} {
		known = known.Then(retry.Classify(err, retry.Partition).Outcome)
		fmt.Println(known)
	}
	// Output:
	// unknown
	// unknown
}

// Custom waits: each request gets a new BackOff, because an ExponentialBackOff keeps its state. writer.Retry and
// reader.Retry take the policy.
func ExamplePolicy_backOff() {
	policy := retry.Policy{
		MaxAttempts: 6,
		BackOff: func() backoff.BackOff {
			return backoff.NewExponentialBackOff(backoff.WithInitialInterval(20*time.Millisecond),
				backoff.WithRandomizationFactor(1))
		},
	}
	fmt.Println(policy.Validate())
	policy.MaxInterval = time.Second
	fmt.Println(policy.Validate())
	// Output:
	// <nil>
	// retry: BackOff makes all waits, so InitialInterval, MaxInterval and Multiplier do nothing: leave them out, or leave BackOff out
}
