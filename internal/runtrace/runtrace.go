// Package runtrace is what a run of package reconcile tells a tracer.
package runtrace

import (
	"context"
	"time"
)

// RunTracer is told of the runs of package reconcile: a verification, a repair or a backfill. The tracer of tracing.New
// implements it. Methods are called by several goroutines at once. No field but Err holds a value of a row. A nil
// context that a method returns stands for the one it was given.
type RunTracer interface {
	// TraceRunStart is called when a run begins. The returned context is passed to all later calls for this run.
	TraceRunStart(ctx context.Context, data RunStart) context.Context
	TraceRunEnd(ctx context.Context, data RunEnd)
	// TraceRun is called about every second while the run goes on, and once at its end. It is not called for a run that is
	// about one entity.
	TraceRun(ctx context.Context, data RunState)
	// TraceUnitStart is called when a part of the run begins. TraceUnitEnd gets the context that it returns.
	TraceUnitStart(ctx context.Context, data UnitStart) context.Context
	TraceUnitEnd(ctx context.Context, data UnitEnd)
	// TraceFinding is called for every row that is found to disagree, once all is known that the run will say about it.
	TraceFinding(ctx context.Context, data RunFinding)
}

// RunStart is what is known when a run begins.
type RunStart struct {
	Kind   string // verify, repair, backfill and so on
	Entity string // the name of the set
	Tables []string
	Began  time.Time // of a run that is continued, when its first process began it
	Full   bool      // all rows of the tables are compared: it is not about one entity, and does not fill a table
}

// RunEnd is what is known when a run has ended.
type RunEnd struct {
	Kind, Entity string
	Tables       []RunTable
	Complete     bool // all rows of the tables were read
	Err          error
}

// RunTable is what a run has found in one table.
type RunTable struct {
	Table    string // physical, with its keyspace
	Rows     int    // read
	Findings int    // rows that disagree and were not repaired
}

// RunState is how far a run is.
type RunState struct {
	Kind, Entity string
	Done         float64 // 0 to 1
	Waiting      int     // entities that are to be looked at again
	Limit        int     // requests that may be in flight
}

// UnitStart is what is known when a part of a run begins: a range of a table, or the repair of an entity.
type UnitStart struct {
	Kind   string
	Table  string // physical, with its keyspace; that of the base row for a repair
	Repair bool
}

// UnitEnd is what is known when a part of a run has ended.
type UnitEnd struct {
	Kind, Table string
	Rows        int    // read, of a range
	Outcome     string // of a repair: text of reconcile.Outcome
	Err         error
}

// RunFinding is a row that disagrees with its base row.
type RunFinding struct {
	Kind, Table               string
	Class, Certainty, Outcome string
	FirstSeen                 time.Time
}
