package temporal

import (
	"errors"
	"fmt"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/denorm-go/denorm/internal/engine"
)

const (
	// mostEvents is the length of a history at which a workflow continues as new. The server suggests the same by default,
	// and ends a workflow at 51,200.
	mostEvents = 4096
	// heartbeatTimeout is how long a worker may be silent before another one takes over. The SDK sends a heartbeat, and
	// learns of a cancellation, after 4/5 of it.
	heartbeatTimeout = 15 * time.Second
	// longUnit bounds an attempt of an activity. An entity that is written all the time is read at most twenty times,
	// Settle apart.
	longUnit = 24 * time.Hour
)

// lastUnits is how long the workflow waits for running units before it continues as new. Then it ends them, and begins
// their rest again. Tests do not wait that long.
var lastUnits = 5 * time.Minute

// input is the argument of the workflow: a run, and the state in which its previous execution ended.
type input struct {
	Run
	State *state `json:"state,omitempty"`
}

// state passes from one execution of the workflow to the next. Its size is bounded by the number of units at a time.
type state struct {
	Began       time.Time      `json:"began"`
	Declaration string         `json:"declaration"`
	Phases      []engine.Phase `json:"phases"`
	Phase       int            `json:"phase"`
	Next        int            `json:"next"` // the first range of the phase that was not begun yet
	Rest        []span         `json:"rest,omitempty"`
	Paused      bool           `json:"paused,omitempty"`
	Held        string         `json:"held,omitempty"` // the error of a worker that has paused it
	Bound       int            `json:"bound"`          // requests a second
	Ended       int            `json:"ended"`          // units
	Covered     float64        `json:"covered"`        // of the ring, summed over phases and tables
	Sums        sums           `json:"sums"`
}

// execution is one execution of the workflow.
type execution struct {
	Run
	state
	running int
	orders  int // received: pause, resume, rate
	events  int // orders, and activities that have ended
	waits   string
}

// reconcileRun is the workflow.
func reconcileRun(ctx workflow.Context, in input) (Report, error) {
	run, err := in.withDefaults()
	if err != nil {
		return Report{}, temporal.NewNonRetryableApplicationError(err.Error(), invalidType, nil)
	}
	e := &execution{Run: run}
	if in.State != nil {
		e.state = *in.State
	} else {
		e.Began, e.Bound = workflow.Now(ctx).UTC(), run.Rate
	}
	if err := workflow.SetQueryHandler(ctx, progressQuery, func() (Progress, error) { return e.progress(ctx), nil }); err != nil {
		return Report{}, err
	}
	rest, _ := workflow.NewDisconnectedContext(ctx)
	workflow.Go(rest, e.listen)
	err = e.execute(ctx, in.State == nil)
	r := e.report(ctx)
	if err != nil && ctx.Err() != nil {
		r.Stopped = true
		err = temporal.NewCanceledError(r)
	}
	return r, err
}

// execute does what is to be done. The error may be that the workflow is to continue as new.
func (e *execution) execute(ctx workflow.Context, first bool) error {
	if first {
		if err := e.plan(ctx); err != nil {
			return err
		}
	}
	if err := e.waitForWriters(ctx); err != nil {
		return err
	}
	for ; e.Phase < len(e.Phases); e.Phase, e.Next = e.Phase+1, 0 {
		if err := e.phase(ctx); err != nil {
			return err
		}
	}
	return nil
}

// plan has a worker say what is to be done.
func (e *execution) plan(ctx workflow.Context) error {
	ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		StartToCloseTimeout: time.Minute, RetryPolicy: &temporal.RetryPolicy{InitialInterval: time.Second, MaximumInterval: time.Minute},
	})
	var p plan
	if err := workflow.ExecuteActivity(ctx, planActivity, e.Run).Get(ctx, &p); err != nil {
		return err
	}
	e.Phases, e.Declaration = p.Phases, p.Declaration
	return nil
}

// waitForWriters waits until what old writers have sent is applied.
func (e *execution) waitForWriters(ctx workflow.Context) error {
	until := e.Writers.Add(e.Settle)
	wait := until.Sub(workflow.Now(ctx))
	if e.Kind != Backfill || wait <= 0 {
		return nil
	}
	e.waits = "writes that began before Writers may be applied until " + until.UTC().Format(time.RFC3339)
	err := workflow.Sleep(ctx, wait)
	e.waits = ""
	return err
}

