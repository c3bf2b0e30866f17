package repair_test

import (
	"bytes"
	"flag"
	"fmt"
	"math/rand/v2"
	"runtime"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/denorm-go/denorm/internal/testutil/length"
)

var lawSeed = flag.Uint64("convergence.seed", 1, "seed of the convergence tests")

// TestConvergence is the convergence law of the package documentation: whatever was written, from whatever
// before-images, delivered in whatever order and however often, every table ends as the projection of the row with the
// largest timestamp. The tables are a model of Cassandra's merge rules, fed with the statements that a writer would
// send.
func TestConvergence(t *testing.T) {
	cases := length.Of(t, 1_000_000)
	result := runLaw(lawPlan{families: lawFamilies()}, checkLaw, cases, true)
	result.require(t)
	for _, f := range result.coverage.fields() {
		if percent := 100 * float64(*f.count) / float64(result.cases); percent < 20 {
			t.Errorf("%s in %.1f %% of the cases, want 20", f.name, percent)
		}
	}
}

// TestConvergenceExpiry is the law for rows that expire, while they are being written or later.
func TestConvergenceExpiry(t *testing.T) {
	runLaw(lawPlan{families: lawExpiring()}, checkLaw, length.Of(t, 60_000), true).require(t)
}

// TestConvergenceTies is the law for writers that share a timestamp: non-key columns may be a mixture, but the query
// tables hold the row under the key that the base table names. The insert is the smallest without a tie.
func TestConvergenceTies(t *testing.T) {
	runLaw(lawPlan{families: lawFamilies(), ties: true}, checkTies, length.Of(t, 250_000), true).require(t)
}

// TestTiesMixDerivedColumns: of two writers that share a timestamp the base row may hold the derived column of the one
// and what it follows from of the other, as the documentation of Derive says.
func TestTiesMixDerivedColumns(t *testing.T) {
	mixed := func(tr *lawTrial, r *lawReplica) string {
		for column, bucket := range tr.family.buckets {
			for row := range r.tables[0].Visible(lawReads[0]) {
				value := func(column int) []byte {
					if i := slices.Index(tr.family.tables[0].columns, column); i >= 0 {
						return row.Value(i, lawReads[0])
					}
					return tr.row(0).values[column] // in the base key
				}
				if !bytes.Equal(value(column), bucket(value)) {
					return "mixed"
				}
			}
		}
		return ""
	}
	for _, ties := range []bool{true, false} {
		if found := runLaw(lawPlan{families: lawFamilies(), ties: ties}, mixed, 5000, false).diverged; (found > 0) != ties {
			t.Errorf("mixed in %d cases, with equal timestamps: %t", found, ties)
		}
	}
}

// lawResult is what a run found. Case n of a seed is always the same case.
type lawResult struct {
	cases, diverged int
	changes, steps  int
	first           int // the first case that diverged, -1 if none did
	report          string
	coverage        lawCoverage
	took            time.Duration
}

func (r *lawResult) require(t *testing.T) {
	t.Helper()
	if r.first >= 0 {
		t.Fatalf("seed %d, case %d diverges:\n%s", *lawSeed, r.first, r.report)
	}
	t.Logf("seed %d: %d cases, %d changes, %d deliveries in %s", *lawSeed, r.cases, r.changes, r.steps,
		r.took.Round(time.Millisecond))
	for _, f := range r.coverage.fields() {
		t.Logf("%5.1f %% %s", 100*float64(*f.count)/float64(r.cases), f.name)
	}
}

// runLaw draws the cases and checks them, on all processors, which is why none of these tests is parallel. It goes on
// after a failure if not told to stop.
func runLaw(plan lawPlan, check func(*lawTrial, *lawReplica) string, cases int, stop bool) *lawResult {
	const chunk = 256
	var next atomic.Int64
	var stopped atomic.Bool
	var wait sync.WaitGroup
	defer debug.SetGCPercent(debug.SetGCPercent(400)) // rendering leaves little but garbage
	start := time.Now()
	workers := make([]*lawWorker, runtime.GOMAXPROCS(0))
	for i := range workers {
		w := newLawWorker(&plan, check)
		workers[i] = w
		wait.Go(func() {
			for !stopped.Load() {
				from := int(next.Add(chunk)) - chunk
				if from >= cases {
					return
				}
				for n := from; n < min(from+chunk, cases); n++ {
					if !w.run(n) && stop {
						stopped.Store(true)
						break
					}
				}
			}
		})
	}
	wait.Wait()
	total := &lawResult{first: -1}
	for _, w := range workers {
		total.cases += w.result.cases
		total.diverged += w.result.diverged
		total.changes += w.result.changes
		total.steps += w.result.steps
		total.coverage.add(&w.result.coverage)
		if w.result.first >= 0 && (total.first < 0 || w.result.first < total.first) {
			total.first = w.result.first
		}
	}
	total.took = time.Since(start)
	if total.first >= 0 {
		total.report = newLawWorker(&plan, check).explain(total.first)
	}
	return total
}

type lawWorker struct {
	plan     *lawPlan
	check    func(*lawTrial, *lawReplica) string
	source   *rand.PCG
	rand     *rand.Rand
	trial    lawTrial
	replicas map[*lawFamily]*lawReplica
	result   lawResult
}

func newLawWorker(plan *lawPlan, check func(*lawTrial, *lawReplica) string) *lawWorker {
	w := &lawWorker{plan: plan, check: check, source: rand.NewPCG(0, 0), replicas: make(map[*lawFamily]*lawReplica)}
	w.rand = rand.New(w.source)
	w.result.first = -1
	for _, f := range plan.families {
		w.replicas[f] = newLawReplica(f)
	}
	return w
}

// run says whether case n converges.
func (w *lawWorker) run(n int) bool {
	wrong := w.draw(n)
	if wrong == "" {
		wrong = w.deliver()
	}
	w.result.cases++
	w.result.changes += len(w.trial.changes)
	w.result.steps += len(w.trial.steps)
	w.result.coverage.count(&w.trial)
	if wrong != "" {
		w.result.diverged++
		if w.result.first < 0 {
			w.result.first = n
		}
	}
	return wrong == ""
}

func (w *lawWorker) draw(n int) string {
	w.source.Seed(*lawSeed, uint64(n))
	if err := w.trial.draw(w.rand, w.plan); err != nil {
		return "a change is refused: " + err.Error()
	}
	return ""
}

// deliver applies the mutations of the case to empty tables and checks them.
func (w *lawWorker) deliver() string {
	r := w.replicas[w.trial.family]
	r.reset()
	for _, s := range w.trial.steps {
		c := &w.trial.changes[s.change]
		if c.dropped {
			continue
		}
		if err := r.apply(&c.mutations[s.mutation], s.second); err != nil {
			return err.Error()
		}
	}
	return w.check(&w.trial, r)
}

// explain prints case n, made as small as it can be.
func (w *lawWorker) explain(n int) string {
	if wrong := w.draw(n); wrong != "" {
		return wrong
	}
	w.trial.shrink(func() bool { return w.deliver() != "" })
	return fmt.Sprintf("%s%s", &w.trial, w.deliver())
}
