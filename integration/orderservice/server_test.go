package orderservice

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"testing"
	"time"
)

// A request under way when the service is told to stop is finished, and a new one is not taken.
func TestServeStopsGracefully(t *testing.T) {
	t.Parallel()
	arrived, finish := make(chan struct{}), make(chan struct{})
	h := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		close(arrived)
		<-finish
		_, _ = io.WriteString(w, "done")
	})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	served := make(chan error, 1)
	go func() { served <- Serve(ctx, l, h, slog.New(slog.DiscardHandler)) }()

	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: 10 * time.Second}
	answered := make(chan string, 1)
	go func() { answered <- fetch(client, "http://"+l.Addr().String()) }()
	<-arrived
	stop()
	for { // until it has closed the listener
		conn, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			break
		}
		_ = conn.Close()
		time.Sleep(time.Millisecond)
	}
	select {
	case err := <-served:
		t.Fatalf("it has not waited for the request: %v", err)
	default:
	}
	close(finish)
	if got := <-answered; got != "done" {
		t.Errorf("the request under way got %q", got)
	}
	if err := <-served; err != nil {
		t.Errorf("stopped with %v", err)
	}
}

func fetch(client *http.Client, url string) string {
	answer, err := client.Get(url)
	if err != nil {
		return err.Error()
	}
	body, err := io.ReadAll(answer.Body)
	err = errors.Join(err, answer.Body.Close())
	if err != nil {
		return err.Error()
	}
	return string(body)
}

func TestServeFails(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_ = l.Close()
	if err := Serve(t.Context(), l, http.NotFoundHandler(), slog.New(slog.DiscardHandler)); err == nil {
		t.Error("it serves a closed listener")
	}
}
