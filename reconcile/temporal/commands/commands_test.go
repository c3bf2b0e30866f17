package commands

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/mock"
	"go.temporal.io/api/common/v1"
	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/mocks"
	sdk "go.temporal.io/sdk/temporal"

	"github.com/denorm-go/denorm/cmd/denorm/command"
	"github.com/denorm-go/denorm/reconcile/temporal"
)

// denorm runs the command on a client that is a mock.
func denorm(t *testing.T, c *mocks.Client, args ...string) (out string, code int) {
	t.Helper()
	c.On("Close").Return()
	root := command.New(Temporal(func(o client.Options) (client.Client, error) {
		if o.HostPort != "temporal:7233" {
			return nil, errors.New("no such host")
		}
		return c, nil
	}))
	var b bytes.Buffer
	root.SetArgs(args)
	root.SetOut(&b)
	root.SetErr(&b)
	err := root.ExecuteContext(t.Context())
	if err != nil {
		b.WriteString(err.Error()) // main does
	}
	return b.String(), command.ExitCode(err)
}

// The commands start a run, say what it has found, and exit as those of a run in this process.
func TestVerifyAndBackfill(t *testing.T) {
	differ := []temporal.Table{{Table: "shop.orders_by_user", Rows: 9, Found: map[string]int64{"missing": 2}}}
	for _, test := range []struct {
		args   []string
		want   temporal.Run
		report temporal.Report
		code   int
		says   string
	}{
		{
			[]string{"verify", "order", "--settle", "10s", "--units", "3", "--rate", "7", "--tables", "orders_by_user"},
			temporal.Run{Kind: "verify", Set: "order", Settle: 10 * time.Second, Segments: 256, Units: 3, Rate: 7, InFlight: 256, Tables: []string{"orders_by_user"}},
			temporal.Report{},
			command.ExitFine, "0 findings",
		},
		{
			[]string{"verify", "order"},
			temporal.Run{Kind: "verify", Set: "order", Settle: 90 * time.Second, Segments: 256, Units: 16, InFlight: 256, Tables: []string{}},
			temporal.Report{Tables: differ},
			command.ExitFound, "missing 2",
		},
		{
			[]string{"verify", "order", "--format", "json"},
			temporal.Run{Kind: "verify", Set: "order", Settle: 90 * time.Second, Segments: 256, Units: 16, InFlight: 256, Tables: []string{}},
			temporal.Report{Tables: differ, Uncovered: 1},
			command.ExitError, `"missing": 2`,
		},
		{
			[]string{"backfill", "order", "orders_by_user", "--writers", "2026-01-01T00:00:00Z", "--segments", "9"},
			temporal.Run{
				Kind: "backfill", Set: "order", Table: "orders_by_user", Settle: 90 * time.Second, Segments: 9, Units: 16, InFlight: 256,
				Writers: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC),
			},
			temporal.Report{Kind: "backfill", Put: 5},
			command.ExitFine, "rows put: 5",
		},
	} {
		c, run := new(mocks.Client), new(mocks.WorkflowRun)
		var got temporal.Run
		c.On("ExecuteWorkflow", mock.Anything, mock.MatchedBy(func(o client.StartWorkflowOptions) bool {
			return o.ID == "denorm-"+test.want.Kind+"-order" && o.TaskQueue == "denorm"
		}), mock.Anything, mock.Anything).Run(func(a mock.Arguments) { got = a.Get(3).(temporal.Run) }).Return(run, nil)
		run.On("GetID").Return("denorm-verify-order")
		run.On("Get", mock.Anything, mock.Anything).Run(func(a mock.Arguments) { *a.Get(1).(*temporal.Report) = test.report }).Return(nil)
		out, code := denorm(t, c, append(test.args, "--temporal", "temporal:7233")...)
		if code != test.code || !strings.Contains(out, test.says) {
			t.Errorf("%q exits with %d:\n%s", test.args, code, out)
		}
		a, _ := json.Marshal(got)
		if b, _ := json.Marshal(test.want); !bytes.Equal(a, b) {
			t.Errorf("%q starts %s, want %s", test.args, a, b)
		}
	}
}

