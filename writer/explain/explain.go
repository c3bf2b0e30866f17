// Package explain says, as text for people, what a write would send and what that guarantees.
//
//	text, err := explain.Write(w, "payOrder", Orders.Update(order, paid))
package explain

import (
	"fmt"
	"slices"
	"strings"

	"github.com/denorm-go/denorm/internal/explained"
	"github.com/denorm-go/denorm/internal/planned"
	"github.com/denorm-go/denorm/internal/statement"
	"github.com/denorm-go/denorm/tables"
	"github.com/denorm-go/denorm/writer"
)

// Write returns as text what [writer.Writer.Write] would send for the changes, and what it guarantees: requests, what is
// atomic, what a reader may see, limits. It sends nothing. The text holds no values of rows. For changes that are not
// valid it returns the error of Write, except for faults in the live schema, which only Write finds.
//
// The lines apart name tables with partitions of their own whose keys differ only in the keyspace, the column order or
// a bucket function. Declared alike, they would share partitions, and so requests.
func Write(w *writer.Writer, op string, changes ...tables.Change) (string, error) {
	made, err := explained.Of(w.Internal().Explain(op, changes...))
	if err != nil {
		return "", err
	}
	p := plan{Plan: made, mode: writer.Mode(made.Mode)}
	p.several = len(slices.DeleteFunc(slices.Clone(changes), func(c tables.Change) bool {
		return c.Kind() == tables.Add
	})) > 1
	partitions := 0
	for _, r := range made.Requests {
		if !r.Counter {
			partitions += r.Partitions
		}
	}
	if partitions > 1 {
		p.apart = apart(changes, w.Internal().Physical)
	}
	return p.text(), nil
}

// plan is a plan with what it says of the declaration of its sets.
type plan struct {
	*explained.Plan
	mode    writer.Mode
	several bool // entities, those of counters not counted
	apart   []string
}

// text is the plan for people: requests, what is atomic, what a reader may see, limits.
func (p *plan) text() string {
	var b strings.Builder
	line := func(title, format string, args ...any) {
		fmt.Fprintf(&b, "%-16s"+format+"\n", append([]any{title}, args...)...)
	}
	line("write", "%s", p.Op)
	line("mode", "%s: %s", p.mode, p.Reason)
	if p.mode == writer.Transaction {
		p.writeTransaction(line)
		return b.String()
	}
	(*condition)(p.Condition).write(line)
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
	for i, why := range p.apart {
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
	if p.mode == writer.LoggedBatch {
		line("batchlog fails", "%s", p.batchlogFails())
	}
	if p.mode != writer.Counter {
		line("request fails", "%s", p.requestFails())
	}
	if p.groups() {
		line("group fails", "%s", p.groupFails())
	}
	if p.counts() {
		line("counters", "%s", p.counters())
	}
	line("time limit", "%v for all of it, or the deadline of the call's context if that is earlier", p.Timeout)
	if p.mode == writer.LoggedBatch {
		line("size limit", "about %s of %s (batch_size_fail_threshold)", explained.KiB(p.BatchBytes), explained.KiB(p.BatchLimit))
	} else {
		line("size limit", "none for the write; max_mutation_size of the server for each request")
	}
	return b.String()
}

// counts says whether counters are added to.
func (p *plan) counts() bool {
	return slices.ContainsFunc(p.Requests, func(r explained.Request) bool { return r.Counter })
}

// groups says whether requests are sent together.
func (p *plan) groups() bool {
	return p.mode != writer.LoggedBatch && slices.ContainsFunc(p.Requests, func(r explained.Request) bool {
		return r.Partitions > 1
	})
}

// counters is what differs for them.
func (p *plan) counters() string {
	others := ""
	if p.mode != writer.Counter {
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

func (p *plan) has(kind statement.MutationKind) bool {
	return slices.ContainsFunc(p.Requests, func(r explained.Request) bool {
		return slices.ContainsFunc(r.Statements, func(s explained.Statement) bool { return s.Kind == kind })
	})
}

func (p *plan) writeRequests(b *strings.Builder) {
	fmt.Fprintf(b, "%-16s%d", "requests", len(p.Requests))
	if len(p.Requests) > 1 {
		b.WriteString(", all at the same time")
	}
	switch {
	case p.mode == writer.Counter:
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
		case p.mode == writer.LoggedBatch && !r.Counter:
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

func (p *plan) batchlogFails() string {
	if p.Strict {
		return "the write fails"
	}
	return fmt.Sprintf("the statements go out as a fan-out at the same timestamp, and later writes do so for at least "+
		"%v, until %d "+
		"batches in a row have worked; if the client dies then, some tables may lack the write", planned.BatchlogPause,
		planned.BatchlogTrials)
}

func (p *plan) requestFails() string {
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

func (p *plan) groupFails() string {
	const split = "its partitions are written by a request each at once, at the same timestamp; each is "
	if p.mode == writer.Conditional {
		return split + "pending until its own request succeeds"
	}
	return split + "unknown until its own request succeeds, unless the group was rejected before it was executed"
}
