// Package commands lets the commands of denorm start, watch and control runs of package temporal. It is a package of
// its own, so that workers do not depend on what only commands need.
package commands

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"syscall"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/log"
	sdk "go.temporal.io/sdk/temporal"

	"github.com/denorm-go/denorm/cmd/denorm/command"
	"github.com/denorm-go/denorm/internal/printable"
	"github.com/denorm-go/denorm/reconcile/temporal"
	"github.com/denorm-go/denorm/reconcile/temporal/internal/names"
)

// The flags.
const (
	hostFlag      = "temporal"
	namespaceFlag = "temporal-namespace"
	queueFlag     = "task-queue"
	segmentsFlag  = "segments"
	unitsFlag     = "units"
)

// Temporal gives the commands of denorm the flag --temporal HOST:PORT. With it, verify and backfill start a run there
// and watch it, and runs, pause, resume, rate and stop are about runs there. dial connects; it is needed if that takes
// more than a host and a namespace, such as certificates, and may be nil. The commands need neither sets nor a session:
// the workers have these.
//
//	root.AddCommand(command.New(command.Declared(shop.Schema), commands.Temporal(nil)))
func Temporal(dial func(client.Options) (client.Client, error)) command.Option {
	if dial == nil {
		dial = client.Dial
	}
	flags := func(f *pflag.FlagSet) {
		f.String(hostFlag, "", "HOST:PORT of Temporal, whose workers do the run; most other flags are theirs then")
		f.String(namespaceFlag, "default", "with --temporal: namespace")
		f.String(queueFlag, "denorm", "with --temporal: task queue of the workers")
		if f.Lookup("settle") != nil {
			f.Int(segmentsFlag, 0, "with --temporal: ranges that each table is cut into (default: 256)")
			f.Int(unitsFlag, 0, "with --temporal: ranges at a time, of all workers together (default: 16)")
		}
	}
	return command.Elsewhere(flags, func(c *cobra.Command, args []string) (mine bool, err error) {
		if !c.Flags().Changed(hostFlag) {
			for _, name := range []string{namespaceFlag, queueFlag, segmentsFlag, unitsFlag} {
				if f := c.Flags().Lookup(name); f != nil && f.Changed {
					return true, fmt.Errorf("--%s needs --%s HOST:PORT", name, hostFlag)
				}
			}
			return false, nil
		}
		r := remote{flags: c.Flags(), out: c.OutOrStdout(), errs: c.ErrOrStderr(), denorm: c.Parent().CommandPath()}
		return true, r.run(c, args, dial)
	})
}

// quiet keeps the SDK from writing into the output.
var quiet = log.NewStructuredLogger(slog.New(slog.DiscardHandler))

// remote is a command about runs on Temporal.
type remote struct {
	client.Client
	flags     *pflag.FlagSet
	out, errs io.Writer
	denorm    string // the command above
}

// allowed are the flags that have a meaning there.
var allowed = []string{
	hostFlag, namespaceFlag, queueFlag, segmentsFlag, unitsFlag, "settle", "tables", "rate", "page-size", "writers", "format", "resume",
}

func (r *remote) text(name string) string {
	if f := r.flags.Lookup(name); f != nil {
		return f.Value.String()
	}
	return ""
}

