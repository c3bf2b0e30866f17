package orderservice

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/examples/orders"
	"github.com/denorm-go/denorm/tables"
)

func TestCreate(t *testing.T) {
	t.Parallel()
	s := newShop()
	key := s.keyAt(-time.Second)
	got := s.do(t, "POST", "/orders", key, orderBody)
	if got.status != http.StatusCreated || got.header.Get(KeyHeader) != key {
		t.Fatalf("%d %v %s", got.status, got.header, got.text)
	}
	want := Order{OrderID: got.OrderID, UserID: got.UserID, Status: orders.Open, Total: "19.95", UpdatedAt: s.clock.Add(-time.Second)}
	if got.Order != want || got.UserID.String() != alice || got.header.Get("Location") != "/orders/"+got.OrderID.String() {
		t.Errorf("created %+v at %s, want %+v", got.Order, got.header.Get("Location"), want)
	}
	if id := got.OrderID; id.Version() != 1 || id.Variant() != gocql.VariantIETF || !id.Time().Equal(want.UpdatedAt) {
		t.Errorf("id %v is not a time UUID of %v", id, want.UpdatedAt)
	}
	if w := s.writes[0]; w.op != "createOrder" || w.Entity() != "order" || w.Kind() != tables.Insert || w.at != want.UpdatedAt.UnixMicro() {
		t.Errorf("asked for %v at %d", w, w.at)
	}
}

// Whatever becomes of the first try, the repeat is the same write: same row, same timestamp.
func TestCreateRepeated(t *testing.T) {
	t.Parallel()
	for name, first := range map[string]fault{
		"after success": {}, "after a lost reply": lostReply, "after a partial write": partial, "after nothing": nothing,
		"after a batch that may come": inBatchlog,
	} {
		s := newShop(first)
		key := s.keyAt(-time.Minute)
		s.do(t, "POST", "/orders", key, orderBody)
		s.clock = s.clock.Add(time.Hour)
		got := s.do(t, "POST", "/orders", key, orderBody)
		if got.status != http.StatusCreated {
			t.Errorf("%s: %d %s", name, got.status, got.text)
		}
		if len(s.writes) != 2 || s.writes[0].at != s.writes[1].at || text(s.writes[0].After()) != text(s.writes[1].After()) {
			t.Errorf("%s: the repeat is another write: %v", name, s.writes)
		}
		if len(s.rows) != 1 {
			t.Errorf("%s: %d orders", name, len(s.rows))
		}
	}
}

func text(row any) string {
	o := row.(orders.Order)
	return strings.Join([]string{o.OrderID.String(), o.UserID.String(), string(o.Status), o.Total.String()}, " ")
}

// A repeat that comes late does not undo what was done to the order since.
func TestCreateRepeatedAfterChange(t *testing.T) {
	t.Parallel()
	s := newShop()
	key := s.keyAt(0)
	o := s.do(t, "POST", "/orders", key, orderBody).Order
	s.pay(t, o, s.keyAt(time.Second))
	if again := s.do(t, "POST", "/orders", key, orderBody).Order; again != o {
		t.Errorf("answered %+v, want the answer to the first try, %+v", again, o)
	}
	if row := s.rows[o.OrderID]; row.Status != orders.Paid {
		t.Errorf("the order is %s again", row.Status)
	}
}

// Two requests that differ are two orders, even with one key. Were the key the id, a client could write over an order
// by taking its id for a key, and leave a row under each user.
func TestCreateDiffers(t *testing.T) {
	t.Parallel()
	s := newShop()
	key := s.keyAt(0)
	ids := make(map[gocql.UUID]bool)
	bodies := []string{
		orderBody, strings.Replace(orderBody, "19.95", "19.96", 1), strings.Replace(orderBody, "6ba7", "7ba7", 1),
		`{"user_id": "` + alice + `"}`,
	}
	for _, body := range bodies {
		ids[s.do(t, "POST", "/orders", key, body).OrderID] = true
	}
	stolen := s.do(t, "POST", "/orders", s.do(t, "POST", "/orders", key, orderBody).OrderID.String(), orderBody)
	ids[stolen.OrderID] = true
	if len(ids) != len(bodies)+1 || ids[gocql.UUID{}] {
		t.Errorf("%d orders, want %d", len(ids), len(bodies)+1)
	}
}

func TestCreateWithoutKey(t *testing.T) {
	t.Parallel()
	s := newShop(lostReply)
	first := s.do(t, "POST", "/orders", "", orderBody)
	key := first.header.Get(KeyHeader)
	if first.status != http.StatusAccepted || key == "" {
		t.Fatalf("%d %v %s", first.status, first.header, first.text)
	}
	if got := s.do(t, "POST", "/orders", key, orderBody); got.status != http.StatusCreated || len(s.rows) != 1 {
		t.Errorf("repeated with the key of the answer: %d %s, %d orders", got.status, got.text, len(s.rows))
	}
	if another := s.do(t, "POST", "/orders", "", orderBody); another.header.Get(KeyHeader) == key || len(s.rows) != 2 {
		t.Errorf("a new request without key got %s again", key)
	}
}

// A client that hangs up must not leave a half-done write behind.
func TestClientHangsUp(t *testing.T) {
	t.Parallel()
	s := newShop()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	r := httptest.NewRequestWithContext(ctx, "POST", "/orders", strings.NewReader(orderBody))
	r.Header.Set("Content-Type", "application/json")
	if got := s.send(t, r); got.status != http.StatusCreated {
		t.Errorf("the write was interrupted: %d %s", got.status, got.text)
	}
}
