package cassandratest

import (
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gocql/gocql"
)

const readNote = `SELECT text FROM shop.notes WHERE id = ?`

// bubble runs a test in virtual time on three nodes.
func bubble(t *testing.T, test func(t trial, c *Cluster, s *gocql.Session)) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		unwind(t)
		c := Start(t, 3)
		s := open(t, c, func(config *gocql.ClusterConfig) { config.Timeout = 10 * time.Second })
		<-time.After(time.Second) // for the pools to be full
		test(trial{t, Start}, c, s)
	})
}

// noteAt is the text of a note at a level, "" if there is none.
func noteAt(tb testing.TB, s *gocql.Session, level gocql.Consistency, id int) string {
	tb.Helper()
	var text string
	if err := s.Query(readNote, id).Consistency(level).Scan(&text); err != nil && !errors.Is(err, gocql.ErrNotFound) {
		tb.Fatal(err)
	}
	return text
}

// alone is the text of a note that a node has by itself.
func alone(c *Cluster, node, id int) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.data.Has(node, "shop", "notes", string([]byte{0, 0, 0, byte(id)}))
}

// A node that does not answer makes writes time out that need it, until the others know that it is gone; they are then
// unavailable, and what it has missed it gets when it is back.
func TestNodeIsMissing(t *testing.T) {
	bubble(t, func(t trial, c *Cluster, s *gocql.Session) {
		c.Node(3).Stop()
		<-time.After(time.Second)
		begin := time.Now()
		var timeout *gocql.RequestErrWriteTimeout
		if err := s.Query(insertNote, 1, "milk").Consistency(gocql.All).Exec(); !errors.As(err, &timeout) || timeout.Received != 2 || timeout.BlockFor != 3 ||
			timeout.WriteType != "SIMPLE" {
			t.Errorf("at ALL: %v", err)
		}
		if d := time.Since(begin); d < 2*time.Second || d > 3*time.Second {
			t.Errorf("answered after %v", d)
		}
		var reads *gocql.RequestErrReadTimeout
		if err := s.Query(readNote, 1).Consistency(gocql.All).Scan(new(string)); !errors.As(err, &reads) || reads.Received != 2 {
			t.Errorf("a read at ALL: %v", err)
		}
		<-time.After(10 * time.Second)
		var unavailable *gocql.RequestErrUnavailable
		if err := s.Query(insertNote, 2, "tea").Consistency(gocql.All).Exec(); !errors.As(err, &unavailable) || unavailable.Alive != 2 {
			t.Errorf("at ALL, later: %v", err)
		}
		if err := s.Query(insertNote, 3, "rum").Consistency(gocql.Quorum).Exec(); err != nil {
			t.Error(err)
		}
		c.Node(3).Restore()
		if alone(c, 3, 1) || alone(c, 3, 3) {
			t.Error("the node has what it was not there for")
		}
		<-time.After(11 * time.Second)
		if !alone(c, 3, 1) || alone(c, 3, 2) || !alone(c, 3, 3) {
			t.Error("the node has no hints, or a write that was refused")
		}
	})
}

// A frozen node does what it was sent when it thaws; a read repairs a replica that has missed a write.
func TestLateReplicas(t *testing.T) {
	bubble(t, func(t trial, c *Cluster, s *gocql.Session) {
		c.Node(2).Freeze()
		<-time.After(time.Second)
		err := errors.New("no node has answered")
		for err != nil { // one try in three goes to the frozen node
			err = s.Query(insertNote, 1, "milk").Consistency(gocql.Quorum).Exec()
		}
		if alone(c, 2, 1) {
			t.Error("a frozen node has the write")
		}
		c.Node(2).Restore()
		if !alone(c, 2, 1) {
			t.Error("a node that has thawed has not done what it was sent")
		}
		c.When(Execute, Table("notes"), Nth(1)).Do(ApplyAt(1), Answer)
		if err := s.Query(insertNote, 2, "tea").Consistency(gocql.One).Exec(); err != nil {
			t.Fatal(err)
		}
		if !alone(c, 1, 2) || alone(c, 2, 2) || alone(c, 3, 2) {
			t.Error("it is not at the first node alone")
		}
		if got := noteAt(t, s, gocql.All, 2); got != "tea" || !alone(c, 2, 2) || !alone(c, 3, 2) {
			t.Errorf("%q is read, and the others are not repaired", got)
		}
	})
}

