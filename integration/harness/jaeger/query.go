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

	"github.com/denorm-go/denorm/integration/harness/sleep"
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

// ask asks the server's HTTP API for a list.
func ask[T any](ctx context.Context, s *Server, path string, query url.Values) ([]T, error) {
	body, status, err := s.get(ctx, path, query)
	if err != nil {
		return nil, err
	}
	if status == http.StatusNotFound {
		return nil, fmt.Errorf("%s: %w", path, ErrNoTrace)
	}
	if status != http.StatusOK {
		return nil, fmt.Errorf("ask Jaeger: it answers %d: %.200s", status, body)
	}
	var answer struct {
		Data   []T
		Errors []struct{ Msg string }
	}
	if err := json.Unmarshal(body, &answer); err != nil {
		return nil, fmt.Errorf("read Jaeger's answer: %w", err)
	}
	if len(answer.Errors) > 0 {
		return nil, fmt.Errorf("ask Jaeger: it answers: %s", answer.Errors[0].Msg)
	}
	return answer.Data, nil
}

// Trace returns the trace of an id as it is now, or ErrNoTrace.
func (s *Server) Trace(ctx context.Context, id string) (*Trace, error) {
	traces, err := ask[*Trace](ctx, s, "/api/traces/"+url.PathEscape(id), nil)
	if err == nil && len(traces) != 1 {
		err = fmt.Errorf("trace %s: %w", id, ErrNoTrace)
	}
	if err != nil {
		return nil, err
	}
	return traces[0], nil
}

// Await returns the trace of an id once it has this many spans: Jaeger stores what it is sent a little later.
func (s *Server) Await(ctx context.Context, id string, spans int) (*Trace, error) {
	got := 0
	for {
		trace, err := s.Trace(ctx, id)
		switch {
		case err == nil:
			if got = len(trace.Spans); got >= spans {
				return trace, nil
			}
		case !errors.Is(err, ErrNoTrace):
			return nil, err
		}
		if cause := sleep.For(ctx, 20*time.Millisecond); cause != nil {
			return nil, fmt.Errorf("trace %s has %d spans, want %d: %w", id, got, spans, cause)
		}
	}
}

// Traces returns the traces that have spans of a service, at most limit of them.
func (s *Server) Traces(ctx context.Context, service string, limit int) ([]*Trace, error) {
	return ask[*Trace](ctx, s, "/api/traces", url.Values{"service": {service}, "limit": {strconv.Itoa(limit)}, "lookback": {"1h"}})
}

// Operation is an entry of the list of operations.
type Operation struct{ Name, SpanKind string }

// Operations returns the operations of a service, each once for every kind that its spans have.
func (s *Server) Operations(ctx context.Context, service string) ([]Operation, error) {
	return ask[Operation](ctx, s, "/api/operations", url.Values{"service": {service}})
}

// Dependency is an edge of the service graph: how many spans of one service have a parent of the other.
type Dependency struct {
	Parent, Child string
	CallCount     int
}

// Dependencies returns the service graph of the last hour.
func (s *Server) Dependencies(ctx context.Context) ([]Dependency, error) {
	return ask[Dependency](ctx, s, "/api/dependencies", url.Values{
		"endTs": {strconv.FormatInt(time.Now().UnixMilli(), 10)}, "lookback": {strconv.FormatInt(time.Hour.Milliseconds(), 10)},
	})
}
