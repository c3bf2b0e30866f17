//go:build regions

package regions_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gocql/gocql"
	"gopkg.in/inf.v0"

	"github.com/denorm-go/denorm/examples/orders"
	"github.com/denorm-go/denorm/integration/harness/cluster"
	"github.com/denorm-go/denorm/integration/harness/sleep"
	"github.com/denorm-go/denorm/retry"
	"github.com/denorm-go/denorm/schema"
	"github.com/denorm-go/denorm/session"
	"github.com/denorm-go/denorm/tables"
	"github.com/denorm-go/denorm/writer"
)

var figures = flag.String("figures", "", "the `file` for the table of levels and outcomes")

// tries is how often each operation is tried in a phase, all of them together.
const tries = 5

// written is a write, and what its caller was told.
type written struct {
	in      string // datacentre
	tally   string // that it counts up; an order otherwise
	order   orders.Order
	outcome writer.Outcome
	stored  []byte // of an outcome of Unknown
}

// loss is the test of a datacentre that is lost.
type loss struct {
	t        *testing.T
	one, two *region
	known    orders.Order // is read
	taken    string       // the seat whose commit had no quorum

	mu     sync.Mutex
	writes []written
	phases []string
	cells  map[string]map[string]string // by operation, then by phase
	names  []string                     // of operations
}

