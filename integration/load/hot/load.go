package hot

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gocql/gocql"
	"gopkg.in/inf.v0"

	"github.com/denorm-go/denorm/examples/orders"
	"github.com/denorm-go/denorm/integration/harness/child"
	"github.com/denorm-go/denorm/integration/harness/parallel"
	"github.com/denorm-go/denorm/integration/harness/sleep"
	"github.com/denorm-go/denorm/integration/load/history"
	"github.com/denorm-go/denorm/retry"
	"github.com/denorm-go/denorm/session"
	"github.com/denorm-go/denorm/tables"
	"github.com/denorm-go/denorm/writer"
)

// Load is what is run. All fields above Length are required, and at least as many orders as a writer reads ahead: 4.
type Load struct {
	Name    string // of the client, in the history
	Set     *tables.Set[orders.Order]
	Orders  []orders.Order // they exist
	Writers []*writer.Writer
	Reader  orders.Reader
	History *history.History[orders.Order]
	// First is the first of a range of totals that no other load writes: each write has a total of its own, by which it
	// can be recognised.
	First int64

	Length time.Duration   // 0: until it is over
	Over   <-chan struct{} // closed when the load is to end before its length. Nil: never
	Pause  time.Duration   // of a writer between two writes, on average
	// Pinned makes each write choose its timestamp itself and note it before anything is sent, as services do whose
	// requests can be repeated by somebody else.
	Pinned bool
	Leave  bool // what is not known to be applied is not resumed
	// Store gives a failed write, by its number in the history, to somebody else who brings it to its end, and says
	// whether it has. Nil: nobody else does.
	Store func(noted int, failed *writer.Error) (bool, error)
	Now   func() time.Time // for pinned timestamps
}

// Figures is what came of a load, as its clients saw it.
type Figures struct {
	Took         time.Duration
	Acknowledged int // writes, those that were resumed included
	Unknown      int // first answers that left an outcome open
	NotApplied   int // writes that were given up because nothing of them was applied
	// Not known of clients that are killed:
	Resumed   int           // writes that were finished by Resume
	Overtaken int           // writes from a before-image that had been overtaken by an acknowledged one
	Longest   time.Duration // of a write, with all its resumes
}

// String is one line. It leaves out what is not known of killed clients, whose Longest is 0.
func (f Figures) String() string {
	s := fmt.Sprintf("%d writes acknowledged in %.1f s, %.0f a second; %d unknown, %d not applied", f.Acknowledged, f.Took.Seconds(),
		float64(f.Acknowledged)/max(f.Took.Seconds(), 1e-3), f.Unknown, f.NotApplied)
	if f.Longest > 0 {
		s += fmt.Sprintf("; %d resumed, %d overtaken, longest %d ms", f.Resumed, f.Overtaken, f.Longest.Milliseconds())
	}
	return s
}

// moment is the time between two tries, on average.
const moment = 100 * time.Millisecond

// ahead is how many before-images a writer reads before it writes the first of them: by then others have been there.
const ahead = 4

// Run runs the load for its length and until every write has been finished: resumed until it is acknowledged, unless it
// is to be left, or given up because it was not applied. If the context ends before, or a write fails that can be
// neither, that is the error.
func (l *Load) Run(ctx context.Context) (Figures, error) {
	r := &run{Load: l, stop: time.Now().Add(l.Length), newest: make([]int64, len(l.Orders))}
	r.total.Store(l.First)
	r.read.Add(len(l.Writers))
	began := time.Now()
	err := parallel.Do(len(l.Writers), len(l.Writers), func(n int) error {
		return r.work(ctx, fmt.Sprintf("%s/%d", l.Name, n), l.Writers[n])
	})
	r.figures.Took = time.Since(began)
	return r.figures, err
}

type run struct {
	*Load
	stop  time.Time
	total atomic.Int64
	read  sync.WaitGroup // the first before-images

	mu      sync.Mutex
	newest  []int64 // stamps that were acknowledged, by order
	figures Figures
}

func (r *run) work(ctx context.Context, name string, w *writer.Writer) error {
	for round := 0; round == 0 || !r.over(); round++ {
		before, err := r.before(ctx, round)
		if err != nil {
			return fmt.Errorf("%s: read the before-image: %w", name, err)
		}
		for n, before := range before {
			if round > 0 && r.over() {
				break
			}
			if err := r.move(ctx, name, w, n, before); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			r.rest()
		}
		if err := r.create(ctx, name, w); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		r.rest()
	}
	return nil
}

// over says whether the load is to end.
func (r *run) over() bool {
	select {
	case <-r.Over:
		return true
	default:
		return r.Length > 0 && time.Now().After(r.stop)
	}
}

