package writer

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/denorm-go/denorm/internal/testutil/golden"
	"github.com/denorm-go/denorm/retry"
	"github.com/denorm-go/denorm/session"
	"github.com/denorm-go/denorm/tables"
	"github.com/gocql/gocql"
)

// refused is a call that must be rejected.
type refused struct {
	name    string
	options []NewOption
	with    []Option
	changes []tables.Change
}

func refusedCalls(t *testing.T) []refused {
	t.Helper()
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	clock := WithClock(fixed(now))
	orders, single := orderSet(t), taskSet(t, tables.SingleWriter("owner"))
	archived := tables.Must(tables.New[Order]("archived_order",
		tables.Table{Name: "orders_by_id", PartKey: []string{"order_id"}}))
	notes := noteSet(t)
	open, paid := move()
	changed := func(edit func(*Order)) Order {
		o := paid
		edit(&o)
		return o
	}
	lost := changed(func(o *Order) { o.Status = "secret" })
	stamped := func(at time.Time) Order {
		return changed(func(o *Order) { o.Status, o.UpdatedAt = Open, at.UnixMicro() })
	}
	nobody, noTime := newTask(""), newNote()
	noTime.Written = time.Time{}
	insert, update := []tables.Change{orders.Insert(open)}, []tables.Change{orders.Update(open, paid)}
	at := func(at time.Time) []Option { return []Option{At(at.UnixMicro())} }
	return []refused{
		// The change.
		{name: "change not made by a set", changes: []tables.Change{(*tables.Set[Order])(nil).Insert(open)}},
		{name: "base key changes", changes: []tables.Change{orders.Update(open, changed(func(o *Order) { o.OrderID[0]++ }))}},
		{
			name:    "immutable key changes",
			changes: []tables.Change{orders.Update(open, changed(func(o *Order) { o.UserID[0]++ }))},
		},
		{name: "after-image outside the domain", changes: []tables.Change{orders.Update(open, lost)}},
		{name: "before-image outside the domain", changes: []tables.Change{orders.Update(lost, open)}},
		{name: "insert outside the domain", changes: []tables.Change{orders.Insert(lost)}},
		{name: "delete outside the domain", changes: []tables.Change{orders.Delete(lost)}},
		{name: "blind upsert with OneOf", changes: []tables.Change{orders.Upsert(open)}},
		{name: "blind upsert with SingleWriter", changes: []tables.Change{single.Upsert(newTask("bob"))}},
		{name: "two sets of one table", changes: []tables.Change{orders.Insert(open), archived.Delete(open)}},
		{name: "entity twice", changes: []tables.Change{orders.Insert(open), orders.Delete(open)}},
		{name: "zero timeuuid key", changes: []tables.Change{
			orders.Insert(changed(func(o *Order) { o.OrderID = gocql.UUID{} })),
		}},
		{name: "zero UUID key", changes: []tables.Change{orders.Insert(changed(func(o *Order) { o.UserID = gocql.UUID{} }))}},
		{
			name:    "zero UUID key in the before-image",
			changes: []tables.Change{orders.Update(changed(func(o *Order) { o.UserID = gocql.UUID{} }), paid)},
		},
		{
			name:    "random UUID as timeuuid",
			changes: []tables.Change{orders.Insert(changed(func(o *Order) { o.OrderID = o.UserID }))},
		},
		{name: "empty text key", changes: []tables.Change{single.Insert(nobody)}},
		{name: "key too long", changes: []tables.Change{single.Insert(newTask(long(70_000)))}},
		{name: "zero time key", changes: []tables.Change{notes.Insert(noTime)}},
		{name: "text is not UTF-8", changes: []tables.Change{single.Insert(newTask("secret\xff"))}},
		{name: "second of two changes", changes: []tables.Change{orders.Insert(open), single.Insert(nobody)}},

		// The timestamp.
		{
			name: "stamp too far ahead", options: []NewOption{clock},
			changes: []tables.Change{orders.Update(stamped(now.Add(11*time.Second)), paid)},
		},
		{
			name: "At before the stamp", options: []NewOption{clock}, with: at(now.Add(-time.Second)),
			changes: []tables.Change{orders.Update(stamped(now), paid)},
		},
		{name: "At too far ahead", options: []NewOption{clock}, with: at(now.Add(11 * time.Second)), changes: insert},
		{name: "At zero", options: []NewOption{clock}, with: []Option{At(0)}, changes: insert},
		{name: "At negative", options: []NewOption{clock}, with: []Option{At(-1)}, changes: insert},
		{
			name: "At in milliseconds", options: []NewOption{clock},
			with: []Option{At(time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC).UnixMilli())}, changes: insert,
		},

		// The mode.
		{
			name: "Concurrent with Atomic", with: []Option{Concurrent()},
			changes: []tables.Change{orderSet(t, tables.Atomic()).Insert(open)},
		},
		{name: "batch too large", options: []NewOption{batchLimit(700)}, changes: update},
		{name: "batch too large, strict", with: []Option{Logged(), batchLimit(500)}, changes: insert},
		{
			name: "batch too large, default limit", with: []Option{Logged()},
			changes: []tables.Change{single.Insert(newTask(long(30_000)))},
		},

		// Counters.
		{name: "counter in a logged batch", with: []Option{Logged()}, changes: []tables.Change{
			orders.Insert(open),
			viewSet(t).Add(newView()),
		}},
		{name: "counter alone, Logged", with: []Option{Logged()}, changes: []tables.Change{viewSet(t).Add(newView())}},
		{
			name: "counter with At", options: []NewOption{clock}, with: at(now),
			changes: []tables.Change{viewSet(t).Add(newView())},
		},
		{name: "counter inserted", changes: []tables.Change{viewSet(t).Insert(newView())}},
		{name: "counter deleted", changes: []tables.Change{viewSet(t).Delete(newView())}},
		{name: "nothing to count", changes: []tables.Change{viewSet(t).
			Add(View{PageID: newView().PageID, At: now, Region: "eu"})}},
		{name: "Add without counters", changes: []tables.Change{orders.Add(open)}},
		{name: "one page counted twice", changes: []tables.Change{viewSet(t).Add(newView()), viewSet(t).Add(newView())}},

		// Conditions.
		{name: "two conditions", changes: []tables.Change{itemSet(t).Insert(newItem()), seatSet(t).Insert(newItem())}},
		{name: "a condition twice on one entity", changes: []tables.Change{
			itemSet(t).Insert(newItem()),
			itemSet(t).Delete(newItem()),
		}},
		{name: "one table with and without condition", changes: []tables.Change{
			itemSet(t).Insert(newItem()),
			plainItems.Insert(newItem()),
		}},
		{
			name:    "versioned row without version",
			changes: []tables.Change{itemSet(t).Update(Piece{ItemID: newItem().ItemID}, newItem())},
		},
		{name: "versioned upsert", changes: []tables.Change{itemSet(t).Upsert(newItem())}},
		{
			name: "versioned base key changes",
			changes: []tables.Change{itemSet(t).Update(newItem(), Piece{
				ItemID: mustUUID("8a3c2e10-c6a1-11f0-8de9-0242ac120002"),
				Shelf:  "a",
			})},
		},
		{name: "empty key in a versioned row", changes: []tables.Change{itemSet(t).Insert(Piece{ItemID: newItem().ItemID})}},
		{name: "patch of a versioned row", changes: []tables.Change{itemSet(t).Patch(newItem(), tables.Column("count"))}},
		{
			name: "versioned insert at an old timestamp", options: []NewOption{clock}, with: at(now.Add(-13 * time.Hour)),
			changes: []tables.Change{itemSet(t).Insert(newItem())},
		},

		// Patches.
		{name: "patch where keys may change", changes: []tables.Change{orders.Patch(open, tables.Column("total"))}},
		{name: "patch of a key column", changes: []tables.Change{plainItems.Patch(newItem(), tables.Column("item_id"))}},
		{name: "patch of nothing", changes: []tables.Change{plainItems.Patch(newItem())}},

		// Keyspaces.
		{name: "Keyspaces empty", with: []Option{shared(session.Keyspaces(map[string]string{"": ""}))}, changes: insert},
		{
			name: "Keyspaces upper case", with: []Option{shared(session.Keyspaces(map[string]string{"": "Shop"}))},
			changes: insert,
		},
		{
			name: "Keyspaces injection", with: []Option{shared(session.Keyspaces(map[string]string{"": "a.b; DROP TABLE x"}))},
			changes: insert,
		},
		{
			name: "Keyspaces newline", with: []Option{shared(session.Keyspaces(map[string]string{"": "shop\n"}))},
			changes: insert,
		},
		{
			name: "Keyspaces quoted", with: []Option{shared(session.Keyspaces(map[string]string{"": `"shop"`}))},
			changes: insert,
		},
		{
			name: "Keyspaces too long", with: []Option{shared(session.Keyspaces(map[string]string{"": long(49)}))},
			changes: insert,
		},
		{
			name: "Keyspaces two bad", with: []Option{shared(session.Keyspaces(map[string]string{"a": "A", "b": "B"}))},
			changes: insert,
		},

		// Options.
		{name: "consistency ANY", with: []Option{Consistency(session.Consistency(gocql.Any))}, changes: insert},
		{name: "consistency unknown", with: []Option{Consistency(8)}, changes: insert},
		{name: "retry policy", with: []Option{Retry(retry.Policy{MaxAttempts: -1, Multiplier: 0.5})}, changes: insert},
		{name: "timeout", with: []Option{Timeout(0)}, changes: insert},
		{name: "batch limit", with: []Option{BatchLimit(0)}, changes: insert},
		{name: "batch limit in KiB", with: []Option{BatchLimit(50)}, changes: insert},
		{name: "clock skew", options: []NewOption{MaxClockSkew(0)}, changes: insert},
		{name: "nil clock", options: []NewOption{WithClock(nil)}, changes: insert},
		{name: "zero clock", options: []NewOption{WithClock(&Clock{})}, changes: insert},
		{name: "a session with other connections", with: []Option{Session(otherSession(t))}, changes: insert},
		{name: "a nil session", with: []Option{Session(nil)}, changes: insert},
		{name: "nil option of New", options: []NewOption{nil}, changes: insert},
		{name: "nil option of With", with: []Option{nil}, changes: insert},
		{name: "several options", with: []Option{
			Timeout(-1), nil, BatchLimit(-1),
			Consistency(session.Consistency(gocql.Any)),
		}, changes: insert},
		{name: "bad option and no change", with: []Option{Timeout(0)}},
	}
}

