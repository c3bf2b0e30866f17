package child

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/denorm-go/denorm/cassandratest"
)

// A keyspace that is missing ends the attempts at the limit, and the error names it, although the context never ends.
func TestOpenWithoutKeyspace(t *testing.T) {
	t.Parallel()
	config := cassandratest.Start(t, 1).Config()
	_, err := open(context.WithoutCancel(t.Context()), 300*time.Millisecond, config, "absent")
	if !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "absent") {
		t.Errorf("open: %v", err)
	}
}
