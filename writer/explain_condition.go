package writer

import (
	"slices"
	"strings"

	"github.com/gocql/gocql"
)

// planned describes a condition; nil stays nil.
func (c *condition) planned() *PlannedCondition {
	if c == nil {
		return nil
	}
	cond := c.Condition
	out := &PlannedCondition{
		Keyspace: cond.Keyspace, Table: cond.Table, Serial: gocql.Serial.String(), Versioned: cond.Versioned, Texts: conditionTexts(c.all()),
	}
	if cond.Local {
		out.Serial = gocql.LocalSerial.String()
	}
	for _, one := range c.all() {
		for _, k := range one.Claims {
			if !slices.Contains(out.Claims, k.Table) {
				out.Claims = append(out.Claims, k.Table)
			}
		}
		for _, k := range one.Releases {
			if !slices.Contains(out.Releases, k.Table) {
				out.Releases = append(out.Releases, k.Table)
			}
		}
	}
	return out
}

// write adds the lines of a condition to those of a plan.
func (c *PlannedCondition) write(line func(title, format string, args ...any)) {
	if c == nil {
		return
	}
	if len(c.Claims) > 0 {
		line("first", "the new key is claimed in %s, by a lightweight transaction: %v if another entity has it", strings.Join(c.Claims, ", "), ErrTaken)
	}
	line("condition", "a lightweight transaction at %s decides; nothing below is sent unless it holds", c.Serial)
	for _, text := range c.Texts {
		line("", "%s", text)
	}
	if c.Versioned {
		line("", "if the row is not the one that was read: %v, with the row as it is", ErrConflict)
	} else {
		line("", "if the columns are not as they were read: %v, with the row as it is", ErrConflict)
	}
	if c.OthersFollow {
		line("between", "a client that dies after the condition and before the rest leaves its row alone with the write; Resume finishes it")
	}
	if len(c.Releases) > 0 {
		line("last", "the old key is given up in %s; if the client dies before, whoever claims it next sees that it is free",
			strings.Join(c.Releases, ", "))
	}
}

// writeTransaction adds the lines of a plan that is one transaction.
func (p *Plan) writeTransaction(line func(title, format string, args ...any)) {
	line("requests", "1, a transaction over all tables; nothing is written unless all of its conditions hold")
	for _, text := range p.Condition.Texts {
		line("", "%s", text)
	}
	line("acknowledged", "by %v of the replicas of every partition", p.Consistency)
	line("not as read", "%v, with the row as it is", ErrConflict)
	if len(p.Condition.Claims) > 0 {
		line("key not free", "%v, if another entity has the key in %s", ErrTaken, strings.Join(p.Condition.Claims, ", "))
	}
	g := guarantees[Transaction]
	line("atomic", "%s", g.atomic)
	line("a reader sees", "%s", g.reader)
	line("client dies", "%s", g.death)
	line("request fails", "%s", p.requestFails())
	line("time limit", "%v for all of it, or the deadline of the call's context if that is earlier", p.Timeout)
}
