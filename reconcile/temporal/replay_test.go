package temporal

import (
	"log/slog"
	"path/filepath"
	"testing"

	"go.temporal.io/sdk/log"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/denorm-go/denorm/reconcile/temporal/internal/names"
)

// A run that is under way goes on when workers have a later version of this package: the workflow does the same as in histories of a real server. A change that it
// would not survive needs workflow.GetVersion. TestHistories of examples/temporal makes the histories; those of a release stay.
func TestReplay(t *testing.T) {
	histories, err := filepath.Glob(filepath.Join("testdata", "histories", "*.json"))
	if err != nil || len(histories) < 4 {
		t.Fatal(err, histories)
	}
	for _, history := range histories {
		t.Run(filepath.Base(history), func(t *testing.T) {
			r := worker.NewWorkflowReplayer()
			r.RegisterWorkflowWithOptions(reconcileRun, workflow.RegisterOptions{Name: names.Workflow})
			if err := r.ReplayWorkflowHistoryFromJSONFile(log.NewStructuredLogger(slog.New(slog.DiscardHandler)), history); err != nil {
				t.Error(err)
			}
		})
	}
}
