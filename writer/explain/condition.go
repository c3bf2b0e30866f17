package explain

import (
	"strings"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/internal/explained"
	"github.com/denorm-go/denorm/internal/statement"
	"github.com/denorm-go/denorm/writer"
)

// condition is what a plan has to hold first.
type condition explained.Condition

// write adds the lines of a condition to those of a plan.
func (c *condition) write(line func(title, format string, args ...any)) {
	if c == nil {
		return
	}
	if len(c.Claims) > 0 {
		line("first", "the new key is claimed in %s, by a lightweight transaction: %v if another entity has it",
			strings.Join(c.Claims, ", "), writer.ErrTaken)
		line("", "if the client dies before the condition holds, the key stays claimed; another entity can take it after "+
			"ClaimGrace")
	}
	line("condition", "a lightweight transaction at %s decides; nothing below is sent unless it holds", c.Serial)
	for _, text := range c.Texts {
		line("", "%s", text)
	}
	line("", "%s: %v, with the row as it is", c.Unmet, writer.ErrConflict)
	if c.Serial == gocql.LocalSerial.String() {
		line("", "it holds in one datacentre: if two write the entity, updates are lost, a unique key gets two owners, and "+
			"a row may block")
	}
	if c.OthersFollow {
		line("between", "the rest is not atomic with the condition: a client that dies in between leaves the row of the "+
			"condition alone with the write")
	}
	if len(c.Releases) > 0 {
		line("last", "the old key is given up in %s; if the client dies before, whoever claims it next sees that it is free",
			strings.Join(c.Releases, ", "))
	}
}

// before is what a client leaves that dies before the condition holds.
func (c *condition) before() string {
	if len(c.Claims) > 0 {
		return "nothing but the claim of the key is done before the condition holds"
	}
	return "nothing is done before the condition holds"
}

// writeDeath adds what else a client that dies may leave.
func (p *plan) writeDeath(line func(title, format string, args ...any)) {
	if p.Condition != nil && p.Condition.Followed && p.mode != writer.Conditional {
		line("", "the next write of the versioned entity finishes its query tables, and writes no other entity")
	}
	if (p.mode == writer.FanOut || p.mode == writer.Fallback) && p.has(statement.Remove) {
		line("", "a row that was to be removed may stay; if the entity was deleted, or the key column is SingleWriter, no "+
			"later write of the entity "+
			"removes it: the same write again does, or a repair")
	}
}

// writeTransaction adds the lines of a plan that is one transaction.
func (p *plan) writeTransaction(line func(title, format string, args ...any)) {
	line("requests", "1, a transaction over all tables; nothing is written unless all of its conditions hold")
	for _, text := range p.Condition.Texts {
		line("", "%s", text)
	}
	line("acknowledged", "by %v of the replicas of every partition", p.Consistency)
	line(p.Condition.Unmet, "%v, with the row as it is", writer.ErrConflict)
	if len(p.Condition.Claims) > 0 {
		line("key not free", "%v, if another entity has the key in %s", writer.ErrTaken, strings.Join(p.Condition.Claims, ", "))
	}
	g := guarantees[writer.Transaction]
	line("atomic", "%s", g.atomic)
	line("a reader sees", "%s", g.reader)
	line("client dies", "%s", g.death)
	line("request fails", "%s", p.requestFails())
	line("time limit", "%v for all of it, or the deadline of the call's context if that is earlier", p.Timeout)
}
