package hot_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/denorm-go/denorm/integration/harness/child"
	"github.com/denorm-go/denorm/integration/harness/cluster"
	"github.com/denorm-go/denorm/integration/load/history"
	"github.com/denorm-go/denorm/integration/load/hot"
	"github.com/denorm-go/denorm/writer"
)

// killedClients runs the load in clients that are killed at random moments and started again, and nobody finishes what
// they were at. A logged batch is then in all tables or in none; a fan-out, or a group that was in part sent again, may
// be in some of them until the order is written again, and how often is reported. Nothing is lost that was
// acknowledged.
func (m *market) killedClients(mode hot.Mode) {
	const clients = 2
	dir, began := m.TempDir(), time.Now()
	before := m.history.Count()
	var wg sync.WaitGroup
	lives := make([]int, clients)
	for n := range clients {
		wg.Go(func() {
			for time.Since(began) < length() {
				lives[n]++
				name := fmt.Sprintf("client%d-%d", n, lives[n])
				m.live(hot.Client{
					Process: hot.Process{
						Hosts: cluster.Hosts(m), Keyspace: m.keyspace, Journal: filepath.Join(dir, name), Name: name,
						First: int64(n*1000+lives[n]) * 1_000_000, Writers: writers / clients,
					},
					Mode: mode, Length: time.Minute, Orders: m.orders,
				})
			}
		})
	}
	wg.Wait()
	took := time.Since(began)
	m.loadJournals(dir)

	count := m.history.Count()
	f := hot.Figures{
		Took: took, Acknowledged: count[writer.Applied] - before[writer.Applied],
		Unknown:    count[writer.Unknown] - before[writer.Unknown],
		NotApplied: count[writer.NotApplied] - before[writer.NotApplied],
	}
	if f.Unknown == 0 {
		m.Error("no write was under way when its client was killed: this load is of no use")
	}
	var allowed []history.Kind
	if mode != hot.Logged {
		allowed = []history.Kind{history.Ghost, history.Missing, history.Differing}
	}
	m.check(f, fmt.Sprintf("clients were killed %d times, and what they were at is unknown and was never resumed",
		lives[0]+lives[1]), allowed...)
}

// live starts a client, and kills it at a random moment after its first writes.
func (m *market) live(c hot.Client) {
	process, err := child.Start(c)
	if err != nil {
		m.Error(err)
		return
	}
	// The journal tells how far it is. A machine that is slow is waited for.
	began, enough := time.Now(), int64(4_000+rand.IntN(40_000))
	for time.Since(began) < length() || size(c.Journal) < 4_000 && time.Since(began) < time.Minute {
		if size(c.Journal) >= enough {
			break
		}
		time.Sleep(time.Duration(1+rand.IntN(10)) * time.Millisecond)
	}
	if err := process.Kill(); err != nil {
		m.Errorf("client %s: %v", c.Name, err)
	}
}

// size of a file, 0 if there is none yet.
func size(path string) int64 {
	info, err := os.Stat(path)
	if err != nil {
		return 0
	}
	return info.Size()
}

func (m *market) loadJournals(dir string) {
	m.Helper()
	journals, err := os.ReadDir(dir)
	if err != nil {
		m.Fatal(err)
	}
	for _, journal := range journals {
		in, err := os.Open(filepath.Join(dir, journal.Name()))
		if err != nil {
			m.Fatal(err)
		}
		if err := m.history.Load(in); err != nil {
			m.Fatal(err)
		}
		_ = in.Close()
	}
}
