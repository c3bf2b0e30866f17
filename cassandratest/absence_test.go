package cassandratest

import (
	"errors"
	"testing"
	"time"

	"github.com/gocql/gocql"
)

// is says whether an error of the protocol has the code.
func is(err error, code int) bool {
	var answer gocql.RequestError
	return errors.As(err, &answer) && answer.Code() == code
}

// What is on its way to a node, in the batchlog, or left by a transaction when the table is truncated does not come
// back.
func TestTruncateIsFinal(t *testing.T) {
	bubble(t, func(t trial, c *Cluster, s *gocql.Session) {
		c.Node(3).Stop()
		<-time.After(time.Second)
		if err := s.Query(insertNote, 1, "milk").Consistency(gocql.Quorum).Exec(); err != nil {
			t.Fatal(err)
		}
		c.Node(3).Restore()
		<-time.After(5 * time.Second) // for its connections
		c.When(Batch, Nth(1)).Do(StoreBatch)
		b := s.NewBatch(gocql.LoggedBatch)
		b.Query(insertNote, 2, "tea")
		b.Query(insertNote, 3, "rum")
		if err := s.ExecuteBatch(b); err == nil {
			t.Error("a batch that is only stored is acknowledged")
		}
		if applied, err := s.Query(`INSERT INTO shop.notes (id, text) VALUES (4, 'gin') IF NOT EXISTS`).MapScanCAS(map[string]any{}); !applied || err != nil {
			t.Error(err)
		}
		if err := s.Query(`TRUNCATE shop.notes`).Consistency(gocql.All).Exec(); err != nil {
			t.Fatal(err)
		}
		<-time.After(time.Minute)
		for id := range 5 {
			if got := noteAt(t, s, gocql.All, id); got != "" {
				t.Errorf("%q is back", got)
			}
			if got := noteAt(t, s, gocql.Consistency(gocql.Serial), id); got != "" {
				t.Errorf("%q is back at SERIAL", got)
			}
		}
	})
}

// A table is not truncated while a node does not answer.
func TestTruncateNeedsAll(t *testing.T) {
	bubble(t, func(t trial, c *Cluster, s *gocql.Session) {
		if err := s.Query(insertNote, 1, "milk").Consistency(gocql.All).Exec(); err != nil {
			t.Fatal(err)
		}
		c.Node(3).Vanish()
		err := errors.New("no node has answered")
		for range 20 {
			if err = s.Query(`TRUNCATE shop.notes`).Exec(); err == nil {
				t.Error("the table is truncated")
			}
		}
		if !alone(c, 1, 1) || !alone(c, 3, 1) {
			t.Errorf("the note is gone: %v", err)
		}
		<-time.After(11 * time.Second)
		if err := s.Query(`TRUNCATE shop.notes`).Exec(); err == nil || !alone(c, 3, 1) {
			t.Errorf("later: %v", err)
		}
	})
}

// A node that is frozen for long, and then killed, is no more alive for it, and has hints of what it never did.
func TestFrozenThenKilled(t *testing.T) {
	bubble(t, func(t trial, c *Cluster, s *gocql.Session) {
		c.Node(3).Freeze()
		err := errors.New("no node has answered")
		for err != nil { // one try in three goes to the frozen node
			err = s.Query(insertNote, 1, "milk").Consistency(gocql.Quorum).Exec()
		}
		<-time.After(time.Minute)
		c.Node(3).Stop()
		<-time.After(time.Second)
		if err := s.Query(insertNote, 2, "tea").Consistency(gocql.All).Exec(); !is(err, gocql.ErrCodeUnavailable) {
			t.Errorf("at ALL: %v", err)
		}
		c.Node(3).Restore()
		if alone(c, 3, 1) {
			t.Error("the node has done what it was sent when it was frozen, although it was killed")
		}
		<-time.After(11 * time.Second)
		if !alone(c, 3, 1) {
			t.Error("the node has no hint")
		}
	})
}

// A node that was away for longer than max_hint_window has no hints of what came after it, and those that it has expire
// with gc_grace_seconds.
func TestHintsEnd(t *testing.T) {
	bubble(t, func(t trial, c *Cluster, s *gocql.Session) {
		if err := s.Query(`ALTER TABLE shop.notes WITH gc_grace_seconds = 7200`).Exec(); err != nil {
			t.Fatal(err)
		}
		c.Node(3).Stop()
		<-time.After(time.Minute)
		write := func(id int) {
			if err := s.Query(insertNote, id, "milk").Consistency(gocql.Quorum).Exec(); err != nil {
				t.Error(err)
			}
		}
		write(1)
		<-time.After(2 * time.Hour)
		write(2)
		<-time.After(time.Hour)
		write(3)
		c.Node(3).Restore()
		<-time.After(11 * time.Second)
		if alone(c, 3, 1) || !alone(c, 3, 2) || alone(c, 3, 3) {
			t.Errorf("the node has notes: %v %v %v, want the second alone", alone(c, 3, 1), alone(c, 3, 2), alone(c, 3, 3))
		}
	})
}

