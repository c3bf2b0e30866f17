package traces

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/denorm-go/denorm/integration/harness/jaeger"
	"github.com/denorm-go/denorm/integration/harness/sleep"
)

// errNoTrace is returned for a trace that the server does not have, or not yet.
var errNoTrace = errors.New("no such trace")

// ask asks the HTTP API of a server for a list.
func ask[T any](ctx context.Context, server *jaeger.Server, path string, query url.Values) ([]T, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, server.URL+path+"?"+query.Encode(), nil)
	if err != nil {
		return nil, err
	}
	request.Close = true // no connection stays behind
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close() //nolint:errcheck // it was read
	switch response.StatusCode {
	case http.StatusOK:
	case http.StatusNotFound:
		return nil, errNoTrace
	default:
		return nil, fmt.Errorf("ask Jaeger: it answers %s", response.Status)
	}
	var answer struct {
		Data   []T
		Errors []struct{ Msg string }
	}
	if err := json.NewDecoder(response.Body).Decode(&answer); err != nil {
		return nil, fmt.Errorf("read Jaeger's answer: %w", err)
	}
	if len(answer.Errors) > 0 {
		return nil, fmt.Errorf("ask Jaeger: it answers: %s", answer.Errors[0].Msg)
	}
	return answer.Data, nil
}

// traceOf returns the trace of an id as it is now, or errNoTrace.
func traceOf(ctx context.Context, server *jaeger.Server, id string) (*Trace, error) {
	traces, err := ask[*Trace](ctx, server, "/api/traces/"+url.PathEscape(id), nil)
	if err == nil && len(traces) == 1 {
		return traces[0], nil
	}
	return nil, cmp.Or(err, errNoTrace)
}

// await returns the trace of an id once it has this many spans: Jaeger stores what it is sent a little later.
func await(ctx context.Context, server *jaeger.Server, id string, spans int) (*Trace, error) {
	got := 0
	for {
		trace, err := traceOf(ctx, server, id)
		switch {
		case err == nil:
			if got = len(trace.Spans); got >= spans {
				return trace, nil
			}
		case !errors.Is(err, errNoTrace):
			return nil, err
		}
		if cause := sleep.For(ctx, 20*time.Millisecond); cause != nil {
			return nil, fmt.Errorf("trace %s has %d spans, want %d: %w", id, got, spans, cause)
		}
	}
}

// tracesOf returns the traces that have spans of a service, at most limit of them.
func tracesOf(ctx context.Context, server *jaeger.Server, service string, limit int) ([]*Trace, error) {
	return ask[*Trace](ctx, server, "/api/traces", url.Values{"service": {service}, "limit": {strconv.Itoa(limit)}, "lookback": {"1h"}})
}

// operation is an entry of the list of operations.
type operation struct{ Name, SpanKind string }

// operations returns the operations of a service, each once for every kind that its spans have.
func operations(ctx context.Context, server *jaeger.Server, service string) ([]operation, error) {
	return ask[operation](ctx, server, "/api/operations", url.Values{"service": {service}})
}

// dependency is an edge of the service graph: how many spans of one service have a parent of the other.
type dependency struct {
	Parent, Child string
	CallCount     int
}

// dependencies returns the service graph of the last hour.
func dependencies(ctx context.Context, server *jaeger.Server) ([]dependency, error) {
	return ask[dependency](ctx, server, "/api/dependencies", url.Values{
		"endTs": {strconv.FormatInt(time.Now().UnixMilli(), 10)}, "lookback": {strconv.FormatInt(time.Hour.Milliseconds(), 10)},
	})
}

// Trace is a trace as Jaeger has it.
type Trace struct {
	ID    string  `json:"traceID"`
	Spans []*Span // each once
	Roots []*Span `json:"-"` // whose parents are not in the trace; in the order of their starts, as all children are
	JSON  []byte  `json:"-"` // all that Jaeger gave
}

// Span is a span with its children.
type Span struct {
	ID         string   `json:"spanID"`
	Name       string   `json:"operationName"`
	Start      int64    `json:"startTime"` // microseconds
	Tags       Tags     // attributes, and what else OpenTelemetry has: span.kind, otel.status_code and others
	Events     []*Event `json:"logs"`
	References []struct{ RefType, SpanID string }
	Children   []*Span `json:"-"`
}

// Event is something that happened within a span.
type Event struct {
	Name string `json:"-"`
	Tags Tags   `json:"fields"`
}

// Tags are a list of pairs in JSON. A value is a string, a number or a boolean there.
type Tags map[string]string

// UnmarshalJSON implements [json.Unmarshaler].
func (t *Tags) UnmarshalJSON(data []byte) error {
	var pairs []struct {
		Key   string
		Value any
	}
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber() // which keeps all digits
	if err := decoder.Decode(&pairs); err != nil {
		return err
	}
	*t = make(Tags, len(pairs))
	for _, p := range pairs {
		(*t)[p.Key] = fmt.Sprint(p.Value)
	}
	return nil
}

// UnmarshalJSON makes a tree of the flat list that the HTTP API gives.
func (t *Trace) UnmarshalJSON(data []byte) error {
	type list Trace
	if err := json.Unmarshal(data, (*list)(t)); err != nil {
		return fmt.Errorf("read Jaeger's trace: %w", err)
	}
	t.JSON = bytes.Clone(data)
	byID := make(map[string]*Span, len(t.Spans))
	t.Spans = slices.DeleteFunc(t.Spans, func(s *Span) bool { // an exporter that got no answer sends spans twice
		again := byID[s.ID] != nil
		byID[s.ID] = cmp.Or(byID[s.ID], s)
		return again
	})
	slices.SortFunc(t.Spans, func(a, b *Span) int {
		return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.Name+a.ID, b.Name+b.ID))
	})
	for _, s := range t.Spans {
		for _, e := range s.Events {
			e.Name = e.Tags["event"]
			delete(e.Tags, "event")
		}
		siblings := &t.Roots
		for _, reference := range s.References {
			if parent := byID[reference.SpanID]; parent != nil && reference.RefType == "CHILD_OF" {
				siblings = &parent.Children
			}
		}
		*siblings = append(*siblings, s)
	}
	return nil
}
