// Package retry knows when a failed write to Cassandra may be sent again, and what is known about it until then.
//
// It has two halves. [Classify] takes any error that gocql 1.7 can return for a write, and the kind of the write. It
// says what is known, as an [Outcome], for example surely not applied, perhaps applied, or stored by the batchlog.
// [Policy] and [Budget] say how often, and how long, a writer or reader tries.
//
// # What is known after a failure
//
// Nearly every failure of a write is ambiguous. A lost connection, a timeout of client or server and a cancelled
// context say nothing about what the replicas did. gocql 1.7 has one error value for "never sent" and for "sent, no
// answer". So [Unknown] is the zero value, and the outcome of every error about which no more is known. [NotApplied]
// are only
//
//   - errors that gocql returns before anything is sent and nowhere else;
//   - codes with which a coordinator rejects a request before it executes it;
//   - UNAVAILABLE and OVERLOADED where the check comes before the first mutation.
//
// The list assumes writes without speculative execution and with a gocql RetryPolicy that never retries.
//
// An error that gocql makes with fmt.Errorf is Unknown: it cannot be told from others without reading its text. An
// example is "gocql: expected 3 values send got 2". The code that builds the query has to check such things before.
//
// # Sticky
//
// What is known about a write is the sum of its attempts. If one of them may have been applied, no later clean error
// takes that back. [Outcome.Then] preserves this; the outcome of the last attempt alone does not.
//
// # What is retried
//
// A write with a pinned timestamp is idempotent, so it may be repeated after any failure that repeating may cure. A
// counter and a lightweight transaction may be repeated only if surely not applied. gocql's own retry must be off: in
// 1.7 it does not look at idempotence, and it hides the errors of earlier attempts. Retries at two layers also
// multiply.
package retry
