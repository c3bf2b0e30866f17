// Package compare decides changes of sets with Compare: by one lightweight transaction, whose condition is that columns
// are as they were read. It holds the changes of several rows of one partition.
package compare

import (
	"bytes"
	"context"
	"fmt"

	"github.com/denorm-go/denorm/internal/decide"
	"github.com/denorm-go/denorm/internal/entity"
	"github.com/denorm-go/denorm/internal/statement"
	"github.com/denorm-go/denorm/retry"
)

// Protocol is this kind of decision.
var Protocol = decide.Protocol{
	Mode:   "conditional",
	Unmet:  "if the columns are not as they were read",
	Join:   join,
	Texts:  decide.ConditionTexts,
	Names:  decide.BaseTable,
	Decide: decideChanges,
}

// join says why two changes cannot be in one transaction, or nil.
func join(first, next *entity.Conditional) error {
	if err := decide.OneTable(first, next); err != nil {
		return err
	}
	if one, other := first.Condition, next.Condition; !bytes.Equal(one.PartitionKey, other.PartitionKey) {
		return fmt.Errorf("two entities %s in different partitions of table %s: a lightweight transaction is of one "+
			"partition; %s", one.Entity, one.Table, decide.Apart)
	}
	return nil
}

// decideChanges sends the transaction. An earlier outcome of Unknown says that it was sent before and may have been
// applied, as everything that comes through Resume may.
//
// If one of the rows then has the change's Mark, all were changed. Without a Mark, a row that is as the change wanted
// to make it may come from this change or from another one with the same values: the outcome stays Unknown, and whoever
// knows the values can tell from the row.
func decideChanges(ctx context.Context, env *decide.Env, d *decide.Decision, earlier decide.Known) decide.Known {
	statements := make([]statement.Bound, len(d.Parts))
	for i, c := range d.Parts {
		statements[i] = c.Condition.Compare()
	}
	base := env.Base(d.First().Base())
	applied, failed, err := decide.Try(ctx, &base.Partition, func(ctx context.Context) (bool, error) {
		applied, _, err := base.Transact(ctx, statements...)
		return applied, err
	})
	known := decide.Known{Outcome: earlier.Outcome.Then(failed), Err: err}
	switch {
	case err != nil:
		return known
	case applied:
		known.Outcome = retry.Applied
		return known
	}
	known.Conflict = true
	for i, one := range d.Parts {
		c := one.Condition
		base := env.Base(c.Base())
		stored, _, err := decide.Try(ctx, &base.Partition, base.Row)
		if err != nil { // what was first may be this very change
			return decide.Known{Outcome: known.Outcome, Conflict: known.Outcome == retry.NotApplied, Err: err}
		}
		if stored != nil && !stored.Present {
			stored = nil
		}
		if known.Outcome == retry.Unknown && stored != nil && c.Own(*stored) {
			return decide.Known{Outcome: retry.Applied}
		}
		if known.Err == nil && (len(d.Parts) == 1 || !c.Holds(stored)) {
			// it would be read as the same before-image again
			if column := c.Null(stored); column != "" && known.Outcome == retry.NotApplied {
				return decide.Known{Outcome: retry.NotApplied, Err: nullError(column)}
			}
			known.Err = decide.ConflictError(i, d.Parts, stored != nil)
			if stored != nil {
				known.Current, _ = c.Base().Decode(*stored)
			}
		}
	}
	if known.Err == nil { // all rows are as they were read again
		known.Err = decide.ErrChanged
	}
	return known
}

// nullError says that a condition never holds, as the row has null in a compared column whose field cannot be nil.
func nullError(column string) error {
	return fmt.Errorf("%w: column %s is null and compared: UPDATE it to a value, or make the field a pointer "+
		"(docs/adopt.md#a-compare-set)", decide.ErrInvalid, column)
}
