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
