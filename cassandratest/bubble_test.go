package cassandratest

import (
	"testing"
	"time"
)

// A test may end while gocql waits to connect again, in goroutines that Session.Close does not wake: without virtual time for
// these, after the session and the nodes are closed, the bubble panics.
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