// listen does what signals order. If a pause and a resume arrive together, the run is paused.
func (e *execution) listen(ctx workflow.Context) {
	for s := e.signals(ctx); ; {
		s.Select(ctx)
	}
}

// signals selects the next order.
func (e *execution) signals(ctx workflow.Context) workflow.Selector {
	s := workflow.NewSelector(ctx)
	s.AddReceive(workflow.GetSignalChannel(ctx, resumeSignal), func(c workflow.ReceiveChannel, _ bool) { c.Receive(ctx, nil); e.pause(false) })
	s.AddReceive(workflow.GetSignalChannel(ctx, pauseSignal), func(c workflow.ReceiveChannel, _ bool) { c.Receive(ctx, nil); e.pause(true) })
	s.AddReceive(workflow.GetSignalChannel(ctx, rateSignal), func(c workflow.ReceiveChannel, _ bool) {
		var rate *int // nil without an argument; an argument that is no number is ignored
		if c.ReceiveAsync(&rate) {
			e.setRate(rate)
		}
	})
	return s
}

func (e *execution) pause(paused bool) {
	if e.Paused != paused {
		e.Paused, e.Held, e.orders, e.events = paused, "", e.orders+1, e.events+1
	}
}

func (e *execution) setRate(rate *int) {
	if rate != nil && *rate >= 0 && e.Bound != *rate {
		e.Bound, e.orders, e.events = *rate, e.orders+1, e.events+1
	}
}

// obeyAll does what the signals order that listen has not received yet, because they would be lost when the execution
// ends.
func (e *execution) obeyAll(ctx workflow.Context) {
	for s := e.signals(ctx); s.HasPending(); {
		s.Select(ctx)
	}
}

// phase does the units of a phase. The error may be that the workflow is to continue as new. An order ends the running
// units: each returns what it has done, and the rest is begun again under the new order.
func (e *execution) phase(ctx workflow.Context) error {
	rest, _ := workflow.NewDisconnectedContext(ctx)
	for {
		scope, cancel := workflow.WithCancel(rest)
		orders := e.orders
		undisturbed := func() bool { return ctx.Err() == nil && e.orders == orders }
		for undisturbed() && !e.Paused && !e.long(ctx) {
			e.begin(scope)
			if e.running == 0 {
				cancel()
				return nil
			}
			events := e.events
			_ = workflow.Await(ctx, func() bool { return e.events != events }) // the error is that of ctx
		}
		if undisturbed() && !e.Paused { // the history is long: what runs may end
			_, _ = workflow.AwaitWithTimeout(ctx, lastUnits, func() bool { return e.running == 0 || !undisturbed() }) // as above
		}
		cancel()
		if err := workflow.Await(rest, func() bool { return e.running == 0 }); err != nil {
			return err
		}
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case e.long(ctx):
			return e.again(ctx)
		}
		_ = workflow.Await(ctx, func() bool { return !e.Paused }) // as above
	}
}

// long says whether the history is so long that the workflow should continue as new.
func (e *execution) long(ctx workflow.Context) bool {
	info := workflow.GetInfo(ctx)
	return info.GetContinueAsNewSuggested() || info.GetCurrentHistoryLength() > mostEvents
}

// again returns the error with which the workflow continues as new.
func (e *execution) again(ctx workflow.Context) error {
	e.obeyAll(ctx)
	return workflow.NewContinueAsNewError(ctx, workflowType, input{e.Run, &e.state})
}

// limit is how many units run at a time. Each has at least one request a second.
func (e *execution) limit() int {
	if e.Bound > 0 {
		return min(e.Units, e.Bound)
	}
	return e.Units
}

// begin begins as many units as there may be.
func (e *execution) begin(scope workflow.Context) {
	phase := &e.Phases[e.Phase]
	for e.running < e.limit() {
		var s span
		switch {
		case len(e.Rest) > 0:
			last := len(e.Rest) - 1 // the last one first, or halves of halves would pile up
			s, e.Rest = e.Rest[last], e.Rest[:last]
		case e.Next < e.Segments*len(phase.Tables):
			s = planned(e.Next, e.Segments)
			e.Next++
		default:
			return
		}
		e.running++
		workflow.Go(scope, func(ctx workflow.Context) {
			done, err := e.unit(ctx, phase, s)
			e.running, e.events, e.Ended = e.running-1, e.events+1, e.Ended+1
			e.note(ctx, phase, s, done, err)
		})
	}
}

