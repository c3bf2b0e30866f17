package history

import (
	"cmp"
	"slices"

	"github.com/denorm-go/denorm/writer"
)

// Cause is what became of a write that has left its entity different in two tables. Only a write that was never
// acknowledged can: one that was has replaced, in every table, whatever older writes have left.
type Cause uint8

// The causes.
const (
	// None: every write of the entity that could have left the divergence was acknowledged, or surely not applied.
	None Cause = iota
	// InFlight: its client was killed before it had an answer.
	InFlight
	// Partial: its client was told that some tables have it, and did not resume it.
	Partial
	// Open: its client was told that the outcome is unknown, and did not resume it.
	Open
)

// Causes lists all of them.
var Causes = []Cause{None, InFlight, Partial, Open}

func (c Cause) String() string { return []string{"none", "in flight", "partial", "unknown"}[c] }

// Cause is what the write would be to blame for: None if it was acknowledged, or not applied.
func (w *Write[T]) Cause() Cause {
	if w.Outcome == writer.Applied || w.Outcome == writer.NotApplied {
		return None
	}
	if w.Tables == nil {
		return InFlight
	}
	for _, o := range w.Tables {
		if o == writer.Applied {
			return Partial
		}
	}
	return Open
}

// blame finds the newest write that can have left a divergence: it is younger than the last acknowledged one. A write whose
// timestamp its client did not learn, and no row has told, may be.
func (c *checker[T]) blame() {
	var acknowledged int64
	for _, i := range c.images {
		if i.write.Outcome == writer.Applied {
			acknowledged = max(acknowledged, i.timestamp)
		}
	}
	newest := slices.MaxFunc(c.images, func(a, b *image[T]) int {
		return cmp.Compare(a.timestamp, b.timestamp)
	})
	c.cause, c.by = None, newest.write.By
	var at int64
	for _, i := range c.images {
		if i.write.Cause() == None || i.timestamp != 0 && i.timestamp < acknowledged {
			continue
		}
		if c.cause == None || i.timestamp > at {
			c.cause, c.by, at = i.write.Cause(), i.write.By, i.timestamp
		}
	}
}
