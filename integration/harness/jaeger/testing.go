package jaeger

import (
	"cmp"
	"context"
	"os"
	"strings"
	"testing"
)

// Serve returns the server that the environment names, or else one of the test's own, which is stopped when the test
// ends.
func Serve(tb testing.TB) *Server {
	tb.Helper()
	if s := FromEnv(); s != nil {
		if err := s.ready(context.Background()); err != nil {
			tb.Fatalf("%s=%s: %v", URLEnv, s.URL, err)
		}
		return s
	}
	s, err := Start(context.Background(), Config{Out: tb.Output()})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := s.Close(); err != nil {
			tb.Errorf("stop Jaeger: %v", err)
		}
	})
	return s
}

// FromEnv returns the server that the environment names, or nil.
func FromEnv() *Server {
	url := os.Getenv(URLEnv)
	if url == "" {
		return nil
	}
	return &Server{URL: strings.TrimRight(url, "/"), OTLP: cmp.Or(os.Getenv(OTLPEnv), "http://127.0.0.1:4317")}
}
