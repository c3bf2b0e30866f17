package coordinator

import (
	"fmt"
	"time"

	"github.com/denorm-go/denorm/internal/cassandra/catalog"
	"github.com/denorm-go/denorm/internal/cassandra/query"
	"github.com/denorm-go/denorm/internal/cql/ast"
	"github.com/gocql/gocql"
)

// Request is a statement or a batch, to be carried out by a node.
type Request struct {
	Node        int
	Statements  []Bound
	Batch       bool
	Kind        ast.BatchKind // of a batch
	Consistency gocql.Consistency
	Serial      gocql.SerialConsistency
	Timestamp   int64 // microseconds, that of the protocol; 0 for none
	Page        query.Page
	Course      Course
	now         int64 // microseconds, by the clock of the node
}

// Bound is a prepared statement with its values.
type Bound struct {
	*query.Prepared
	Values []query.Value
}

// Course is what goes wrong while a write is carried out. The zero value is nothing.
type Course struct {
	// Replicas are the only nodes that get what is written, unless it is nil. There are no hints for the others.
	Replicas []int
	Stage    Stage
}

// Stage is the last thing that the coordinator does for a write.
type Stage uint8

// The stages.
const (
	Done     Stage = iota
	Stored         // of a logged batch: the batchlog has it, and replays it
	Promised       // of a lightweight transaction: the replicas have promised, nothing was proposed
	Accepted       // a majority has accepted it: the next one to look finishes it
	Proposed       // one replica has accepted it: it is finished, or another goes before it
)

// Reply is what a node answers.
type Reply struct {
	Columns         []query.Column // nil unless there are rows
	Keyspace, Table string         // of the columns
	Rows            [][][]byte
	State           []byte // for the next page, nil after the last
	Change          *catalog.Change
	Wrote           bool          // something was written, or may yet be
	Err             error         // a *catalog.Error or a *ReplicaError
	After           time.Duration // so long the answer takes
}

func refused(err error) Reply { return Reply{Err: err} }

// Execute carries a request out.
func (c *Cluster) Execute(r Request) Reply {
	r.now = c.tick() + c.nodes[r.Node].skew.Microseconds()
	for _, s := range r.Statements {
		if err := s.Check(s.Values); err != nil {
			return refused(err)
		}
	}
	if !r.Batch && len(r.Statements) == 1 {
		s := r.Statements[0]
		switch stmt := s.Statement.(type) {
		case *ast.Batch:
			r.Batch, r.Kind = true, stmt.Kind
			r.Statements = nil
			for _, part := range s.Batch {
				r.Statements = append(r.Statements, Bound{part, s.Values})
			}
			return c.batch(r)
		case *ast.Select:
			return c.read(r, s)
		case *ast.Truncate:
			if alive := c.alive(c.everyone()); alive < len(c.nodes)-1 {
				return refused(unavailable(gocql.All, len(c.nodes)-1, alive))
			}
			if up := len(c.up(c.everyone())); up < len(c.nodes)-1 {
				return Reply{After: truncateTimeout, Err: &catalog.Error{
					Code: gocql.ErrCodeTruncate, Message: fmt.Sprintf(
						"Error during truncate: Truncate timed out - received only %d responses", up),
				}}
			}
			c.drop(&catalog.Change{Type: "DROPPED", Table: s.Table})
			return Reply{Wrote: true}
		case *ast.Insert, *ast.Update, *ast.Delete:
			if s.Write.Condition != nil {
				return c.transact(r)
			}
			return c.single(r, s)
		}
		change, err := c.Schema.Define(s.Statement, s.Keyspace)
		if err == nil && change != nil && change.Table != nil {
			c.drop(change)
		}
		return Reply{Err: err, Change: change}
	}
	return c.batch(r)
}

// env is what a statement is executed with.
func (c *Cluster) env(r Request, s Bound) *query.Env {
	env := &query.Env{Values: s.Values, Timestamp: r.Timestamp, Now: r.now, Unique: c.next}
	if r.Timestamp == 0 {
		env.Timestamp = r.now
	}
	return env
}

// tick is the time in microseconds, which no two requests have in common (ClientState.getTimestamp). In a
// testing/synctest bubble the clock stands still while they are carried out.
func (c *Cluster) tick() int64 {
	c.last = max(time.Now().UnixMicro(), c.last+1)
	return c.last
}

func invalid(text string) error {
	return &catalog.Error{Code: gocql.ErrCodeInvalid, Message: text}
}
