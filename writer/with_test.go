package writer

import (
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/denorm-go/denorm/retry"
	"github.com/denorm-go/denorm/session"
	"github.com/denorm-go/denorm/tables"
	"github.com/gocql/gocql"
)

// With derives a writer and leaves the one it is called on alone; the two share what they know.
func TestWith(t *testing.T) {
	t.Parallel()
	x := &fakeExecutor{}
	w := fakeWriter(x)
	before := *w
	derived := w.With(Logged(), Timeout(time.Second), Consistency(session.All), BatchLimit(10_000),
		shared(session.Keyspaces(map[string]string{"": "tenant"}), session.Trace(&recorder{})), At(time.Now().UnixMicro()),
		once())
	if w.choice != before.choice || w.timeout != before.timeout || w.consistency != before.consistency ||
		w.batchLimit != before.batchLimit || w.shared.Keyspaces != nil || w.pinned || w.tracer.Any() ||
		!reflect.DeepEqual(w.policy, before.policy) || w.physical("") != "shop" {
		t.Error("With has changed the writer it was called on")
	}
	if derived.clock != w.clock || derived.batchlog != w.batchlog || derived.live != w.live ||
		derived.sender.Exec != w.sender.Exec {
		t.Error("a derived writer has its own clock, batchlog, schema or session")
	}
	res, err := derived.Write(t.Context(), "createOrder", orderSet(t).Insert(newOrder(Open)))
	if err != nil || res.Mode != LoggedBatch || x.sent()[0].Consistency != gocql.All || res.Timestamp != derived.at {
		t.Errorf("%+v, %v", res, err)
	}
	res, err = derived.With(Auto(), shared(session.Keyspaces(nil))).Write(t.Context(), "createOrder",
		orderSet(t).Insert(newOrder(Open)))
	if err != nil || res.Mode != FanOut || x.sent()[1].Mutations[0].Keyspace != "shop" {
		t.Errorf("derived of derived: %+v, %v", res, err)
	}
	if bad := w.With(Timeout(0)); bad.err == nil || w.err != nil {
		t.Error("an option that is not valid concerns the derived writer alone")
	}
}

// Which of the two holds would depend on their order, but for one that With gives in place of that of New.
func TestLoggedAndConcurrent(t *testing.T) {
	t.Parallel()
	w := fakeWriter(&fakeExecutor{}, Logged())
	for name, test := range map[string]struct {
		w    *Writer
		fits bool
	}{
		"New":              {fakeWriter(&fakeExecutor{}, Logged(), Concurrent()), false},
		"With":             {w.With(Concurrent(), Logged()), false},
		"With after New":   {w.With(Concurrent()), true},
		"With after With":  {w.With(Concurrent()).With(Logged()), true},
		"twice the same":   {w.With(Logged(), Logged()), true},
		"Auto after other": {w.With(Logged(), Auto()), true},
	} {
		_, err := test.w.Write(t.Context(), "createOrder")
		if test.fits && err != nil || !test.fits &&
			(!errors.Is(err, ErrInvalid) || !strings.Contains(err.Error(), "give one of them")) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A time without a unit is of nanoseconds.
func TestTimesWithoutUnits(t *testing.T) {
	t.Parallel()
	for name, options := range map[string][2]NewOption{
		"Hedge": {Hedge(50), Hedge(time.Millisecond)}, "ClaimGrace": {ClaimGrace(10), ClaimGrace(time.Millisecond)},
		"MaxClockSkew": {MaxClockSkew(10), MaxClockSkew(time.Millisecond)}, "Timeout": {Timeout(5), Timeout(time.Second)},
		"Retry": {Retry(retry.Policy{MaxElapsedTime: 500}), Retry(retry.Policy{MaxElapsedTime: time.Millisecond})},
	} {
		err := fakeWriter(&fakeExecutor{}, options[0]).err
		if err == nil || !strings.HasPrefix(err.Error(), name) ||
			!strings.Contains(err.Error(), "less than a millisecond: write it with a unit") {
			t.Errorf("%s: %v", name, err)
		}
		if err := fakeWriter(&fakeExecutor{}, options[1]).err; err != nil {
			t.Errorf("%s with a unit: %v", name, err)
		}
	}
}

func TestKeyspaces(t *testing.T) {
	t.Parallel()
	set := mustSet[Task](t, "task",
		tables.Table{Name: "tasks", PartKey: []string{"task_id"}},
		tables.Table{Name: "tasks_by_owner", Keyspace: "people", PartKey: []string{"owner"}, SortKey: []string{"task_id"}},
	)
	for name, test := range map[string]struct {
		session string
		mapped  map[string]string
		want    map[string]string // table to keyspace
	}{
		"none": {"shop", nil, map[string]string{"tasks": "shop", "tasks_by_owner": "people"}},
		"session's": {
			"shop",
			map[string]string{"": "t7_shop"},
			map[string]string{"tasks": "t7_shop", "tasks_by_owner": "people"},
		},
		"named": {
			"shop",
			map[string]string{"people": "t7_people"},
			map[string]string{"tasks": "shop", "tasks_by_owner": "t7_people"},
		},
		"both": {
			"",
			map[string]string{"": "t7_shop", "people": "t7_people"},
			map[string]string{"tasks": "t7_shop", "tasks_by_owner": "t7_people"},
		},
		"both to one": {
			"",
			map[string]string{"": "t7", "people": "t7"},
			map[string]string{"tasks": "t7", "tasks_by_owner": "t7"},
		},
		"other": {
			"shop",
			map[string]string{"shop": "x"},
			map[string]string{"tasks": "shop", "tasks_by_owner": "people"},
		},
		"not repeated": {
			"shop",
			map[string]string{"": "people", "people": "y"},
			map[string]string{"tasks": "people", "tasks_by_owner": "y"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x := &fakeExecutor{}
			w := newWriter(x, test.session, grace(tenDays), shared(session.Keyspaces(test.mapped)))
			if test.mapped != nil {
				test.mapped[""] = "changed later" // the option has copied it
			}
			if _, err := w.Write(t.Context(), "addTask", set.Insert(newTask("bob"))); err != nil {
				t.Fatal(err)
			}
			for _, r := range x.sent() {
				m := r.Mutations[0]
				if want := test.want[m.Table]; m.Keyspace != want || !strings.Contains(m.Statement, " "+want+"."+m.Table+" ") {
					t.Errorf("%s is in %s: %s; want %s", m.Table, m.Keyspace, m.Statement, want)
				}
			}
		})
	}
}
