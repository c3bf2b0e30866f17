package orderservice

import (
	"net/http"
	"testing"
	"time"

	"github.com/denorm-go/denorm/examples/orders"
	"github.com/denorm-go/denorm/tables"
)

func TestLife(t *testing.T) {
	t.Parallel()
	s := newShop()
	o := s.create(t)
	path := "/orders/" + o.OrderID.String()
	for i, step := range []struct {
		method, path, body, op string
		want                   orders.Status
	}{
		{"PUT", path + "/status", pay, "payOrder", orders.Paid},
		{"PUT", path + "/status", ship, "shipOrder", orders.Shipped},
	} {
		key := s.keyAt(time.Duration(i+1) * time.Millisecond)
		got := s.do(t, step.method, step.path, key, step.body)
		if got.status != http.StatusOK || got.Status != step.want || got.header.Get(KeyHeader) != key {
			t.Fatalf("%s: %d %s", step.op, got.status, got.text)
		}
		w := s.writes[len(s.writes)-1]
		before, after := w.Before().(orders.Order), w.After().(orders.Order)
		if w.op != step.op || w.Kind() != tables.Update || before.Status == after.Status || w.at != got.UpdatedAt.UnixMicro() {
			t.Errorf("asked for %s %v from %s to %s at %d", w.op, w, before.Status, after.Status, w.at)
		}
	}
	other := s.do(t, "POST", "/orders", s.keyAt(time.Microsecond), orderBody).Order
	got := s.do(t, "POST", "/orders/"+other.OrderID.String()+"/cancel", "", "")
	if got.status != http.StatusOK || got.Status != orders.Cancelled || s.writes[len(s.writes)-1].op != "cancelOrder" {
		t.Errorf("cancel: %d %s", got.status, got.text)
	}
}

// The repeat finds the order as it was or as the first try left it, and is the same write in either case.
func TestChangeRepeated(t *testing.T) {
	t.Parallel()
	for name, first := range map[string]fault{
		"after success": {}, "after a lost reply": lostReply, "after a partial write": partial, "after nothing": nothing,
		"after a batch that may come": inBatchlog,
	} {
		s := newShop()
		o := s.create(t)
		s.script = []fault{first}
		key := s.keyAt(time.Second)
		s.pay(t, o, key)
		got := s.pay(t, o, key)
		if got.status != http.StatusOK || got.Status != orders.Paid || !got.UpdatedAt.Equal(s.clock.Add(time.Second)) {
			t.Errorf("%s: %d %s", name, got.status, got.text)
		}
		if a, b := s.writes[1], s.writes[2]; len(s.writes) != 3 || a.at != b.at || text(a.After()) != text(b.After()) {
			t.Errorf("%s: the repeat is another write", name)
		}
	}
}

// A repeat that could do nothing does not say "not applied" of a write that its first try left in the base table.
func TestNothingAfterSomething(t *testing.T) {
	t.Parallel()
	s := newShop()
	o := s.create(t)
	s.script = []fault{partial, nothing}
	key := s.keyAt(time.Second)
	s.pay(t, o, key)
	if got := s.pay(t, o, key); got.status != http.StatusAccepted || got.problem.Outcome != Unknown {
		t.Errorf("%d %s", got.status, got.text)
	}
}

func TestConflicts(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		status string        // wanted
		after  time.Duration // of the key, after the order was made
		want   Reason
	}{
		"ship what is not paid":            {"shipped", time.Second, Transition},
		"open again":                       {"open", time.Second, Transition},
		"a key from before the last write": {"paid", -time.Second, Superseded},
		"the key of another write":         {"paid", 0, KeyReused},
	} {
		s := newShop()
		o := s.create(t)
		got := s.do(t, "PUT", "/orders/"+o.OrderID.String()+"/status", s.keyAt(test.after), `{"status": "`+test.status+`"}`)
		p := got.problem
		if got.status != http.StatusConflict || p.Reason != test.want || p.Outcome != Refused || p.Order == nil || *p.Order != o {
			t.Errorf("%s: %d %s, want %s and the order", name, got.status, got.text, test.want)
		}
		if len(s.writes) != 1 {
			t.Errorf("%s: something was written", name)
		}
	}
}

// The repeat of a change that was overtaken does not undo the later one.
func TestSuperseded(t *testing.T) {
	t.Parallel()
	s := newShop()
	o := s.create(t)
	key := s.keyAt(time.Second)
	s.pay(t, o, key)
	s.do(t, "PUT", "/orders/"+o.OrderID.String()+"/status", s.keyAt(2*time.Second), ship)
	got := s.pay(t, o, key)
	if got.status != http.StatusConflict || got.problem.Reason != Superseded || got.problem.Order.Status != orders.Shipped {
		t.Errorf("%d %s", got.status, got.text)
	}
}

// A request without key can be carried out also where the clock that wrote the order was ahead of this one.
func TestChangeWithoutKey(t *testing.T) {
	t.Parallel()
	s := newShop()
	o := s.do(t, "POST", "/orders", s.keyAt(4*time.Second), orderBody).Order
	got := s.pay(t, o, "")
	if got.status != http.StatusOK || !got.UpdatedAt.After(o.UpdatedAt) || got.UpdatedAt.After(o.UpdatedAt.Add(time.Second)) {
		t.Errorf("%d %s", got.status, got.text)
	}
	if got = s.pay(t, o, got.header.Get(KeyHeader)); got.status != http.StatusOK {
		t.Errorf("repeated with the key of the answer: %d %s", got.status, got.text)
	}
}

func TestChangeOfNothing(t *testing.T) {
	t.Parallel()
	s := newShop()
	for _, path := range []string{"/orders/" + s.keyAt(0) + "/status", "/orders/" + alice + "/status"} { // the second holds no time
		if got := s.do(t, "PUT", path, "", pay); got.status != http.StatusNotFound || got.problem.Outcome != Refused {
			t.Errorf("%d %s", got.status, got.text)
		}
	}
	s.broken = true
	got := s.do(t, "PUT", "/orders/"+s.keyAt(0)+"/status", "", pay)
	if got.status != http.StatusServiceUnavailable || got.problem.Outcome != NotApplied || len(s.writes) > 0 {
		t.Errorf("while nothing can be read: %d %s", got.status, got.text)
	}
}
