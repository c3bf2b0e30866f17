package load

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gocql/gocql"
	"gopkg.in/inf.v0"

	"github.com/denorm-go/denorm/examples/orders"
	"github.com/denorm-go/denorm/integration/harness/child"
	"github.com/denorm-go/denorm/integration/harness/cluster"
	"github.com/denorm-go/denorm/integration/harness/leaks"
	"github.com/denorm-go/denorm/integration/load/drift"
)

// told is what a process is told: one of them.
type told struct {
	Process *Process `json:"process,omitempty"`
	Command *Command `json:"command,omitempty"`
}

func TestMain(m *testing.M) {
	var of told
	child.Main(leaks.M{M: m}, &of, func(ctx context.Context) error {
		if of.Command != nil {
			os.Exit(of.Command.Run())
		}
		return of.Process.Run(ctx)
	})
}

const (
	settle  = 10 * time.Second // longer than a write of the service, which gives up after nine
	overlap = 3 * time.Second  // how long releases run side by side
)

// shop is the service while the table is added.
type shop struct {
	*Load
	t        *testing.T
	keyspace string
	at       []*child.Child
	targets  []Target
}

// start starts a process of a release, and waits until it serves.
func (s *shop) start(stage Stage) (*child.Child, Target) {
	s.t.Helper()
	p := Process{Stage: stage, Hosts: cluster.Hosts(s.t), Keyspace: s.keyspace, Address: filepath.Join(s.t.TempDir(), "address")}
	c, err := child.Start(told{Process: &p})
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = c.Kill() }) // it has ended, unless the test failed
	for {
		url, err := os.ReadFile(p.Address)
		if err == nil {
			return c, Target{string(url), stage}
		}
		select {
		case <-c.Ended():
			s.t.Fatal(c.End())
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// replace ends a process in some way, and starts one of another release. Until that serves, clients ask the one that is
// gone, too.
func (s *shop) replace(n int, end func(*child.Child) error, stage Stage) {
	s.t.Helper()
	if err := end(s.at[n]); err != nil {
		s.t.Fatal(err)
	}
	s.at[n], s.targets[n] = s.start(stage)
	s.Ask(s.targets...)
	time.Sleep(overlap)
}

// denorm begins a command, which ends by itself.
func (s *shop) denorm(args ...string) (*child.Child, func() (code int, text string)) {
	s.t.Helper()
	out := filepath.Join(s.t.TempDir(), "out")
	args = append(args, "--hosts", strings.Join(cluster.Hosts(s.t), ","), "--keyspace", s.keyspace)
	c, err := child.Start(told{Command: &Command{Stage: Hidden, Args: args, Out: out}})
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = c.Kill() })
	return c, func() (int, string) {
		err := c.End()
		var exit *exec.ExitError
		if err != nil && !errors.As(err, &exit) {
			s.t.Fatal(err)
		}
		text, readErr := os.ReadFile(out)
		if readErr != nil {
			s.t.Fatal(readErr, err)
		}
		code := 0
		if exit != nil {
			code = exit.ExitCode()
		}
		s.t.Logf("orderservice denorm %s ... exits with %d\n%s", strings.Join(args[:2], " "), code, text)
		if code > 1 {
			s.t.Error(err)
		}
		return code, string(text)
	}
}

// run runs a command, and wants an exit code.
func (s *shop) run(want int, args ...string) string {
	s.t.Helper()
	_, end := s.denorm(args...)
	code, text := end()
	if code != want {
		s.t.Fatalf("exit code %d, want %d", code, want)
	}
	return text
}

// A query table is added to the order service by the steps of docs/change-schema.md, while clients write and check what
// they are told: no answer is wrong, of no table, at no time.
func TestNewTable(t *testing.T) {
	cluster.Need(t, 3)
	s := &shop{Load: New(13, 1, time.Minute), t: t, keyspace: cluster.Keyspace(t, 3)}
	t.Cleanup(s.Close)
	cluster.ChangeSchema(t, s.keyspace, orders.Schema.Statements()...)
	for range 2 {
		c, target := s.start(Today)
		s.at, s.targets = append(s.at, c), append(s.targets, target)
	}
	s.Ask(s.targets...)
	begun := time.Now()
	s.Seed(t.Context(), 100)
	t.Logf("seeded in %v", time.Since(begun).Round(time.Second))
	begun = time.Now()
	over := make(chan struct{})
	var working sync.WaitGroup
	working.Go(func() { s.Work(t.Context(), 100, 4, over) })
	end := sync.OnceFunc(func() {
		close(over)
		working.Wait()
	})
	t.Cleanup(end)
	time.Sleep(overlap)

	s.Enter(Deploy)
	cql := s.run(1, "ddl", "--migrate")
	cluster.ChangeSchema(t, s.keyspace, statements(cql)...)
	s.run(0, "ddl", "--migrate")
	s.replace(0, (*child.Child).Kill, Hidden)
	s.mixed(t.Context(), s.targets[0], s.targets[1])
	s.replace(1, (*child.Child).End, Hidden)
	writers := time.Now().UTC().Format("2006-01-02T15:04:05Z")

	s.Enter(Backfill)
	backfill := []string{"backfill", "order", Table, "--writers", writers, "--settle", settle.String()}
	s.killed(append(backfill, "--rate", "60"))
	// What mixed has left nobody has written since.
	if text := s.run(1, backfill...); strings.Contains(text, "after --writers") {
		t.Error("it looks as if a process without the table were there")
	}
	s.run(0, "repair", "order", "--tables", Table, "--removed", filepath.Join(t.TempDir(), "removed.jsonl"), "--settle", settle.String())
	s.run(0, backfill...)

	s.Enter(After)
	s.replace(0, (*child.Child).End, Shown)
	s.replace(1, (*child.Child).End, Shown)
	end()
	t.Logf("written for %v", time.Since(begun).Round(time.Second))
	for _, target := range s.targets {
		s.Ask(target)
		s.Check(t.Context())
	}
	s.report()
	t.Log(s)
	if s.Wrong() > 0 {
		t.Errorf("%d wrong answers", s.Wrong())
	}
	s.compare()
	s.run(0, "verify", "order", "--tables", Table, "--settle", "1s")
}

