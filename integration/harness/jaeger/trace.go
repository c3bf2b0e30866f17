package jaeger

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
)

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
