package hot_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/integration/cluster"
	"github.com/denorm-go/denorm/integration/history"
	"github.com/denorm-go/denorm/integration/hot"
	"github.com/denorm-go/denorm/integration/orders"
	"github.com/denorm-go/denorm/writer"
)

// clientEnv makes this test binary a client that runs the load it describes until it is killed.
const clientEnv = "DENORM_TEST_HOT_CLIENT"

// client is what such a process is told.
type client struct {
	Name     string         `json:"name"`
	Hosts    []string       `json:"hosts"`
	Keyspace string         `json:"keyspace"`
	Mode     string         `json:"mode"`
	Journal  string         `json:"journal"`
	First    int64          `json:"first"`
	Writers  int            `json:"writers"`
	Length   time.Duration  `json:"length"`
	Orders   []orders.Order `json:"orders"`
}

func beClient() int {
	var c client
	err := json.Unmarshal([]byte(os.Getenv(clientEnv)), &c)
	if err == nil {
		err = c.run()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

func (c *client) run() error {
	journal, err := os.OpenFile(c.Journal, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	defer func() { _ = journal.Close() }()
	var sessions [2]*gocql.Session
	for i := range sessions {
		config := writer.Configure(gocql.NewCluster(c.Hosts...), "")
		config.Keyspace = c.Keyspace
		if sessions[i], err = config.CreateSession(); err != nil {
			return err
		}
		defer sessions[i].Close()
	}
	w, err := writer.New(sessions[0], writer.Reads(sessions[1]))
	if err != nil {
		return err
	}
	load := hot.Load{
		Name: c.Name, Set: orders.Orders, Orders: c.Orders, Reader: orders.NewReader(sessions[1]),
		History: history.New[orders.Order](journal), Length: c.Length, First: c.First,
	}
	for _, mode := range modes {
		if mode.name == c.Mode {
			w = w.With(mode.option)
		}
	}
	for range c.Writers {
		load.Writers = append(load.Writers, w)
	}
	ctx, cancel := context.WithTimeout(context.Background(), c.Length+patience)
	defer cancel()
	_, err = load.Run(ctx)
	return err
}

// killedClients runs the load in clients that are killed at random moments and started again, and nobody finishes what they
// were at. A logged batch is then in all tables or in none; a fan-out may be in some of them until the order is written
// again, and how often is reported. Nothing is lost that was acknowledged.
func (m *market) killedClients(mode mode) {
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
				m.live(client{
					Name: name, Hosts: cluster.Hosts(m), Keyspace: m.keyspace, Mode: mode.name, Journal: filepath.Join(dir, name),
					First: int64(n*1000+lives[n]) * 1_000_000, Writers: writers / clients, Length: time.Minute, Orders: m.orders,
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
	if mode.name == "fan-out" {
		allowed = []history.Kind{history.Ghost, history.Missing, history.Differing}
	}
	m.check(f, fmt.Sprintf("clients were killed %d times, and what they were at is unknown and was never resumed",
		lives[0]+lives[1]), allowed...)
}

// live starts a client, and kills it at a random moment after its first writes.
func (m *market) live(c client) {
	told, err := json.Marshal(c)
	if err != nil {
		m.Error(err)
		return
	}
	var stderr strings.Builder
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), clientEnv+"="+string(told))
	cmd.Stderr = &stderr
	if err := cmd.Start(); err != nil {
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
	_ = cmd.Process.Kill()
	if exit := cmd.Wait(); exit == nil || exit.Error() != "signal: killed" {
		m.Errorf("client %s ended (%v) before it was killed: %s", c.Name, exit, stderr.String())
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
