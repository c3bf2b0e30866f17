package retry_test

import (
	"testing"

	"github.com/denorm-go/denorm/retry"
)

var outcomes = [...]retry.Outcome{retry.Unknown, retry.Applied, retry.NotApplied, retry.Pending}

// Each row is what is known after an attempt of its outcome and one of Unknown, Applied, NotApplied, Pending.
func TestOutcomeThen(t *testing.T) {
	t.Parallel()
	for o, want := range map[retry.Outcome][len(outcomes)]retry.Outcome{
		retry.Unknown:    {retry.Unknown, retry.Applied, retry.Unknown, retry.Pending},
		retry.Applied:    {retry.Applied, retry.Applied, retry.Applied, retry.Applied},
		retry.NotApplied: {retry.Unknown, retry.Applied, retry.NotApplied, retry.Pending},
		retry.Pending:    {retry.Pending, retry.Applied, retry.Pending, retry.Pending},
	} {
		for i, next := range outcomes {
			if got := o.Then(next); got != want[i] {
				t.Errorf("%v then %v is %v, want %v", o, next, got, want[i])
			}
		}
	}
}

// Two errors of one attempt, or two parts of one table: what both agree on.
func TestOutcomeAnd(t *testing.T) {
	t.Parallel()
	for o, want := range map[retry.Outcome][len(outcomes)]retry.Outcome{
		retry.Unknown:    {retry.Unknown, retry.Unknown, retry.Unknown, retry.Unknown},
		retry.Applied:    {retry.Unknown, retry.Applied, retry.Unknown, retry.Pending},
		retry.NotApplied: {retry.Unknown, retry.Unknown, retry.NotApplied, retry.Unknown},
		retry.Pending:    {retry.Unknown, retry.Pending, retry.Unknown, retry.Pending},
	} {
		for i, other := range outcomes {
			if got := o.And(other); got != want[i] {
				t.Errorf("%v and %v is %v, want %v", o, other, got, want[i])
			}
		}
	}
}

func TestOutcomeText(t *testing.T) {
	t.Parallel()
	for o, want := range map[retry.Outcome]string{
		retry.Unknown: "unknown", retry.Applied: "applied", retry.NotApplied: "not applied", retry.Pending: "pending",
		retry.Conflict: "conflict", retry.Taken: "taken", retry.Invalid: "invalid", retry.NotFound: "not found",
		99: "Outcome(99)",
	} {
		if o.String() != want {
			t.Errorf("%d: %q", o, o)
		}
	}
	if (retry.Verdict{}).Outcome != retry.Unknown {
		t.Error("the zero verdict is not Unknown")
	}
}
