package tracing

import (
	"context"
	"slices"
	"sync"

	"github.com/denorm-go/denorm/session"
	"github.com/denorm-go/denorm/writer"
)

// following is the state that a tracer keeps of an operation or request under way. It is its own context, which costs
// one allocation less than a context that holds it, and is found by its tracer, so that several tracers do not take
// each other's.
type following[T, S any] struct {
	context.Context

	tracer *T
	state  S
}

// followingKey is the key of a context of this tracer with a state of this type.
type followingKey[T, S any] struct{ tracer *T }

func (f *following[T, S]) Value(key any) any {
	if key == any(followingKey[T, S]{f.tracer}) {
		return f
	}
	return f.Context.Value(key)
}

// find gives the state of the operation or request that ctx belongs to; nil if the tracer does not follow it.
func find[S, T any](ctx context.Context, tracer *T) *S {
	if f, ok := ctx.Value(followingKey[T, S]{tracer}).(*following[T, S]); ok {
		return &f.state
	}
	return nil
}

// requests is what a tracer notes of the requests of an operation. They run at the same time, and those of stragglers
// when it has ended.
type requests struct {
	mu     sync.Mutex
	reason string // why they failed; typeSeveral if they differ
	fallen bool   // a logged batch has become a fan-out
	tables []table
	first  [4]table // where tables begin, so that most writes need no more
}

// table is a table and its keyspace.
type table struct{ keyspace, name string }

// start is told of each request. Why a logged batch failed is not why the fan-out in its place does.
func (r *requests) start(mode, keyspace string, tables []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if mode == writer.Fallback.String() && !r.fallen {
		r.fallen, r.reason = true, ""
	}
	if r.tables == nil {
		r.tables = r.first[:0]
	}
	for _, name := range tables {
		if t := (table{keyspace, name}); !slices.Contains(r.tables, t) {
			r.tables = append(r.tables, t)
		}
	}
}

func (r *requests) failed(errorType string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.join(errorType)
}

// join is called with the lock held.
func (r *requests) join(errorType string) {
	switch r.reason {
	case "", errorType:
		r.reason = errorType
	default:
		r.reason = typeSeveral
	}
}

// end gives the tables, and why the write failed, if a request did. Stragglers have told nothing yet, and were left
// because the call's context had ended.
func (r *requests) end(data session.OperationEnd) (tables []table, reason string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if data.Stragglers > 0 {
		r.join(contextType(data.Err))
	}
	return r.tables, r.reason
}
