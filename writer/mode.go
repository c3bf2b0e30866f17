package writer

import "github.com/denorm-go/denorm/internal/printable"

// Mode is how a logical write is sent.
type Mode uint8

const (
	// None is the zero value: there was nothing to send.
	None Mode = iota
	// Single is one statement in one request.
	Single
	// SamePartition is one request of several statements for one partition key, applied as one mutation: atomic on
	// every replica, without batchlog. Readers of two tables may for a moment see the write in one of them only.
	SamePartition
	// FanOut is one request per partition, all at the same time: if the client dies, some tables may lack the write.
	FanOut
	// LoggedBatch is one request for all partitions through the batchlog. Once it is stored there, the server completes
	// it, unless the nodes that store it stay down for gc_grace_seconds. It is used for sets declared Atomic, and for
	// writes to several partitions with deletes or several entities. Readers may see the write in one table before
	// another.
	LoggedBatch
	// Fallback is a FanOut in place of a LoggedBatch, because the batchlog failed: if the client dies in the middle,
	// the write is not completed.
	Fallback
	// Counter is the mode of a write that has nothing but counters: one request per partition, all at the same time.
	// With other tables in the write, counters are sent in the same way, and the mode of the other tables is reported.
	// Such a request has no timestamp. It is sent again only if it surely was not applied, and never by
	// [Writer.Resume].
	Counter
	// Conditional is a lightweight transaction on the base table and then, if the set has more tables, a FanOut.
	// Changes of other sets in the write follow the transaction, too; then the mode of all that follows is reported.
	Conditional
	// Transaction is one transaction of Cassandra 6 over all tables, of a [tables.Transactional] set. It is one request.
	Transaction
)

var modeNames = [...]string{
	"none", "single", "same-partition", "fan-out", "logged-batch", "fallback", "counter",
	"conditional", "transaction",
}

func (m Mode) String() string { return printable.Enum("Mode", m, modeNames[:]) }

// choice is which mode a writer is told to use.
type choice uint8

const (
	auto choice = iota
	alwaysLogged
	alwaysConcurrent
)