func (r *remote) run(c *cobra.Command, args []string, dial func(client.Options) (client.Client, error)) error {
	var err error
	r.flags.Visit(func(f *pflag.Flag) {
		switch {
		case err != nil:
		case !slices.Contains(allowed, f.Name):
			err = fmt.Errorf("--%s has no meaning with --%s: the workers have sessions and options of their own", f.Name, hostFlag)
		case f.Value.String() == "" || f.Value.String() == "[]":
			err = fmt.Errorf("--%s is empty", f.Name)
		}
	})
	if format := r.text("format"); err == nil && format != "text" && format != "json" {
		err = fmt.Errorf("unknown --format %q: text or json", format)
	}
	if wanted := map[string]int{"verify": 1, "backfill": 2, "runs": 0, "rate": 2}; err == nil {
		n, other := wanted[c.Name()]
		if !other {
			n = 1
		}
		if len(args) != n {
			err = fmt.Errorf("give %s: there are %d arguments", c.Use, len(args))
		}
	}
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(c.Context(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	address := r.text(hostFlag)
	if r.Client, err = dial(client.Options{HostPort: address, Namespace: r.text(namespaceFlag), Logger: quiet}); err != nil {
		return fmt.Errorf("connect to Temporal at %s: %w", address, err)
	}
	defer r.Close()
	switch c.Name() {
	case "verify", "backfill":
		return r.start(ctx, c.Name(), args)
	case "runs":
		return r.list(ctx)
	case "pause":
		return r.signal(ctx, args[0], names.Pause, nil, fmt.Sprintf("sends nothing after some seconds, until %s resume %s", r.denorm, args[0]))
	case "resume":
		return r.signal(ctx, args[0], names.Resume, nil, "goes on")
	case "rate":
		rate, err := strconv.Atoi(args[1])
		if err != nil || rate < 0 {
			return fmt.Errorf("%q is not a number of requests a second: give one, or 0 for no bound", args[1])
		}
		return r.signal(ctx, args[0], names.Rate, rate, fmt.Sprintf("sends at most %d requests a second after some seconds (0: no bound)", rate))
	}
	return r.said(args[0], r.CancelWorkflow(ctx, args[0], ""), "ends after some seconds, when what was begun is complete")
}

// start starts a run, or finds one that is under way, and watches it.
func (r *remote) start(ctx context.Context, kind string, args []string) error {
	if id := r.text("resume"); id != "" {
		return r.watch(ctx, r.GetWorkflow(ctx, id, ""))
	}
	run := temporal.Run{Kind: kind, Set: args[0]}
	var errs []error
	whole := func(to *int, name string) {
		n, err := r.flags.GetInt(name)
		if err == nil && n < 1 && r.flags.Changed(name) {
			err = fmt.Errorf("--%s %d is not positive", name, n)
		}
		*to = n
		errs = append(errs, err)
	}
	whole(&run.Rate, "rate")
	whole(&run.PageSize, "page-size")
	whole(&run.Segments, segmentsFlag)
	whole(&run.Units, unitsFlag)
	var err error
	run.Settle, err = r.flags.GetDuration("settle")
	errs = append(errs, err)
	if kind == temporal.Verify {
		run.Tables, err = r.flags.GetStringSlice("tables")
		errs = append(errs, err)
	} else {
		run.Table = args[1]
		if run.Writers, err = time.Parse(time.RFC3339, r.text("writers")); err != nil || run.Writers.After(time.Now()) {
			errs = append(errs, fmt.Errorf("say with --writers TIME when the last of the processes that do not write %s had ended, as 2006-01-02T15:04:05Z", run.Table))
		}
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	started, err := temporal.Start(ctx, r.Client, r.text(queueFlag), run)
	if err != nil {
		return err
	}
	_, _ = fmt.Fprintf(r.errs, "run %s\n", printable.Line(started.GetID())) // nobody may be looking
	return r.watch(ctx, started)
}

// watch says how far a run is until it ends, and then what it has found.
func (r *remote) watch(ctx context.Context, run client.WorkflowRun) error {
	ended := make(chan struct{})
	var report temporal.Report
	var err error
	go func() {
		defer close(ended)
		err = run.Get(ctx, &report)
	}()
	ticker := time.NewTicker(10 * time.Second)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			if p, err := r.progress(ctx, run.GetID()); err == nil {
				_, _ = fmt.Fprintln(r.errs, printable.Line(line(p))) // as above
			}
			continue
		case <-ended:
		}
		break
	}
	var canceled *sdk.CanceledError
	var failed *sdk.ApplicationError
	switch {
	case ctx.Err() != nil:
		return fmt.Errorf("the run goes on: %s runs --%s %s says how far it is, and stop %s ends it", r.denorm, hostFlag, r.text(hostFlag), run.GetID())
	case errors.As(err, &canceled) && canceled.HasDetails() && canceled.Details(&report) == nil: // it was stopped, and the report says so
	case errors.As(err, &canceled):
		return fmt.Errorf("run %s was stopped", run.GetID())
	case errors.As(err, &failed):
		return fmt.Errorf("run %s has failed: %s", run.GetID(), failed.Message())
	case err != nil:
		return err
	}
	if r.text("format") == "json" {
		err = r.json(report)
	} else {
		text := report.String()
		if report.Kind == temporal.Backfill {
			text = fmt.Sprintf("rows put: %d\n%s", report.Put, text)
		}
		_, err = io.WriteString(r.out, printable.Lines(text))
	}
	return errors.Join(err, report.Err())
}

func (r *remote) json(value any) error {
	document, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		return err
	}
	_, err = io.WriteString(r.out, printable.JSON(string(document)+"\n"))
	return err
}

