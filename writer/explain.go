package writer

import (
	"slices"
	"strings"
	"time"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/internal/decide"
	"github.com/denorm-go/denorm/internal/each"
	"github.com/denorm-go/denorm/internal/entity"
	"github.com/denorm-go/denorm/internal/fanout"
	"github.com/denorm-go/denorm/internal/statement"
	"github.com/denorm-go/denorm/retry"
	"github.com/denorm-go/denorm/session"
	"github.com/denorm-go/denorm/tables"
)

// Plan is what a write would send, and what that guarantees. It holds no values of rows.
type Plan struct {
	Op     string
	Mode   Mode
	Reason string // why this mode
	Strict bool   // a LoggedBatch fails rather than become a fan-out
	// Condition is what must hold before Requests are sent, or nil. A Transaction is one request that includes the
	// condition, so its plan has no Requests.
	Condition *PlannedCondition
	Requests  []PlannedRequest

	Expires bool // some row has a TTL
	// Grouped is text: which requests are sent together, or why none are. It is empty without the option Group. A group
	// is one of Requests.
	Grouped string

	// BatchBytes is the estimated size of a LoggedBatch, BatchLimit the largest size allowed.
	BatchBytes, BatchLimit int

	Policy      retry.Policy        // of each request
	Timeout     time.Duration       // of the call, unless its context ends sooner
	Consistency session.Consistency // at which each request is acknowledged
}

// PlannedCondition is a lightweight transaction of a [Plan], which decides whether the rest is sent. For a Transaction
// it is the whole write.
type PlannedCondition struct {
	Keyspace, Table string   // of the first change
	Texts           []string // CQL; several are sent in one batch. Of a Transaction: its lines
	Serial          string   // SERIAL or LOCAL_SERIAL; empty for a Transaction
	Claims          []string // Unique tables in which a key is taken before the transaction
	Releases        []string // Unique tables in which a key is given up at the end
	OthersFollow    bool     // other entities are written after it, and not atomically with it
	Followed        bool     // the query tables follow the base row
	Unmet           string   // text: in which case it does not hold
}

// PlannedRequest is one request of a [Plan].
type PlannedRequest struct {
	Statements []PlannedStatement
	Partitions int  // more than one for a group or a LoggedBatch
	Counter    bool // it adds to counters
}

// PlannedStatement is one statement of a [PlannedRequest].
type PlannedStatement struct {
	Keyspace, Table string
	Kind            statement.MutationKind
	Text            string // CQL, with ? for every value
}

// Explain returns what [Writer.Write] would send for the changes, and what it guarantees, without sending anything. For
// changes that are not valid it returns the error of Write, except for faults in the live schema, which only Write
// finds. Package explain prints the plan.
func (w *Writer) Explain(op string, changes ...tables.Change) (*Plan, error) {
	w = w.made()
	p, err := w.plan(op, changes, 0)
	if err != nil {
		return nil, reject(op, err)
	}
	out := &Plan{
		Op: op, Mode: p.mode, Reason: p.reason, Strict: p.Strict, BatchLimit: w.batchLimit, Policy: w.attempts().
			WithDefaults(),
		Timeout: w.timeout, Consistency: session.Consistency(w.consistency),
	}
	if p.deciding != nil {
		out.Condition = told(p.decision)
	}
	if p.deciding != nil && p.decision.Whole {
		out.Consistency = session.Consistency(p.decision.First().Base().Set.Level(w.consistency))
		out.Condition.Serial = ""
		return out, nil
	}
	if out.Condition != nil {
		out.Condition.OthersFollow = len(changes) > len(p.decision.Parts)
	}
	requests := slices.Concat(w.explainGroups(p, out), p.Counters)
	for _, request := range requests {
		r := PlannedRequest{Partitions: len(fanout.Requests(request.Mutations)), Counter: request.Kind == retry.Counter}
		for _, m := range request.Mutations {
			r.Statements = append(r.Statements, PlannedStatement{m.Keyspace, m.Table, m.Kind, m.Statement})
			out.Expires = out.Expires || fanout.Expires(m)
		}
		out.Requests = append(out.Requests, r)
		if request.Kind == retry.LoggedBatch {
			out.BatchBytes = request.Size()
			if err := w.guardSize(&request, p.atomic); err != nil {
				return nil, reject(op, err)
			}
		}
	}
	return out, nil
}

// told is a decision for people.
func told(d *decide.Decision) *PlannedCondition {
	cond := d.First()
	out := &PlannedCondition{
		Keyspace: cond.Keyspace, Table: cond.Table, Serial: gocql.Serial.String(), Unmet: d.Unmet,
		Followed: d.Followed,
	}
	if cond.Local {
		out.Serial = gocql.LocalSerial.String()
	}
	for _, text := range d.Texts(d) {
		out.Texts = append(out.Texts, strings.Split(strings.TrimSpace(text), "\n")...)
	}
	name := func(k *entity.Claim) string { return k.Table }
	for _, one := range d.Parts {
		out.Claims = each.Once(append(out.Claims, each.Of(one.Claims, name)...))
		out.Releases = each.Once(append(out.Releases, each.Of(one.Releases, name)...))
	}
	return out
}
