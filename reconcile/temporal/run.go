package temporal

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"

	"github.com/denorm-go/denorm/internal/each"
	"github.com/denorm-go/denorm/internal/engine"
	"github.com/denorm-go/denorm/reconcile"
)

// The kinds of runs.
const (
	Verify   = engine.Verify
	Backfill = engine.Backfill
)

// Run says what to do. It is the argument of the workflow, as JSON: durations are numbers of nanoseconds.
type Run struct {
	Kind string `json:"kind"` // Verify or Backfill
	Set  string `json:"set"`  // the name of a set that the workers have registered
	// Table is the query table that a backfill fills. Writers is when the last process that did not write it had ended:
	// see [reconcile.Writers].
	Table   string    `json:"table,omitempty"`
	Writers time.Time `json:"writers,omitzero"`
	// Tables are the query tables that a verification compares; empty: all.
	Tables []string `json:"tables,omitempty"`
	// Settle is as in [reconcile.Settle]; 0: 90 s. An activity that finds a difference takes several times as long.
	Settle time.Duration `json:"settle,omitempty"`
	// PageSize is as in [reconcile.PageSize]; 0: 1000.
	PageSize int `json:"pageSize,omitempty"`
	// Segments is the number of ranges that each table is cut into: at most 1,000,000; 0: 256. A range should be read in
	// some minutes.
	Segments int `json:"segments,omitempty"`
	// Units is the number of activities at a time, of all workers together: at most 1,000; 0: 16.
	Units int `json:"units,omitempty"`
	// Rate bounds the requests a second of all workers together; 0: no bound. Each unit gets an equal share of it, and of
	// InFlight, which bounds the requests in flight of all workers together; 0: 256. Within its share each worker sends
	// fewer where the cluster is slow.
	Rate     int `json:"rate,omitempty"`
	InFlight int `json:"inFlight,omitempty"`
}

// withDefaults gives the run with numbers in place of zeros, or says what is not valid.
func (r Run) withDefaults() (Run, error) {
	set := func(to *int, value int) {
		if *to == 0 {
			*to = value
		}
	}
	set(&r.Segments, 256)
	set(&r.Units, 16)
	set(&r.InFlight, 256)
	if r.Settle == 0 {
		r.Settle = 90 * time.Second
	}
	switch {
	case r.Kind != Verify && r.Kind != Backfill:
		return r, invalid("kind %q: a run is to %s or to %s", r.Kind, Verify, Backfill)
	case r.Kind == Verify && (r.Table != "" || !r.Writers.IsZero()):
		return r, invalid("Table and Writers are for a backfill: a verification has Tables")
	case r.Kind == Backfill && (r.Table == "" || len(r.Tables) > 0):
		return r, invalid("a backfill has the one query table that it fills as Table, and no Tables")
	case r.Set == "":
		return r, invalid("name the set")
	case r.Segments < 1 || r.Segments > mostSegments:
		return r, invalid("%d segments: give 1 to %d", r.Segments, mostSegments)
	case r.Units < 1 || r.Units > mostUnits:
		return r, invalid("%d units: give 1 to %d", r.Units, mostUnits)
	case r.Rate < 0 || r.InFlight < 0 || r.PageSize < 0 || r.Settle < 0:
		return r, invalid("a negative number: 0 is the default")
	}
	return r, nil
}

const (
	mostSegments = 1_000_000
	mostUnits    = 1_000 // Temporal allows 2,000 pending activities
)

func invalid(format string, args ...any) error {
	return fmt.Errorf("%w: %s", reconcile.ErrInvalid, fmt.Sprintf(format, args...))
}

// Start starts a run on the workers of a task queue. The id of its workflow is made of the queue, the kind and the set,
// as in denorm-verify-order, so there is one of a kind at a time: if it is running already, the error matches
// [reconcile.ErrRunning]. The error matches [reconcile.ErrInvalid] if the run is not valid; what only a worker can
// tell, such as an unknown set, is the error of the workflow. The result of the workflow is a [Report].
func Start(ctx context.Context, c client.Client, taskQueue string, run Run) (client.WorkflowRun, error) {
	run, err := run.withDefaults()
	if err != nil {
		return nil, err
	}
	id := taskQueue + "-" + run.Kind + "-" + run.Set
	started, err := c.ExecuteWorkflow(ctx, client.StartWorkflowOptions{
		ID: id, TaskQueue: taskQueue, StaticSummary: run.Kind + " " + run.Set,
		WorkflowIDReusePolicy:                    enums.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE,
		WorkflowIDConflictPolicy:                 enums.WORKFLOW_ID_CONFLICT_POLICY_FAIL,
		WorkflowExecutionErrorWhenAlreadyStarted: true,
	}, workflowType, run)
	if already := new(serviceerror.WorkflowExecutionAlreadyStarted); errors.As(err, &already) {
		return nil, fmt.Errorf("%w: workflow %s", reconcile.ErrRunning, id)
	}
	return started, err
}

