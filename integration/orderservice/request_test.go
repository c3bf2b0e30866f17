package orderservice

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

func TestBadBodies(t *testing.T) {
	t.Parallel()
	s := newShop()
	for name, test := range map[string]struct {
		body   string
		status int
	}{
		"no JSON":              {`user_id=1`, 400},
		"not an object":        {`["` + alice + `"]`, 400},
		"cut off":              {orderBody[:20], 400},
		"unknown field":        {`{"user_id": "` + alice + `", "status": "shipped"}`, 400},
		"two values":           {orderBody + orderBody, 400},
		"text after the value": {orderBody + "x", 400},
		"user_id is no UUID":   {`{"user_id": "alice"}`, 400},
		"user_id is null":      {`{"user_id": null}`, 400},
		"total is a number":    {`{"user_id": "` + alice + `", "total": 19.95}`, 400},
		"too large":            {`{"user_id": "` + alice + `", "total": "` + strings.Repeat("9", 5000) + `"}`, 413},
		"no user_id":           {`{"total": "19.95"}`, 422},
		"user_id is zero":      {`{"user_id": "00000000-0000-0000-0000-000000000000"}`, 422},
		"total is no number":   {`{"user_id": "` + alice + `", "total": "1e3"}`, 422},
		"total is negative":    {`{"user_id": "` + alice + `", "total": "-1"}`, 422},
		"total is empty":       {`{"user_id": "` + alice + `", "total": ""}`, 422},
		"total is huge":        {`{"user_id": "` + alice + `", "total": "1234567890123"}`, 422},
	} {
		wantRefused(t, name, s.do(t, "POST", "/orders", "", test.body), test.status)
	}
	o := s.create(t)
	for body, status := range map[string]int{`{"status": "lost"}`: 422, `{}`: 422, `{"status": 1}`: 400, `{"state": "paid"}`: 400} {
		wantRefused(t, body, s.do(t, "PUT", "/orders/"+o.OrderID.String()+"/status", "", body), status)
	}
	r := httptest.NewRequestWithContext(t.Context(), "POST", "/orders", strings.NewReader(orderBody))
	r.Header.Set("Content-Type", "text/plain")
	wantRefused(t, "another type", s.send(t, r), http.StatusUnsupportedMediaType)
	if len(s.writes) != 1 {
		t.Errorf("%d writes, want only the good one", len(s.writes))
	}
}

func wantRefused(t *testing.T, name string, got reply, status int) {
	t.Helper()
	if got.status != status || got.problem.Outcome != Refused || got.problem.Error == "" || strings.Contains(got.problem.Error, "\n") {
		t.Errorf("%s: %d %s, want %d and one sentence", name, got.status, got.text, status)
	}
}

func TestBadURLs(t *testing.T) {
	t.Parallel()
	s := newShop()
	for url, status := range map[string]int{
		"/orders/1":                               400,
		"/orders/" + alice:                        404, // a UUID, but none that could be an order's
		"/orders/" + s.keyAt(0):                   404,
		"/orders":                                 422,
		"/orders?status=lost":                     422,
		"/orders?status=open&limit=0":             400,
		"/orders?status=open&limit=5001":          400,
		"/orders?status=open&limit=x":             400,
		"/users/alice/orders":                     400,
		"/users/" + alice + "/orders?limit=-1":    400,
		"/users/" + alice[:35] + "/orders":        400,
		"/users/" + alice[:8] + alice + "/orders": 400,
	} {
		wantRefused(t, url, s.do(t, "GET", url, "", ""), status)
	}
	if got := s.do(t, "DELETE", "/orders", "", ""); got.status != http.StatusMethodNotAllowed {
		t.Errorf("DELETE: %d", got.status)
	}
}

func TestBadKeys(t *testing.T) {
	t.Parallel()
	s := newShop()
	o := s.create(t)
	for name, key := range map[string]string{
		"no UUID":           "once",
		"of version 4":      alice,
		"of another format": strings.ReplaceAll(s.keyAt(0), "-", ""),
		"too far ahead":     s.keyAt(maxAhead + time.Second),
		"too old":           s.keyAt(-maxAge - time.Second),
	} {
		wantRefused(t, name, s.do(t, "POST", "/orders", key, orderBody), 400)
		wantRefused(t, name, s.pay(t, o, key), 400)
	}
	r := httptest.NewRequestWithContext(t.Context(), "POST", "/orders", strings.NewReader(orderBody))
	r.Header = http.Header{"Content-Type": {"application/json"}, KeyHeader: {s.keyAt(0), s.keyAt(0)}}
	wantRefused(t, "two keys", s.send(t, r), 400)
	for name, key := range map[string]string{"ahead": s.keyAt(maxAhead), "old": s.keyAt(-maxAge)} {
		if got := s.do(t, "POST", "/orders", key, orderBody); got.status != http.StatusCreated {
			t.Errorf("%s: %d %s", name, got.status, got.text)
		}
	}
}
