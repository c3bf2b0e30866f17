package orderservice

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/gocql/gocql"
)

const probeTimeout = time.Second

// alive answers GET /healthz: the process runs. Whether the database does is no reason to restart it.
func (s *Service) alive(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusOK) }

// nowhere is the id of no order.
var nowhere = gocql.MinTimeUUID(time.Unix(0, 0))

// ready answers GET /readyz: an order could be read.
func (s *Service) ready(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), probeTimeout)
	defer cancel()
	if _, err := s.Reader.ByID(ctx, nowhere); err != nil && !errors.Is(err, gocql.ErrNotFound) {
		http.Error(w, "the database does not answer", http.StatusServiceUnavailable)
		return
	}
	w.WriteHeader(http.StatusOK)
}