// Report is the result of a run. It has counts, and no findings as [reconcile.Report] has, because Temporal is told no
// keys. An embedded verification lists them.
type Report struct {
	Kind  string    `json:"kind"`
	Set   string    `json:"set"`
	Began time.Time `json:"began"`
	Ended time.Time `json:"ended"`
	// Tables are the tables that were compared, the base table first.
	Tables []Table `json:"tables"`
	// InFlight counts entities whose tables differed at first and later agreed or were written again, once for each table
	// that was read.
	InFlight int64 `json:"inFlight"`
	Put      int64 `json:"put"` // rows that a backfill has put into its table
	// Uncovered counts ranges and entities that were not compared. Gaps has the first ten ranges with any of them. The
	// logs of the workers say why.
	Uncovered int64 `json:"uncovered"`
	Gaps      []Gap `json:"gaps,omitempty"`
	// Stopped says that the run was canceled before all was read. Then the error of the workflow is a CanceledError of
	// Temporal's SDK, with the report as its details.
	Stopped bool `json:"stopped,omitempty"`
}

// Table is what was found in a table.
type Table struct {
	Table  string           `json:"table"` // physical, with its keyspace
	Rows   int64            `json:"rows"`
	Found  map[string]int64 `json:"found,omitempty"` // by the name of the [reconcile.Class]
	Unheld int64            `json:"unheld,omitempty"`
	Ending int64            `json:"ending,omitempty"` // as of [reconcile.TableReport]
}

// Gap is a range of tokens, above Low and up to High, in which something could not be read.
type Gap struct {
	Table string `json:"table"`
	Low   int64  `json:"low"`
	High  int64  `json:"high"`
}

const mostGaps = 10

// Err returns nil if all rows were read and agree. The error matches [reconcile.ErrDrift] if some disagree,
// [reconcile.ErrUnsafe] if a change of some would lose their TTL, and [reconcile.ErrIncomplete] if some could not be
// read, or the run was stopped.
func (r Report) Err() error {
	var errs []error
	if r.Uncovered > 0 {
		places := each.Of(r.Gaps, func(g Gap) string { return fmt.Sprintf("%s, tokens above %d up to %d", g.Table, g.Low, g.High) })
		errs = append(errs, fmt.Errorf("%w: %d ranges of the ring or entities could not be read, of %s: the logs of the workers say why: run again",
			reconcile.ErrIncomplete, r.Uncovered, strings.Join(places, "; ")))
	}
	if r.Stopped {
		errs = append(errs, fmt.Errorf("%w: the run was stopped before all was read: start it again", reconcile.ErrIncomplete))
	}
	if n := r.findings(); n > 0 {
		errs = append(errs, fmt.Errorf("%w: %d findings", reconcile.ErrDrift, n))
	}
	for _, t := range r.Tables {
		if t.Ending > 0 {
			errs = append(errs, fmt.Errorf("%w: %d rows of %s end by a TTL, which a change would lose: declare ExpiresAt, and adopt",
				reconcile.ErrUnsafe, t.Ending, t.Table))
		}
	}
	return errors.Join(errs...)
}

func (r Report) findings() (n int64) {
	for _, t := range r.Tables {
		for _, found := range t.Found {
			n += found
		}
	}
	return n
}

// String returns the report as a table.
func (r Report) String() string {
	var b strings.Builder
	for _, t := range r.Tables {
		fmt.Fprintf(&b, "%-30s %9d rows", t.Table, t.Rows)
		for _, class := range slices.Sorted(maps.Keys(t.Found)) {
			fmt.Fprintf(&b, "   %s %d", class, t.Found[class])
		}
		switch {
		case len(t.Found) == 0 && r.Uncovered == 0 && !r.Stopped:
			b.WriteString("   agrees")
		case len(t.Found) == 0:
			b.WriteString("   nothing found in what was compared")
		}
		if t.Unheld > 0 {
			fmt.Fprintf(&b, " (%d claims that no base row holds)", t.Unheld)
		}
		if t.Ending > 0 {
			fmt.Fprintf(&b, " (%d rows end by a TTL, which a change would lose)", t.Ending)
		}
		b.WriteByte('\n')
	}
	fmt.Fprintf(&b, "%d findings; %d differences explained by writes in flight; in %s\n", r.findings(), r.InFlight, r.Ended.Sub(r.Began).Round(time.Second))
	if r.Stopped {
		b.WriteString("stopped before all was read\n")
	}
	if r.Uncovered > 0 {
		fmt.Fprintf(&b, "%d ranges of the ring, or entities, were not compared: nothing is known of them\n", r.Uncovered)
	}
	return b.String()
}

// Progress says how far a run is. It is the result of the query progress.
type Progress struct {
	Kind  string `json:"kind"`
	Set   string `json:"set"`
	State string `json:"state"` // running, paused, waiting, canceling or done
	// Waits says what a run waits for: it may be paused because a worker has another declaration.
	Waits    string    `json:"waits,omitempty"`
	Began    time.Time `json:"began"`
	Done     float64   `json:"done"`     // of all that is to be read: 0 to 1
	Rows     int64     `json:"rows"`     // that were read
	Put      int64     `json:"put"`      // rows
	Findings int64     `json:"findings"` //
	Rate     int       `json:"rate"`     // requests a second of all workers; 0: no bound
	Running  int       `json:"running"`  // activities
	Units    int       `json:"units"`    // activities that have ended
}
