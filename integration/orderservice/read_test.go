package orderservice

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"
)

func TestReads(t *testing.T) {
	t.Parallel()
	s := newShop()
	o := s.create(t)
	second := s.do(t, "POST", "/orders", s.keyAt(time.Second), `{"user_id": "`+alice+`"}`).Order
	if got := s.do(t, "GET", "/orders/"+o.OrderID.String(), "", ""); got.status != http.StatusOK || got.Order != o {
		t.Errorf("get: %d %s, want %+v", got.status, got.text, o)
	}
	if got := s.do(t, "GET", "/orders/"+second.OrderID.String(), "", ""); strings.Contains(got.text, "total") {
		t.Errorf("a total that is not known is shown: %s", got.text)
	}
	s.pay(t, second, s.keyAt(2*time.Second))
	for url, want := range map[string]int{
		"/users/" + alice + "/orders": 2, "/users/" + alice + "/orders?limit=1": 1, "/users/" + s.keyAt(0) + "/orders": 0,
		"/orders?status=open": 1, "/orders?status=paid": 1, "/orders?status=shipped": 0,
	} {
		got := s.do(t, "GET", url, "", "")
		var list List
		if err := json.Unmarshal([]byte(got.text), &list); err != nil || got.status != http.StatusOK || list.Orders == nil || len(list.Orders) != want {
			t.Errorf("%s: %d %s, want %d orders", url, got.status, got.text, want)
		}
	}
}

func TestReadsFail(t *testing.T) {
	t.Parallel()
	s := newShop()
	s.broken = true
	for _, url := range []string{"/orders/" + s.keyAt(0), "/orders?status=open", "/users/" + alice + "/orders"} {
		got := s.do(t, "GET", url, "", "")
		if got.status != http.StatusServiceUnavailable || got.header.Get("Retry-After") == "" || strings.Contains(got.text, "4711") {
			t.Errorf("%s: %d %s", url, got.status, got.text)
		}
	}
}

func TestHealth(t *testing.T) {
	t.Parallel()
	s := newShop()
	for _, broken := range []bool{false, true} {
		s.broken = broken
		want := map[string]int{"/healthz": http.StatusOK, "/readyz": http.StatusOK}
		if broken {
			want["/readyz"] = http.StatusServiceUnavailable
		}
		for url, status := range want {
			if got := s.do(t, "GET", url, "", ""); got.status != status || strings.Contains(got.text, "4711") {
				t.Errorf("%s with broken=%t: %d %s", url, broken, got.status, got.text)
			}
		}
	}
}
