package cassandratest

import (
	"testing"

	"github.com/denorm-go/denorm/internal/cassandra/coordinator"
)

// A panic while a request is carried out leaves no lock behind: closing the connection takes it, and then the panic
// ends the process of the test, which shows where it was.
func TestPanicLeavesNoLock(t *testing.T) {
	t.Parallel()
	s := New(1)
	c := &conn{node: s.Node(1), life: s.Node(1).lives}
	func() {
		defer func() {
			if recover() == nil {
				t.Error("a query without a statement is no panic any more: this test needs another")
			}
		}()
		c.process(&Request{Kind: Query}, coordinator.Course{})
	}()
	if !s.mu.TryLock() {
		t.Error("the lock of the cluster is taken")
	}
	s.mu.Unlock()
	if !s.turns.TryLock() {
		t.Error("the lock of the turns is taken")
	}
	s.turns.Unlock()
}