// line is the progress as a line.
func line(p temporal.Progress) string {
	out := fmt.Sprintf("%s %s  %.1f %%  %d rows  found %d  %s", p.Kind, p.Set, 100*p.Done, p.Rows, p.Findings, p.State)
	if p.Waits != "" {
		out += ": " + p.Waits
	}
	return out
}

func (r *remote) progress(ctx context.Context, id string) (p temporal.Progress, err error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	value, err := r.QueryWorkflow(ctx, id, "", names.Progress)
	if err != nil {
		return p, err
	}
	return p, value.Get(&p)
}

// signal orders something of a run.
func (r *remote) signal(ctx context.Context, id, name string, value any, says string) error {
	return r.said(id, r.SignalWorkflow(ctx, id, "", name, value), says)
}

func (r *remote) said(id string, err error, says string) error {
	var none *serviceerror.NotFound
	switch {
	case errors.As(err, &none):
		return fmt.Errorf("no run %s is under way: %s runs --%s %s lists them", id, r.denorm, hostFlag, r.text(hostFlag))
	case err != nil:
		return err
	}
	_, err = fmt.Fprintf(r.out, "run %s %s\n", printable.Line(id), printable.Line(says))
	return err
}

// listed is a run in a list.
type listed struct {
	Run   string    `json:"run"`
	State string    `json:"state"`
	Began time.Time `json:"began"`
	Ended time.Time `json:"ended,omitzero"`
	// Progress is of a run that is under way, if a worker has answered.
	Progress *temporal.Progress `json:"progress,omitempty"`
}

// list writes all runs of the namespace.
func (r *remote) list(ctx context.Context) error {
	all := []listed{}
	for token := []byte(nil); ; {
		page, err := r.ListWorkflow(ctx, &workflowservice.ListWorkflowExecutionsRequest{
			Query: "WorkflowType = '" + names.Workflow + "'", NextPageToken: token,
		})
		if err != nil {
			return err
		}
		for _, e := range page.GetExecutions() {
			if e.GetStatus() != enums.WORKFLOW_EXECUTION_STATUS_CONTINUED_AS_NEW {
				all = append(all, r.listed(ctx, e))
			}
		}
		if token = page.GetNextPageToken(); len(token) == 0 {
			break
		}
	}
	if r.text("format") == "json" {
		return r.json(struct {
			Runs []listed `json:"runs"`
		}{all})
	}
	w := tabwriter.NewWriter(r.out, 0, 0, 2, ' ', 0)
	row := "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n"
	_, _ = fmt.Fprintf(w, row, "RUN", "STATE", "READ", "ROWS", "FINDINGS", "RATE", "BEGAN", "ENDED") // Flush has the error
	for _, l := range all {
		read, rows, findings, rate, ended := "-", "-", "-", "-", "-"
		if p := l.Progress; p != nil {
			read, rows, findings = fmt.Sprintf("%.1f %%", 100*p.Done), strconv.FormatInt(p.Rows, 10), strconv.FormatInt(p.Findings, 10)
			if p.Rate > 0 {
				rate = fmt.Sprintf("%d/s", p.Rate)
			}
		}
		if !l.Ended.IsZero() {
			ended = l.Ended.Format(time.RFC3339)
		}
		_, _ = fmt.Fprintf(w, row, printable.Line(l.Run), printable.Line(l.State), read, rows, findings, rate, l.Began.Format(time.RFC3339), ended) // as above
	}
	return w.Flush()
}

func (r *remote) listed(ctx context.Context, e *workflowpb.WorkflowExecutionInfo) listed {
	l := listed{Run: e.GetExecution().GetWorkflowId(), Began: e.GetStartTime().AsTime().UTC(), State: "running"}
	switch status := e.GetStatus(); status {
	case enums.WORKFLOW_EXECUTION_STATUS_RUNNING:
		if p, err := r.progress(ctx, l.Run); err == nil {
			l.Progress, l.State, l.Began = &p, p.State, p.Began
		}
		return l
	case enums.WORKFLOW_EXECUTION_STATUS_COMPLETED:
		l.State = "done"
	default:
		l.State = status.String()
	}
	l.Ended = e.GetCloseTime().AsTime().UTC()
	return l
}
