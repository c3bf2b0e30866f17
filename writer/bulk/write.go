package bulk

import (
	"bytes"
	"sync"

	"github.com/denorm-go/denorm/internal/planned"
	"github.com/denorm-go/denorm/writer"
)

// splitAtOnce is how many items of a write that has failed are written alone at a time: the nodes may have too much to
// do.
const splitAtOnce = 8

// write writes a chunk, and notes the result of each item. Each item has a plan of its own. Plans that fail together go
// on alone, each from what is known of its rows, so that the code of Write decides every outcome.
func (l *loop) write(chunk []*entry) error {
	first := chunk[0]
	if first.plan.Plan == nil {
		w := l.w
		if first.At != 0 {
			w = w.With(writer.At(first.At))
		}
		first.Result, first.Err = w.Write(l.ctx, l.op, first.Change)
		return first.Err
	}
	if len(chunk) == 1 {
		first.Result, first.Err = l.send(first.plan, 1)
		return first.Err
	}
	together := l.writer.Join(l.op, mutationsOf(chunk))
	result, err := l.send(together, len(chunk))
	if err == nil {
		for _, e := range chunk {
			e.Result = acknowledged(e.plan, result)
			e.Result.Groups = result.Groups
		}
		return nil
	}
	var split sync.WaitGroup
	room := make(chan struct{}, splitAtOnce)
	for _, e := range chunk {
		inherit(e.plan, together)
		if e.plan.Applied() {
			e.Result = acknowledged(e.plan, result)
			continue
		}
		room <- struct{}{}
		split.Go(func() {
			defer func() { <-room }()
			e.Result, e.Err = l.send(e.plan, 1)
		})
	}
	split.Wait()
	return err
}

// acknowledged is the result of a plan that was sent with others.
func acknowledged(p planned.Write, together writer.Result) writer.Result {
	return writer.Result{
		Timestamp: p.Timestamp, Mode: writer.Mode(p.Mode), Requests: len(p.Requests),
		Attempts: together.Attempts,
	}
}

// send carries a plan out as one write.
func (l *loop) send(p planned.Write, changes int) (writer.Result, error) {
	result, err := l.writer.Send(l.ctx, p, changes)
	if p.Strained() {
		l.strained.Store(true)
	}
	return result, err
}

// inherit gives each request of p what is known of the one that had its rows.
func inherit(p, together planned.Write) {
	for n := range p.Requests {
		own := &p.Requests[n]
		for m := range together.Requests {
			other := &together.Requests[m]
			if first := other.Mutations[0]; first.Keyspace == own.Mutations[0].Keyspace &&
				bytes.Equal(first.PartitionKey, own.Mutations[0].PartitionKey) {
				own.Outcome, own.Attempts, own.Err = other.Outcome, other.Attempts, other.Err
			}
		}
	}
}
