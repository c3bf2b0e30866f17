// Package engine is the interface by which an engine other than package reconcile, such as module reconcile/temporal,
// does the units of a run. A unit is a range of a table. Any process can do it, more than once, and from any token on.
// The package has no keys and no values of rows, so the engine may store all of its data.
package engine

import (
	"context"
	"errors"
	"time"
)

// The kinds of runs.
const (
	Verify   = "verify"
	Backfill = "backfill"
)

// ErrAway is an error of [Run.Do] that says nothing about the range: too few replicas are alive, or the cluster does
// not answer other reads either.
var ErrAway = errors.New("the cluster does not answer")

// Run does units of a run. It is safe for concurrent use.
type Run interface {
	// Phases returns the phases to do, one after the other.
	Phases() []Phase
	// Declaration returns a hash of what the run is about: units with different hashes do not belong to the same run.
	Declaration() string
	// Share bounds the requests per second, 0 for no bound, and the requests in flight, of all units together that this
	// Run does.
	Share(rate, inFlight int)
	// Do does a unit, starting where from ended if from is not the zero value, and returns what is done of it by then,
	// including from. It calls tell with the same from time to time, and at the end. The error says why the rest is not
	// done: it is that of ctx, or says that rows could not be read. It is nil if the unit is done, or time is up. It
	// matches ErrAway if the unit should be tried again however often it has failed.
	Do(ctx context.Context, u Unit, from Done, tell func(Done)) (Done, error)
}

// Phase is a part of a run.
type Phase struct {
	Fills  bool     `json:"fills,omitempty"` // rows of the first table are put; otherwise rows are compared
	Tables []string `json:"tables"`          // the tables to read, by their declared names
	Names  []string `json:"names"`           // their names on the cluster, with keyspaces
}

// Unit is a range of tokens of a table: above Low, up to High.
type Unit struct {
	Fills     bool
	Table     string // by its declared name
	Low, High int64
	// Until is when to stop and leave the rest. At least a part is done before. If it is zero, all is done.
	Until time.Time
	// Skip leaves out what cannot be read while the cluster answers, and counts it as uncovered. Otherwise that is an
	// error.
	Skip bool
}

// Done is what was done of a unit. The zero value is nothing.
type Done struct {
	Begun     bool  `json:"begun,omitempty"`
	Cursor    int64 `json:"cursor"` // the unit is done up to this token, if it was begun
	Rows      int64 `json:"rows,omitempty"`
	Put       int64 `json:"put,omitempty"`
	InFlight  int64 `json:"inFlight,omitempty"`  // entities that differed, explained by writes in flight
	Uncovered int64 `json:"uncovered,omitempty"` // ranges and entities that were left
	Unheld    int64 `json:"unheld,omitempty"`
	Ending    int64 `json:"ending,omitempty"` // rows that end by a TTL of their own
	Found     Found `json:"found,omitempty"`
}

// Found counts findings by physical table and class.
type Found map[string]map[string]int64

// Add counts findings of a class in a table.
func (f *Found) Add(table, class string, n int64) {
	if *f == nil {
		*f = make(Found)
	}
	if (*f)[table] == nil {
		(*f)[table] = make(map[string]int64)
	}
	(*f)[table][class] += n
}

// AddAll counts what other has counted.
func (f *Found) AddAll(other Found) {
	for table, found := range other {
		for class, n := range found {
			f.Add(table, class, n)
		}
	}
}
