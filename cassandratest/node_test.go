package cassandratest

import (
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/gocql/gocql"
)

// A node that there is not is named.
func TestNoSuchNode(t *testing.T) {
	t.Parallel()
	c := Start(t, 3)
	for number, want := range map[int]string{
		0: "cassandratest: no node 0: there are 3, counted from 1", 4: "cassandratest: no node 4: there are 3, counted from 1",
	} {
		func() {
			defer func() {
				if got := fmt.Sprint(recover()); got != want {
					t.Errorf("got  %s\nwant %s", got, want)
				}
			}()
			c.Node(number)
		}()
	}
}

// A node that takes requests and answers none keeps its place until gocql has missed six heartbeats.
func TestSilence(t *testing.T) {
	t.Parallel()
	Test(t, 1, func(t *testing.T, s *Cluster) {
		session := open(t, s, func(c *gocql.ClusterConfig) { c.Timeout = 11 * time.Second })
		write := func() error { return session.Query(insertNote, 1, "milk").Exec() }
		if err := write(); err != nil {
			t.Fatal(err)
		}
		<-time.After(20 * time.Second)
		s.Node(1).Silence()
		begin, n := time.Now(), 0
		for err := write(); errors.Is(err, gocql.ErrTimeoutNoResponse); err = write() {
			n++
		}
		if took := time.Since(begin); took < 90*time.Second || took > 95*time.Second || n < 8 {
			t.Errorf("in use for %v and %d writes", took, n)
		}
		silence := s.Journal(Where(func(r Request) bool { return len(r.Steps) == 1 && r.Steps[0] == "silence" }))
		if len(silence) < n+6 {
			t.Errorf("%d requests met silence", len(silence))
		}
		for _, r := range silence {
			if r.Applied != 0 {
				t.Errorf("applied: %v", r)
			}
		}
		s.Node(1).Restore()
		<-time.After(2 * time.Minute)
		if err := write(); err != nil {
			t.Errorf("restored: %v", err)
		}
	})
}

// A frozen node does what it was sent once it goes on.
func TestFreeze(t *testing.T) {
	t.Parallel()
	transports(t, func(t trial) {
		s := t.start(t, 1)
		session := open(t, s, func(c *gocql.ClusterConfig) { c.Timeout = 10 * time.Second })
		write := func() error { return session.Query(insertNote, 1, "milk").Exec() }
		if err := write(); err != nil {
			t.Fatal(err)
		}
		s.Node(1).Freeze()
		var wg sync.WaitGroup
		errs := make([]error, 3)
		for i := range errs {
			wg.Go(func() { errs[i] = write() })
		}
		wait(50*time.Millisecond, t.Context().Done())
		if n := len(s.Journal(Execute)); n != 1 {
			t.Errorf("%d requests are read", n)
		}
		s.Node(1).Restore()
		wg.Wait()
		if err := errors.Join(errs...); err != nil {
			t.Error(err)
		}
		if n := len(s.Journal(Execute)); n != 4 {
			t.Errorf("%d requests are read", n)
		}
	})
}

// A client that goes on writing to a frozen node is blocked by its socket.
func TestFreezeBlocksTheClient(t *testing.T) {
	t.Parallel()
	transports(t, func(t trial) {
		s := t.start(t, 1)
		s.Node(1).Freeze()
		c, err := s.Config().Dialer.DialContext(t.Context(), "tcp", s.Node(1).Address()+":1")
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = c.Close() }()
		const most = 1 << 20
		_ = c.SetWriteDeadline(time.Now().Add(time.Second))
		n, err := c.Write(make([]byte, most))
		if netErr := net.Error(nil); !errors.As(err, &netErr) || !netErr.Timeout() {
			t.Errorf("%d bytes written: %v", n, err)
		}
		t.Logf("blocked after %d bytes", n)
	})
}

// Clients of a stopped node lose their connections and get no others; those of a vanished one wait for both.
func TestStopAndVanish(t *testing.T) {
	t.Parallel()
	transports(t, func(t trial) {
		s := t.start(t, 2)
		dial := func() (net.Conn, error) {
			return s.Config().Dialer.DialContext(t.Context(), "tcp", s.Node(2).Address()+":1")
		}
		c, err := dial()
		if err != nil {
			t.Fatal(err)
		}
		s.Node(2).Stop()
		if _, err := c.Read(make([]byte, 1)); !errors.Is(err, io.EOF) && !errors.Is(err, syscall.ECONNRESET) {
			t.Errorf("the connection: %v", err)
		}
		_ = c.Close()
		if _, err := c.Write([]byte{4}); !errors.As(err, new(*net.OpError)) || !errors.Is(err, net.ErrClosed) {
			t.Errorf("written to the closed connection: %v", err)
		}
		if _, err := dial(); !errors.Is(err, syscall.ECONNREFUSED) {
			t.Errorf("stopped: %v", err)
		}
		s.Node(2).Vanish()
		cluster := s.Config()
		cluster.ConnectTimeout = 30 * time.Millisecond
		begin := time.Now()
		if _, err := cluster.Dialer.DialContext(t.Context(), "tcp", s.Node(2).Address()+":1"); err == nil || time.Since(begin) < cluster.ConnectTimeout {
			t.Errorf("vanished: %v after %v", err, time.Since(begin))
		}
		s.Node(2).Restore()
		c, err = dial()
		if err != nil {
			t.Fatal(err)
		}
		_ = c.Close()
	})
}

// A driver hears that a node is down, and does not use it; that it is up, and does.
func TestAnnounce(t *testing.T) {
	t.Parallel()
	Test(t, 3, func(t *testing.T, s *Cluster) {
		session := open(t, s, nil)
		<-time.After(time.Second)
		used := func() bool {
			from := last(t, s).Number
			for range 10 {
				if err := session.Query(insertNote, 1, "milk").Exec(); err != nil {
					t.Error(err)
				}
			}
			return len(s.Journal(On(3), Execute, Where(func(r Request) bool { return r.Number > from }))) > 0
		}
		if !used() {
			t.Error("not used from the start")
		}
		s.Node(3).Announce(false)
		<-time.After(2 * time.Second) // gocql waits for more events
		if used() {
			t.Error("used though it is down")
		}
		s.Node(3).Announce(true)
		<-time.After(15 * time.Second)
		if !used() {
			t.Error("not used though it is up")
		}
	})
}