// mixed is what is left where two releases run side by side: the first client creates two orders by a process that
// writes the new table, and moves one and deletes the other by a process that does not.
func (l *Load) mixed(ctx context.Context, with, without Target) {
	c := l.clients[0]
	for n := range 2 {
		c.only = &with
		o := c.create(ctx, false)
		c.only = &without
		if n == 0 {
			c.change(ctx, o, orders.Paid)
		} else {
			c.remove(ctx, o)
		}
	}
	c.only = nil
}

// statements are those of a migration.
func statements(cql string) (out []string) {
	var text strings.Builder
	for line := range strings.Lines(cql) {
		if !strings.HasPrefix(line, "--") {
			text.WriteString(line)
		}
	}
	for statement := range strings.SplitSeq(text.String(), ";\n") {
		if statement = strings.TrimSpace(statement); statement != "" {
			out = append(out, statement)
		}
	}
	return out
}

// killed begins a backfill, and kills it when it has put some of the orders that nobody changes, and not yet all.
func (s *shop) killed(args []string) {
	s.t.Helper()
	c, _ := s.denorm(args...)
	session := cluster.Session(s.t, s.keyspace)
	kept := make(map[gocql.UUID]bool)
	s.mu.Lock()
	for o := range s.of(gocql.UUID{}) {
		if o.kept && o.phase == Before {
			kept[o.id] = true
		}
	}
	s.mu.Unlock()
	for {
		there := 0
		rows := session.Query("SELECT order_id FROM " + Table).Iter()
		for id := (gocql.UUID{}); rows.Scan(&id); {
			if kept[id] {
				there++
			}
		}
		if err := rows.Close(); err != nil {
			s.t.Fatal(err)
		}
		select {
		case <-c.Ended():
			s.t.Fatalf("the backfill was not killed, but ended with %d of %d rows there: %v", there, len(kept), c.End())
		case <-time.After(20 * time.Millisecond):
		}
		if there > 0 {
			if err := c.Kill(); err != nil || there == len(kept) {
				s.t.Fatalf("the backfill was not killed in the middle, but with %d of %d rows there: %v", there, len(kept), err)
			}
			s.t.Logf("a backfill was killed when it had put %d of %d orders that nobody changes", there, len(kept))
			return
		}
	}
}

// report says what was judged, and fails the test if there was nothing to judge of some kind.
func (s *shop) report() {
	s.t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	phases := []Phase{Before, Deploy, Backfill, After}
	var b strings.Builder
	for i, made := range phases {
		for _, written := range phases[i:] {
			var shown, absent, deleted int
			for j, n := range s.judged {
				switch {
				case j.made != made || j.written != written:
				case j.shown:
					shown += n
				case j.status == "":
					deleted += n
				default:
					absent += n
				}
			}
			if shown+absent+deleted > 0 {
				fmt.Fprintf(&b, "created %-22s last written %-22s %7d times there, %7d times rightly not, %6d times deleted\n", made+",", written+":", shown, absent, deleted)
			}
			if needed := written != After; needed && (shown == 0 || absent == 0) {
				s.t.Errorf("nothing was checked of orders created %s and last written %s", made, written)
			}
		}
	}
	s.t.Logf("orders in answers from the new table:\n%s%d queries rejected while it was Hidden", &b, s.turned)
	if s.turned == 0 {
		s.t.Error("no query was rejected")
	}
}

// compare compares all tables with each other and with what clients know, at ALL and by plain queries.
func (s *shop) compare() {
	s.t.Helper()
	session := cluster.Session(s.t, s.keyspace)
	want := make(drift.Contents)
	for o := range s.of(gocql.UUID{}) {
		if o.now().status != "" {
			want[o.id] = digest(s.t, o)
		}
	}
	for _, table := range append(drift.Tables, Table) {
		got, err := drift.Read(s.t.Context(), session, table)
		if err != nil {
			s.t.Fatal(err)
		}
		differ := 0
		for id := range got {
			if got[id] != want[id] {
				differ++
			}
		}
		for id := range want {
			if _, there := got[id]; !there {
				differ++
			}
		}
		s.t.Logf("%s: %d rows at ALL, %d acknowledged", table, len(got), len(want))
		if differ > 0 {
			s.t.Errorf("%s: %d orders are not as the clients know them", table, differ)
		}
	}
}

func digest(t *testing.T, o *order) uint64 {
	t.Helper()
	total, ok := new(inf.Dec).SetString(o.total)
	if !ok {
		t.Fatalf("total %q", o.total)
	}
	digest, err := drift.Digest(orders.Order{UserID: o.user, Status: o.now().status, Total: total, UpdatedAt: o.now().since.UnixMicro()})
	if err != nil {
		t.Fatal(err)
	}
	return digest
}
