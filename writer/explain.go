package writer

import (
	"fmt"
	"strings"

	"github.com/denorm-go/denorm/retry"
	"github.com/denorm-go/denorm/tables"
)

// Plan is what a write would send, and what that guarantees. It holds no values of rows.
type Plan struct {
	Op       string
	Mode     Mode
	Reason   string // why the mode
	Strict   bool   // a LoggedBatch fails rather than become a fan-out
	Requests []PlannedRequest

	// BatchBytes is the estimated size of a LoggedBatch, BatchLimit what it may be.
	BatchBytes, BatchLimit int

	Policy retry.Policy // of each request
}

// PlannedRequest is one request of a [Plan].
type PlannedRequest struct {
	Statements []PlannedStatement
	Partitions int
}

// PlannedStatement is one statement of a [PlannedRequest].
type PlannedStatement struct {
	Keyspace, Table string
	Kind            tables.MutationKind
	Text            string // CQL, with ? for every value
}

// Explain says what [Writer.Write] would send for the changes, and what it guarantees, without sending anything. Its
// error is that of Write for changes that are not valid; only what the live schema decides is left to Write.
func (w *Writer) Explain(op string, changes ...tables.Change) (*Plan, error) {
	if w.err != nil {
		return nil, refuse(op, w.err)
	}
	if len(changes) == 0 {
		return &Plan{Op: op}, nil
	}
	p, err := w.plan(op, changes)
	if err != nil {
		return nil, refuse(op, err)
	}
	out := &Plan{
		Op: op, Mode: p.mode, Reason: p.reason, Strict: p.strict, BatchLimit: w.batchLimit, Policy: w.policy.WithDefaults(),
	}
	for _, phase := range p.phases {
		for _, path := range phase {
			r := PlannedRequest{Partitions: len(group(path.mutations))}
			for _, m := range path.mutations {
				r.Statements = append(r.Statements, PlannedStatement{m.Keyspace, m.Table, m.Kind, m.Statement})
			}
			out.Requests = append(out.Requests, r)
			if path.kind == retry.LoggedBatch {
				out.BatchBytes = path.size()
				if err := w.guardSize(path); err != nil {
					return nil, refuse(op, err)
				}
			}
		}
	}
	return out, nil
}

// String is the plan for people: requests, what is atomic, what a reader may see, limits.
func (p *Plan) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s", p.Op, p.Mode)
	if p.Reason != "" {
		fmt.Fprintf(&b, " (%s)", p.Reason)
	}
	b.WriteString("\n")
	if len(p.Requests) == 0 {
		b.WriteString("requests: 0\n")
		return b.String()
	}
	p.writeRequests(&b)
	guarantee := guarantees[p.Mode]
	fmt.Fprintf(&b, "atomic: %s\n", guarantee.atomic)
	fmt.Fprintf(&b, "a reader may see: %s\n", guarantee.reader)
	fmt.Fprintf(&b, "if the client dies: %s\n", guarantee.death)
	if p.Mode == LoggedBatch {
		fmt.Fprintf(&b, "if the batchlog fails: %s\n", p.batchlogFails())
		fmt.Fprintf(&b, "limit: about %s of %s (batch_size_fail_threshold)\n", kib(p.BatchBytes), kib(p.BatchLimit))
	} else {
		b.WriteString("limit: none on the write; the server's max_mutation_size on each request\n")
	}
	return b.String()
}

func (p *Plan) writeRequests(b *strings.Builder) {
	fmt.Fprintf(b, "requests: %d", len(p.Requests))
	if len(p.Requests) > 1 {
		b.WriteString(", all at the same time")
	}
	fmt.Fprintf(b, "; each up to %d attempts of %v within %v, if it fails\n", p.Policy.MaxAttempts, p.Policy.AttemptTimeout,
		p.Policy.MaxElapsedTime)
	for i, r := range p.Requests {
		what := "statement"
		switch {
		case p.Mode == LoggedBatch:
			what = fmt.Sprintf("logged batch of %d statements for %d partitions", len(r.Statements), r.Partitions)
		case len(r.Statements) > 1:
			what = fmt.Sprintf("unlogged batch of %d statements for 1 partition", len(r.Statements))
		}
		fmt.Fprintf(b, "  %d. %s\n", i+1, what)
		for n := 0; n < len(r.Statements); {
			s, same := r.Statements[n], 1
			for n+same < len(r.Statements) && r.Statements[n+same] == s {
				same++
			}
			fmt.Fprintf(b, "     %2d x %-6s  %s\n", same, s.Kind, s.Text)
			n += same
		}
	}
}

func (p *Plan) batchlogFails() string {
	if p.Strict {
		return "the write fails"
	}
	return "the same statements go out as a fan-out at the same timestamp, and for 15s later writes do so at once; " +
		"that gives up what is promised if the client dies"
}

func kib(bytes int) string { return fmt.Sprintf("%.1f KiB", float64(bytes)/1024) }

// guarantees are the texts of Plan.String for each mode. The package documentation says the same with the tests that
// prove it.
var guarantees = map[Mode]struct{ atomic, reader, death string }{
	Single: {
		"the statement",
		"all of it or nothing",
		"all of it or nothing",
	},
	SamePartition: {
		"the request: one mutation on every replica, isolated",
		"all of it or nothing, in each table",
		"all of it or nothing",
	},
	FanOut: {
		"each request by itself, not all of them together",
		"some tables with the write and others still without; after an error until Resume has returned nil",
		"some tables have the write and others do not, until somebody writes the entity again",
	},
	LoggedBatch: {
		"all of it in the end, not at one moment",
		"some partitions with the write and others still without, for milliseconds; after a timeout until the batchlog is replayed",
		"nothing, or all of it: what the batchlog has stored the server completes",
	},
	Fallback: {
		"each request by itself, not all of them together",
		"some tables with the write and others still without; after an error until Resume has returned nil",
		"some tables have the write and others do not, until somebody writes the entity again",
	},
}
