package writer

import (
	"slices"
	"strings"

	"github.com/denorm-go/denorm/internal/decide"
	"github.com/denorm-go/denorm/internal/statement"
	"github.com/gocql/gocql"
)

// told is a decision for people.
func told(d *decide.Decision) *PlannedCondition {
	cond := d.First()
	out := &PlannedCondition{
		Keyspace: cond.Keyspace, Table: cond.Table, Serial: gocql.Serial.String(), unmet: d.Unmet,
		followed: d.Followed,
	}
	if cond.Local {
		out.Serial = gocql.LocalSerial.String()
	}
	for _, text := range d.Texts(d) {
		out.Texts = append(out.Texts, strings.Split(strings.TrimSpace(text), "\n")...)
	}
	for _, one := range d.Parts {
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
		line("first", "the new key is claimed in %s, by a lightweight transaction: %v if another entity has it",
			strings.Join(c.Claims, ", "), ErrTaken)
		line("", "if the client dies before the condition holds, the key stays claimed; another entity can take it after "+
			"ClaimGrace")
	}
	line("condition", "a lightweight transaction at %s decides; nothing below is sent unless it holds", c.Serial)
	for _, text := range c.Texts {
		line("", "%s", text)
	}
	line("", "%s: %v, with the row as it is", c.unmet, ErrConflict)
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
func (c *PlannedCondition) before() string {
	if len(c.Claims) > 0 {
		return "nothing but the claim of the key is done before the condition holds"
	}
	return "nothing is done before the condition holds"
}

// ofTheRest says of what is sent after a condition what a mode says of a whole write.
var ofTheRest = strings.NewReplacer("the write", "the rest")

// nextLine continues a text of a plan.
const nextLine = "\n                "

// guarantee is that of the mode, and of the condition before it: the two are not one write.
func (p *Plan) guarantee() guarantee {
	g, c := guarantees[p.Mode], p.Condition
	if p.several {
		g.death = strings.ReplaceAll(g.death, "until the entity is", "until each of the entities is")
	}
	if p.groups() {
		g.atomic = "each partition by itself, not all of them together, nor those of a group"
		if p.Mode == Conditional {
			g.atomic = "the condition with the base row; after it " + g.atomic
		}
	}
	switch {
	case c == nil:
	case p.Mode == Conditional:
		g.death = c.before() + "; " + g.death
	default:
		finished := "until Resume of a stored error"
		if c.followed {
			finished += ", or the same write again with the same At,"
		}
		g = guarantee{
			atomic: "the condition with its row; after it, apart from it, " + ofTheRest.Replace(g.atomic),
			reader: "the row of the condition with the write and the rest still without, while it is under way, and after an " +
				"error until Resume has " +
				"returned nil" + nextLine + "and of the rest " + ofTheRest.Replace(g.reader),
			death: c.before() + "; after it the row of the condition has the write, and the rest may not have been sent, " +
				finished +
				" sends it" + nextLine + "if it was sent, " + ofTheRest.Replace(g.death),
		}
	}
	return g
}

// writeDeath adds what else a client that dies may leave.
func (p *Plan) writeDeath(line func(title, format string, args ...any)) {
	if p.Condition != nil && p.Condition.followed && p.Mode != Conditional {
		line("", "the next write of the versioned entity finishes its query tables, and writes no other entity")
	}
	if (p.Mode == FanOut || p.Mode == Fallback) && p.has(statement.Remove) {
		line("", "a row that was to be removed may stay; if the entity was deleted, or the key column is SingleWriter, no "+
			"later write of the entity "+
			"removes it: the same write again does, or a repair")
	}
}

// writeTransaction adds the lines of a plan that is one transaction.
func (p *Plan) writeTransaction(line func(title, format string, args ...any)) {
	line("requests", "1, a transaction over all tables; nothing is written unless all of its conditions hold")
	for _, text := range p.Condition.Texts {
		line("", "%s", text)
	}
	line("acknowledged", "by %v of the replicas of every partition", p.Consistency)
	line(p.Condition.unmet, "%v, with the row as it is", ErrConflict)
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