// plainItems has a table of itemSet, and no conditions.
var plainItems = tables.Must(tables.New[Piece]("plain_item", tables.Table{Name: "items", PartKey: []string{"item_id"}}))

// Every fault of a call is one clear error before anything is sent, from Write and from Explain alike.
func TestRefusals(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	for _, test := range refusedCalls(t) {
		x := &fakeExecutor{}
		lwt := &fakeTransactor{}
		w := fakeWriter(x, test.options...).With(test.with...)
		w.transact = lwt
		res, err := w.Write(t.Context(), "createOrder", test.changes...)
		wantRefusal(t, test.name, err)
		if res != (Result{}) {
			t.Errorf("%s: result %+v", test.name, res)
		}
		_, explained := w.explain("createOrder", test.changes...)
		if explained == nil || err != nil && explained.Error() != err.Error() {
			t.Errorf("%s: Explain says %v, Write says %v", test.name, explained, err)
		}
		if n := len(x.sent()); n > 0 || lwt.asked() != "" {
			t.Errorf("%s: %d requests were sent", test.name, n)
		}
		fmt.Fprintf(&text, "# %s\n%v\n\n", test.name, err)
	}
	golden.Check(t, "refusals.golden", text.String())
}

// Where a table has no keyspace nothing is sent.
func TestRefusedKeyspaces(t *testing.T) {
	t.Parallel()
	x := &fakeExecutor{}
	w := newWriter(x, "", grace(tenDays))
	_, err := w.Write(t.Context(), "createOrder", orderSet(t).Insert(newOrder(Open)))
	wantRefusal(t, "no keyspace", err)
	if err == nil || !strings.Contains(err.Error(), "keyspace") || len(x.sent()) > 0 {
		t.Errorf("%v, %d sent", err, len(x.sent()))
	}
	if _, err := w.With(shared(session.Keyspaces(map[string]string{"": "tenant"}))).Write(t.Context(), "createOrder",
		orderSet(t).Insert(newOrder(Open))); err != nil {
		t.Errorf("mapped: %v", err)
	}
}

