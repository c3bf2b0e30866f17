// Package explained makes of a planned write what people are told of it. It sends nothing.
package explained

import (
	"slices"
	"strings"
	"time"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/internal/decide"
	"github.com/denorm-go/denorm/internal/each"
	"github.com/denorm-go/denorm/internal/entity"
	"github.com/denorm-go/denorm/internal/fanout"
	"github.com/denorm-go/denorm/internal/planned"
	"github.com/denorm-go/denorm/internal/statement"
	"github.com/denorm-go/denorm/retry"
)

// Plan is what a write would send, and what that guarantees. It holds no values of rows.
type Plan struct {
	Op     string
	Mode   uint8  // a writer.Mode
	Reason string // why this mode
	Strict bool   // a logged batch fails rather than become a fan-out
	// Condition is what must hold before Requests are sent, or nil. A transaction is one request that includes the
	// condition, so its plan has no Requests.
	Condition *Condition
	Requests  []Request

	Expires bool // some row has a TTL
	// Grouped is text: which requests are sent together, or why none are. It is empty without the option Group. A group
	// is one of Requests.
	Grouped string

	// BatchBytes is the estimated size of a logged batch, BatchLimit the largest size allowed.
	BatchBytes, BatchLimit int

	Policy      retry.Policy      // of each request
	Timeout     time.Duration     // of the call, unless its context ends sooner
	Consistency gocql.Consistency // at which each request is acknowledged
}

// Condition is a lightweight transaction of a [Plan], which decides whether the rest is sent. For a transaction it is
// the whole write.
type Condition struct {
	Texts        []string // CQL; several are sent in one batch. Of a transaction: its lines
	Serial       string   // SERIAL or LOCAL_SERIAL; empty for a transaction
	Claims       []string // Unique tables in which a key is taken before the transaction
	Releases     []string // Unique tables in which a key is given up at the end
	OthersFollow bool     // other entities are written after it, and not atomically with it
	Followed     bool     // the query tables follow the base row
	Unmet        string   // text: in which case it does not hold
}

// Request is one request of a [Plan].
type Request struct {
	Statements []Statement
	Partitions int  // more than one for a group or a logged batch
	Counter    bool // it adds to counters
}

// Statement is one statement of a [Request].
type Statement struct {
	Keyspace, Table string
	Kind            statement.MutationKind
	Text            string // CQL, with ? for every value
}

// Of is the plan of what Explain of [planned.Writer] returns.
func Of(w *planned.Explained, err error) (*Plan, error) {
	if err != nil {
		return nil, err
	}
	out := &Plan{
		Op: w.Op, Mode: w.Mode, Reason: w.Reason, Strict: w.Strict, BatchLimit: w.BatchLimit,
		Policy: w.Policy.WithDefaults(), Timeout: w.Timeout, Consistency: w.Sender.Consistency,
	}
	if w.Decision != nil {
		out.Condition = conditionOf(w.Decision)
		if w.Decision.Whole {
			out.Consistency = w.Decision.First().Base().Set.Level(out.Consistency)
			out.Condition.Serial = ""
			return out, nil
		}
		out.Condition.OthersFollow = w.Changes > len(w.Decision.Parts)
	}
	for _, request := range slices.Concat(grouped(w, out), w.Counters) {
		r := Request{Partitions: len(fanout.Requests(request.Mutations)), Counter: request.Kind == retry.Counter}
		for _, m := range request.Mutations {
			r.Statements = append(r.Statements, Statement{m.Keyspace, m.Table, m.Kind, m.Statement})
			out.Expires = out.Expires || fanout.Expires(m)
		}
		out.Requests = append(out.Requests, r)
		if request.Kind == retry.LoggedBatch {
			out.BatchBytes = request.Size()
		}
	}
	return out, nil
}

// conditionOf is a decision for people.
func conditionOf(d *decide.Decision) *Condition {
	out := &Condition{Serial: gocql.Serial.String(), Unmet: d.Unmet, Followed: d.Followed}
	if d.First().Base().Set.LocalSerial {
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