// A batch that only the batchlog has is applied some seconds later.
func TestBatchlog(t *testing.T) {
	bubble(t, func(t trial, c *Cluster, s *gocql.Session) {
		c.When(Batch, Nth(1)).Do(StoreBatch, Cut)
		b := s.NewBatch(gocql.LoggedBatch)
		b.Query(insertNote, 1, "milk")
		b.Query(insertNote, 2, "tea")
		if err := s.ExecuteBatch(b); err == nil {
			t.Error("answered")
		}
		<-time.After(3 * time.Second)
		if got := noteAt(t, s, gocql.All, 1) + noteAt(t, s, gocql.All, 2); got != "" {
			t.Errorf("%q before the replay", got)
		}
		<-time.After(12 * time.Second)
		if got := noteAt(t, s, gocql.One, 1) + noteAt(t, s, gocql.One, 2); got != "milktea" {
			t.Errorf("%q after the replay", got)
		}
	})
}

// A coordinator that dies while it sends a batch has sent some of it; the batchlog sends the rest.
func TestHalfBatch(t *testing.T) {
	bubble(t, func(t trial, c *Cluster, s *gocql.Session) {
		c.When(Batch).Do(ApplyAt(1, 2, 3), Cut)
		for i, typ := range []gocql.BatchType{gocql.LoggedBatch, gocql.UnloggedBatch} {
			b := s.NewBatch(typ)
			b.Query(insertNote, 10*i+1, "milk")
			b.Query(insertNote, 10*i+2, "tea")
			if err := s.ExecuteBatch(b); err == nil {
				t.Error("answered")
			}
			if got := noteAt(t, s, gocql.One, 10*i+1) + noteAt(t, s, gocql.One, 10*i+2); got != "milk" {
				t.Errorf("%v: %q is there", typ, got)
			}
			<-time.After(15 * time.Second)
			if got := noteAt(t, s, gocql.One, 10*i+1) + noteAt(t, s, gocql.One, 10*i+2); got != []string{"milktea", "milk"}[i] {
				t.Errorf("%v: %q is there later", typ, got)
			}
		}
	})
}

// A transaction that was promised is forgotten; one that a majority has accepted is carried out by the next; one that a single
// replica has accepted either way, and from then on that way.
func TestHalfTransactions(t *testing.T) {
	bubble(t, func(t trial, c *Cluster, s *gocql.Session) {
		seen := make(map[string]int)
		for i := range 30 {
			id := i + 1
			step := []Step{Promise, Accept, Propose}[i%3]
			rule := c.When(Execute, Text("IF NOT EXISTS")).Do(step, Fail(WriteTimeout("CAS", 0, 2)))
			if _, err := s.Query(insertNote+" IF NOT EXISTS", id, "half").ScanCAS(new(int), new(string)); err == nil {
				t.Error("answered")
			}
			rule.End()
			if got := noteAt(t, s, gocql.All, id); got != "" {
				t.Errorf("%v: %q is read before it is carried out", step, got)
			}
			first := noteAt(t, s, gocql.Consistency(gocql.Serial), id)
			noteAt(t, s, gocql.Quorum, id)
			again := noteAt(t, s, gocql.Consistency(gocql.Serial), id)
			switch {
			case step.String() == "promise" && first+again != "", step.String() == "accept" && (first != "half" || again != "half"), first > again:
				t.Errorf("%v: %q, then %q", step, first, again)
			}
			seen[step.String()+" "+first]++
		}
		if seen["propose "] == 0 || seen["propose half"] == 0 {
			t.Errorf("what one replica has accepted goes one way only: %v", seen)
		}
	})
}

// Counters add up over replicas; a counter that is sent twice counts twice.
func TestCounters(t *testing.T) {
	bubble(t, func(t trial, c *Cluster, s *gocql.Session) {
		c.Create(`CREATE TABLE shop.views (page int PRIMARY KEY, n counter)`)
		const add = `UPDATE shop.views SET n = n + ? WHERE page = 1`
		for i := range 20 {
			c.When(Table("views"), Execute, Nth(1)).Do(ApplyAt(i%3+1), Answer)
			if err := s.Query(add, int64(i)).Consistency(gocql.One).Exec(); err != nil {
				t.Fatal(err)
			}
		}
		rule := c.When(Table("views"), Execute).Do(Apply, Apply, Answer)
		if err := s.Query(add, int64(-5)).Exec(); err != nil {
			t.Fatal(err)
		}
		rule.End()
		var n int64
		if err := s.Query(`SELECT n FROM shop.views WHERE page = 1`).Consistency(gocql.All).Scan(&n); err != nil || n != 190-10 {
			t.Errorf("%d, %v", n, err)
		}
	})
}

