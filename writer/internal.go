package writer

import (
	"context"
	"errors"

	"github.com/denorm-go/denorm/internal/fanout"
	"github.com/denorm-go/denorm/internal/planned"
	"github.com/denorm-go/denorm/internal/statement"
	"github.com/denorm-go/denorm/session"
	"github.com/denorm-go/denorm/tables"
)

// Internal is what packages bulk and explain see of the writer; its type has no promise of compatibility.
func (w *Writer) Internal() planned.Writer[Result] {
	w = w.made()
	pinned := w.With(At(earliest)) // one for all plans: to derive one costs as much as the plan
	return planned.Writer[Result]{
		Fault: w.fault,
		Plan: func(op string, c tables.Change, at int64) (planned.Write, error) {
			by := w
			switch {
			case at == 0:
			case at < earliest || at/1000 >= earliest:
				by = w.With(At(at)) // which says what is wrong with it
			default:
				by = pinned
				by.at = at
			}
			p, err := by.plan(op, []tables.Change{c}, 0)
			return p.planned(), err
		},
		Join: func(op string, mutations []*statement.Mutation) planned.Write {
			p := &plan{
				Write: fanout.Write{Op: op, Requests: fanout.Requests(mutations)}, timestamp: mutations[0].Timestamp,
				mode: FanOut,
			}
			if len(p.Requests) == 1 {
				p.mode = SamePartition
			}
			return p.planned()
		},
		Send:     w.sendPlanned,
		Explain:  w.explain,
		Reject:   func(op string, cause error) error { return reject(op, cause) },
		Physical: w.physical,
	}
}

func (w *Writer) fault(ctx context.Context, op string) error {
	fault := w.err
	switch {
	case ctx == nil:
		fault = errors.Join(errNoContext, fault)
	case op == "":
		fault = errors.Join(errNoOp, fault)
	}
	if w.pinned {
		fault = errors.Join(fault, errors.New(
			"the writer has the option At, and changes of one entity need timestamps of their own: see Item.At"))
	}
	return fault
}

func (p *plan) planned() planned.Write {
	if p == nil {
		return planned.Write{}
	}
	out := planned.Write{Write: &p.Write, Key: p.key, Timestamp: p.timestamp, Mode: uint8(p.mode), Plan: p}
	if p.deciding != nil {
		out.Decision = p.decision
	}
	return out
}

func (w *Writer) sendPlanned(ctx context.Context, planned planned.Write, changes int) (Result, error) {
	p, _ := planned.Plan.(*plan)
	ctx, call := fanout.Deadline(ctx, w.timeout)
	defer call.End()
	ctx = w.tracer.TraceStart(ctx, session.OperationStart{Op: p.Op, Changes: changes})
	if err := w.guard(ctx, p); err != nil {
		return w.unsent(ctx, p.Op, p, err)
	}
	return w.run(ctx, p)
}

// explain plans a write, and sends nothing.
func (w *Writer) explain(op string, changes ...tables.Change) (*planned.Explained, error) {
	p, err := w.plan(op, changes, 0)
	if err == nil && p.mode == LoggedBatch {
		err = w.guardSize(&p.Requests[0], p.atomic)
	}
	if err != nil {
		return nil, reject(op, err)
	}
	return &planned.Explained{
		Write: p.planned(), Changes: len(changes), Reason: p.reason, Ungrouped: w.ungrouped(p),
		WhyUngrouped: w.live.whyUngrouped, Sender: &w.sender, BatchLimit: w.batchLimit, Policy: w.attempts(),
		Timeout: w.timeout,
	}, nil
}
