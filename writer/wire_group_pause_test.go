package writer

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/denorm-go/denorm/cassandratest"
	"github.com/denorm-go/denorm/retry"
	"github.com/gocql/gocql"
)

// Where replicas are missing, a request says that it was not applied and a group cannot: so after UNAVAILABLE requests travel alone, but for
// one group each 15 seconds a node, and in groups again once one of these has succeeded.
func TestWireGroupsPauseWhereReplicasAreMissing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		unwind(t)
		s := openWireGroups(t, 3)
		w := s.w.With(Retry(retry.Policy{MaxAttempts: 2}))
		down := s.When().Do(cassandratest.Fail(cassandratest.Unavailable(gocql.LocalQuorum, 2, 1)))
		groups, tables := 0, make(map[Outcome]int)
		write := func() {
			result, _, err := s.create(t, w)
			groups += result.Groups
			if failed := (*Error)(nil); errors.As(err, &failed) {
				for _, table := range failed.Tables {
					tables[table.Outcome]++
				}
			}
		}
		for range 100 {
			write()
		}
		if groups > 3 || tables[Unknown] != 3*groups || tables[NotApplied] != 300-3*groups {
			t.Errorf("%d groups, outcomes of tables %v", groups, tables)
		}
		time.Sleep(16 * time.Second)
		for range 100 {
			write()
		}
		if groups > 6 {
			t.Errorf("%d groups after a pause", groups)
		}
		down.End()
		time.Sleep(16 * time.Second)
		groups = 0
		for range 100 {
			write()
		}
		if groups < 97 {
			t.Errorf("%d groups of 100 once all replicas are back", groups)
		}
	})
}

// A failure of other replicas of which a request alone would say no more is no reason for a pause.
func TestWireGroupsGoOnWhereOthersFail(t *testing.T) {
	t.Parallel()
	for _, answer := range []cassandratest.Error{
		cassandratest.WriteTimeout("UNLOGGED_BATCH", 1, 2), cassandratest.WriteFailure("UNLOGGED_BATCH", 1, 2, 1),
	} {
		synctest.Test(t, func(t *testing.T) {
			unwind(t)
			s := openWireGroups(t, 3)
			s.When(cassandratest.Batch).Do(cassandratest.Fail(answer))
			for i := range 6 {
				if result, sent, err := s.create(t, s.w); err != nil || result.Groups != 1 || len(sent) != 4 {
					t.Errorf("%v, write %d: %+v, %v, sent %v", answer, i+1, result, err, sent)
				}
			}
		})
	}
}
