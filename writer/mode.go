package writer

import (
	"github.com/denorm-go/denorm/internal/printable"
)

// Mode is how a logical write is sent.
type Mode uint8

const (
	// None is the zero value: there was nothing to send.
	None Mode = iota
	// Single is one statement in one request.
	Single
	// SamePartition is several statements in one request for one partition, which Cassandra applies as one mutation:
	// atomic on every replica, without batchlog. Readers of two tables may for a moment see it in one of them only.
	SamePartition
	// FanOut is one request per partition, all at the same time: if the client dies, some tables may lack the write.
	FanOut
	// LoggedBatch is one request for all partitions through the batchlog: once stored there, the server completes it. It
	// is used for deletes in several partitions, several entities and sets declared Atomic. Readers may see the write in
	// one table before another.
	LoggedBatch
	// Fallback is a FanOut in place of a LoggedBatch, because the batchlog failed: if the client dies in the middle,
	// the write is not completed.
	Fallback
	// Counter is the mode of a write that has nothing but counters: one request per partition, all at the same time.
	// Alongside other tables counters are sent in the same way, and the write has the mode of the other tables. Such a
	// request has no timestamp. It is sent again only if it surely was not applied, and never by [Writer.Resume].
	Counter
	// Conditional is a lightweight transaction of one row, and then, if the set has more tables, a FanOut. Alongside other
	// entities the transaction comes first too, and the write has the mode of the other entities.
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
