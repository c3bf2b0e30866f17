// Package planned is what packages bulk and explain see of package writer: writes that are planned and not sent, so
// that their rows can be sent together.
package planned

import (
	"context"
	"time"

	"github.com/denorm-go/denorm/internal/decide"
	"github.com/denorm-go/denorm/internal/fanout"
	"github.com/denorm-go/denorm/internal/statement"
	"github.com/denorm-go/denorm/retry"
	"github.com/denorm-go/denorm/tables"
)

// Write is a write that is planned.
type Write struct {
	*fanout.Write
	Key       string           // of its entity, encoded; empty if it is of rows of several
	Timestamp int64            // of its rows, in microseconds
	Mode      uint8            // a writer.Mode
	Decision  *decide.Decision // nil if nothing has to hold
	Plan      any              // the writer's own
}

// Explained is a write that is planned to be explained, and how the writer would send it.
type Explained struct {
	Write
	Changes      int
	Reason       string                              // why the mode
	Ungrouped    string                              // why no requests may be in groups; empty if they may be
	WhyUngrouped func(keyspace, table string) string // why those to a table may not be; empty if they may be
	Sender       *fanout.Sender
	BatchLimit   int
	Policy       retry.Policy
	Timeout      time.Duration
}

// Writer is a writer whose Result is R, for one goroutine; several may call Send at the same time.
type Writer[R any] struct {
	// Fault says why no call can succeed, or nil.
	Fault func(ctx context.Context, op string) error
	// Plan plans a change at a timestamp, where 0 stands for one by the writer's clock.
	Plan func(op string, c tables.Change, at int64) (Write, error)
	// Join plans to send rows of several writes, in one request for each partition.
	Join func(op string, mutations []*statement.Mutation) Write
	// Send carries a plan of so many changes out, as one write.
	Send func(ctx context.Context, w Write, changes int) (R, error)
	// Explain plans a write, and returns the error that Write would, except for faults in the live schema.
	Explain func(op string, changes ...tables.Change) (*Explained, error)
	// Reject is the error of a write of which nothing was sent.
	Reject func(op string, cause error) error
	// Physical maps declared keyspaces.
	Physical func(keyspace string) string
}

// BatchlogPause is how long auto does not use the batchlog after it failed. If one of three nodes has died, the
// others answer logged batches with BATCH_LOG timeouts until gossip has noticed, for some 11 s, or much longer.
const BatchlogPause = 15 * time.Second

// BatchlogTrials is how many trials in a row have to succeed, one after the other. While the nodes do not agree that
// one is dead some batches work and others do not (seen 19 s after a node was killed).
const BatchlogTrials = 10