func TestNewRefuses(t *testing.T) {
	t.Parallel()
	for _, none := range []*session.Session{nil, new(session.Session)} {
		_, err := New(none)
		if wantRefusal(t, "no session", err); !strings.Contains(err.Error(), "the session is nil or a zero value") {
			t.Error(err)
		}
	}
	w := fakeWriter(nopExecutor{})
	if _, err := w.With(At(time.Now().UnixNano())).Write(t.Context(), "createOrder"); err == nil ||
		!strings.Contains(err.Error(), "is in nanoseconds") {
		t.Errorf("At in nanoseconds: %v", err)
	}
	same := func(o Order) (Order, error) { return o, nil }
	_, err := Modify(t.Context(), w.With(Timeout(0)), "payOrder", orderSet(t), newOrder(Open), same)
	wantRefusal(t, "Modify with a bad option", err)
	_, err = w.Resume(t.Context(), nil)
	// it is another write that may be applied
	if none := asError(t, err); !errors.Is(err, ErrInvalid) || none.NotApplied() || OutcomeOf(err) != Unknown ||
		!strings.Contains(err.Error(), "the error is nil: errors.As found no *writer.Error") ||
		strings.Contains(err.Error(), "nothing of the write was sent") {
		t.Errorf("Resume of nil: %v, of %v", OutcomeOf(err), err)
	}
	var damaged Error // by a caller that looks at no error of UnmarshalBinary
	if err := damaged.UnmarshalBinary([]byte("damaged")); err == nil {
		t.Error("damaged bytes are decoded")
	}
	_, err = w.Resume(t.Context(), &damaged)
	if none := asError(t, err); !errors.Is(err, ErrInvalid) || none.NotApplied() || OutcomeOf(err) != Unknown ||
		none.Resumable() ||
		!strings.Contains(err.Error(), "as where UnmarshalBinary has failed") ||
		strings.Contains(err.Error(), "nothing of the write was sent") {
		t.Errorf("Resume of what was not decoded: %v, of %v", OutcomeOf(err), err)
	}
	if _, err := damaged.MarshalBinary(); !errors.Is(err, errNotDecoded) {
		t.Errorf("MarshalBinary of what was not decoded: %v", err)
	}
	_, err = w.Resume(t.Context(), reject("createOrder", errors.New("cause")))
	wantRefusal(t, "Resume of a refusal", err)
	e := failed(t, fakeWriter(&fakeExecutor{answer: fail("", errSyntax)}), orderSet(t).Insert(newOrder(Open)))
	// What is known of the tables stays known.
	_, err = w.With(Timeout(0)).Resume(t.Context(), e)
	if again := asError(t, err); !errors.Is(err, ErrInvalid) || !errors.Is(err, ErrPartial) || again.NotApplied() ||
		len(again.Tables) != 3 {
		t.Errorf("Resume with a bad option: %v, %v", err, again.Tables)
	}
	_, err = w.Resume(nil, e) //nolint:staticcheck // what it rejects
	if again := asError(t, err); !errors.Is(err, ErrInvalid) || again.NotApplied() || !again.Resumable() ||
		len(again.Tables) != 3 {
		t.Errorf("Resume without a context: %v, %v", err, again.Tables)
	}
}

