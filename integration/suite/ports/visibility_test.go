package ports_test

import (
	"context"
	"testing"
	"time"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/tables"
	"github.com/denorm-go/denorm/writer"
)

// The workflow engine lists executions of a domain: open ones by start, closed ones by start and by end. It closes an
// execution in a logged batch, with the retention of the domain as TTL. Its write times are the times of the events, in
// milliseconds.

// openGrace is how long the engine keeps the tombstones of closed executions.
const openGrace = " AND gc_grace_seconds = 60"

func executionTable(name, sort, more, options string) string {
	return "CREATE TABLE " + name + ` (domain_id uuid, domain_partition int, workflow_id text, run_id uuid,
		start_time timestamp, execution_time timestamp, workflow_type_name text, memo blob, encoding text, task_list text,
		is_cron boolean, num_clusters int, update_time timestamp, shard_id int, ` + more + `
		PRIMARY KEY ((domain_id, domain_partition), ` + sort + `, run_id))
		WITH CLUSTERING ORDER BY (` + sort + " DESC, run_id ASC)" + options
}

const closedColumns = "close_time timestamp, status int, history_length bigint, "

var visibilityTables = []string{
	executionTable("open_executions", "start_time", "", openGrace),
	executionTable("closed_executions", "start_time", closedColumns, " AND gc_grace_seconds = 172800"),
	executionTable("closed_executions_v2", "close_time", closedColumns, " AND gc_grace_seconds = 172800"),
}

// visibilityColumns are what the library needs: when a row ends, and, for an adoption, its stamp.
var visibilityColumns = []string{
	"ALTER TABLE open_executions ADD expires_at timestamp", "ALTER TABLE open_executions ADD updated_at bigint",
	"ALTER TABLE closed_executions ADD expires_at timestamp", "ALTER TABLE closed_executions ADD updated_at bigint",
	"ALTER TABLE closed_executions_v2 ADD expires_at timestamp",
	"ALTER TABLE closed_executions_v2 ADD updated_at bigint",
	"ALTER TABLE open_executions WITH gc_grace_seconds = 172800",
}

// Run is an execution, which is open.
type Run struct {
	DomainID         gocql.UUID
	DomainPartition  int32
	WorkflowID       string
	RunID            gocql.UUID
	StartTime        time.Time
	ExecutionTime    time.Time
	WorkflowTypeName string
	Memo             []byte
	Encoding         string
	TaskList         string
	IsCron           bool
	NumClusters      int32
	UpdateTime       time.Time
	ShardID          int32
	ExpiresAt        time.Time
	UpdatedAt        int64
}

// Closed is an execution that has ended.
type Closed struct {
	Run
	CloseTime     time.Time
	Status        int32
	HistoryLength int64
}

// --- by hand

type visibilityByHand struct{ *gocql.Session }

func (v visibilityByHand) started(ctx context.Context, r Run, keep time.Duration) error {
	return v.Query(`INSERT INTO open_executions (domain_id, domain_partition, workflow_id, run_id, start_time,
		execution_time, workflow_type_name, memo, encoding, task_list, is_cron, num_clusters, update_time, shard_id)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) USING TTL ?`,
		r.DomainID, r.DomainPartition, r.WorkflowID, r.RunID, r.StartTime, r.ExecutionTime, r.WorkflowTypeName, r.Memo,
		r.Encoding, r.TaskList, r.IsCron, r.NumClusters, r.UpdateTime, r.ShardID, int(keep.Seconds()),
	).WithContext(ctx).WithTimestamp(r.StartTime.UnixMilli()).Exec()
}

func (v visibilityByHand) closed(ctx context.Context, c Closed, keep time.Duration) error {
	b := v.NewBatch(gocql.LoggedBatch).WithContext(ctx).WithTimestamp(c.CloseTime.UnixMilli())
	b.Query("DELETE FROM open_executions WHERE domain_id = ? AND domain_partition = ? AND start_time = ? AND run_id = ?",
		c.DomainID, c.DomainPartition, c.StartTime, c.RunID)
	for _, table := range []string{"closed_executions", "closed_executions_v2"} {
		b.Query("INSERT INTO "+table+` (domain_id, domain_partition, workflow_id, run_id, start_time, execution_time,
			workflow_type_name, memo, encoding, task_list, is_cron, num_clusters, update_time, shard_id, close_time, status,
			history_length) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) USING TTL ?`,
			c.DomainID, c.DomainPartition, c.WorkflowID, c.RunID, c.StartTime, c.ExecutionTime, c.WorkflowTypeName, c.Memo,
			c.Encoding, c.TaskList, c.IsCron, c.NumClusters, c.UpdateTime, c.ShardID, c.CloseTime, c.Status, c.HistoryLength,
			int(keep.Seconds()))
	}
	return v.ExecuteBatch(b)
}

// --- by the library

func listed(name, sort string) tables.Table {
	return tables.Table{
		Name: name, PartKey: []string{"domain_id", "domain_partition"}, SortKey: []string{sort + " DESC", "run_id"},
	}
}