// unit has a worker do a unit.
func (e *execution) unit(ctx workflow.Context, phase *engine.Phase, s span) (done engine.Done, err error) {
	ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		StartToCloseTimeout: longUnit, HeartbeatTimeout: heartbeatTimeout, WaitForCancellation: true,
		Summary:     fmt.Sprintf("%s, tokens above %d up to %d", phase.Names[s.Table], s.Low, s.High),
		RetryPolicy: &temporal.RetryPolicy{InitialInterval: 2 * time.Second, MaximumInterval: time.Minute}, // a worker says when it is enough
	})
	err = workflow.ExecuteActivity(ctx, unitActivity, unitArguments{
		Run: e.Run, Declaration: e.Declaration, Fills: phase.Fills, Table: phase.Tables[s.Table], Low: s.Low, High: s.High,
		Rate: e.Bound, Of: e.limit(),
	}).Get(ctx, &done)
	return done, err
}

// note notes what has become of a unit.
func (e *execution) note(ctx workflow.Context, phase *engine.Phase, s span, done engine.Done, err error) {
	var failed *temporal.ApplicationError
	switch {
	case err != nil && ctx.Err() != nil: // it was not begun, or its worker is lost: what is canceled has no other attempt
		done = toldBefore(err)
	case errors.As(err, &failed) && failed.Type() == invalidType: // another worker, or this one once it is deployed again, may be able to do it
		e.pause(true)
		if e.Held == "" {
			e.Held = failed.Message()
		}
	case err != nil: // somebody has ended the activity with a tool of Temporal
		done = engine.Done{Begun: true, Cursor: s.High, Uncovered: 1}
	}
	if !done.Begun {
		e.Rest = append(e.Rest, s)
		return
	}
	e.Sums.add(phase, s, done)
	e.Covered += float64(uint64(done.Cursor)-uint64(s.Low)) / (1 << 64)
	left := span{s.Table, done.Cursor, s.High}
	switch {
	case left.width() == 0:
	case ctx.Err() != nil:
		e.Rest = append(e.Rest, left)
	default:
		e.Rest = append(e.Rest, left.halves()...)
	}
}

// toldBefore returns what the last heartbeat of a lost worker said, if that is known.
func toldBefore(err error) engine.Done {
	var lost *temporal.TimeoutError
	var last told
	if errors.As(err, &lost) && lost.HasLastHeartbeatDetails() && lost.LastHeartbeatDetails(&last) != nil {
		return engine.Done{}
	}
	return last.Done
}

// report says what was found so far.
func (e *execution) report(ctx workflow.Context) Report {
	s := &e.Sums
	r := Report{
		Kind: e.Kind, Set: e.Set, Began: e.Began, Ended: workflow.Now(ctx).UTC(), Tables: []Table{}, InFlight: s.InFlight, Put: s.Put,
		Uncovered: s.Uncovered, Gaps: s.Gaps,
	}
	if n := len(e.Phases); n > 0 {
		for _, name := range e.Phases[n-1].Names {
			r.Tables = append(r.Tables, Table{
				Table: name, Rows: s.Rows[name], Found: s.Found[name], Unheld: s.Unheld[name], Ending: s.Ending[name],
			})
		}
	}
	return r
}

func (e *execution) progress(ctx workflow.Context) Progress {
	s := &e.Sums
	p := Progress{
		Kind: e.Kind, Set: e.Set, State: "running", Waits: e.waits, Began: e.Began, Rows: s.Filled, Put: s.Put, Rate: e.Bound,
		Running: e.running, Units: e.Ended, Findings: e.report(ctx).findings(),
	}
	tables := 0
	for _, phase := range e.Phases {
		tables += len(phase.Tables)
	}
	if tables > 0 {
		p.Done = min(1, e.Covered/float64(tables))
	}
	for _, rows := range s.Rows {
		p.Rows += rows
	}
	switch {
	case len(e.Phases) > 0 && e.Phase == len(e.Phases):
		p.State, p.Done = "done", 1
	case ctx.Err() != nil:
		p.State = "canceling"
	case e.Paused:
		p.State = "paused"
		if e.Held != "" {
			p.Waits = e.Held
		}
	case e.waits != "":
		p.State = "waiting"
	}
	return p
}

// invalidType is the type of errors that another attempt of this worker does not change.
const invalidType = "denorm.invalid"
