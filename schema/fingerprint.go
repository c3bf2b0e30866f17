package schema

import (
	"time"

	"github.com/denorm-go/denorm/internal/cql"
	"github.com/denorm-go/denorm/internal/fingerprint"
)

// splitComment takes the fingerprint of the table out of its comment.
func (t *Table) splitComment() {
	own, text := fingerprint.Split(t.Comment())
	if text == "" {
		return
	}
	t.Fingerprint = text
	if t.Options[optComment] = cql.Literal(own); own == "" {
		delete(t.Options, optComment)
	}
}

// fingerprint compares what sets declare of a table with what the processes declare that write it.
func (c *comparison) fingerprint(t, live *Table) {
	own := live.Comment()
	if _, declared := t.Options[optComment]; declared {
		own = t.Comment()
	}
	for _, f := range fingerprint.Check(t.Fingerprint, live.Fingerprint, time.Now()) {
		d := Difference{Keyspace: t.Keyspace, Table: t.Name, Column: f.Column, Reason: f.Reason, Note: f.Note, Impossible: f.Do}
		if f.Write != "" {
			d.begun = f.Begun
			d.Fix, d.Impossible = fingerprint.Statement(t.String(), own, f.Write)
		}
		c.add(d)
	}
}