// Runs are steered by signals, and canceled.
func TestSteer(t *testing.T) {
	const id = "denorm-verify-order"
	for _, test := range []struct {
		args   []string
		signal string
		value  any
	}{{[]string{"pause", id}, "pause", nil}, {[]string{"resume", id}, "resume", nil}, {[]string{"rate", id, "500"}, "rate", 500}} {
		c := new(mocks.Client)
		c.On("SignalWorkflow", mock.Anything, id, "", test.signal, test.value).Return(nil).Once()
		out, code := denorm(t, c, append(test.args, "--temporal", "temporal:7233")...)
		if code != command.ExitFine || !strings.Contains(out, id) || !c.AssertExpectations(t) {
			t.Errorf("%q exits with %d:\n%s", test.args, code, out)
		}
	}
	c := new(mocks.Client)
	c.On("CancelWorkflow", mock.Anything, id, "").Return(serviceerror.NewNotFound("")).Once()
	if out, code := denorm(t, c, "stop", id, "--temporal", "temporal:7233"); code != command.ExitError || !strings.Contains(out, "no run "+id+" is under way") {
		t.Errorf("stop exits with %d:\n%s", code, out)
	}
}

// Runs are listed, those that are under way with their progress.
func TestRuns(t *testing.T) {
	c, value := new(mocks.Client), new(mocks.Value)
	execution := func(id string, status enums.WorkflowExecutionStatus) *workflowpb.WorkflowExecutionInfo {
		return &workflowpb.WorkflowExecutionInfo{Execution: &common.WorkflowExecution{WorkflowId: id}, Status: status}
	}
	c.On("ListWorkflow", mock.Anything, mock.Anything).Return(&workflowservice.ListWorkflowExecutionsResponse{
		Executions: []*workflowpb.WorkflowExecutionInfo{
			execution("denorm-verify-order", enums.WORKFLOW_EXECUTION_STATUS_RUNNING), execution("denorm-backfill-order", enums.WORKFLOW_EXECUTION_STATUS_COMPLETED),
			execution("denorm-verify-order", enums.WORKFLOW_EXECUTION_STATUS_CONTINUED_AS_NEW),
		},
	}, nil)
	c.On("QueryWorkflow", mock.Anything, "denorm-verify-order", "", "progress").Return(value, nil)
	value.On("Get", mock.Anything).Run(func(a mock.Arguments) {
		*a.Get(0).(*temporal.Progress) = temporal.Progress{State: "paused", Done: 0.5, Rows: 70}
	}).Return(nil)
	out, code := denorm(t, c, "runs", "--temporal", "temporal:7233")
	lines := strings.Split(strings.TrimSpace(out), "\n")
	if code != command.ExitFine || len(lines) != 3 || !strings.Contains(lines[1], "paused  50.0 %  70") || !strings.Contains(lines[2], "done") {
		t.Errorf("runs exits with %d:\n%s", code, out)
	}
	var listed struct{ Runs []listed }
	out, _ = denorm(t, c, "runs", "--temporal", "temporal:7233", "--format", "json")
	if err := json.Unmarshal([]byte(out), &listed); err != nil || len(listed.Runs) != 2 || listed.Runs[0].Progress.Rows != 70 {
		t.Errorf("%v\n%s", err, out)
	}
}

// Flags and arguments that cannot be meant are errors that say why.
func TestFlags(t *testing.T) {
	for _, test := range []struct{ args, says string }{
		{"verify order --temporal elsewhere:1", "connect to Temporal at elsewhere:1"},
		{"verify order --temporal temporal:7233 --hosts 10.0.0.1", "--hosts has no meaning"},
		{"verify order --temporal temporal:7233 --units 0", "--units 0 is not positive"},
		{"verify --temporal temporal:7233", "give verify SET"},
		{"verify order --segments 9", "--segments needs --temporal"},
		{"pause --temporal temporal:7233", "give pause RUN"},
		{"rate a -1 --temporal temporal:7233", "shorthand"},
		{"rate a many --temporal temporal:7233", "is not a number"},
		{"runs --temporal temporal:7233 --format yaml", "unknown --format"},
		{"backfill order t --temporal temporal:7233", "--writers TIME"},
		{"backfill order t --writers 2999-01-01T00:00:00Z --temporal temporal:7233", "--writers TIME"},
		{"runs", "--state"},
	} {
		if out, code := denorm(t, new(mocks.Client), strings.Fields(test.args)...); code != command.ExitError || !strings.Contains(out, test.says) {
			t.Errorf("%s exits with %d:\n%s", test.args, code, out)
		}
	}
}