// A scan needs its level everywhere on the ring, also where there is nothing.
func TestScanNeedsItsLevel(t *testing.T) {
	bubble(t, func(t trial, c *Cluster, s *gocql.Session) {
		c.Node(2).Stop()
		c.Node(3).Stop()
		<-time.After(15 * time.Second)
		if err := s.Query(`SELECT id FROM shop.notes`).Consistency(gocql.Quorum).Exec(); !is(err, gocql.ErrCodeUnavailable) {
			t.Errorf("at QUORUM: %v", err)
		}
		if err := s.Query(`SELECT id FROM shop.notes`).Consistency(gocql.One).Exec(); err != nil {
			t.Errorf("at ONE: %v", err)
		}
	})
}

// The leader of a counter is any replica that is believed to be alive: one that says nothing is asked, too, and then
// nothing is counted. Levels that are none for counters are rejected.
func TestCounterLeaders(t *testing.T) {
	bubble(t, func(t trial, c *Cluster, s *gocql.Session) {
		c.Create(`CREATE TABLE shop.views (id int PRIMARY KEY, n counter)`)
		const add = `UPDATE shop.views SET n = n + 1 WHERE id = ?`
		for _, level := range []gocql.Consistency{gocql.Any, gocql.Consistency(gocql.Serial)} {
			if err := s.Query(add, 0).Consistency(level).Exec(); !is(err, gocql.ErrCodeInvalid) {
				t.Errorf("at %v: %v", level, err)
			}
		}
		c.Node(3).Vanish()
		counted, timeouts := 0, 0
		for id := 1; counted+timeouts < 40 && id < 1000; id++ {
			err := s.Query(add, id).Consistency(gocql.One).Exec()
			switch {
			case err == nil:
				counted++
			case is(err, gocql.ErrCodeWriteTimeout):
				timeouts++
				for node := range 3 {
					if has(c, node+1, "shop", "views", id) {
						t.Errorf("node %d has counted", node+1)
					}
				}
			}
			c.Node(3).Restore() // or it would be convicted
			c.Node(3).Vanish()
		}
		if counted == 0 || timeouts == 0 {
			t.Errorf("%d counted, %d timeouts", counted, timeouts)
		}
	})
}

// A leader that is frozen counts when it goes on, if that is before counter_write_request_timeout has passed. The
// client has no answer either way: messages of the model are answered at once or not at all.
func TestFrozenLeader(t *testing.T) {
	for name, tt := range map[string]struct {
		frozen time.Duration
		want   int // of those that had no answer
	}{"short": {4 * time.Second, 1}, "long": {6 * time.Second, 0}} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t trial, c *Cluster, s *gocql.Session) {
				c.Create(`CREATE TABLE shop.views (id int PRIMARY KEY, n counter)`)
				const most = 60
				want, late := make(map[int]int), 0
				for id := 1; late < 5 && id <= most; id++ {
					c.Node(3).Freeze()
					done := make(chan error, 1)
					go func() {
						done <- s.Query(`UPDATE shop.views SET n = n + 1 WHERE id = ?`, id).Consistency(gocql.One).Exec()
					}()
					<-time.After(tt.frozen)
					c.Node(3).Restore()
					switch err := <-done; {
					case err == nil:
						want[id] = 1
					case is(err, gocql.ErrCodeWriteTimeout):
						want[id] = tt.want
						late++
					default:
						t.Fatal(err)
					}
					<-time.After(time.Second)
				}
				if late == 0 || late == len(want) {
					t.Errorf("%d of %d had no answer", late, len(want))
				}
				for id, want := range want {
					var n int
					err := s.Query(`SELECT n FROM shop.views WHERE id = ?`, id).Consistency(gocql.All).Scan(&n)
					if err != nil && !errors.Is(err, gocql.ErrNotFound) {
						t.Fatal(err)
					}
					if n != want {
						t.Errorf("%d is counted, want %d", n, want)
					}
				}
			})
		})
	}
}

// A batch at SERIAL is written as at QUORUM, where a statement by itself is rejected. One for which there are too few
// replicas is not in the batchlog either.
func TestBatchAtSerial(t *testing.T) {
	bubble(t, func(t trial, c *Cluster, s *gocql.Session) {
		const level = gocql.Consistency(gocql.Serial)
		write := func(first, second int) error {
			b := s.NewBatch(gocql.LoggedBatch)
			b.Cons = level
			b.Query(insertNote, first, "milk")
			b.Query(insertNote, second, "tea")
			return s.ExecuteBatch(b)
		}
		if err := s.Query(insertNote, 5, "rum").Consistency(level).Exec(); !is(err, gocql.ErrCodeInvalid) {
			t.Errorf("a statement: %v", err)
		}
		c.Node(3).Stop()
		<-time.After(15 * time.Second)
		if err := write(1, 2); err != nil {
			t.Errorf("with two nodes: %v", err)
		}
		c.Node(2).Stop()
		<-time.After(15 * time.Second)
		if err := write(3, 4); !is(err, gocql.ErrCodeUnavailable) {
			t.Errorf("with one node: %v", err)
		}
		c.Node(2).Restore()
		c.Node(3).Restore()
		<-time.After(time.Minute)
		for id, want := range map[int]string{1: "milk", 2: "tea", 3: "", 4: "", 5: ""} {
			if got := noteAt(t, s, gocql.All, id); got != want {
				t.Errorf("note %d is %q, want %q", id, got, want)
			}
		}
	})
}
