package writer

import (
	"fmt"
	"slices"
	"strings"
	"time"

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
	Reason string // why the mode
	Strict bool   // a LoggedBatch fails rather than become a fan-out
	// Condition is what has to hold before Requests are sent, nil if there is none. A Transaction holds it together with
	// everything else, so its plan has no Requests.
	Condition *PlannedCondition
	Requests  []PlannedRequest

	Expires bool // some row has a TTL
	// Grouped says which requests are sent together, or why none are; empty unless the writer has the option Group. A
	// group is one of Requests.
	Grouped string
	// Apart says which tables have partitions of their own, although their keys differ only in the keyspace, the column
	// order or a bucket function. If they were declared alike, they would share partitions, and so requests.
	Apart []string

	// BatchBytes is the estimated size of a LoggedBatch, BatchLimit the largest size allowed.
	BatchBytes, BatchLimit int

	Policy      retry.Policy        // of each request
	Timeout     time.Duration       // of the call, unless its context ends sooner
	Consistency session.Consistency // at which each request is acknowledged

	several bool // entities, those of counters not counted
}

// PlannedCondition is a lightweight transaction of a [Plan], which decides whether the rest is sent, or all of a
// Transaction.
type PlannedCondition struct {
	Keyspace, Table string   // of the first change
	Texts           []string // CQL; several are sent in one batch. Of a Transaction: its lines
	Serial          string   // SERIAL or LOCAL_SERIAL; empty for a Transaction
	Claims          []string // Unique tables in which a key is taken before the transaction
	Releases        []string // Unique tables in which a key is given up at the end
	OthersFollow    bool     // other entities are written after it, and not atomically with it

	unmet    string
	followed bool // its query tables are brought to the state of the base row
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

// Explain says what [Writer.Write] would send for the changes, and what it guarantees, without sending anything. For
// changes that are not valid it returns the error of Write, except for what depends on the live schema: only Write
// finds that.
func (w *Writer) Explain(op string, changes ...tables.Change) (*Plan, error) {
	w = w.made()
	planning := *w
	planning.batchlog = w.batchlog.copy() // the next write, not this call, is the one that tries the batchlog again
	p, err := planning.plan(op, changes, 0)
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
	out.several = len(slices.DeleteFunc(slices.Clone(changes), func(c tables.Change) bool {
		return c.Kind() == tables.Add
	})) > 1
	if p.deciding != nil && p.decision.Whole {
		out.Consistency = session.Consistency(p.decision.First().Base().Level(w.consistency))
		out.Condition.Serial = ""
		return out, nil
	}
	if out.Condition != nil {
		out.Condition.OthersFollow = len(changes) > len(p.decision.Parts)
	}
	if len(p.Requests) > 1 || p.mode == LoggedBatch {
		out.Apart = w.apart(changes)
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

// String returns the plan as text for people: requests, what is atomic, what a reader may see, limits.
func (p *Plan) String() string {
	var b strings.Builder
	line := func(title, format string, args ...any) {
		fmt.Fprintf(&b, "%-16s"+format+"\n", append([]any{title}, args...)...)
	}
	line("write", "%s", p.Op)
	line("mode", "%s: %s", p.Mode, p.Reason)
	if p.Mode == Transaction {
		p.writeTransaction(line)
		return b.String()
	}
	p.Condition.write(line)
	if len(p.Requests) == 0 && p.Condition != nil {
		line("requests", "none besides the transaction")
		line("time limit", "%v for all of it, or the deadline of the call's context if that is earlier", p.Timeout)
		return b.String()
	}
	if len(p.Requests) == 0 {
		line("requests", "none")
		return b.String()
	}
	p.writeRequests(&b)
	if p.Grouped != "" {
		line("grouped", "%s", p.Grouped)
	}
	for i, why := range p.Apart {
		line([]string{"apart", ""}[min(i, 1)], "%s", why)
	}
	g := p.guarantee()
	line("acknowledged", "by %v of the replicas of every partition; until then the write is not reported as done",
		p.Consistency)
	line("atomic", "%s", g.atomic)
	line("a reader sees", "%s", g.reader)
	if p.has(statement.Put) && p.has(statement.Remove) {
		line("", "a row that moves may briefly be under both its old and its new key, or under neither")
	}
	if p.Expires {
		line("", "no value after the moment of expiry: each attempt sends the TTL that is left, or deletes if none is")
	}
	line("client dies", "%s", g.death)
	if p.groups() {
		line("", "of a group all have the write or none, unless its coordinator dies too or rejects a part")
	}
	p.writeDeath(line)
	if p.Mode == LoggedBatch {
		line("batchlog fails", "%s", p.batchlogFails())
	}
	if p.Mode != Counter {
		line("request fails", "%s", p.requestFails())
	}
	if p.groups() {
		line("group fails", "%s", p.groupFails())
	}
	if p.counts() {
		line("counters", "%s", p.counters())
	}
	line("time limit", "%v for all of it, or the deadline of the call's context if that is earlier", p.Timeout)
	if p.Mode == LoggedBatch {
		line("size limit", "about %s of %s (batch_size_fail_threshold)", kib(p.BatchBytes), kib(p.BatchLimit))
	} else {
		line("size limit", "none for the write; max_mutation_size of the server for each request")
	}
	return b.String()
}

// counts says whether counters are added to.
func (p *Plan) counts() bool {
	return slices.ContainsFunc(p.Requests, func(r PlannedRequest) bool { return r.Counter })
}

// groups says whether requests are sent together.
func (p *Plan) groups() bool {
	return p.Mode != LoggedBatch && slices.ContainsFunc(p.Requests, func(r PlannedRequest) bool {
		return r.Partitions > 1
	})
}

// counters is what differs for them.
func (p *Plan) counters() string {
	others := ""
	if p.Mode != Counter {
		others = "the above applies to the other tables; "
	}
	dies := ""
	if p.Condition != nil {
		dies = "; if the client dies after the condition, before they are sent, nothing sends them later"
	}
	return fmt.Sprintf("%sa request of counters is sent again, in all up to %d times, only while it surely was not "+
		"counted; after a lost answer "+
		"it may have been, Write says unknown, and neither it nor Resume sends it again%s", others, p.Policy.MaxAttempts,
		dies)
}

func (p *Plan) has(kind statement.MutationKind) bool {
	return slices.ContainsFunc(p.Requests, func(r PlannedRequest) bool {
		return slices.ContainsFunc(r.Statements, func(s PlannedStatement) bool { return s.Kind == kind })
	})
}

func (p *Plan) writeRequests(b *strings.Builder) {
	fmt.Fprintf(b, "%-16s%d", "requests", len(p.Requests))
	if len(p.Requests) > 1 {
		b.WriteString(", all at the same time")
	}
	switch {
	case p.Mode == Counter:
		b.WriteString("; counters have no timestamp")
	case p.counts():
		b.WriteString("; one timestamp for all statements but those of counters, which have none")
	default:
		b.WriteString("; one timestamp for all statements")
	}
	if p.has(statement.Remove) {
		b.WriteString("; some deletes are 1 µs earlier, so that they lose against a write at the same microsecond")
	}
	b.WriteString("\n")
	for i, r := range p.Requests {
		what := "1 statement"
		switch {
		case r.Counter && len(r.Statements) > 1:
			what = fmt.Sprintf("counter batch of %d statements for 1 partition", len(r.Statements))
		case p.Mode == LoggedBatch && !r.Counter:
			what = fmt.Sprintf("logged batch of %d statements for %d partitions", len(r.Statements), r.Partitions)
		case r.Partitions > 1:
			what = fmt.Sprintf("unlogged batch of %d statements for %d partitions, in a group", len(r.Statements), r.Partitions)
		case len(r.Statements) > 1:
			what = fmt.Sprintf("batch of %d statements for 1 partition", len(r.Statements))
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
	return fmt.Sprintf("the statements go out as a fan-out at the same timestamp, and later writes do so for at least "+
		"%v, until %d "+
		"batches in a row have worked; if the client dies then, some tables may lack the write", batchlogPause,
		batchlogTrials)
}

func (p *Plan) requestFails() string {
	if p.Policy.MaxAttempts == 1 {
		return "it is not sent again; Write says what is known of each table, and Resume finishes"
	}
	again := "it is sent again"
	if len(p.Requests) > 1 {
		again = "it alone is sent again"
	}
	return fmt.Sprintf("%s, in all up to %d times, each for %v at most, none begun after %v; "+
		"then Write says what is known of each table, and Resume finishes",
		again, p.Policy.MaxAttempts, p.Policy.AttemptTimeout, p.Policy.MaxElapsedTime)
}

func (p *Plan) groupFails() string {
	const split = "its partitions are written by a request each at once, at the same timestamp; each is "
	if p.Mode == Conditional {
		return split + "pending until its own request succeeds"
	}
	return split + "unknown until its own request succeeds, unless the group was rejected before it was executed"
}

func kib(bytes int) string { return fmt.Sprintf("%.1f KiB", float64(bytes)/1024) }

// guarantee is what Plan.String says of a mode.
type guarantee struct{ atomic, reader, death string }

var fannedOut = guarantee{
	"each request by itself, not all of them together",
	"some tables with the write and others still without, while it is under way, and after an error until Resume has " +
		"returned nil",
	"some tables have the write and others do not, until the entity is written again",
}

// docs/ref/guarantees.md says the same with the tests that prove it.
var guarantees = map[Mode]guarantee{
	Single: {
		"the statement, which is all of the write",
		"the row as it was or as it will be, never a part of each",
		"all of the write is done, or nothing",
	},
	SamePartition: {
		"the request, which is all of the write: a replica applies all of it, or nothing",
		"every row as it was or as it will be; while the write is under way, one table with it and another still without",
		"all of the write is done, or nothing",
	},
	FanOut:   fannedOut,
	Fallback: fannedOut,
	LoggedBatch: {
		"the request, which is all of the write, in the end but not at one moment: what the batchlog has stored the server " +
			"replays",
		"some tables with the write and others still without, for milliseconds, and after a timeout until the batchlog is " +
			"replayed",
		"all of the write is done in the end, or nothing; a replay is expected within seconds, but a stopped node keeps " +
			"its part of the batchlog until it is back",
	},
	Conditional: {
		"the condition with the base row; each request after it by itself",
		"the base row with the write and query tables still without, while it is under way, and after an error until " +
			"Resume has returned nil or the entity is written again",
		"after that the next write of the entity finishes the query tables first",
	},
	Transaction: {
		"all of the write: its rows in all tables are written at one moment, or none of them",
		"every table with the write or without it; in one transaction that reads several tables, all with it or all " +
			"without it",
		"all of the write is done, or nothing",
	},
	Counter: {
		"each request by itself, not all of them together",
		"some counters with the addition and others still without, while it is under way",
		"some counters have the addition and others do not, and it cannot be determined which",
	},
}
