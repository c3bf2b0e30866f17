// Package executions is an example: runs of workflows, as an engine lists them for people. Runs that have ended are
// listed by the end, by type, by workflow and by status. No table has the id of a run as its key.
package executions

import (
	"context"
	"time"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/reader"
	"github.com/denorm-go/denorm/schema"
	"github.com/denorm-go/denorm/tables"
	"github.com/denorm-go/denorm/writer"
)

// Run is a run that has not ended.
type Run struct {
	DomainID         gocql.UUID
	DomainPartition  int32
	StartTime        time.Time
	RunID            gocql.UUID
	WorkflowID       string
	WorkflowTypeName string
	Memo             []byte
}

// Closed is a run that has ended.
type Closed struct {
	Run
	CloseTime     time.Time
	Status        Status
	HistoryLength int64
	UpdatedAt     int64
}

// Status is how a run has ended.
type Status int32

// The statuses. A run that is reset ends as terminated, whatever it ended as before.
const (
	Completed Status = iota
	Failed
	Canceled
	Terminated
	TimedOut
)

// by is the key of a table: the rest of its partition key, and its first clustering column.
func by(name, part, sort string, columns ...string) tables.Table {
	return tables.Table{
		Name: name, PartKey: []string{"domain_id", part}, SortKey: []string{sort + " DESC", "run_id"}, Columns: columns,
	}
}

// Runs has those that have not ended.
var Runs = tables.Must(tables.New[Run]("run", by("open_executions", "domain_partition", "start_time")))

// Executions has those that have ended. The base table has them by their end, the others by their start. What the key
// of a table lacks of the base key, it has in other columns: so its rows lead to their base rows. Start and end of a
// run never change.
var Executions = tables.Must(tables.New[Closed]("execution",
	by("closed_executions", "domain_partition", "close_time"),
	by("closed_by_type", "workflow_type_name", "start_time"),
	by("closed_by_workflow", "workflow_id", "start_time", "domain_partition", "close_time", "status", "updated_at"),
	by("closed_by_status", "status", "start_time"),
	tables.ID("run_id"),
	tables.OneOf("status", Completed, Failed, Canceled, Terminated, TimedOut),
	tables.Stamp("updated_at"),
))

// Schema is the tables.
var Schema = schema.Must(schema.Declare(schema.Sets(Runs, Executions)))

// Close ends a run: one write takes it out of the one list and puts it into the others.
func Close(
	ctx context.Context, w *writer.Writer, run Run, end time.Time, as Status, history int64,
) (Closed, error) {
	closed := Closed{Run: run, CloseTime: end, Status: as, HistoryLength: history}
	res, err := w.Write(ctx, "closeRun", Runs.Delete(run), Executions.Insert(closed))
	closed.UpdatedAt = res.Timestamp
	return closed, err
}

// Reset ends a run that had ended in another way as terminated.
func Reset(ctx context.Context, w *writer.Writer, closed Closed) (Closed, error) {
	return writer.Modify(ctx, w, "resetRun", Executions, closed, func(c Closed) (Closed, error) {
		c.Status = Terminated
		return c, nil
	})
}

// ByWorkflow gives the last runs of a workflow, each as its base row has it.
func ByWorkflow(
	ctx context.Context, r *reader.Reader, domain gocql.UUID, workflow string, most int,
) ([]Closed, error) {
	q := reader.From(Executions, "closed_by_workflow").Eq("domain_id", domain).Eq("workflow_id", workflow)
	runs, _, err := reader.List(ctx, r, "runsOfWorkflow", q.Confirm().Limit(most))
	return runs, err
}
