package simulation

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gocql/gocql"

	ct "github.com/denorm-go/denorm/cassandratest"
	"github.com/denorm-go/denorm/integration/harness/sleep"
	"github.com/denorm-go/denorm/writer"
)

// nodes is how many there are: each has every partition.
const nodes = 3

// World is one run.
type World struct {
	Seed   uint64
	Writes int // logical writes, of all services together
	// Lie changes what clients were told of a write before it is noted, to see that the checks find it. Nil: nothing.
	Lie func(error) error
}

const (
	usual   = 0.013 // of each fault, in a request that it can befall
	clients = 6     // of a service
	things  = 12    // orders or accounts of a service that are changed over and over
	skew    = 500 * time.Millisecond
	kills   = 50 // of that many writes of a client, one is cut off by the end of its process
)

// world is a run under way.
type world struct {
	World
	tb      testing.TB
	cluster *ct.Cluster
	weather *weather
	healthy *process // sees no faults
	started time.Time

	mu       sync.Mutex
	now      []string // what is the matter with nodes
	troubles []error
}

// Run runs the world, in a bubble of testing/synctest.
func (w World) Run(tb testing.TB) *Report {
	tb.Helper()
	r := &world{
		World: w, tb: tb, cluster: ct.Start(tb, nodes), weather: newWeather(w.Seed), started: time.Now(),
	}
	if w.Lie == nil {
		r.Lie = func(err error) error { return err }
	}
	<-time.After(24 * time.Hour) // the clock of a bubble begins with the year 2000, and the library takes no time before
	return r.run()
}

func (w *world) run() *Report {
	for _, s := range services {
		w.cluster.Create(s.definitions()...)
	}
	clocks := chance(w.Seed, 8)
	for i := range nodes {
		w.cluster.Node(i + 1).Skew(time.Duration(clocks.Int64N(int64(skew))) - skew/2)
	}
	ctx := context.Background()
	var err error
	if w.healthy, err = boot(ctx, w.cluster, "", 0, writer.Auto()); err != nil {
		w.tb.Fatal(err)
	}
	defer w.healthy.close()
	var loads []load
	for i, s := range services {
		c := newCrew(w, s, uint64(i), w.Writes/len(services))
		if err := w.with(ctx, s, func(p *process) error {
			l, err := s.of.load(c, p)
			loads = append(loads, l)
			return err
		}); err != nil {
			w.tb.Fatal(err)
		}
	}
	reads := w.cluster.When(ct.Where(func(r ct.Request) bool { return reading(r) && (r.On("accounts") || r.On("seats")) && r.Serial != 0 }))
	reads.Choose(w.readFault)
	w.cluster.When(ct.Where(func(r ct.Request) bool { return !reading(r) })).Choose(w.weather.steps)

	over := make(chan struct{})
	var outages, wg sync.WaitGroup
	outages.Go(func() { w.storm(over) })
	for _, l := range loads {
		wg.Go(func() { l.run(ctx) })
	}
	wg.Wait()
	close(over)
	outages.Wait()
	w.cluster.Heal()
	<-time.After(2 * time.Minute) // what comes late has come: hints, batches, messages
	for _, l := range loads {
		l.finish(ctx)
	}
	<-time.After(time.Minute)
	report := newReport(w)
	for i, l := range loads {
		if err := w.with(ctx, services[i], func(p *process) error { return l.check(ctx, p, report) }); err != nil {
			w.trouble(fmt.Errorf("%s: %w", services[i].name, err))
		}
	}
	for i, l := range loads {
		if l, ok := l.(*orderLoad); ok && !services[i].finish {
			if err := w.with(ctx, services[i], func(p *process) error { return l.mend(ctx, p, report) }); err != nil {
				w.trouble(fmt.Errorf("%s: repair: %w", services[i].name, err))
			}
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	report.Troubles = w.troubles
	return report
}

func reading(r ct.Request) bool {
	return len(r.Statements) > 0 && strings.HasPrefix(r.Statements[0].Text, "SELECT")
}

// readFault makes some of the reads of transactions fail.
func (w *world) readFault(r ct.Request) []ct.Step {
	n := mix(w.Seed, uint64(r.Number))
	switch network := ct.Delay(time.Duration(200_000 + n%2_000_000)); n % 100 {
	case 0:
		return []ct.Step{network, ct.Drop}
	case 1:
		return []ct.Step{network, ct.Fail(ct.ReadTimeout(1, 2))}
	case 2:
		return []ct.Step{network, ct.Fail(ct.Unavailable(gocql.LocalQuorum, 2, 1))}
	default:
		return []ct.Step{network}
	}
}

// storm makes one node after the other be ill for a while.
func (w *world) storm(over <-chan struct{}) {
	random := chance(w.Seed, 7)
	for n := random.IntN(4); ; n++ {
		if sleep.Unless(over, time.Duration(random.Int64N(int64(10*time.Second)))) {
			return
		}
		first, kind := random.IntN(nodes), n%len(illnesses)
		ill, now := []*ct.Node{w.cluster.Node(1 + first)}, []string{illnesses[kind]}
		if random.IntN(3) > 0 {
			ill, now = append(ill, w.cluster.Node(1+(first+1)%nodes)), append(now, noQuorum)
		}
		for _, node := range ill {
			[]func(){node.Stop, node.Silence, node.Freeze, node.Vanish}[kind]()
		}
		w.ill(now...)
		isOver := sleep.Unless(over, time.Second+time.Duration(random.Int64N(int64(20*time.Second))))
		w.ill()
		for _, node := range ill {
			node.Restore()
		}
		if isOver {
			return
		}
	}
}

// ill notes what is the matter with nodes now.
func (w *world) ill(now ...string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.now = now
}

var illnesses = []string{"node stopped", "node unresponsive", "node frozen", "node unreachable"}

// meets notes that a write is under way now.
func (w *world) meets(number uint64) {
	w.mu.Lock()
	now := w.now
	w.mu.Unlock()
	for _, illness := range now {
		w.weather.note(illness, number)
	}
}

// trouble is an error that no fault explains.
func (w *world) trouble(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.troubles = append(w.troubles, err)
}

// load is what the clients of a service do.
type load interface {
	run(ctx context.Context)
	finish(ctx context.Context)
	check(ctx context.Context, p *process, report *Report) error
}

// with calls f with a process of its own, which has the true time.
func (w *world) with(ctx context.Context, s service, f func(p *process) error) error {
	p, err := boot(ctx, w.cluster, s.keyspace, 0, s.mode)
	if err != nil {
		return err
	}
	defer p.close()
	return f(p)
}

// mix makes a number of others that says nothing about them.
func mix(parts ...uint64) uint64 {
	h := uint64(0x9e3779b97f4a7c15)
	for _, p := range parts {
		h ^= p
		h = (h ^ h>>30) * 0xbf58476d1ce4e5b9
		h = (h ^ h>>27) * 0x94d049bb133111eb
		h ^= h >> 31
	}
	return h
}

// chance is a source of random numbers of its own.
func chance(parts ...uint64) *rand.Rand {
	return rand.New(rand.NewPCG(mix(parts...), 1))
}

// uuid is a random one.
func uuid(random *rand.Rand) gocql.UUID {
	var id gocql.UUID
	for i := range id {
		id[i] = byte(random.Uint32())
	}
	return id
}
