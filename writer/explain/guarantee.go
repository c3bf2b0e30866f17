package explain

import (
	"strings"

	"github.com/denorm-go/denorm/writer"
)

// guarantee is what is said of a mode.
type guarantee struct{ atomic, reader, death string }

var fannedOut = guarantee{
	"each request by itself, not all of them together",
	"some tables with the write and others still without, while it is under way, and after an error until Resume has " +
		"returned nil",
	"some tables have the write and others do not, until the entity is written again",
}

// docs/ref/guarantees.md says the same with the tests that prove it.
var guarantees = map[writer.Mode]guarantee{
	writer.Single: {
		"the statement, which is all of the write",
		"the row as it was or as it will be, never a part of each",
		"all of the write is done, or nothing",
	},
	writer.SamePartition: {
		"the request, which is all of the write: a replica applies all of it, or nothing",
		"every row as it was or as it will be; while the write is under way, one table with it and another still without",
		"all of the write is done, or nothing",
	},
	writer.FanOut:   fannedOut,
	writer.Fallback: fannedOut,
	writer.LoggedBatch: {
		"the request, which is all of the write, in the end but not at one moment: what the batchlog has stored the server " +
			"replays",
		"some tables with the write and others still without, for milliseconds, and after a timeout until the batchlog is " +
			"replayed",
		"all of the write is done in the end, or nothing; a replay is expected within seconds, but a stopped node keeps " +
			"its part of the batchlog until it is back",
	},
	writer.Conditional: {
		"the condition with the base row; each request after it by itself",
		"the base row with the write and query tables still without, while it is under way, and after an error until " +
			"Resume has returned nil or the entity is written again",
		"after that the next write of the entity finishes the query tables first",
	},
	writer.Transaction: {
		"all of the write: its rows in all tables are written at one moment, or none of them",
		"every table with the write or without it; in one transaction that reads several tables, all with it or all " +
			"without it",
		"all of the write is done, or nothing",
	},
	writer.Counter: {
		"each request by itself, not all of them together",
		"some counters with the addition and others still without, while it is under way",
		"some counters have the addition and others do not, and it cannot be determined which",
	},
}

// ofTheRest says of what is sent after a condition what a mode says of a whole write.
var ofTheRest = strings.NewReplacer("the write", "the rest")

// nextLine continues a text of a plan.
const nextLine = "\n                "

// guarantee is that of the mode, and of the condition before it: the two are not one write.
func (p *plan) guarantee() guarantee {
	g, c := guarantees[p.mode], (*condition)(p.Condition)
	if p.several {
		g.death = strings.ReplaceAll(g.death, "until the entity is", "until each of the entities is")
	}
	if p.groups() {
		g.atomic = "each partition by itself, not all of them together, nor those of a group"
		if p.mode == writer.Conditional {
			g.atomic = "the condition with the base row; after it " + g.atomic
		}
	}
	switch {
	case c == nil:
	case p.mode == writer.Conditional:
		g.death = c.before() + "; " + g.death
	default:
		finished := "until Resume of a stored error"
		if c.Followed {
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
