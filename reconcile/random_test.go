package reconcile_test

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/cassandratest"
	"github.com/denorm-go/denorm/internal/testutil/length"
	"github.com/denorm-go/denorm/reconcile"
	"github.com/denorm-go/denorm/session"
	"github.com/denorm-go/denorm/tables"
	"github.com/denorm-go/denorm/writer"
)

var (
	randomSeed  = flag.Uint64("reconcile.seed", 1, "seed of the first world of TestRandom")
	randomAcked = flag.Int("reconcile.acked", 0, "acknowledged writes of TestRandom, instead of a few worlds")
)

// item is an entity of a random world.
type item struct {
	ID, Owner gocql.UUID
	Status    string
	A, B      *int64
	UpdatedAt int64

	Version gocql.UUID `db:"-"` // of a set with Versioned
}

var statuses = []string{"open", "paid", "shipped"}

// rule is how keys of items may change, and how they are written.
type rule struct {
	name    string
	set     *tables.Set[item]
	moves   bool // updates change the status
	single  bool // one writer an entity
	patches bool
	stamp   bool
	id      bool // items are kept by their owner, and tables share their id alone

	versioned bool // items are versionedItems
}

func newRule(name string, r rule, more ...tables.Option) rule {
	base := tables.Table{Name: "items", PartKey: []string{"id"}}
	if r.id {
		base.PartKey, base.SortKey = []string{"owner"}, []string{"id"}
		more = append(more, tables.ID("id"))
	}
	options := append([]tables.Option{
		base,
		tables.Table{Name: "items_by_owner", PartKey: []string{"owner"}, SortKey: []string{"id"}},
		tables.Table{Name: "items_by_status", PartKey: []string{"status"}, SortKey: []string{"id"}},
	}, more...)
	if r.stamp {
		options = append(options, tables.Stamp("updated_at"))
	}
	r.name, r.set = name, tables.Must(tables.New[item]("item", options...))
	return r
}

var rules = []rule{
	newRule("OneOf", rule{moves: true, stamp: true}, tables.OneOf("status", statuses...)),
	newRule("SingleWriter", rule{moves: true, single: true, stamp: true}, tables.SingleWriter("status")),
	newRule("immutable", rule{stamp: true}),
	newRule("ID, OneOf", rule{moves: true, stamp: true, id: true}, tables.OneOf("status", statuses...)),
	newRule("ID, Patch", rule{patches: true, stamp: true, id: true}),
	newRule("Patch", rule{patches: true}),
	newRule("Patch and Stamp", rule{patches: true, stamp: true}),
	{name: "Versioned", moves: true, versioned: true},
}

// mood is how a random world is run.
type mood struct {
	name   string
	settle time.Duration
	late   time.Duration // until what failed is resumed, at most
	rest   time.Duration // between two writes of a worker, at most
	gives  bool          // up some of what failed
}

var moods = []mood{
	{"repairs that are hasty", time.Second, 20 * time.Second, 100 * time.Millisecond, true},
	{"repairs that wait, and write again", 90 * time.Second, 45 * time.Second, 2 * time.Second, true},
	{"writes that all end", 90 * time.Second, 20 * time.Second, 2 * time.Second, false},
}

const (
	randomNodes   = 3
	randomWorkers = 8
	randomItems   = 16
)

// random is a random world: items that are written under faults, while the tables are repaired or verified.
type random struct {
	*cassandratest.Cluster
	rule
	mood
	t *testing.T
	s *session.Session
	w *writer.Writer
	r *reconcile.Reconciler

	mu     sync.Mutex
	rand   *rand.Rand
	writes int   // of each worker
	last   int64 // timestamp that was given out
	items  []*item
	busy   map[gocql.UUID]bool // entities of a set for a single writer that are being written
	log    []*logged
	late   sync.WaitGroup
	tally  *tally
}

// tally counts over all worlds.
type tally struct {
	mu      sync.Mutex
	worlds  int
	acked   int
	runs    int                                // repairs and verifications while writers write
	killed  int                                // of them
	planted map[string]map[reconcile.Class]int // and found, by rule
	done    map[reconcile.Outcome]int
	longest int // repairs until nothing was left
}

