package tracing

import (
	"sync"

	"github.com/denorm-go/denorm/writer"
)

// reasons is why the paths of a write failed, which run at the same time.
type reasons struct {
	mu     sync.Mutex
	joined string // typeSeveral if they differ
	fallen bool   // a logged batch has become a fan-out
}

// start is told of each path. Why a logged batch failed is not why the fan-out in its place does.
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
	switch r.joined {
	case "", errorType:
		r.joined = errorType
	default:
		r.joined = typeSeveral
	}
}

// why is empty if no path failed.
func (r *reasons) why() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.joined
}
