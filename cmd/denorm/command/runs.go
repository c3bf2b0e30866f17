package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/gocql/gocql"
	"github.com/spf13/cobra"

	"github.com/denorm-go/denorm/internal/each"
	"github.com/denorm-go/denorm/internal/printable"
	"github.com/denorm-go/denorm/reconcile"
)

// steer is a command about stored runs, by flags. It needs no declared sets.
type steer struct {
	config *config
	cluster
	state  string
	format string

	order func(*reconcile.Reconciler, context.Context, gocql.UUID) error // nil: list the runs
	says  func(run reconcile.RunInfo, denorm string) string              // what has been ordered
	rate  int
}

const steerExits = `
Exit codes: 0 done, 2 it could not be done.`

func newRuns(config *config) *cobra.Command {
	s := &steer{config: config}
	return s.command("runs", "List stored runs of verify, repair, backfill and watch",
		`List the stored runs of verify, repair and backfill, and the passes of watching services, the latest first.

A run is running, paused or stopping while its process works on it, or is about to hear of an order. One that is interrupted has lost its
process, and one that is incomplete has ended before all was read: the command that began it continues it with --state and --resume RUN, a
watching service by itself.
`)
}

func newPause(config *config) *cobra.Command {
	s := &steer{config: config, order: (*reconcile.Reconciler).Pause}
	s.says = func(run reconcile.RunInfo, denorm string) string {
		return fmt.Sprintf("sends nothing after some seconds, until %s resume %s", denorm, run.Run)
	}
	return s.command("pause RUN", "Make a run send nothing until it is resumed",
		"Make a run send nothing until it is resumed. Its process lives on and keeps its lease; it hears of the order within some seconds.\n")
}

func newResume(config *config) *cobra.Command {
	s := &steer{config: config, order: (*reconcile.Reconciler).Continue}
	s.says = func(reconcile.RunInfo, string) string { return "goes on after some seconds" }
	return s.command("resume RUN", "Let a run that is paused go on",
		`Let a run that is paused go on. Its process hears of the order within some seconds.

A run whose process has died, or which has ended early, is continued by the command that began it, such as
verify SET --state KEYSPACE --resume RUN.
`)
}

func newStop(config *config) *cobra.Command {
	s := &steer{config: config, order: (*reconcile.Reconciler).Stop}
	s.says = func(run reconcile.RunInfo, _ string) string {
		if run.Kind == kindWatch {
			return "ends after some seconds; the next pass begins when it is due"
		}
		return fmt.Sprintf("ends after some seconds; to continue it, repeat the command that began it, with --state %s --resume %s", s.state, run.Run)
	}
	return s.command("stop RUN", "End a run", "End a run, with what it has found until then. Its process hears of the order within some seconds.\n")
}

func newRate(config *config) *cobra.Command {
	s := &steer{config: config}
	s.order = func(on *reconcile.Reconciler, ctx context.Context, run gocql.UUID) error {
		return on.SetRate(ctx, run, s.rate)
	}
	s.says = func(run reconcile.RunInfo, _ string) string {
		out := "sends at most " + grouped(s.rate) + " requests a second"
		if s.rate == 0 {
			out = "sends requests without a bound of their rate"
		}
		if run.State == stateInterrupted {
			return out + " once it is continued: its process has died"
		}
		return out + ", after some seconds"
	}
	return s.command("rate RUN REQUESTS", "Change how many requests a second a run may send",
		"Change how many requests a second a run may send; 0 is no bound. Its process hears of the order within some seconds.\n")
}

// The states and a kind of runs, as package reconcile names them.
const (
	kindWatch        = "watch"
	stateRunning     = "running"
	stateInterrupted = "interrupted"
)

func (s *steer) command(use, short, long string) *cobra.Command {
	c := &cobra.Command{Use: use, Short: short, Long: long + steerExits, RunE: s.run}
	f := c.Flags()
	s.flags(f)
	f.StringVar(&s.state, "state", "", "keyspace in which runs are stored")
	f.StringVar(&s.format, "format", "text", "text or json")
	return c
}

// check rejects flags and arguments that cannot be meant, and gives the run.
func (s *steer) check(c *cobra.Command, args []string) (run gocql.UUID, err error) {
	wanted := len(strings.Fields(c.Use)) - 1
	switch err := emptyFlag(c); {
	case err != nil:
		return run, err
	case s.format != "text" && s.format != "json":
		return run, fmt.Errorf("unknown --format %q: text or json", s.format)
	case len(args) != wanted && wanted == 0:
		return run, fmt.Errorf("%s has no arguments: leave out %q", c.Name(), args[0])
	case len(args) != wanted:
		return run, fmt.Errorf("give %s; %s runs lists the runs", strings.TrimPrefix(c.Use, c.Name()+" "), c.Parent().CommandPath())
	case s.state == "":
		return run, errors.New("name the keyspace in which runs are stored with --state")
	case len(s.hosts) == 0:
		return run, errors.New("name nodes of the cluster with --hosts")
	}
	if wanted == 0 {
		return run, nil
	}
	if run, err = parseRun(args[0], c.Parent().CommandPath()); err != nil || wanted == 1 {
		return run, err
	}
	if s.rate, err = strconv.Atoi(args[1]); err != nil || s.rate < 0 || s.rate > math.MaxInt32 {
		return run, fmt.Errorf("%q is not a number of requests a second: give one of at most %d, or 0 for no bound", args[1], math.MaxInt32)
	}
	return run, nil
}