// A watcher that is told to end leaves the run as it is, and says so.
func TestWatcherEnds(t *testing.T) {
	c, run := new(mocks.Client), new(mocks.WorkflowRun)
	ctx, end := context.WithCancel(t.Context())
	c.On("ExecuteWorkflow", mock.Anything, mock.Anything, mock.Anything, mock.Anything).Return(run, nil)
	c.On("Close").Return()
	run.On("GetID").Return("denorm-verify-order")
	run.On("Get", mock.Anything, mock.Anything).Run(func(mock.Arguments) { end() }).Return(context.Canceled)
	root := command.New(Temporal(func(client.Options) (client.Client, error) { return c, nil }))
	var b bytes.Buffer
	root.SetArgs([]string{"verify", "order", "--temporal", "temporal:7233"})
	root.SetErr(&b)
	if err := root.ExecuteContext(ctx); command.ExitCode(err) != command.ExitError || !strings.Contains(b.String()+err.Error(), "the run goes on") {
		t.Errorf("%v\n%s", err, b.String())
	}
}

// A run that was stopped has a report, which is not complete: it is printed all the same.
func TestStoppedRun(t *testing.T) {
	c, run := new(mocks.Client), new(mocks.WorkflowRun)
	c.On("GetWorkflow", mock.Anything, "denorm-verify-order", "").Return(run)
	run.On("GetID").Return("denorm-verify-order")
	report := temporal.Report{Tables: []temporal.Table{{Table: "shop.orders_by_user", Rows: 9}}, Stopped: true}
	run.On("Get", mock.Anything, mock.Anything).Return(sdk.NewCanceledError(report))
	out, code := denorm(t, c, "verify", "order", "--resume", "denorm-verify-order", "--temporal", "temporal:7233")
	if code != command.ExitError || !strings.Contains(out, "9 rows") || !strings.Contains(out, "stopped before all was read") || strings.Contains(out, "agrees") {
		t.Errorf("exits with %d:\n%s", code, out)
	}
}

// What a workflow is called and answers does nothing to a terminal.
func TestTextsOfWorkflowsDoNothingToATerminal(t *testing.T) {
	t.Parallel()
	c, value := new(mocks.Client), new(mocks.Value)
	const evil = "x\x1b]52;c;ZXZpbA==\x07\u202e\u009b2J"
	c.On("ListWorkflow", mock.Anything, mock.Anything).Return(&workflowservice.ListWorkflowExecutionsResponse{
		Executions: []*workflowpb.WorkflowExecutionInfo{
			{Execution: &common.WorkflowExecution{WorkflowId: evil}, Status: enums.WORKFLOW_EXECUTION_STATUS_RUNNING},
		},
	}, nil)
	c.On("QueryWorkflow", mock.Anything, evil, "", "progress").Return(value, nil)
	value.On("Get", mock.Anything).Run(func(a mock.Arguments) {
		*a.Get(0).(*temporal.Progress) = temporal.Progress{State: evil}
	}).Return(nil)
	out, _ := denorm(t, c, "runs", "--temporal", "temporal:7233")
	if strings.ContainsAny(out, "\x1b\x07\u202e\u009b") {
		t.Errorf("runs: %q", out)
	}

	c, run := new(mocks.Client), new(mocks.WorkflowRun)
	c.On("GetWorkflow", mock.Anything, "r", "").Return(run)
	run.On("GetID").Return("r")
	run.On("Get", mock.Anything, mock.Anything).Run(func(a mock.Arguments) {
		*a.Get(1).(*temporal.Report) = temporal.Report{Tables: []temporal.Table{{Table: evil, Found: map[string]int64{evil: 0}}}}
	}).Return(nil)
	for _, format := range []string{"text", "json"} {
		out, _ = denorm(t, c, "verify", "order", "--resume", "r", "--temporal", "temporal:7233", "--format", format)
		if strings.ContainsAny(out, "\x1b\x07\u202e\u009b") {
			t.Errorf("verify, %s: %q", format, out)
		}
	}
}
