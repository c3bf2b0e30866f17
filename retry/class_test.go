package retry

import "testing"

var classes = [...]Class{Unknown, Safe, Permanent, Pending, Decided}

// Each row is what is known after an attempt of its class and one of Unknown, Safe, Permanent, Pending, Decided.
func TestClassThen(t *testing.T) {
	t.Parallel()
	for c, want := range map[Class][len(classes)]Class{
		Unknown:   {Unknown, Unknown, Unknown, Pending, Decided},
		Safe:      {Unknown, Safe, Permanent, Pending, Decided},
		Permanent: {Unknown, Safe, Permanent, Pending, Decided},
		Pending:   {Pending, Pending, Pending, Pending, Decided},
		Decided:   {Decided, Decided, Decided, Decided, Decided},
	} {
		for i, next := range classes {
			if got := c.then(next); got != want[i] {
				t.Errorf("%v then %v is %v, want %v", c, next, got, want[i])
			}
		}
	}
}

// Two errors of one attempt: what both agree on.
func TestClassAnd(t *testing.T) {
	t.Parallel()
	for c, want := range map[Class][len(classes)]Class{
		Unknown:   {Unknown, Unknown, Unknown, Unknown, Unknown},
		Safe:      {Unknown, Safe, Permanent, Unknown, Unknown},
		Permanent: {Unknown, Permanent, Permanent, Unknown, Unknown},
		Pending:   {Unknown, Unknown, Unknown, Pending, Unknown},
		Decided:   {Unknown, Unknown, Unknown, Unknown, Decided},
	} {
		for i, other := range classes {
			if got := c.and(other); got != want[i] {
				t.Errorf("%v and %v is %v, want %v", c, other, got, want[i])
			}
		}
	}
}
