package cassandratest

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gocql/gocql"
)

const readNote = `SELECT text FROM shop.notes WHERE id = ?`

// bubble runs a test in virtual time on three nodes.
func bubble(t *testing.T, test func(t trial, c *Cluster, s *gocql.Session)) {
	t.Helper()
	t.Parallel()
	Test(t, 3, func(t *testing.T, c *Cluster) {
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

// A transaction that was promised is forgotten; one that a majority has accepted is carried out by the next; one that a
// single replica has accepted either way, and from then on that way.
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

// Rows end before 2038-01-19, as in the default configuration of Cassandra 5.0.
func TestExpiryIsLimited(t *testing.T) {
	bubble(t, func(t trial, c *Cluster, s *gocql.Session) {
		const write = `INSERT INTO shop.notes (id, text) VALUES (1, 'milk') USING TTL 630720000`
		if err := s.Query(write).Exec(); err != nil {
			t.Errorf("20 years from 2000: %v", err)
		}
		for n := range 3 {
			c.Node(n + 1).Skew(20 * 365 * 24 * time.Hour)
		}
		if err := s.Query(write).Exec(); !is(err, gocql.ErrCodeInvalid) {
			t.Errorf("20 years from 2020: %v", err)
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

// After a change of a table its statements are prepared again, by the driver, and its dropped columns are gone.
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

// What it does not know it rejects, and says so.
func TestUnsupported(t *testing.T) {
	bubble(t, func(t trial, c *Cluster, s *gocql.Session) {
		c.Create(
			`CREATE TABLE shop.lines (page int, line int, color text, text text, PRIMARY KEY (page, line))`,
			`CREATE INDEX ON shop.lines (color)`, `CREATE INDEX ON shop.lines (line)`,
			`CREATE MATERIALIZED VIEW shop.lines_by_color AS SELECT * FROM shop.lines
				WHERE page IS NOT NULL AND line IS NOT NULL AND color IS NOT NULL PRIMARY KEY (color, page, line)`,
		)
		for text, what := range map[string]string{
			`SELECT sum(id) FROM shop.notes`:                               "functions of columns",
			`SELECT JSON * FROM shop.notes`:                                "SELECT JSON",
			`INSERT INTO shop.notes JSON '{"id": 1}'`:                      "INSERT JSON",
			`SELECT text FROM shop.notes GROUP BY id`:                      "GROUP BY",
			`CREATE FUNCTION shop.f (a int)`:                               "CREATE FUNCTION",
			`CREATE ROLE r`:                                                "CREATE ROLE",
			`CREATE TABLE shop.v (id int PRIMARY KEY, v vector<float, 3>)`: "type vector<float, 3>",
			`SELECT text FROM shop.lines WHERE color = 'red'`:              "a SELECT by the index of column color without ALLOW FILTERING",
			`SELECT text FROM shop.lines WHERE line = 1`:                   "a SELECT by the index of column line without ALLOW FILTERING",
			`SELECT text FROM shop.lines_by_color`:                         "a SELECT from the materialized view shop.lines_by_color",
			`SELECT * FROM system.batches`:                                 "a SELECT of system.batches",
		} {
			err := s.Query(text).Exec()
			var refused gocql.RequestError
			if !errors.As(err, &refused) || refused.Code() != gocql.ErrCodeInvalid ||
				refused.Message() != "not supported by the in-process Cassandra: "+what {
				t.Errorf("%s: %v", text, err)
			}
		}
		for text, want := range map[string]string{
			`SELECT text FROM shop.lines WHERE page = 1 AND line = 1`:                                "",
			`SELECT text FROM shop.lines WHERE color = 'red' ALLOW FILTERING`:                        "",
			`SELECT text FROM shop.lines WHERE text = 'x'`:                                           "use ALLOW FILTERING",
			`UPDATE shop.lines_by_color SET text = '' WHERE color = 'red' AND page = 1 AND line = 1`: "Cannot directly modify a materialized view",
		} {
			if err := s.Query(text).Exec(); (err == nil) != (want == "") || err != nil && !strings.HasSuffix(err.Error(), want) {
				t.Errorf("%s: %v", text, err)
			}
		}
	})
}