// told notes what the caller of a write was told.
func (l *loss) told(w written, err error) {
	if w.outcome = outcome(err); w.outcome == writer.Unknown {
		w.stored = stored(l.t, err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.writes = append(l.writes, w)
}

// create writes an order at a level.
func (l *loss) create(r *region, options ...writer.Option) error {
	o := orders.New(gocql.MustRandomUUID(), inf.NewDec(1, 0))
	_, err := r.w.With(options...).Write(l.t.Context(), "createOrder", orders.Orders.Insert(o))
	l.told(written{in: r.name, order: o}, err)
	return err
}

// count counts a tally up.
func (l *loss) count(r *region, id string) error {
	_, err := writer.Modify(l.t.Context(), r.w, "count", tallies, tally{ID: id}, func(c tally) (tally, error) {
		c.N++
		return c, nil
	})
	l.told(written{in: r.name, tally: id}, err)
	return err
}

// operation is tried in each phase.
type operation struct {
	name string
	do   func() error
}

func (l *loss) operations() []operation {
	levels := []session.Consistency{session.LocalQuorum, session.Quorum, session.EachQuorum, session.All}
	var out []operation
	for _, r := range []*region{l.one, l.two} {
		for _, level := range levels {
			out = append(out, operation{fmt.Sprintf("%s: write at `%v`", r.name, level), func() error { return l.create(r, writer.Consistency(level)) }})
		}
		out = append(
			out,
			operation{r.name + ": condition at `SERIAL`", func() error {
				_, err := r.w.Write(l.t.Context(), "begin", tallies.Insert(tally{ID: gocql.MustRandomUUID().String()}))
				return err
			}},
			operation{r.name + ": condition at `LOCAL_SERIAL`", func() error {
				_, err := r.w.Write(l.t.Context(), "begin", locals.Insert(tally{ID: r.name + gocql.MustRandomUUID().String()}))
				return err
			}},
		)
		for _, level := range levels {
			out = append(out, operation{fmt.Sprintf("%s: read at `%v`", r.name, level), func() error {
				_, err := writer.Load(l.t.Context(), r.w.With(writer.Consistency(level)), "showOrder", orders.Orders, l.known)
				return err
			}})
		}
	}
	return out
}

// phase tries all operations.
func (l *loss) phase(name string) {
	l.phases = append(l.phases, name)
	var wg sync.WaitGroup
	for _, o := range l.operations() {
		if l.cells[o.name] == nil {
			l.cells[o.name] = make(map[string]string)
			l.names = append(l.names, o.name)
		}
		wg.Go(func() {
			outcomes, took := make(map[writer.Outcome]int), make([]time.Duration, tries)
			var mu sync.Mutex
			var inner sync.WaitGroup
			for i := range tries {
				inner.Go(func() {
					began := time.Now()
					err := o.do()
					mu.Lock()
					defer mu.Unlock()
					took[i] = time.Since(began)
					outcomes[outcome(err)]++
				})
			}
			inner.Wait()
			slices.Sort(took)
			var parts []string
			for _, w := range []writer.Outcome{writer.Applied, writer.NotApplied, writer.Unknown, writer.Conflict} {
				if n := outcomes[w]; n > 0 {
					parts = append(parts, fmt.Sprintf("%d %v", n, w))
				}
			}
			l.mu.Lock()
			defer l.mu.Unlock()
			l.cells[o.name][name] = fmt.Sprintf("%s, %v", strings.Join(parts, ", "), took[tries/2].Round(time.Millisecond))
		})
	}
	wg.Wait()
	l.t.Logf("phase %s is over", name)
}

// asRead are outcomes as they are called of a read.
var asRead = strings.NewReplacer("not applied", "failed", "applied", "answered")

// want checks a cell of the table.
func (l *loss) want(phase, operation string, outcome writer.Outcome) {
	l.t.Helper()
	if got := l.cells[operation][phase]; !strings.HasPrefix(got, fmt.Sprintf("%d %v,", tries, outcome)) {
		l.t.Errorf("%s, %s: %s, want %v", phase, operation, got, outcome)
	}
}

// table is what was seen as Markdown.
func (l *loss) table() string {
	var b strings.Builder
	fmt.Fprintf(&b, "# Two datacentres, one of them away\n\nWritten by `make regions`. %s: Cassandra %s, three nodes in each of dc1 and dc2, all on one machine\n"+
		"with %d processors, three replicas in each. dc2 was paused (SIGSTOP). Each cell has the outcomes of %d calls at the same\n"+
		"time, and the median of their times. Two services wrote meanwhile.\n\n",
		time.Now().Format(time.DateOnly), version(l.t, l.one.s.Reads()), runtime.NumCPU(), tries)
	b.WriteString("| from, level | " + strings.Join(l.phases, " | ") + " |\n|" + strings.Repeat(" --- |", len(l.phases)+1) + "\n")
	for _, name := range l.names {
		b.WriteString("| " + name)
		for _, phase := range l.phases {
			cell := l.cells[name][phase]
			if strings.Contains(name, ": read ") {
				cell = asRead.Replace(cell)
			}
			b.WriteString(" | " + cell)
		}
		b.WriteString(" |\n")
	}
	return b.String()
}

func version(t *testing.T, s *gocql.Session) (version string) {
	t.Helper()
	if err := s.Query("SELECT release_version FROM system.local").Scan(&version); err != nil {
		t.Fatal(err)
	}
	return version
}

// pause stops nodes, and returns at once.
func pause(t *testing.T, nodes ...*cluster.Node) {
	t.Helper()
	for _, n := range nodes {
		if err := n.Pause(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

// whole lets all nodes go on.
func whole(t *testing.T, nodes []*cluster.Node) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	for _, n := range nodes {
		if err := n.Continue(ctx); err != nil {
			t.Fatal(err)
		}
	}
	if err := cluster.Whole(ctx, nodes); err != nil {
		t.Fatal(err)
	}
}

var errReachable = errors.New("the nodes are still taken to be up")

// unavailable waits until the nodes of a datacentre, each of them, say that a level is out of reach.
func unavailable(t *testing.T, r *region, level gocql.Consistency) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	if err := sleep.Until(ctx, time.Second, func() error {
		for range 12 {
			var none *gocql.RequestErrUnavailable
			err := r.s.Reads().Query("SELECT status FROM orders_by_id WHERE order_id = ?", gocql.TimeUUID()).Consistency(level).Exec()
			if !errors.As(err, &none) {
				return errors.Join(errReachable, err)
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
}

// A datacentre is lost under load, and comes back: what each level does meanwhile, what the other side finishes, and
// that nobody was told a lie.
func TestADatacentreIsLost(t *testing.T) {
	cluster.Alone(t)
	keyspace, one, two := both(t)
	l := &loss{t: t, one: one, two: two, known: orders.New(gocql.MustRandomUUID(), inf.NewDec(1, 0)), cells: make(map[string]map[string]string)}
	nodes := cluster.Nodes(t)
	away := nodes[3:]
	changes := []tables.Change{orders.Orders.Insert(l.known), tallies.Insert(tally{ID: "a"}), tallies.Insert(tally{ID: "b"})}
	for i := range seatsMade {
		changes = append(changes, seats.Insert(seat{SeatID: strconv.Itoa(i)}))
	}
	for _, change := range changes {
		if _, err := one.w.With(writer.Consistency(session.All)).Write(t.Context(), "begin", change); err != nil {
			t.Fatal(err)
		}
	}

	if err := l.ensure(t.Context(), keyspace, "before"); err != nil {
		t.Fatal(err)
	}

	over, load := make(chan struct{}), sync.WaitGroup{}
	for _, r := range []*region{one, two} {
		for _, do := range []func() error{
			func() error { return l.create(r) }, func() error { return l.count(r, "a") }, func() error { return l.count(r, "b") },
		} {
			load.Go(func() {
				for !sleep.Unless(over, 200*time.Millisecond) {
					_ = do()
				}
			})
		}
	}

	l.phase("all up")
	pause(t, away[2])
	unavailable(t, one, gocql.All)
	l.phase("a node of dc2 down")
	pause(t, away[1])
	unavailable(t, one, gocql.EachQuorum)
	l.commit()
	whole(t, nodes)
	l.proposed()
	pause(t, away...)
	l.phase("dc2 unresponsive")
	unavailable(t, one, gocql.Quorum)
	l.phase("dc2 down")
	l.ensureFails(keyspace)
	l.failOver()
	whole(t, nodes)
	l.phase("dc2 back")
	close(over)
	load.Wait()
	l.judge()

	for _, phase := range l.phases {
		l.want(phase, "dc1: write at `LOCAL_QUORUM`", writer.Applied)
		l.want(phase, "dc1: read at `LOCAL_QUORUM`", writer.Applied)
		l.want(phase, "dc1: condition at `LOCAL_SERIAL`", writer.Applied)
	}
	for _, level := range []string{"write at `QUORUM`", "write at `EACH_QUORUM`", "read at `EACH_QUORUM`", "condition at `SERIAL`"} {
		l.want("all up", "dc1: "+level, writer.Applied)
		l.want("a node of dc2 down", "dc1: "+level, writer.Applied)
		l.want("dc2 down", "dc1: "+level, writer.NotApplied)
		l.want("dc2 back", "dc1: "+level, writer.Applied)
	}
	for _, level := range []string{"write at `QUORUM`", "write at `EACH_QUORUM`", "write at `ALL`", "condition at `SERIAL`"} {
		l.want("dc2 unresponsive", "dc1: "+level, writer.Unknown)
	}
	for _, level := range []string{"read at `QUORUM`", "read at `EACH_QUORUM`", "read at `ALL`"} {
		l.want("dc2 unresponsive", "dc1: "+level, writer.NotApplied) // it failed
	}
	for _, phase := range []string{"dc2 unresponsive", "dc2 down"} { // its nodes hang in both
		for _, level := range []string{"LOCAL_QUORUM", "QUORUM", "EACH_QUORUM", "ALL"} {
			l.want(phase, "dc2: write at `"+level+"`", writer.Unknown)
			l.want(phase, "dc2: read at `"+level+"`", writer.NotApplied)
		}
		l.want(phase, "dc2: condition at `SERIAL`", writer.Unknown)
		l.want(phase, "dc2: condition at `LOCAL_SERIAL`", writer.Unknown)
	}
	t.Log("\n" + l.table())
	if *figures != "" {
		if err := os.WriteFile(*figures, []byte(l.table()), 0o600); err != nil {
			t.Error(err)
		}
	}
}

// seatsMade are more than are taken.
const seatsMade = 10

// commit takes a seat where the proposal has a quorum, and the commit in the datacentre of the writer has none. A
// request that goes to a node that is away says nothing, so another seat is tried.
func (l *loss) commit() {
	w := l.two.w.With(writer.Retry(retry.Policy{MaxAttempts: 1}))
	var err error
	for i := range seatsMade {
		l.taken = strconv.Itoa(i)
		_, err = w.Write(l.t.Context(), "take", seats.Update(seat{SeatID: l.taken}, seat{SeatID: l.taken, Holder: "alice"}))
		var none *gocql.RequestErrUnavailable
		if errors.As(err, &none) && none.Consistency == gocql.LocalQuorum {
			if got := outcome(err); got != writer.Unknown {
				l.t.Errorf("the commit: %v: %v", got, err)
			}
			return
		}
	}
	l.t.Errorf("the commit: want UNAVAILABLE at LOCAL_QUORUM: %v", err)
}

// proposed finds what commit has proposed.
func (l *loss) proposed() {
	var holder string
	err := l.one.s.Reads().Query("SELECT holder FROM seats WHERE seat_id = ?", l.taken).Consistency(gocql.Consistency(gocql.Serial)).Scan(&holder)
	if err != nil || holder != "alice" {
		l.t.Errorf("the seat that was proposed is %q's: %v", holder, err)
	}
	l.t.Logf("a seat whose commit was UNAVAILABLE at LOCAL_QUORUM is %s's", holder)
}

// ensure makes a table.
func (l *loss) ensure(ctx context.Context, keyspace, table string) error {
	type note struct{ ID string }
	return schema.Ensure(ctx, l.one.s, schema.Must(schema.Declare(schema.Sets(tables.Must(tables.New[note]("note",
		tables.Table{Keyspace: keyspace, Name: table, PartKey: []string{"id"}}))))))
}

// ensureFails makes a table while a datacentre is away.
func (l *loss) ensureFails(keyspace string) {
	ctx, cancel := context.WithTimeout(l.t.Context(), 20*time.Second)
	defer cancel()
	err := l.ensure(ctx, keyspace, "meanwhile")
	if err == nil || !strings.Contains(err.Error(), "a quorum of all datacentres") {
		l.t.Errorf("Ensure: %v", err)
	}
	l.t.Logf("Ensure: %v", err)
}

// failOver resumes in dc1 what writers in dc2 have stored of orders.
func (l *loss) failOver() {
	l.mu.Lock()
	defer l.mu.Unlock()
	resumed := 0
	for i := range l.writes {
		w := &l.writes[i]
		if w.in != l.two.name || w.stored == nil || w.tally != "" {
			continue
		}
		failed := new(writer.Error)
		if err := failed.UnmarshalBinary(w.stored); err != nil {
			l.t.Fatal(err)
		}
		if _, err := l.one.w.Resume(l.t.Context(), failed); err != nil {
			l.t.Errorf("an order of dc2 is resumed in dc1: %v", err)
			continue
		}
		resumed++
		w.outcome, w.stored = writer.Applied, nil
	}
	if resumed == 0 {
		l.t.Error("no stored error of dc2 was resumed in dc1")
	}
	l.t.Logf("fail-over: %d stored errors of dc2 resumed in dc1", resumed)
}

// judge compares what callers were told with what is there.
func (l *loss) judge() {
	_ = sleep.For(l.t.Context(), 5*time.Second)
	told := make(map[string]map[writer.Outcome]int)
	counts, open := make(map[string]int), make(map[string]int) // by tally: acknowledged, and unknown for good
	for _, w := range l.writes {
		if told[w.in] == nil {
			told[w.in] = make(map[writer.Outcome]int)
		}
		told[w.in][w.outcome]++
		if w.stored != nil {
			err := l.one.resume(l.t.Context(), w.stored)
			switch got := outcome(err); {
			case got == writer.Applied:
				w.outcome = writer.Applied
			case w.tally != "" && (got == writer.Conflict || got == writer.NotApplied):
				w.outcome = writer.NotApplied
			case w.tally != "" && errors.Is(err, writer.ErrConflict): // more than 16 changes came in between
				open[w.tally]++
			default:
				l.t.Errorf("a stored error of %s of %q is %v after Resume: %v", w.in, w.tally, got, err)
				continue
			}
		}
		if w.tally != "" {
			if w.outcome == writer.Applied {
				counts[w.tally]++
			}
			continue
		}
		var status string
		err := l.one.s.Reads().Query("SELECT status FROM orders_by_id WHERE order_id = ?", w.order.OrderID).Consistency(gocql.All).Scan(&status)
		there := err == nil
		if err != nil && !errors.Is(err, gocql.ErrNotFound) {
			l.t.Fatal(err)
		}
		if there != (w.outcome == writer.Applied) {
			l.t.Errorf("an order of %s is %v, and there: %t", w.in, w.outcome, there)
		}
	}
	for id, n := range counts {
		var got int
		if err := l.one.s.Reads().Query("SELECT n FROM tallies WHERE id = ?", id).Consistency(gocql.Consistency(gocql.Serial)).Scan(&got); err != nil {
			l.t.Fatal(err)
		}
		if got < n || got > n+open[id] {
			l.t.Errorf("tally %s is %d, %d counts are acknowledged, and %d unknown", id, got, n, open[id])
		}
		l.t.Logf("tally %s is %d, %d counts are acknowledged, and %d unknown for good", id, got, n, open[id])
	}
	l.t.Logf("told under load: %v", told)
}
