package cassandratest

import (
	"runtime"
	"sync"
	"testing"
	"time"
)

// A test may end while gocql waits to connect again, in goroutines that Session.Close does not wake: without virtual
// time for these, after the session and the nodes are closed, the bubble panics.
func TestEndOfBubble(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(*Cluster){
		"a node has stopped":  func(c *Cluster) { c.Node(2).Stop() },
		"a node has vanished": func(c *Cluster) { c.Node(2).Vanish(); c.Node(2).Cut() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			Test(t, 2, func(t *testing.T, c *Cluster) {
				session := open(t, c, nil)
				if err := session.Query(insertNote, 1, "milk").Exec(); err != nil {
					t.Fatal(err)
				}
				end(c)
				<-time.After(time.Second / 10)
			})
		})
	}
}

// Timers of one bubble that fire on two processors crash the race detector of Go 1.26, and with it the test of a
// service. Without the race detector this shows nothing.
func TestTimersUnderTheRaceDetector(t *testing.T) { //nolint:paralleltest // it changes the number of processors
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2))
	for range 20 {
		Test(t, 1, func(*testing.T, *Cluster) {
			var all sync.WaitGroup
			for range 8 {
				all.Go(func() {
					for range 1000 {
						<-time.NewTimer(0).C
					}
				})
			}
			all.Go(func() {
				for range 200 {
					done := make(chan struct{})
					time.AfterFunc(0, func() { close(done) })
					<-done
				}
			})
			all.Wait()
		})
	}
	if got := runtime.GOMAXPROCS(0); got != 2 {
		t.Errorf("%d processors are left, of 2", got)
	}
}