var (
	running = tables.Must(tables.New[Run]("run", listed("open_executions", "start_time"),
		tables.ExpiresAt("expires_at"), tables.Stamp("updated_at")))
	executions = tables.Must(tables.New[Closed]("execution",
		listed("closed_executions", "start_time"), listed("closed_executions_v2", "close_time"),
		tables.ID("run_id"), tables.ExpiresAt("expires_at"), tables.Stamp("updated_at")))
)

type visibilityPort struct{ *writer.Writer }

func (v visibilityPort) started(ctx context.Context, r Run, keep time.Duration) error {
	r.ExpiresAt = time.Now().Add(keep)
	_, err := v.Write(ctx, "started", running.Insert(r))
	return err
}

func (v visibilityPort) closed(ctx context.Context, c Closed, keep time.Duration) error {
	c.ExpiresAt = time.Now().Add(keep)
	_, err := v.Write(ctx, "closed", running.Delete(c.Run), executions.Insert(c))
	return err
}

// --- what shows it

func aRun() Run {
	start := time.Now().Add(-time.Hour).Truncate(time.Millisecond)
	return Run{
		DomainID: gocql.MustRandomUUID(), WorkflowID: "invoice-7", RunID: gocql.MustRandomUUID(), StartTime: start,
		ExecutionTime: start, WorkflowTypeName: "invoice", Memo: []byte("memo"), Encoding: "json", TaskList: "tasks",
		NumClusters: 1, UpdateTime: start, ShardID: 4,
	}
}

func (r Run) close(status int32) Closed {
	return Closed{Run: r, CloseTime: r.StartTime.Add(time.Minute), Status: status, HistoryLength: 12}
}

const runColumns = `domain_id, domain_partition, workflow_id, run_id, start_time, execution_time, workflow_type_name,
	memo, encoding, task_list, is_cron, num_clusters, update_time, shard_id, expires_at, updated_at`

// Executions that the engine has written, with its write times and TTLs, are adopted. Each operation then reaches all
// tables, and each row ends as the retention says, whatever changed it.
func TestVisibility(t *testing.T) {
	everywhere(t, visibilityTables, func(p *port) {
		ctx, hand := p.Context(), visibilityByHand{p.hand}
		runs := make([]Run, 8)
		for i := range runs {
			runs[i] = aRun()
		}
		id := func(i int) string { return runs[i].RunID.String() }
		for _, r := range runs[:6] {
			p.must(hand.started(ctx, r, 20*time.Hour))
		}
		for i, r := range runs[:4] { // it closes the fifth and the sixth by the library
			p.must(hand.closed(ctx, r.close(int32(i)), 2*time.Hour))
		}
		lost, stale := runs[1].close(1), runs[2].close(2)
		const row = " WHERE domain_id = ? AND domain_partition = 0 AND close_time = ? AND run_id = ?"
		p.by("DELETE FROM closed_executions_v2 USING TIMESTAMP ?"+row,
			lost.CloseTime.UnixMilli(), lost.DomainID, lost.CloseTime, lost.RunID)
		p.by("UPDATE closed_executions_v2 USING TIMESTAMP ? AND TTL 7200 SET status = 5"+row,
			stale.CloseTime.UnixMilli()+1, stale.DomainID, stale.CloseTime, stale.RunID)
		p.alter(visibilityColumns...)
		p.valid(running, executions)
		if found := p.adopt(running, executions); found != 2 {
			p.Errorf("%d differences were found", found)
		}
		closed, open := lives{id(0): 120, id(1): 120, id(2): 120, id(3): 120}, lives{id(4): 1200, id(5): 1200}
		check := func() {
			p.Helper()
			p.agree(len(closed), runColumns+", close_time, status, history_length",
				"closed_executions", "closed_executions_v2")
			for _, column := range []string{"workflow_id", "expires_at", "updated_at"} {
				p.ends(closed, "run_id", column, "closed_executions", "closed_executions_v2")
				p.ends(open, "run_id", column, "open_executions")
			}
		}
		check()

		s := visibilityPort{p.Writer}
		p.must(s.started(ctx, runs[6], 10*time.Hour))
		p.must(s.started(ctx, runs[7], 10*time.Hour))
		open[id(6)], open[id(7)] = 600, 600
		check()
		for _, i := range []int{4, 6} { // started by hand, and by the library
			p.must(s.closed(ctx, runs[i].close(0), time.Hour))
			delete(open, id(i))
			closed[id(i)] = 60
		}
		check()
		reset, err := writer.Modify(ctx, p.Writer, "reset", executions, runs[0].close(0), func(c Closed) (Closed, error) {
			c.Status = 3
			return c, nil
		})
		p.must(err)
		check()
		longer := reset
		longer.ExpiresAt = time.Now().Add(9 * time.Hour)
		if _, err = p.Writer.Write(ctx, "keep", executions.Update(reset, longer)); err != nil {
			p.Error(err)
		}
		closed[id(0)] = 540
		check()
		p.must(remove(ctx, p.Writer, executions, runs[3].close(3)))
		delete(closed, id(3))
		check()
		p.has("closed_executions", "status", 0, 0, 1, 2, 3)
		p.has("open_executions", "workflow_id", "invoice-7", "invoice-7")
		p.verify(running, executions)
	})
}