// A bubble of testing/synctest begins with the year 2000, and a request may be older than that.
func TestAtInABubble(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := fakeWriter(&fakeExecutor{})
		if _, err := w.With(At(time.Now().Add(-time.Hour).UnixMicro())).Write(t.Context(), "createOrder",
			orderSet(t).Insert(newOrder(Open))); err != nil {
			t.Error(err)
		}
		_, err := w.With(At(time.Now().UnixMilli())).Write(t.Context(), "createOrder", orderSet(t).Insert(newOrder(Open)))
		if err == nil || !strings.Contains(err.Error(), "this clock says 946684800000000") {
			t.Error(err)
		}
	})
}

// wantRefusal says what a refusal is and is not.
func wantRefusal(t *testing.T, name string, err error) {
	t.Helper()
	if err == nil {
		t.Errorf("%s: not refused", name)
		return
	}
	e := asError(t, err)
	if errors.Is(err, ErrInvalid) == errors.Is(err, ErrTooLarge) || !e.NotApplied() {
		t.Errorf("%s: want ErrInvalid or ErrTooLarge, and NotApplied: %v", name, err)
	}
	for _, other := range []error{ErrPartial, ErrUnknown, ErrConflict, ErrExpired, ErrNotFound} {
		if errors.Is(err, other) {
			t.Errorf("%s: matches %v: %v", name, other, err)
		}
	}
	if len(e.Tables) > 0 || e.OnlyCounters() {
		t.Errorf("%s: tables %v", name, e.Tables)
	}
	if _, err := e.MarshalBinary(); err == nil {
		t.Errorf("%s: can be stored, with nothing to resume", name)
	}
	if strings.Contains(err.Error(), "secret") || slices.Contains(strings.Fields(err.Error()), long(100)) {
		t.Errorf("%s: shows a value: %v", name, err)
	}
}

// A nil *Error, as errors.As wants it, is nothing to decode into.
func TestUnmarshalIntoNil(t *testing.T) {
	t.Parallel()
	w := fakeWriter(&fakeExecutor{answer: fail("", errSyntax)}, once())
	data, err := failed(t, w, orderSet(t).Insert(newOrder(Open))).MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	var none *Error
	err = none.UnmarshalBinary(data)
	if err == nil || !strings.HasSuffix(err.Error(), "is nil: declare a value, var failed writer.Error") {
		t.Errorf("%v", err)
	}
}
