// Package engine is how an engine other than package reconcile, as the module reconcile/temporal, has units of a run done: ranges of a table, each
// of which can be done by any process, twice, and from any token on. It has no keys and no values of rows, so that all of it may be stored
// by the engine.
package engine

import (
	"context"
	"errors"
	"time"

	"github.com/denorm-go/denorm/tables"
)

// The kinds of runs.
const (
	Verify   = "verify"
	Backfill = "backfill"
)

// ErrAway is an error of [Run.Do] that says nothing about the range: too few replicas are alive, or the cluster answers nothing else either.
var ErrAway = errors.New("the cluster does not answer")

// Opener opens runs. Its options, such as the tables that are compared, are those of the Reconciler that it is of.
type Opener interface {
	// Open checks that a run of a kind is valid, and reads what has to be known of the live tables. table is the one that a backfill fills.
	// The time of option Writers must have passed, and nothing is waited for.
	Open(ctx context.Context, kind string, set tables.Described, table string) (Run, error)
}

// Run does units of a run. It is safe for concurrent use.
type Run interface {
	// Phases are what is to be done, one after the other.
	Phases() []Phase
	// Declaration is a hash of what a run is about: units with different ones are not of one run.
	Declaration() string
	// Share bounds the requests a second, 0 for no bound, and those in flight, of all units together that this Run does.
	Share(rate, inFlight int)
	// Do does a unit from where from has ended, if that is not the zero value, and gives what is done of it then, with from. It tells the same
	// from time to time, and at the end. The error says why the rest is not done: it is that of ctx, or that rows could not be read.
	// There is none where the unit is done, or time is up. It matches ErrAway if another try should be made however many there were.
	Do(ctx context.Context, u Unit, from Done, tell func(Done)) (Done, error)
}

// Phase is a part of a run.
type Phase struct {
	Fills  bool     `json:"fills,omitempty"` // rows of the first table are put; else rows are compared
	Tables []string `json:"tables"`          // that are read, as they are declared
	Names  []string `json:"names"`           // of these on the cluster, with their keyspaces
}

// Unit is a range of tokens of a table: above Low, up to High.
type Unit struct {
	Fills     bool
	Table     string // as it is declared
	Low, High int64
	// Until is when to leave the rest. At least a part is done before. Zero: all is done.
	Until time.Time
	// Skip leaves what cannot be read while the cluster answers, and counts it as uncovered. Else it is an error.
	Skip bool
}

// Done is what was done of a unit. The zero value is nothing.
type Done struct {
	Begun     bool                        `json:"begun,omitempty"`
	Cursor    int64                       `json:"cursor"` // the unit is done up to this token, if it was begun
	Rows      int64                       `json:"rows,omitempty"`
	Put       int64                       `json:"put,omitempty"`
	InFlight  int64                       `json:"inFlight,omitempty"`  // entities that differed, explained by writes in flight
	Uncovered int64                       `json:"uncovered,omitempty"` // ranges and entities that were left
	Unheld    int64                       `json:"unheld,omitempty"`
	Found     map[string]map[string]int64 `json:"found,omitempty"` // findings by physical table and class
}
