package temporal

import (
	"bytes"
	"compress/gzip"
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/log"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"
)

// A run that is under way goes on when workers have a later version of this package: the workflow does the same as in
// histories of a real server. A change that it would not survive needs workflow.GetVersion. TestHistories of
// examples/temporal makes the histories; those of a release stay.
func TestReplay(t *testing.T) {
	histories, err := filepath.Glob(filepath.Join("testdata", "histories", "*.json.gz"))
	if err != nil || len(histories) < 6 {
		t.Fatal(err, histories)
	}
	for _, history := range histories {
		t.Run(filepath.Base(history), func(t *testing.T) {
			packed, err := os.ReadFile(history)
			if err != nil {
				t.Fatal(err)
			}
			text, err := gzip.NewReader(bytes.NewReader(packed))
			if err != nil {
				t.Fatal(err)
			}
			events, err := client.HistoryFromJSON(text, client.HistoryJSONOptions{})
			if err != nil {
				t.Fatal(err)
			}
			r := worker.NewWorkflowReplayer()
			r.RegisterWorkflowWithOptions(reconcileRun, workflow.RegisterOptions{Name: workflowType})
			if err := r.ReplayWorkflowHistory(log.NewStructuredLogger(slog.New(slog.DiscardHandler)), events); err != nil {
				t.Error(err)
			}
		})
	}
}
