package retry_test

import (
	"testing"

	"github.com/denorm-go/denorm/retry"
)

func TestKind(t *testing.T) {
	t.Parallel()
	for kind, want := range map[retry.Kind]struct {
		text       string
		idempotent bool
	}{
		retry.Partition:     {"partition", true},
		retry.LoggedBatch:   {"logged batch", true},
		retry.UnloggedBatch: {"unlogged batch", true},
		retry.Conditional:   {"conditional", false},
		retry.Counter:       {"counter", false},
		retry.Kind(99):      {"Kind(99)", false},
	} {
		if kind.String() != want.text || kind.Idempotent() != want.idempotent {
			t.Errorf("%d: %q, idempotent %v", kind, kind, kind.Idempotent())
		}
	}
}

func TestClass(t *testing.T) {
	t.Parallel()
	for class, want := range map[retry.Class]struct {
		text       string
		notApplied bool
	}{
		retry.Unknown:   {"unknown", false},
		retry.Safe:      {"safe", true},
		retry.Permanent: {"permanent", true},
		retry.Pending:   {"pending", false},
		retry.Decided:   {"decided", false},
		retry.Class(99): {"Class(99)", false},
	} {
		if class.String() != want.text || class.NotApplied() != want.notApplied {
			t.Errorf("%d: %q, not applied %v", class, class, class.NotApplied())
		}
	}
	if (retry.Outcome{}).Class != retry.Unknown {
		t.Error("the zero outcome is not Unknown")
	}
}