// rest is the pause between two writes.
func (r *run) rest() {
	if r.Pause > 0 {
		sleep.Unless(r.Over, rand.N(2*r.Pause))
	}
}

// before reads the before-images of some orders. At first they are the same for all writers, and nobody goes on before
// all have read them, so that even on a slow machine some are overtaken.
func (r *run) before(ctx context.Context, round int) (map[int]orders.Order, error) {
	if round == 0 {
		defer r.read.Wait()
		defer r.read.Done()
	}
	picked := make(map[int]orders.Order, ahead)
	for i := range ahead {
		n := i
		if round > 0 {
			n = rand.IntN(len(r.Orders))
		}
		before, err := r.order(ctx, n)
		if err != nil {
			return nil, err
		}
		picked[n] = before
	}
	return picked, nil
}

// order reads until there is an answer.
func (r *run) order(ctx context.Context, n int) (before orders.Order, err error) {
	err = sleep.Until(ctx, moment, func() (err error) {
		attempt, cancel := context.WithTimeout(ctx, 2*time.Second)
		defer cancel()
		before, err = r.Reader.ByID(attempt, r.Orders[n].OrderID)
		return err
	})
	return before, err
}

// move gives an order another status and total.
func (r *run) move(ctx context.Context, name string, w *writer.Writer, n int, before orders.Order) error {
	after := before
	for after.Status == before.Status {
		after.Status = orders.Statuses[rand.IntN(len(orders.Statuses))]
	}
	after.Total = inf.NewDec(r.total.Add(1), 2)
	r.mu.Lock()
	overtaken := r.newest[n] > before.UpdatedAt
	r.mu.Unlock()
	w, pin := r.pin(w, before.UpdatedAt)
	noted := r.History.BeginAt(name, tables.Update, after, pin)
	at, err := r.write(ctx, w, noted, r.Set.Update(before, after), overtaken)
	if err != nil {
		return err
	}
	if at != 0 && at <= before.UpdatedAt { // it would change nothing, and be acknowledged
		return fmt.Errorf("a write is at %d, and the row it was made from at %d", at, before.UpdatedAt)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.newest[n] = max(r.newest[n], at)
	return nil
}

// create creates an order that is never moved. What is said of a hot order is soon overtaken; of this one it can be
// checked.
func (r *run) create(ctx context.Context, name string, w *writer.Writer) error {
	o := orders.New(gocql.MustRandomUUID(), inf.NewDec(r.total.Add(1), 2))
	w, pin := r.pin(w, 0)
	_, err := r.write(ctx, w, r.History.BeginAt(name, tables.Insert, o, pin), r.Set.Insert(o), false)
	return err
}

// pin chooses the timestamp of a write that follows a row with this stamp, if the load is pinned: as a writer does by
// itself.
func (r *run) pin(w *writer.Writer, stamp int64) (pinned *writer.Writer, at int64) {
	if !r.Pinned {
		return w, 0
	}
	at = max(r.Now().UnixMicro(), stamp+1+rand.Int64N(1000))
	return w.With(writer.At(at)), at
}

// write writes, and brings that to an end. It returns the timestamp, 0 if the write was given up because it was not
// applied.
func (r *run) write(ctx context.Context, w *writer.Writer, noted int, change tables.Change, overtaken bool) (int64, error) {
	began := time.Now()
	res, err := w.Write(ctx, change.String(), change)
	r.History.End(noted, res.Timestamp, err)
	open, resumed := errors.Is(err, writer.ErrUnknown) || errors.Is(err, writer.ErrPartial), false
	for err != nil {
		var failed *writer.Error
		if !errors.As(err, &failed) || errors.Is(err, writer.ErrInvalid) || errors.Is(err, writer.ErrExpired) {
			return 0, err
		}
		left := r.Leave || failed.NotApplied() && rand.IntN(2) == 0 // the service has told its client that nothing has happened
		if !left && r.Store != nil {
			var cause error
			if left, cause = r.Store(noted, failed); cause != nil {
				return 0, cause
			}
		}
		if left {
			r.note(overtaken, open, false, false, time.Since(began))
			return 0, nil
		}
		if cause := sleep.For(ctx, moment/2+rand.N(moment)); cause != nil {
			return 0, fmt.Errorf("%w (last: %w)", cause, err)
		}
		resumed = true
		r.History.Again(noted)
		res, err = w.Resume(ctx, failed)
		r.History.End(noted, res.Timestamp, err)
	}
	r.note(overtaken, open, resumed, true, time.Since(began))
	return res.Timestamp, nil
}

func (r *run) note(overtaken, open, resumed, acknowledged bool, took time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	f := &r.figures
	f.Longest = max(f.Longest, took)
	for count, is := range map[*int]bool{
		&f.Overtaken: overtaken, &f.Unknown: open, &f.Resumed: resumed && acknowledged, &f.Acknowledged: acknowledged,
		&f.NotApplied: !acknowledged && (!r.Leave || !open),
	} {
		if is {
			*count++
		}
	}
}

// Mode is a way to write that loads are run in.
type Mode string

// The modes.
const (
	FanOut  Mode = "fan-out"
	Grouped Mode = "groups"
	Logged  Mode = "logged batch"
	Auto    Mode = "auto"
)

var modes = map[Mode][]writer.Option{
	FanOut:  {writer.Concurrent()},
	Grouped: {writer.Concurrent(), writer.Group(4 << 10)},
	Logged:  {writer.Logged()},
	Auto:    {writer.Auto()},
}

// Options make a writer write in this mode.
func (m Mode) Options() []writer.Option { return modes[m] }

// Process is what each client has that runs in a process of its own.
type Process struct {
	Hosts    []string      `json:"hosts"`
	Keyspace string        `json:"keyspace"`
	Journal  string        `json:"journal"`
	Skew     time.Duration `json:"skew"` // of its clock
	Name     string        `json:"name"`
	First    int64         `json:"first"` // number of a range of writes that no other client makes
	Writers  int           `json:"writers"`
	Pause    time.Duration `json:"pause"`  // of a writer between two writes, on average
	Outbox   history.Queue `json:"outbox"` // of writes that failed
}

// Running is a process that has its journal and its sessions.
type Running struct {
	Journal *os.File
	Session *session.Session
	Writer  *writer.Writer
}

// Now is the time by its clock.
func (p *Process) Now() time.Time { return time.Now().Add(p.Skew) }

// Do runs the process. The context of do ends a few minutes after that of Do.
func (p *Process) Do(over context.Context, do func(context.Context, Running) error, options ...writer.NewOption) error {
	journal, err := os.OpenFile(p.Journal, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	defer func() { _ = journal.Close() }()
	ctx, cancel := context.WithCancel(context.WithoutCancel(over))
	defer cancel()
	defer context.AfterFunc(over, func() { time.AfterFunc(patience, cancel) })()
	s, err := child.Open(ctx, p.Hosts, p.Keyspace)
	if err != nil {
		return err
	}
	defer s.Close()
	w, err := writer.New(s, append(options, writer.WithClock(writer.NewClock(p.Now)))...)
	if err != nil {
		return err
	}
	return do(ctx, Running{journal, s, w})
}

// Client is a load for a process of its own, which keeps a journal of what it writes: it can be killed at any moment.
// Its outbox takes every other write that failed and is not to be left.
type Client struct {
	Process
	Mode      Mode           `json:"mode"`
	Orders    []orders.Order `json:"orders"`
	Pinned    bool           `json:"pinned"`
	Leave     bool           `json:"leave"`
	Impatient bool           `json:"impatient"` // see [Impatient]: every other writer is
	Length    time.Duration  `json:"length"`
}

// Impatient makes a writer give up after one attempt of less than the server's own time limit. What it gave up may
// still be under way.
func Impatient() writer.Option {
	return writer.Retry(retry.Policy{MaxAttempts: 1, AttemptTimeout: 300 * time.Millisecond})
}

// patience is how long a client takes at most to finish its writes after the end of its load.
const patience = 4 * time.Minute

// Run runs the load until the context ends.
func (c *Client) Run(over context.Context) error {
	return c.Do(over, func(ctx context.Context, p Running) error {
		p.Writer = p.Writer.With(c.Mode.Options()...)
		load := Load{
			Name: c.Name, Set: orders.Orders, Orders: c.Orders, Reader: orders.NewReader(p.Session.Reads()),
			History: history.New[orders.Order](p.Journal), First: c.First,
			Length: c.Length, Over: over.Done(), Pause: c.Pause, Pinned: c.Pinned, Leave: c.Leave, Now: c.Now,
		}
		if c.Outbox != "" {
			load.Store = func(noted int, failed *writer.Error) (bool, error) {
				if rand.IntN(2) == 0 {
					return false, nil
				}
				return true, c.Outbox.Put(history.Place{History: filepath.Base(c.Journal), N: noted}, failed)
			}
		}
		for n := range c.Writers {
			w := p.Writer
			if c.Impatient && n%2 == 1 {
				w = w.With(Impatient())
			}
			load.Writers = append(load.Writers, w)
		}
		_, err := load.Run(ctx)
		return err
	})
}
