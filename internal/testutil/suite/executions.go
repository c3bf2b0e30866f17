package suite

import (
	"errors"
	"testing"
	"time"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/examples/executions"
	"github.com/denorm-go/denorm/reader"
	"github.com/denorm-go/denorm/reconcile"
	"github.com/denorm-go/denorm/tables"
	"github.com/denorm-go/denorm/writer"
)

type executionTests struct{ *Place }

// closed is a run that has begun, in a domain of its own, and has ended.
func (p executionTests) closed(t *testing.T, as executions.Status) executions.Closed {
	t.Helper()
	run := executions.Run{
		DomainID: gocql.MustRandomUUID(), StartTime: dayOf(1), RunID: gocql.MustRandomUUID(), WorkflowID: "invoice-7",
		WorkflowTypeName: "invoice", Memo: []byte("m"),
	}
	Write(t, p.Writer, "startRun", executions.Runs.Insert(run))
	closed := value(executions.Close(t.Context(), p.Writer, run, dayOf(2), as, 9))(t)
	_, err := writer.Load(t.Context(), p.Writer, "open", executions.Runs, run)
	wantError(t, "a run that is closed is open", err, writer.ErrNotFound)
	return closed
}

// wants looks for the only run of a workflow.
func (p executionTests) wants(t *testing.T, what string, want executions.Closed) {
	t.Helper()
	found := value(executions.ByWorkflow(t.Context(), p.Reader, want.DomainID, want.WorkflowID, 10))(t)
	wrong(t, len(found) != 1 || found[0].RunID != want.RunID || !found[0].CloseTime.Equal(want.CloseTime) ||
		found[0].HistoryLength != 9 || found[0].Status != want.Status, "%s: %+v, want %+v", what, found, want)
}

// A run is closed, listed in each way, and reset: it moves between statuses, and stays where it was otherwise.
func (p executionTests) Life(t *testing.T) {
	p.check(t, executions.Runs, executions.Executions)
	closed := p.closed(t, executions.Failed)
	reset := value(executions.Reset(t.Context(), p.Writer, closed))(t)
	lists := func(table, column string, value any) []executions.Closed {
		q := reader.From(executions.Executions, table).Eq("domain_id", closed.DomainID)
		return List(t, p.Place, q.Eq(column, value))
	}
	byType := lists("closed_by_type", "workflow_type_name", "invoice")
	wrong(t, len(byType) != 1 || byType[0].Status != executions.Terminated, "by type: %+v", byType)
	found, was := lists("closed_by_status", "status", reset.Status), lists("closed_by_status", "status", closed.Status)
	wrong(t, len(found) != 1 || len(was) > 0, "by status: %+v, and as before: %+v", found, was)
	p.wants(t, "by workflow", reset)
}

// Start and end of a run never change. A run that ended at another time is deleted, and written again.
func (p executionTests) AnotherEnd(t *testing.T) {
	closed := p.closed(t, executions.Completed)
	late := closed
	late.CloseTime = dayOf(3)
	remove, insert := executions.Executions.Delete(closed), executions.Executions.Insert(late)
	for what, changes := range map[string][]tables.Change{
		"another end": {executions.Executions.Update(closed, late)}, "both in one write": {remove, insert},
	} {
		wantInvalid(t, p.Writer, what, changes...)
	}
	Write(t, p.Writer, "forget", remove)
	Write(t, p.Writer, "closeAgain", insert)
	p.wants(t, "closed again", late)
}

// A row of a query table leads to its base row by what it has of the base key: one that does not is not confirmed, and
// is repaired.
func (p executionTests) LeadsToItsBaseRow(t *testing.T) {
	closed := p.closed(t, executions.Completed)
	r := value(reconcile.New(p.Session, reconcile.Settle(time.Second), reconcile.Rewrite(), reconcile.MaxRemovals(100),
		reconcile.OnRemoval(func(reconcile.Removal) error { return nil })))(t)
	key := []any{closed.DomainID, closed.WorkflowID, closed.StartTime, closed.RunID}
	p.exec(t, `DELETE close_time FROM closed_by_workflow WHERE domain_id = ? AND workflow_id = ? AND start_time = ? AND
		run_id = ?`, key...)
	ghost := closed
	ghost.CloseTime, ghost.RunID = dayOf(3), gocql.MustRandomUUID()
	p.exec(t, `INSERT INTO closed_by_workflow (domain_id, workflow_id, start_time, run_id, close_time, domain_partition,
		status, updated_at) VALUES (?, ?, ?, ?, ?, 0, 0, 1)`, append(key[:3:3], ghost.RunID, ghost.CloseTime)...)
	found := value(executions.ByWorkflow(t.Context(), p.Reader, closed.DomainID, closed.WorkflowID, 10))(t)
	wrong(t, len(found) > 0, "rows that lead nowhere: %+v", found)
	_, err := reconcile.Entity(t.Context(), r, executions.Executions, closed)
	wrong(t, err != nil && !errors.Is(err, reconcile.ErrDrift), "repair: %v", err)
	p.wants(t, "repaired", closed)
}
