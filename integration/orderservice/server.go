package orderservice

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/gocql/gocql"
)

const (
	// requestTimeout is above what a request takes at most: a read of 6 s and a write of 9 s.
	requestTimeout = 20 * time.Second
	// stopTimeout is what requests under way are given to finish. A supervisor that kills must wait longer.
	stopTimeout = 20 * time.Second
)

// Serve answers requests until ctx ends. Then it takes no more of them, finishes those under way, and returns: nil, if
// all of them could be finished.
func Serve(ctx context.Context, l net.Listener, h http.Handler, log *slog.Logger) error {
	server := &http.Server{
		Handler:           h,
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       10 * time.Second,
		WriteTimeout:      requestTimeout,
		IdleTimeout:       time.Minute,
		MaxHeaderBytes:    16 << 10,
		ErrorLog:          slog.NewLogLogger(log.Handler(), slog.LevelWarn),
	}
	served := make(chan error, 1)
	go func() { served <- server.Serve(l) }()
	select {
	case err := <-served:
		return err
	case <-ctx.Done():
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTimeout)
	defer cancel()
	err := server.Shutdown(ctx)
	if err != nil {
		err = errors.Join(err, server.Close())
	}
	if ended := <-served; !errors.Is(ended, http.ErrServerClosed) {
		err = errors.Join(err, ended)
	}
	return err
}

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
