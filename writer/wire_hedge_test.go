package writer

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/denorm-go/denorm/cassandratest"
)

// The second request goes to another replica than the one that is slow, and is answered. Every try has nodes of its own:
// one that was slow in another would be out of rotation.
func TestWireHedgeGoesElsewhere(t *testing.T) {
	t.Parallel()
	for range 20 {
		synctest.Test(t, func(t *testing.T) {
			unwind(t)
			s := openWire(t, cassandratest.Start, 3, Hedge(50*time.Millisecond))
			set := noteSet(t)
			<-time.After(time.Second)                                                      // for the pools to be full
			if _, err := s.w.Write(t.Context(), "op", set.Insert(newNote())); err != nil { // prepares statements
				t.Fatal(err)
			}
			s.When(cassandratest.Batch, cassandratest.Nth(1)).Do(cassandratest.Delay(time.Second))
			begin := time.Now()
			_, err := s.w.Write(t.Context(), "op", set.Insert(newNote()))
			if took := time.Since(begin); err != nil || took > 100*time.Millisecond {
				t.Errorf("%v after %v", err, took)
			}
			if sent := s.Journal(cassandratest.Batch)[1:]; len(sent) != 2 || sent[0].Node == sent[1].Node {
				t.Errorf("requests: %v", sent)
			}
		})
	}
}