func parseRun(id, denorm string) (gocql.UUID, error) {
	run, err := gocql.ParseUUID(id)
	if err != nil || run == (gocql.UUID{}) { // reconcile.Resume of that one begins a new run
		return run, fmt.Errorf("%q is not the id of a run: %s runs lists them", id, denorm)
	}
	return run, nil
}

func (s *steer) run(c *cobra.Command, args []string) error {
	run, err := s.check(c, args)
	if err != nil {
		return err
	}
	with, err := s.open("", s.config.session...)
	if err != nil {
		return err
	}
	defer with.Close()
	on, err := reconcile.New(with, reconcile.State(s.state))
	if err != nil {
		return err
	}
	if s.order != nil {
		if err := s.order(on, c.Context(), run); err != nil {
			return err
		}
	}
	runs, err := on.Runs(c.Context())
	if err != nil {
		return err
	}
	if s.order == nil {
		return s.list(c, runs)
	}
	i := slices.IndexFunc(runs, func(i reconcile.RunInfo) bool { return i.Run == run })
	if i < 0 {
		return fmt.Errorf("run %s is no longer stored in keyspace %s", run, s.state)
	}
	return s.ordered(c, runs[i])
}

// list writes all runs.
func (s *steer) list(c *cobra.Command, runs []reconcile.RunInfo) error {
	if s.format == "json" {
		return writeIndented(c.OutOrStdout(), struct {
			Runs []runJSON `json:"runs"`
		}{append([]runJSON{}, each.Of(runs, newRunJSON)...)})
	}
	if len(runs) == 0 {
		_, err := fmt.Fprintf(c.OutOrStdout(), "no runs are stored in keyspace %s\n", printable.Line(s.state))
		return err
	}
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	row := func(cells ...string) { _, _ = io.WriteString(w, strings.Join(cells, "\t")+"\n") } // into memory
	row("RUN", "KIND", "SET", "KEYSPACE", "STATE", "READ", "ROWS", "FINDINGS", "RATE", "BEGAN", "ENDED")
	for _, r := range runs {
		rate := "-"
		if r.Rate > 0 {
			rate = grouped(r.Rate) + "/s"
		}
		row(r.Run.String(), printable.Line(r.Kind), printable.Line(r.Entity), printable.Line(r.Keyspaces), printable.Line(shownState(r)),
			fmt.Sprintf("%.1f %%", 100*float64(r.Done)/float64(max(1, r.Ranges))), grouped(r.Rows), grouped(r.Findings), rate,
			shownTime(r.Began), shownTime(r.Ended))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	_, err := io.WriteString(c.OutOrStdout(), b.String())
	return err
}

// ordered says what has become of an order to a run.
func (s *steer) ordered(c *cobra.Command, r reconcile.RunInfo) error {
	if s.format == "json" {
		if err := writeIndented(c.OutOrStdout(), newRunJSON(r)); err != nil {
			return err
		}
	}
	denorm := c.Parent().CommandPath()
	if r.State == stateInterrupted && c.Name() != "rate" {
		then := fmt.Sprintf("to continue the run, repeat the command that began it, with --state %s --resume %s", s.state, r.Run)
		if r.Kind == kindWatch {
			then = "another process that watches the set continues the run by itself"
		}
		return fmt.Errorf("the process of run %s has died, or could not renew its lease, and then does not hear of this: %s", r.Run, then)
	}
	if s.format == "json" {
		return nil
	}
	_, err := fmt.Fprintf(c.OutOrStdout(), "run %s %s\n", r.Run, printable.Line(s.says(r, denorm)))
	return err
}

// shownState is the state of a run, and what it is about to do.
func shownState(r reconcile.RunInfo) string {
	switch {
	case r.State != stateRunning:
		return r.State
	case r.Wanted == "pause":
		return "paused"
	case r.Wanted == "stop":
		return "stopping"
	}
	return r.State
}

func shownTime(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return t.UTC().Format(time.RFC3339)
}

// runJSON is a stored run in JSON output.
type runJSON struct {
	Run       string    `json:"run"`
	Kind      string    `json:"kind"`
	Set       string    `json:"set"`
	Keyspaces []string  `json:"keyspaces"`
	State     string    `json:"state"` // as in the text
	Done      int       `json:"done"`  // ranges of tables
	Ranges    int       `json:"ranges"`
	Rows      int       `json:"rows"`
	Findings  int       `json:"findings"`
	Rate      int       `json:"rate"` // 0: no bound
	Began     time.Time `json:"began"`
	Ended     time.Time `json:"ended,omitzero"`
}

func newRunJSON(r reconcile.RunInfo) runJSON {
	return runJSON{
		Run: r.Run.String(), Kind: r.Kind, Set: r.Entity, Keyspaces: strings.Split(r.Keyspaces, ","), State: shownState(r), Done: r.Done,
		Ranges: r.Ranges, Rows: r.Rows, Findings: r.Findings, Rate: r.Rate, Began: inJSON(r.Began), Ended: inJSON(r.Ended),
	}
}
