package decide

import (
	"context"
	"fmt"

	"github.com/denorm-go/denorm/internal/entity"
)

// Protocol is one kind of decision: what it does, and what is true of its rows.
type Protocol struct {
	Mode   string // of its requests
	Reason string // for the mode

	// Whole says that the decision is all of the write: nothing is sent after it.
	Whole bool
	// Versions says that the version in a row tells a change that is sent again from a new one.
	Versions bool
	// Lasting says that it does so however old the change is, as rows of deleted entities stay.
	Lasting bool
	// Followed says that anyone who meets an entity brings its query tables to the state of its base row.
	Followed bool

	Unmet string // what did not hold, for people

	// Join says why two changes cannot be in one decision, or nil.
	Join func(first, next *entity.Conditional) error
	// Check says why parts that may be joined, or come out of storage, are no decision all the same; nil for nothing to
	// say.
	Check func(d *Decision) error
	// Texts are the CQL of the decision, and Names its tables.
	Texts, Names func(d *Decision) []string
	// Decide makes the decision, of which something may be known from earlier. It may outlive the call, and so holds
	// nothing of the plan.
	Decide func(ctx context.Context, env *Env, d *Decision, earlier Known) Known
	// Conclude does what is left when every table has the write, perhaps as one of the [Ends], for which the next change
	// of the row waits; nil for nothing to do. If it fails, the next writer does it.
	Conclude func(ctx context.Context, env *Env, d *Decision, known Known)
	// Abandon gives back what Known.Held has, and does not wait for it; nil if Decide holds nothing.
	Abandon func(ctx context.Context, env *Env, d *Decision, known Known)
}

// Apart is the advice for changes that cannot be in one decision.
const Apart = "write them one after the other"

// OneTable says why two changes cannot be in one lightweight transaction whatever their keys are, or nil.
func OneTable(first, next *entity.Conditional) error {
	one, other := first.Condition, next.Condition
	switch {
	case one.Entity != other.Entity || one.Keyspace != other.Keyspace || one.Table != other.Table:
		return fmt.Errorf("entity %s and entity %s both have a condition: a lightweight transaction is of one table; %s",
			one.Entity, other.Entity, Apart)
	case first.Key == next.Key:
		return entity.ErrTwice(one.Entity, one.Kind)
	}
	return nil
}

// ConditionTexts are the texts of the conditions alone.
func ConditionTexts(d *Decision) (texts []string) {
	for _, c := range d.Parts {
		texts = append(texts, c.Condition.Statements()...)
	}
	return texts
}

// BaseTable is the table of the first condition.
func BaseTable(d *Decision) []string { return []string{d.First().Table} }
