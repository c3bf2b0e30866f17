package tracing

import (
	"context"
	"errors"
	"sync"

	"github.com/denorm-go/denorm/retry"
	"github.com/denorm-go/denorm/writer"
)

// reasons is why the requests of a write failed, which run at the same time.
type reasons struct {
	mu     sync.Mutex
	joined string // typeSeveral if they differ
	fallen bool   // a logged batch has become a fan-out
}

// start is told of each request. Why a logged batch failed is not why the fan-out in its place does.
func (r *reasons) start(mode writer.Mode) {
	if mode != writer.Fallback {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.fallen {
		r.fallen, r.joined = true, ""
	}
}

func (r *reasons) failed(errorType string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.join(errorType)
}

// join is called with the lock held.
func (r *reasons) join(errorType string) {
	switch r.joined {
	case "", errorType:
		r.joined = errorType
	default:
		r.joined = typeSeveral
	}
}

// why is what a write failed for; empty if no request did. Stragglers have told nothing yet, and were left because the
// call's context had ended.
func (r *reasons) why(end writer.WriteEnd) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	if end.Stragglers > 0 {
		r.join(contextType(end.Err))
	}
	return r.joined
}

// contextType is the error type of the end of a call's context, of which the write has the error err. An attempt's own
// limit is a deadline too, so only a cancellation tells.
func contextType(err error) string {
	ended := context.DeadlineExceeded
	if failed := asError(err); failed != nil {
		for i := range failed.Tables {
			if errors.Is(failed.Tables[i].Err, context.Canceled) {
				ended = context.Canceled
			}
		}
	}
	return retry.Classify(ended, retry.Partition).Reason
}
