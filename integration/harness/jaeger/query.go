package jaeger

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// ErrNoTrace is returned for a trace that the server does not have, or not yet.
var ErrNoTrace = errors.New("no such trace")

// get asks the server's HTTP API.
func (s *Server) get(ctx context.Context, path string, query url.Values) (body []byte, status int, err error) {
	address := s.URL + path
	if len(query) > 0 {
		address += "?" + query.Encode()
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, 0, fmt.Errorf("ask Jaeger: %w", err)
	}
	request.Close = true // no connection stays behind
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, 0, fmt.Errorf("ask Jaeger: %w", err)
	}
	defer response.Body.Close() //nolint:errcheck // it was read
	body, err = io.ReadAll(response.Body)
	if err != nil {
		return nil, 0, fmt.Errorf("ask Jaeger: %w", err)
	}
	return body, response.StatusCode, nil
}

// Trace returns the trace of an id as it is now, or ErrNoTrace.
func (s *Server) Trace(ctx context.Context, id string) (*Trace, error) {
	body, status, err := s.get(ctx, "/api/traces/"+url.PathEscape(id), nil)
	if err != nil {
		return nil, err
	}
	if status == http.StatusNotFound {
		return nil, fmt.Errorf("trace %s: %w", id, ErrNoTrace)
	}
	traces, err := parse(body, status)
	if err != nil {
		return nil, err
	}
	if len(traces) != 1 {
		return nil, fmt.Errorf("trace %s: %w", id, ErrNoTrace)
	}
	return traces[0], nil
}

// Await returns the trace of an id once it has this many spans: Jaeger stores what it is sent a little later.
func (s *Server) Await(ctx context.Context, id string, spans int) (*Trace, error) {
	ticker := time.NewTicker(20 * time.Millisecond)
	defer ticker.Stop()
	got := 0
	for {
		trace, err := s.Trace(ctx, id)
		switch {
		case err == nil:
			if got = trace.Spans(); got >= spans {
				return trace, nil
			}
		case !errors.Is(err, ErrNoTrace):
			return nil, err
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("trace %s has %d spans, want %d: %w", id, got, spans, context.Cause(ctx))
		case <-ticker.C:
		}
	}
}

// Traces returns the traces that have spans of a service, at most limit of them.
func (s *Server) Traces(ctx context.Context, service string, limit int) ([]*Trace, error) {
	body, status, err := s.get(ctx, "/api/traces",
		url.Values{"service": {service}, "limit": {strconv.Itoa(limit)}, "lookback": {"1h"}})
	if err != nil {
		return nil, err
	}
	return parse(body, status)
}

// parse reads an answer of the HTTP API.
func parse(body []byte, status int) ([]*Trace, error) {
	if status != http.StatusOK {
		return nil, fmt.Errorf("ask Jaeger: it answers %d: %.200s", status, body)
	}
	var answer struct {
		Data   []json.RawMessage
		Errors []struct{ Msg string }
	}
	if err := json.Unmarshal(body, &answer); err != nil {
		return nil, fmt.Errorf("read Jaeger's answer: %w", err)
	}
	if len(answer.Errors) > 0 {
		return nil, fmt.Errorf("ask Jaeger: it answers: %s", answer.Errors[0].Msg)
	}
	traces := make([]*Trace, len(answer.Data))
	for i, data := range answer.Data {
		var err error
		if traces[i], err = parseTrace(data); err != nil {
			return nil, err
		}
	}
	return traces, nil
}
