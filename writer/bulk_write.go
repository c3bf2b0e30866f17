package writer

import (
	"bytes"
	"slices"
	"sync"

	"github.com/denorm-go/denorm/internal/fanout"
	"github.com/denorm-go/denorm/session"
)

// splitAtOnce is how many items of a write that has failed are written alone at a time: the nodes may have too much to do.
const splitAtOnce = 8

// write writes a chunk, and notes the result of each item. Each item has a plan of its own. Plans that fail together go on alone, each from what is
// known of its rows, so that the code of Write decides every outcome.
func (r *bulkRun) write(chunk []*bulkItem) error {
	first := chunk[0]
	if first.plan == nil {
		w := r.w
		if first.At != 0 {
			w = w.With(At(first.At))
		}
		first.Result, first.Err = w.Write(r.ctx, r.op, first.Change)
		return first.Err
	}
	if len(chunk) == 1 {
		first.Result, first.Err = r.send(first.plan, 1)
		return first.Err
	}
	together := &plan{Write: fanout.Write{Op: r.op}, timestamp: first.plan.timestamp, mode: FanOut, requests: fanout.Requests(mutationsOf(chunk))}
	if len(together.requests) == 1 {
		together.mode = SamePartition
	}
	result, err := r.send(together, len(chunk))
	if err == nil {
		for _, i := range chunk {
			i.Result = i.plan.acknowledged(result)
			i.Result.Groups = result.Groups
		}
		return nil
	}
	var split sync.WaitGroup
	room := make(chan struct{}, splitAtOnce)
	for _, i := range chunk {
		i.plan.inherit(together)
		if fanout.AllApplied(i.plan.requests) {
			i.Result = i.plan.acknowledged(result)
			continue
		}
		room <- struct{}{}
		split.Go(func() {
			defer func() { <-room }()
			i.Result, i.Err = r.send(i.plan, 1)
		})
	}
	split.Wait()
	return err
}

// acknowledged is the result of a plan that was sent with others.
func (p *plan) acknowledged(together Result) Result {
	return Result{Timestamp: p.timestamp, Mode: p.mode, Requests: len(p.requests), Attempts: together.Attempts}
}

// send carries a plan out as one write.
func (r *bulkRun) send(p *plan, changes int) (Result, error) {
	ctx, call := fanout.Deadline(r.ctx, r.w.timeout)
	defer call.End()
	ctx = r.w.tracer.TraceStart(ctx, session.OperationStart{Op: r.op, Changes: changes})
	if err := r.w.guard(ctx, p); err != nil {
		return r.w.unsent(ctx, r.op, p, err)
	}
	result, err := r.w.run(ctx, p)
	if p.strained() {
		r.strained.Store(true)
	}
	return result, err
}

// strained says whether a request of the plan has met a node with too much to do.
func (p *plan) strained() bool {
	return p.Strained() || slices.ContainsFunc(p.requests, func(r fanout.Request) bool { return r.Strained })
}

// inherit gives each request of p what is known of the one that had its rows.
func (p *plan) inherit(together *plan) {
	for n := range p.requests {
		own := &p.requests[n]
		for m := range together.requests {
			other := &together.requests[m]
			if first := other.Mutations[0]; first.Keyspace == own.Mutations[0].Keyspace && bytes.Equal(first.PartitionKey, own.Mutations[0].PartitionKey) {
				own.Outcome, own.Attempts, own.Err = other.Outcome, other.Attempts, other.Err
			}
		}
	}
}
