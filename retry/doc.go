// Package retry knows when a failed write to Cassandra may be sent again, and what is known about it until then.
//
// It has two halves. [Classify] takes any error that gocql 1.7 can return for a write, and the kind of the write, and says what
// is known, as an [Outcome]: surely not applied, perhaps applied, stored by the batchlog, decided. [Policy]
// and [Budget] say how often, and how long, a writer or reader tries.
//
// # What is known after a failure
//
// Nearly every failure of a write is ambiguous. A lost connection, a timeout of client or server and a cancelled
// context say nothing about what the replicas did, and the driver uses one error value for "never sent" and for "sent,
// no answer" (gocql 1.7.0, conn.go: ErrConnectionClosed from addCall and from exec, io.EOF from the write coalescer and
// from recv). So [Unknown] is the zero value and the answer for every error about which no more is known, and "not
// applied" is a list of exceptions:
//
//   - errors of gocql that it returns before anything is sent, and at no other place: MarshalError, ErrSessionClosed,
//     ErrNoStreams, ErrTooManyStmts, ErrUnsupported, ErrUseStmt, and ErrNoConnections. The last one holds because
//     writes are sent without speculative execution, and with a gocql RetryPolicy that never retries; with speculation
//     ErrNoConnections may be returned while another execution of the same write is on its way (query_executor.go). The
//     fork of ScyllaDB has three errors in its place, of nodes that are down or have no connection.
//   - error codes with which a coordinator rejects a request before it executes it: protocol error, bad credentials, is
//     bootstrapping, unprepared, syntax error, unauthorized, invalid, config error, already exists, function failure.
//   - UNAVAILABLE of one partition, of a logged batch or of a counter, where every availability check comes before the
//     first mutation (StorageProxy.performWrite, mutateAtomically, mutateCounter).
//   - OVERLOADED of one partition, where the check of hints in flight comes before the first message
//     (StorageProxy.sendToHintedReplicas; since Cassandra 3.11, 3.0 checks between the messages).
//
// An error that gocql makes with fmt.Errorf, such as "gocql: expected 3 values send got 2", cannot be told from others
// without reading its text, so it is Unknown. The code that builds the query has to check such things before.
//
// # Sticky
//
// What is known about a write is the sum of its attempts. If one of them may have been applied, no later clean error
// takes that back: the attempt that timed out may have been applied, and it is the next one that was rejected.
// [Outcome.Then] preserves this; the outcome of the last attempt alone does not.
//
// # What is retried
//
// A write with a pinned timestamp is idempotent, so it may be repeated after any failure that repeating may cure. A
// counter and a lightweight transaction may be repeated only if surely not applied. gocql's own retry has to be off:
// it does not look at idempotence in 1.7, it hides the errors of earlier attempts, and retries at two layers multiply.
package retry