// Worlds of all kinds are written under faults, some writes are given up, and others are resumed late, while two
// repairs at a time run and are killed; then drift of each class is planted. All drift that has settled is found, and
// nothing else; no acknowledged write is undone, no deleted entity is back, and repairs that go on make the tables
// agree. While all writes end within Settle, nothing is found.
func TestRandom(t *testing.T) {
	t.Parallel()
	all := &tally{planted: make(map[string]map[reconcile.Class]int), done: make(map[reconcile.Outcome]int)}
	worlds, step := uint64(len(rules)*len(moods)), uint64(1) // each rule in each mood
	if length.Of(t, int(worlds)) < int(worlds) {
		worlds, step = uint64(len(rules)), worlds/uint64(len(moods))+1 // each rule and each mood
	}
	for n := uint64(0); *randomAcked == 0 && n < worlds || all.acked < *randomAcked; n++ {
		seed := *randomSeed + n*step
		r, m := rules[seed%uint64(len(rules))], moods[seed/uint64(len(rules))%uint64(len(moods))]
		t.Run(fmt.Sprintf("%d %s %s", seed, r.name, m.name), func(t *testing.T) {
			cassandratest.Test(t, randomNodes, func(t *testing.T, c *cassandratest.Cluster) { //nolint:thelper // it is the test
				x := &random{Cluster: c, rule: r, mood: m, t: t, rand: rand.New(rand.NewPCG(seed, 1)), busy: make(map[gocql.UUID]bool), tally: all}
				if x.writes = 10; *randomAcked > 0 {
					x.writes = 300
				}
				x.run()
			})
		})
		all.worlds++
		if t.Failed() {
			break
		}
	}
	t.Logf("%d worlds, %d writes acknowledged, %d runs meanwhile, %d of them killed; outcomes %v; at most %d repairs until all agreed",
		all.worlds, all.acked, all.runs, all.killed, all.done, all.longest)
	for _, r := range rules {
		t.Logf("%s: drift planted, and found: %v", r.name, all.planted[r.name])
	}
}

func (x *random) number(n int) int {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.rand.IntN(n)
}

func (x *random) wait(most time.Duration) { <-time.After(time.Duration(1 + x.number(int(most)))) }

func (x *random) open() {
	x.s, x.w, x.r = openSet(x.t, x.Cluster, x.described(), reconcile.MaxRemovals(1_000_000))
	x.Create(reconcile.StateSchema("shop"))
}

func (x *random) run() {
	x.open()
	for range randomItems {
		x.write(x.created(), 0)
	}
	x.When(cassandratest.Where(isRead)).Choose(func(cassandratest.Request) []cassandratest.Step { return x.readFault() })
	x.When().Choose(x.fault)
	over := make(chan struct{})
	var alongside, workers sync.WaitGroup
	alongside.Go(func() { x.storm(over) })
	for range 2 {
		alongside.Go(func() { x.reconcile(over) })
	}
	for range randomWorkers {
		workers.Go(func() {
			for range x.writes {
				x.wait(x.rest)
				x.change()
			}
		})
	}
	for range 2 * randomItems {
		x.clash()
	}
	workers.Wait()
	x.late.Wait()
	close(over)
	alongside.Wait()
	x.Heal()
	<-time.After(time.Minute) // what comes late has come
	if x.gives {
		x.drift()
		if !x.versioned { // whose base rows a transaction has read
			x.unreachable()
		}
	}
	x.verify("in the end", 0)
	x.check()
}

// reconcile repairs, or verifies, until it is over. Some runs are killed.
func (x *random) reconcile(over <-chan struct{}) {
	for {
		select {
		case <-over:
			return
		default:
		}
		ctx, cancel := context.WithCancel(x.t.Context())
		settle := x.settle
		if settle == time.Second {
			settle = time.Duration(1 + x.number(int(5*settle)))
		}
		options := []reconcile.Option{reconcile.Settle(settle), handed}
		if x.number(4) == 0 {
			options = append(options, reconcile.Lookup())
		}
		if x.settle > time.Second && x.number(2) == 0 {
			options = append(options, reconcile.Rewrite())
		}
		killed := x.number(2) == 0
		if killed {
			time.AfterFunc(time.Duration(1+x.number(int(2*settle))), cancel)
		}
		run := x.r.Repair
		if !x.gives {
			run = x.r.Verify
		}
		report, err := run(ctx, x.described(), options...)
		begun := err == nil || report != nil || ctx.Err() != nil
		if !begun && !strings.Contains(err.Error(), "schema of") && !strings.Contains(err.Error(), "partitioner not read") { // as with no node that answers
			x.t.Errorf("not run: %v", err)
		}
		if report != nil {
			x.count(report, killed)
			for f := range report.Findings() {
				if !x.gives {
					x.t.Errorf("while all writes end: %v, written %v, base row %v, seen %v: %s", f, f.RowTime, f.BaseTime, f.FirstSeen, f.Key())
				}
			}
		}
		cancel()
		x.wait(2 * settle)
	}
}

func (x *random) count(report *reconcile.Report, killed bool) {
	x.tally.mu.Lock()
	defer x.tally.mu.Unlock()
	x.tally.runs++
	if killed {
		x.tally.killed++
	}
	for f := range report.Findings() {
		x.tally.done[f.Outcome]++
	}
}

func (x *random) verify(when string, want int) {
	x.t.Helper()
	report, err := x.r.Verify(x.t.Context(), x.described(), reconcile.Settle(30*time.Second))
	if found := slices.Collect(report.Findings()); err != nil && want == 0 || len(found) != want {
		x.t.Errorf("%s: %v\n%v\n%v", when, err, report, found)
	}
}
