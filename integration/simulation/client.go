package simulation

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/denorm-go/denorm/retry"
	"github.com/denorm-go/denorm/writer"
)

// crew is the clients of a service: they share a process, until it is killed.
type crew struct {
	*world
	service service
	index   uint64
	booting chan struct{} // holds a token of who looks at what follows
	process *process
	boots   uint64

	share int // logical writes
}

func newCrew(w *world, s service, index uint64, share int) *crew {
	return &crew{world: w, service: s, index: index, share: share, booting: make(chan struct{}, 1)}
}

// current is the process, a new one if it was killed.
func (c *crew) current(ctx context.Context) *process {
	c.booting <- struct{}{} // no mutex: those who wait for one keep virtual time from running on
	defer func() { <-c.booting }()
	for c.process == nil || c.process.killed() {
		c.boots++
		random := chance(c.Seed, c.index, c.boots)
		p, err := boot(ctx, c.cluster, c.service.keyspace, time.Duration(random.Int64N(int64(2*skew)))-skew, c.service.mode)
		if err == nil {
			c.process = p
			continue
		}
		if p != nil { // too many nodes are ill
			p.close()
		}
		<-time.After(time.Second)
	}
	return c.process
}

// doom kills the process in a moment, now and then.
func (c *crew) doom(p *process, random *rand.Rand) {
	if random.IntN(kills) != 0 {
		return
	}
	time.AfterFunc(time.Duration(random.Int64N(int64(6*time.Millisecond))), p.kill)
}

// work runs the clients.
func (c *crew) work(ctx context.Context, write func(ctx context.Context, name string, number uint64)) {
	var wg sync.WaitGroup
	for i := range clients {
		wg.Go(func() {
			name := fmt.Sprintf("%s/%d", c.service.name, i)
			for n := range c.share / clients {
				write(ctx, name, c.number(i+1, n))
			}
		})
	}
	wg.Wait()
	if c.process != nil {
		c.process.close()
		c.process = nil
	}
}

// number is that of a write. It is the same in each run, as is all that is drawn for it.
func (c *crew) number(client, n int) uint64 { return c.index<<40 | uint64(client)<<32 | uint64(n) }

// rest is the time between two tries.
func rest(random *rand.Rand) {
	<-time.After(time.Duration(random.Int64N(int64(200 * time.Millisecond))))
}

// mood makes some callers impatient: they give up soon, or after one attempt, whatever happens later, or ask a second replica.
func mood(w *writer.Writer, random *rand.Rand) *writer.Writer {
	switch random.IntN(6) {
	case 0:
		return w.With(writer.Timeout(300 * time.Millisecond))
	case 1:
		return w.With(writer.Retry(retry.Policy{MaxAttempts: 1}))
	case 2:
		return w.With(writer.Hedge(time.Duration(1+random.IntN(50)) * time.Millisecond))
	}
	return w
}
