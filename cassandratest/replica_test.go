package cassandratest

import (
	"encoding/binary"
	"errors"
	"testing"
	"time"

	"github.com/gocql/gocql"
)

// alone says whether a node has a note by itself.
func alone(c *Cluster, node, id int) bool { return has(c, node, "shop", "notes", id) }

// has says whether a node has a partition of a table by itself.
func has(c *Cluster, node int, keyspace, table string, id int) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.data.Has(node, keyspace, table, string(binary.BigEndian.AppendUint32(nil, uint32(id))))
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

// A level goes by the replication factor, also where there are fewer nodes than that.
func TestFewerNodesThanReplicas(t *testing.T) {
	t.Parallel()
	Test(t, 1, func(t *testing.T, c *Cluster) {
		c.Create(`CREATE KEYSPACE shop WITH replication = {'class': 'NetworkTopologyStrategy', 'dc1': 3}`)
		s := open(t, c, nil)
		var unavailable *gocql.RequestErrUnavailable
		for _, statement := range []string{
			`INSERT INTO shop.notes (id, text) VALUES (1, 'milk')`,
			`INSERT INTO shop.notes (id, text) VALUES (1, 'milk') IF NOT EXISTS`,
			`SELECT text FROM shop.notes WHERE id = 1`,
		} {
			err := s.Query(statement).Consistency(gocql.Quorum).Exec()
			if !errors.As(err, &unavailable) || unavailable.Alive != 1 || unavailable.Required != 2 {
				t.Errorf("%s at QUORUM: %v", statement, err)
			}
		}
		if err := s.Query(insertNote, 1, "tea").Consistency(gocql.One).Exec(); err != nil {
			t.Errorf("at ONE: %v", err)
		}
		if got := noteAt(t, s, gocql.One, 1); got != "tea" {
			t.Errorf("%q is read", got)
		}
	})
}

// At ANY a hint is enough: a write that no replica is there for arrives when one is back. No other level takes it.
func TestAny(t *testing.T) {
	bubble(t, func(t trial, c *Cluster, s *gocql.Session) {
		c.Create(`CREATE KEYSPACE lone WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}`,
			`CREATE TABLE lone.notes (id int PRIMARY KEY, text text)`)
		const insert = `INSERT INTO lone.notes (id, text) VALUES (?, 'milk')`
		var ids []int // of notes that are on node 3 alone
		for id := 1; len(ids) < 4; id++ {
			if err := s.Query(insert, id).Exec(); err != nil {
				t.Fatal(err)
			}
			if has(c, 3, "lone", "notes", id) {
				ids = append(ids, id)
			}
		}
		if err := s.Query(`TRUNCATE lone.notes`).Exec(); err != nil {
			t.Fatal(err)
		}
		c.Node(3).Stop()
		<-time.After(time.Second)
		if err := s.Query(insert, ids[0]).Consistency(gocql.Any).Exec(); !is(err, gocql.ErrCodeWriteTimeout) {
			t.Errorf("at ANY, before the others know that the node is gone: %v", err)
		}
		<-time.After(15 * time.Second)
		if err := s.Query(insert, ids[1]).Consistency(gocql.Any).Exec(); err != nil {
			t.Errorf("at ANY: %v", err)
		}
		b := s.NewBatch(gocql.LoggedBatch)
		b.Query(insert, ids[2])
		b.Query(insertNote, 1, "tea")
		b.Cons = gocql.Any
		if err := s.ExecuteBatch(b); err != nil {
			t.Errorf("a batch at ANY: %v", err)
		}
		for _, level := range []gocql.Consistency{gocql.One, gocql.LocalOne, gocql.Quorum} {
			if err := s.Query(insert, ids[3]).Consistency(level).Exec(); !is(err, gocql.ErrCodeUnavailable) {
				t.Errorf("at %v: %v", level, err)
			}
		}
		// A replica that the coordinator has not come to has no hint, and counts for nothing.
		dies := c.When().Do(ApplyAt(1), Answer)
		if err := s.Query(insert, ids[3]).Consistency(gocql.Any).Exec(); !is(err, gocql.ErrCodeWriteTimeout) {
			t.Errorf("at ANY, sent to none: %v", err)
		}
		dies.End()
		// With no other node left the coordinator keeps a batch itself.
		c.Node(2).Stop()
		<-time.After(15 * time.Second)
		if err := s.ExecuteBatch(b); err != nil {
			t.Errorf("a batch at ANY, with one node: %v", err)
		}
		c.Node(2).Restore()
		c.Node(3).Restore()
		<-time.After(11 * time.Second)
		for i, id := range ids {
			if has(c, 3, "lone", "notes", id) != (i < 3) {
				t.Errorf("write %d: on the node is %v", i, i >= 3)
			}
		}
	})
}

