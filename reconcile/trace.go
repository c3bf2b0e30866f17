package reconcile

import (
	"context"
	"slices"

	"github.com/denorm-go/denorm/internal/each"
	"github.com/denorm-go/denorm/internal/runtrace"
)

// compared are the tables that the run reads.
func (j *job) compared() []*table { return slices.Concat(j.tables[:1], j.queries, j.uniques) }

// names are theirs.
func (j *job) names() []string { return each.Of(j.compared(), (*table).qualified) }

// full says whether all rows of the tables are compared.
func (j *job) full() bool { return j.one == nil && j.each == nil }

// traced tells of the beginning of the run.
func (j *job) traced(ctx context.Context) context.Context {
	return j.tracer.TraceRunStart(ctx, runtrace.RunStart{
		Kind: j.kind, Entity: j.entity, Tables: j.names(), Began: j.report.Began, Full: j.full(),
	})
}

func (j *job) tracedEnd(ctx context.Context, err error) {
	if len(j.tracer) == 0 {
		return
	}
	end := runtrace.RunEnd{Kind: j.kind, Entity: j.entity, Err: err, Complete: j.full() && ctx.Err() == nil && j.report.Uncovered == 0}
	left := make(map[string]int)
	for _, f := range j.report.findings {
		if f.Outcome != Repaired {
			left[f.Table]++
		}
	}
	end.Tables = each.Of(j.report.Tables, func(t TableReport) runtrace.RunTable {
		return runtrace.RunTable{Table: t.Table, Rows: t.Rows, Findings: left[t.Table]}
	})
	j.tracer.TraceRunEnd(ctx, end)
}

// unit reads a range of a table as a part of the run.
func (j *job) unit(ctx context.Context, u *unit) {
	unit := runtrace.UnitStart{Kind: j.kind, Table: u.t.qualified()}
	ctx = j.tracer.TraceUnitStart(ctx, unit)
	err := j.scanSegment(ctx, u)
	j.tracer.TraceUnitEnd(ctx, runtrace.UnitEnd{Kind: unit.Kind, Table: unit.Table, Rows: int(u.rows.Load()), Err: err})
	j.release(ctx, u)
}

func (j *job) tracedFindings(ctx context.Context, found []Finding) {
	for _, f := range found {
		j.tracer.TraceFinding(ctx, runtrace.RunFinding{
			Kind: j.kind, Table: f.Table, Class: f.Class.String(), Certainty: f.Certainty.String(), Outcome: f.Outcome.String(), FirstSeen: f.FirstSeen,
		})
	}
}

// tellNow tells how far the run is.
func (j *job) tellNow(ctx context.Context) {
	p := j.progress()
	if j.onProgress != nil {
		j.onProgress(p)
	}
	if j.one != nil {
		return // there is nothing to watch, and a gauge would keep its last value
	}
	j.tracer.TraceRun(ctx, runtrace.RunState{Kind: j.kind, Entity: j.entity, Done: p.Done, Waiting: p.Waiting, Limit: p.InFlight})
}