// Rows end with their TTL, by the clock of the bubble.
func TestTTL(t *testing.T) {
	bubble(t, func(t trial, _ *Cluster, s *gocql.Session) {
		if err := s.Query(insertNote+" USING TTL ?", 1, "milk", 60).Exec(); err != nil {
			t.Fatal(err)
		}
		<-time.After(50 * time.Second)
		var left int
		if err := s.Query(`SELECT ttl(text) FROM shop.notes WHERE id = 1`).Scan(&left); err != nil || left < 9 || left > 11 {
			t.Errorf("%d s are left, %v", left, err)
		}
		<-time.After(11 * time.Second)
		if got := noteAt(t, s, gocql.All, 1); got != "" {
			t.Errorf("%q has outlived its time", got)
		}
	})
}

// A result comes in pages of the size that was asked for, the same rows as at once.
func TestPages(t *testing.T) {
	bubble(t, func(t trial, c *Cluster, s *gocql.Session) {
		c.Create(`CREATE TABLE shop.lines (page int, line int, text text, PRIMARY KEY (page, line)) WITH CLUSTERING ORDER BY (line DESC)`)
		for i := range 50 {
			if err := s.Query(`INSERT INTO shop.lines (page, line, text) VALUES (?, ?, ?)`, i%4, i, "x").Exec(); err != nil {
				t.Fatal(err)
			}
		}
		read := func(text string, size int) (lines []int) {
			t.Helper()
			iter := s.Query(text).PageSize(size).Prefetch(0).Iter()
			for line := 0; iter.Scan(&line); {
				lines = append(lines, line)
			}
			if err := iter.Close(); err != nil {
				t.Fatal(err)
			}
			return lines
		}
		for _, text := range []string{
			`SELECT line FROM shop.lines`, `SELECT line FROM shop.lines WHERE page = 2`, `SELECT line FROM shop.lines WHERE page = 2 ORDER BY line`,
			`SELECT line FROM shop.lines WHERE page IN (3, 1) LIMIT 17`, `SELECT line FROM shop.lines PER PARTITION LIMIT 5`,
			`SELECT line FROM shop.lines WHERE page = 1 AND line > 10 AND line <= 40`,
		} {
			whole := read(text, 0)
			if len(whole) == 0 {
				t.Errorf("%s: nothing", text)
			}
			for _, size := range []int{1, 3, 7} {
				if got := read(text, size); !slices.Equal(got, whole) {
					t.Errorf("%s in pages of %d: %v, at once %v", text, size, got, whole)
				}
			}
		}
	})
}

// After a change of a table its statements are prepared anew, by the driver, and its dropped columns are gone.
func TestAlter(t *testing.T) {
	bubble(t, func(t trial, c *Cluster, s *gocql.Session) {
		if err := s.Query(insertNote, 1, "milk").Exec(); err != nil {
			t.Fatal(err)
		}
		for i, text := range []string{
			`ALTER TABLE shop.notes ADD color text`, `UPDATE shop.notes SET color = 'red' WHERE id = 1`, `ALTER TABLE shop.notes DROP color`,
			`ALTER TABLE shop.notes ADD color text`,
		} {
			if err := s.Query(text).Exec(); err != nil {
				t.Fatalf("%d: %v", i, err)
			}
		}
		if err := s.Query(insertNote, 2, "tea").Exec(); err != nil {
			t.Fatal(err)
		}
		var color *string
		if err := s.Query(`SELECT color FROM shop.notes WHERE id = 1`).Scan(&color); err != nil || color != nil {
			t.Errorf("%v, %v", color, err)
		}
		if n := len(c.Journal(Prepare, Text(insertNote))); n < 2 {
			t.Errorf("prepared %d times", n)
		}
	})
}

// What it does not know it refuses, and says so.
func TestUnsupported(t *testing.T) {
	bubble(t, func(t trial, _ *Cluster, s *gocql.Session) {
		for _, text := range []string{
			`SELECT sum(id) FROM shop.notes`, `SELECT JSON * FROM shop.notes`, `INSERT INTO shop.notes JSON '{"id": 1}'`,
			`SELECT text FROM shop.notes GROUP BY id`, `CREATE FUNCTION shop.f (a int) RETURNS NULL ON NULL INPUT RETURNS int LANGUAGE java AS 'return a;'`,
			`CREATE ROLE r`,
		} {
			err := s.Query(text).Exec()
			var refused gocql.RequestError
			if !errors.As(err, &refused) {
				t.Errorf("%s: %v", text, err)
				continue
			}
			t.Logf("%s: %v", text, err)
		}
	})
}