// A read at SERIAL is of one partition, unless a pager reads one after the other.
func TestSerialReads(t *testing.T) {
	bubble(t, func(t trial, _ *Cluster, s *gocql.Session) {
		read := func(statement string, page int) error {
			return s.Query(statement).Consistency(gocql.Consistency(gocql.Serial)).PageSize(page).Exec()
		}
		const several = `SELECT text FROM shop.notes WHERE id IN (1, 2)`
		for _, err := range []error{read(several, 0), read(several+` LIMIT 3`, 3)} {
			if !is(err, gocql.ErrCodeInvalid) {
				t.Errorf("several partitions: %v", err)
			}
		}
		for _, err := range []error{
			read(several, 3), read(several+` LIMIT 4`, 3), read(`SELECT count(*) FROM shop.notes WHERE id IN (1, 2)`, 0),
			read(`SELECT text FROM shop.notes WHERE id IN (1, 1)`, 0),
		} {
			if err != nil {
				t.Error(err)
			}
		}
	})
}

// A table may have no read repair: then a read merges, and leaves the replicas as they are.
func TestNoReadRepair(t *testing.T) {
	bubble(t, func(t trial, c *Cluster, s *gocql.Session) {
		if err := s.Query(`ALTER TABLE shop.notes WITH read_repair = 'NONE'`).Exec(); err != nil {
			t.Fatal(err)
		}
		c.When(Execute, Table("notes"), Nth(1)).Do(ApplyAt(1), Answer)
		if err := s.Query(insertNote, 1, "tea").Consistency(gocql.One).Exec(); err != nil {
			t.Fatal(err)
		}
		if got := noteAt(t, s, gocql.All, 1); got != "tea" || alone(c, 2, 1) || alone(c, 3, 1) {
			t.Errorf("%q is read; repaired: %v %v", got, alone(c, 2, 1), alone(c, 3, 1))
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

// A read at QUORUM finds all that its replicas have, also where each lacks as many writes of a partition as the other.
func TestReplicasLackDifferentWrites(t *testing.T) {
	bubble(t, func(t trial, c *Cluster, s *gocql.Session) {
		c.Create("CREATE TABLE shop.lines (id int, n int, PRIMARY KEY (id, n))")
		for id := range 8 {
			for n := range 8 {
				node := 1 + (id>>(n%3)+n/2+n)&1
				c.When(Execute, Table("lines"), Nth(1)).Do(ApplyAt(node), Answer)
				if err := s.Query("INSERT INTO shop.lines (id, n) VALUES (?, ?)", id, n).Consistency(gocql.One).Exec(); err != nil {
					t.Fatal(err)
				}
				c.Heal()
			}
		}
		c.Node(3).Stop()
		<-time.After(time.Second)
		for id := range 8 {
			var rows int
			if err := s.Query("SELECT count(*) FROM shop.lines WHERE id = ?", id).Consistency(gocql.Quorum).Scan(&rows); err != nil || rows != 8 {
				t.Errorf("%d: %d rows, %v", id, rows, err)
			}
		}
	})
}
