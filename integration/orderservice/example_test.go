package orderservice_test

import (
	"crypto/sha256"
	"crypto/subtle"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/denorm-go/denorm/integration/orderservice"
)

// authenticated lets only requests through that bring a token, and those of probes. It compares sums of equal length,
// so that the time it takes tells nothing of the token.
func authenticated(next http.Handler, token string) http.Handler {
	want := sha256.Sum256([]byte(token))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		given, bearer := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
		got := sha256.Sum256([]byte(given))
		probe := r.URL.Path == "/healthz" || r.URL.Path == "/readyz"
		if !probe && (!bearer || token == "" || subtle.ConstantTimeCompare(got[:], want[:]) != 1) {
			w.Header().Set("WWW-Authenticate", "Bearer")
			http.Error(w, "unauthorized", http.StatusUnauthorized)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// The service has no authentication of its own: a handler around it adds one.
func Example_authentication() {
	service := authenticated(orderservice.Service{}.Handler(), "a long random token")
	for _, c := range []struct{ path, authorization string }{
		{"/orders/42", ""}, {"/orders/42", "Bearer a guess"}, {"/orders/42", "Bearer a long random token"}, {"/healthz", ""},
	} {
		r := httptest.NewRequest(http.MethodGet, c.path, nil)
		r.Header.Set("Authorization", c.authorization)
		w := httptest.NewRecorder()
		service.ServeHTTP(w, r)
		fmt.Println(c.path, w.Code)
	}
	// Output:
	// /orders/42 401
	// /orders/42 401
	// /orders/42 400
	// /healthz 200
}
