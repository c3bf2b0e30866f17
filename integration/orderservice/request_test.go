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
	if len(s.writes) != 1 {
		t.Errorf("%d writes, want only the good one", len(s.writes))
	}
}

// with is a request with these headers, in pairs.
func with(t *testing.T, method, path, body string, headers ...string) *http.Request {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), method, path, strings.NewReader(body))
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	return r
}

// A body without a type is JSON, and what curl -d says of one is taken as such; other types are rejected with what to
// say.
func TestContentTypes(t *testing.T) {
	t.Parallel()
	s := newShop()
	for _, media := range []string{"", "application/json", "Application/JSON; charset=utf-8", "application/x-www-form-urlencoded"} {
		r := with(t, "POST", "/orders", orderBody)
		if media != "" {
			r.Header.Set("Content-Type", media)
		}
		if got := s.send(t, r); got.status != http.StatusCreated {
			t.Errorf("%q: %d %s", media, got.status, got.text)
		}
	}
	wantRefused(t, "a form", s.send(t, with(t, "POST", "/orders", "user_id="+alice, "Content-Type", "application/x-www-form-urlencoded")), 400)
	for _, media := range []string{"text/plain", "application/xml", "multipart/form-data; boundary=x", "json", "application/json; ="} {
		got := s.send(t, with(t, "POST", "/orders", orderBody, "Content-Type", media))
		wantRefused(t, media, got, http.StatusUnsupportedMediaType)
		if !strings.Contains(got.problem.Error, "curl --json") || !strings.Contains(got.problem.Error, "-H 'Content-Type: application/json'") {
			t.Errorf("%s: %s does not say what to do", media, got.problem.Error)
		}
	}
}

// A browser on a page of another site changes nothing, whatever its request says of its body. Programs say nothing of a
// site.
func TestOtherSites(t *testing.T) {
	t.Parallel()
	s := newShop()
	o := s.create(t)
	order := "/orders/" + o.OrderID.String()
	writes := []struct{ method, path, body string }{
		{"POST", "/orders", orderBody}, {"PUT", order + "/status", pay}, {"POST", order + "/cancel", ""},
	}
	for _, site := range [][]string{
		{"Sec-Fetch-Site", "cross-site"},
		{"Sec-Fetch-Site", "same-site"},
		{"Sec-Fetch-Site", "cross-site", "Origin", "http://example.com"},
		{"Origin", "https://evil.example"},
		{"Origin", "http://example.com:81"},
		{"Origin", "null"}, // of a sandboxed frame, or without a referrer
	} {
		for _, media := range []string{"", "text/plain", "application/x-www-form-urlencoded", "application/json"} {
			for _, w := range writes {
				r := with(t, w.method, w.path, w.body, append([]string{"Content-Type", media}, site...)...)
				wantRefused(t, w.path+" from "+strings.Join(site, " "), s.send(t, r), http.StatusForbidden)
			}
		}
	}
	if len(s.writes) != 1 {
		t.Errorf("%d writes, want only the one of the test itself", len(s.writes))
	}
	for _, site := range [][]string{nil, {"Sec-Fetch-Site", "none"}, {"Sec-Fetch-Site", "same-origin"}, {"Origin", "http://example.com"}} {
		if got := s.send(t, with(t, "POST", "/orders", orderBody, site...)); got.status != http.StatusCreated {
			t.Errorf("%v: %d %s", site, got.status, got.text)
		}
	}
	if got := s.send(t, with(t, "GET", order, "", "Sec-Fetch-Site", "cross-site")); got.status != http.StatusOK {
		t.Errorf("a read: %d %s", got.status, got.text)
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
