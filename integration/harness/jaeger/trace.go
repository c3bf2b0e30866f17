package jaeger

import (
	"bytes"
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"
)

// Trace is a trace as Jaeger has it.
type Trace struct {
	ID    string
	Roots []*Span // whose parents are not in the trace; in the order of their starts, as all spans are
	JSON  []byte  // all that Jaeger gave
}

// Span is a span with its children.
type Span struct {
	ID       string
	Service  string
	Name     string
	Start    time.Time
	Duration time.Duration
	Tags     map[string]string // attributes, and what else OpenTelemetry has: span.kind, otel.status_code and others
	Events   []Event
	Children []*Span
}

// Event is something that happened within a span.
type Event struct {
	Name string
	Tags map[string]string
}

// Spans counts the spans of the trace.
func (t *Trace) Spans() int {
	n := 0
	for range t.All() {
		n++
	}
	return n
}

// All yields each span of the trace with its depth, parents before their children.
func (t *Trace) All() iter.Seq2[int, *Span] {
	return func(yield func(int, *Span) bool) {
		for _, root := range t.Roots {
			if !root.walk(0, yield) {
				return
			}
		}
	}
}

func (s *Span) walk(depth int, yield func(int, *Span) bool) bool {
	if !yield(depth, s) {
		return false
	}
	for _, child := range s.Children {
		if !child.walk(depth+1, yield) {
			return false
		}
	}
	return true
}

// keyValue is a tag. Its value is a string, a number or a boolean.
type keyValue struct {
	Key   string
	Value any
}

func tags(pairs []keyValue) map[string]string {
	m := make(map[string]string, len(pairs))
	for _, p := range pairs {
		m[p.Key] = fmt.Sprint(p.Value)
	}
	return m
}

// UnmarshalJSON makes a tree of the flat list that the HTTP API gives.
func (t *Trace) UnmarshalJSON(data []byte) error {
	var raw struct {
		TraceID string
		Spans   []struct {
			SpanID        string
			OperationName string
			References    []struct{ RefType, SpanID string }
			StartTime     int64 // microseconds
			Duration      int64
			Tags          []keyValue
			Logs          []struct{ Fields []keyValue }
			ProcessID     string
		}
		Processes map[string]struct{ ServiceName string }
	}
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber() // which keeps all digits
	if err := decoder.Decode(&raw); err != nil {
		return fmt.Errorf("read Jaeger's trace: %w", err)
	}
	byID := make(map[string]*Span, len(raw.Spans))
	first := raw.Spans[:0] // of each span: an exporter that got no answer sends them twice
	for _, r := range raw.Spans {
		if byID[r.SpanID] != nil {
			continue
		}
		first = append(first, r)
		s := &Span{
			ID: r.SpanID, Service: raw.Processes[r.ProcessID].ServiceName, Name: r.OperationName,
			Start: time.UnixMicro(r.StartTime), Duration: time.Duration(r.Duration) * time.Microsecond, Tags: tags(r.Tags),
		}
		for _, log := range r.Logs {
			fields := tags(log.Fields)
			name := fields["event"]
			delete(fields, "event")
			s.Events = append(s.Events, Event{Name: name, Tags: fields})
		}
		byID[s.ID] = s
	}
	*t = Trace{ID: raw.TraceID, JSON: bytes.Clone(data)}
	for _, r := range first {
		s := byID[r.SpanID]
		var parent *Span
		for _, reference := range r.References {
			if reference.RefType == "CHILD_OF" {
				parent = byID[reference.SpanID]
			}
		}
		if parent == nil {
			t.Roots = append(t.Roots, s)
		} else {
			parent.Children = append(parent.Children, s)
		}
	}
	slices.SortFunc(t.Roots, inOrder)
	for _, s := range byID {
		slices.SortFunc(s.Children, inOrder)
	}
	return nil
}

// inOrder is by start, and by name where those are the same.
func inOrder(a, b *Span) int {
	if c := a.Start.Compare(b.Start); c != 0 {
		return c
	}
	return strings.Compare(a.Name+a.ID, b.Name+b.ID)
}
