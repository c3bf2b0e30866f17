package writer

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/denorm-go/denorm/cassandratest"
	"github.com/denorm-go/denorm/internal/fanout"
	"github.com/denorm-go/denorm/internal/testutil/golden"
	"github.com/denorm-go/denorm/tables"
)

// Tables with a view are in no group: a writer looks at the schema in the background once a minute, and goes by what it knows. What it has not
// seen is in no group.
func TestWireGroupsAndViews(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		unwind(t)
		s := openWireGroups(t, 3)
		if _, sent, err := s.create(t, s.w); err != nil || len(sent) != 1 {
			t.Fatalf("%v, %v", sent, err)
		}
		s.Create(`CREATE MATERIALIZED VIEW shop.big_orders AS SELECT * FROM shop.orders_by_user
			WHERE user_id IS NOT NULL AND order_id IS NOT NULL PRIMARY KEY (order_id, user_id)`)
		<-time.After(liveAge)
		if _, _, err := s.create(t, s.w); err != nil { // which looks
			t.Fatal(err)
		}
		<-time.After(fanout.LeastSilence)
		if result, sent, err := s.create(t, s.w); err != nil || len(sent) != 2 || result.Requests != 2 || result.Groups != 1 {
			t.Errorf("%+v, %v, %v", result, sent, err)
		}
	})
}

// A writer that cannot read the schema groups nothing and waits for nothing: a call with little time is as without groups. What it could not read
// it reads later.
func TestWireGroupsWithoutASchema(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		unwind(t)
		s := openWireGroups(t, 3)
		w, err := newOf(s.session, Group(groupBytes))
		if err != nil {
			t.Fatal(err)
		}
		silent := s.When(cassandratest.Table("system_schema.tables")).Do(cassandratest.Drop)
		ctx, cancel := context.WithTimeout(t.Context(), 150*time.Millisecond)
		defer cancel()
		from, begin := len(s.Journal()), time.Now()
		result, err := w.Write(ctx, "op", orderSet(t).Insert(fresh()))
		if sent := s.writes(from); err != nil || len(sent) != 3 || result.Groups != 0 || time.Since(begin) > 10*time.Millisecond {
			t.Errorf("schema not read: %+v, %v, %v after %v", result, sent, err, time.Since(begin))
		}
		<-time.After(liveAge)
		silent.End()
		for i, want := range []int{3, 1} {
			if _, sent, err := s.create(t, w); err != nil || len(sent) != want {
				t.Errorf("schema is there, write %d: %v, %v", i+1, sent, err)
			}
			<-time.After(fanout.LeastSilence)
		}
	})
}

// A call that has ended keeps no table out of groups for others.
func TestWireGroupsAfterACallThatEnded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		unwind(t)
		s := openWireGroups(t, 3)
		w, err := newOf(s.session, Group(groupBytes))
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := w.Write(ctx, "op", orderSet(t).Insert(fresh())); err == nil {
			t.Error("no error")
		}
		<-time.After(fanout.LeastSilence)
		if _, sent, err := s.create(t, w); err != nil || len(sent) != 1 {
			t.Errorf("%v, %v", sent, err)
		}
	})
}

// Explain says what travels together, and why not.
func TestWireExplainGroups(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		unwind(t)
		s := openWireGroups(t, 3)
		open, paid := move()
		for name, test := range map[string]struct {
			w      *Writer
			change tables.Change
			groups int
		}{
			"create_order_grouped":     {s.w, orderSet(t).Insert(open), 1},
			"create_order_no_retry":    {s.w.With(once()), orderSet(t).Insert(open), 0},
			"pay_order_grouped":        {s.w.With(Concurrent()), orderSet(t).Update(open, paid), 1},
			"pay_order_logged_grouped": {s.w, orderSet(t).Update(open, paid), 0},
		} {
			from := len(s.Journal())
			plan, err := test.w.Explain("op", test.change)
			if err != nil {
				t.Fatal(err)
			}
			golden.Check(t, name+".golden", plan.String())
			if sent := s.writes(from); len(sent) > 0 {
				t.Errorf("%s: sent %v", name, sent)
			}
			if result, err := test.w.Write(t.Context(), "op", test.change); err != nil || result.Requests != len(plan.Requests) || result.Groups != test.groups {
				t.Errorf("%s: %+v, %v, planned in %d requests", name, result, err, len(plan.Requests))
			}
		}
	})
}
