package retry

import "github.com/denorm-go/denorm/internal/printable"

// Kind is the kind of write that an error answers. The same error means different things for different kinds. An
// UNAVAILABLE for one partition comes before anything happened; for an unlogged batch of several it may follow the
// first partitions.
type Kind uint8

const (
	// Partition is one request for mutations of one partition of one keyspace with a pinned timestamp. It is a statement,
	// or a batch whose mutations share keyspace and partition key, which Cassandra applies as one mutation.
	//
	// If a table has a materialized view or a trigger, even one statement is a [LoggedBatch], because the coordinator
	// turns it into a logged batch.
	Partition Kind = iota

	// LoggedBatch is a batch of several partitions through the batchlog, with a pinned timestamp.
	LoggedBatch

	// UnloggedBatch is a batch of several partitions without the batchlog, with a pinned timestamp.
	UnloggedBatch

	// Conditional is a lightweight transaction: a statement or batch with IF. A timestamp cannot be pinned to it.
	Conditional

	// Counter is an update of counters in one partition. It is not idempotent.
	Counter

	// Swap is a [Conditional] whose condition no longer holds once it is applied, and which leaves a mark of its own.
	// Sending it again does no harm, and the answer tells whether the first one was applied. So it is repeated where other
	// kinds are given up, also after WRITE_TIMEOUT of type CAS, which contention causes. Its outcomes are as for
	// Conditional.
	Swap
)

var kindNames = [...]string{"partition", "logged batch", "unlogged batch", "conditional", "counter", "swap"}

// String returns the kind in lower case, such as "logged batch".
func (k Kind) String() string { return printable.Enum("Kind", k, kindNames[:]) }

// Idempotent reports whether the write may be sent more than once without harm. [Partition], [LoggedBatch] and
// [UnloggedBatch] are idempotent by their pinned timestamp, and [Swap] by its condition.
//
// The timestamp makes cells idempotent, not every statement: an append to a list doubles the elements whatever its
// timestamp. Such a statement must not be sent with these kinds.
func (k Kind) Idempotent() bool {
	return k == Partition || k == LoggedBatch || k == UnloggedBatch || k == Swap
}
