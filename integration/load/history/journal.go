package history

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/denorm-go/denorm/tables"
	"github.com/denorm-go/denorm/writer"
)

// entry is a line of a journal: the begin of write N, the end of it, or that it is sent again.
type entry[T any] struct {
	N     int           `json:"n"`
	Begin *beginning[T] `json:"begin,omitempty"`
	End   *ending       `json:"end,omitempty"`
	Again bool          `json:"again,omitempty"`
}

type beginning[T any] struct {
	By   string      `json:"by"`
	Kind tables.Kind `json:"kind"`
	Row  T           `json:"row"`
	At   int64       `json:"at,omitempty"` // the timestamp, if the client has chosen it
}

type ending struct {
	Timestamp int64                     `json:"timestamp"`
	Outcome   writer.Outcome            `json:"outcome"`
	Tables    map[string]writer.Outcome `json:"tables,omitempty"`
	Wrong     string                    `json:"wrong,omitempty"` // the contradiction
}

// writeLine writes a line of JSON by one call of Write, and nothing where out is nil. It panics if that fails.
func writeLine(out io.Writer, line any) {
	if out == nil {
		return
	}
	data, err := json.Marshal(line)
	if err == nil {
		_, err = out.Write(append(data, '\n'))
	}
	if err != nil {
		panic(fmt.Sprintf("history: append to the journal: %v", err))
	}
}

// Load appends the writes of a journal. A last line that was cut off by the end of its process is left out: a write is
// sent after its line is whole.
func (h *History[T]) Load(in io.Reader) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	first := len(h.writes)
	return readLines(in, "journal", func(e entry[T]) error {
		at := first + e.N
		switch {
		case e.Begin != nil && at == len(h.writes):
			h.writes = append(h.writes, Write[T]{By: e.Begin.By, Kind: e.Begin.Kind, Row: e.Begin.Row, Timestamp: e.Begin.At})
		case e.End != nil && at >= first && at < len(h.writes):
			w := &h.writes[at]
			w.Timestamp, w.Outcome, w.Tables, w.Contradiction = e.End.Timestamp, e.End.Outcome, e.End.Tables, e.End.Wrong
		case e.Again && at >= first && at < len(h.writes):
			h.writes[at].again()
		default:
			return errNotBegun
		}
		return nil
	})
}

var errNotBegun = errors.New("it is of a write that did not begin there")

// readLines reads lines of JSON. A last one that was cut off by the end of its process is left out.
func readLines[T any](in io.Reader, what string, read func(T) error) error {
	lines := bufio.NewReader(in)
	for n := 1; ; n++ {
		line, err := lines.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return nil
		}
		var entry T
		if err == nil {
			err = json.Unmarshal(line, &entry)
		}
		if err == nil {
			err = read(entry)
		}
		if err != nil {
			return fmt.Errorf("history: line %d of the %s: %w", n, what, err)
		}
	}
}

// Place is where a write is: in which history, by a name that its processes have for it, and its number there.
type Place struct {
	History string `json:"history"`
	N       int    `json:"n"`
}

// Deliveries is a journal of writes of other processes that this one has resumed. It is safe for concurrent use.
type Deliveries struct {
	mu  sync.Mutex
	out io.Writer
}

// NewDeliveries appends to out, as [New] does.
func NewDeliveries(out io.Writer) *Deliveries { return &Deliveries{out: out} }

// delivery is a line: that a write is about to be sent again, or what was told of that.
type delivery struct {
	Of  Place   `json:"of"`
	End *ending `json:"end,omitempty"`
}

// Again notes that a write is about to be sent again.
func (d *Deliveries) Again(of Place) { d.append(delivery{Of: of}) }

// End notes what Resume returned of it.
func (d *Deliveries) End(of Place, timestamp int64, err error) {
	s := saidBy(timestamp, err)
	d.append(delivery{of, &ending{Timestamp: s.timestamp, Outcome: s.outcome, Tables: s.tables}})
}

func (d *Deliveries) append(line delivery) {
	d.mu.Lock()
	defer d.mu.Unlock()
	writeLine(d.out, line)
}

// Deliver adds the deliveries of a journal to the writes of the history of this name, of which first is the number here
// of its first one. A last line that was cut off by the end of its process is left out.
func (h *History[T]) Deliver(in io.Reader, name string, first int) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	return readLines(in, "deliveries", func(d delivery) error {
		if d.Of.History != name {
			return nil
		}
		at := first + d.Of.N
		if at < first || at >= len(h.writes) {
			return errNotBegun
		}
		if w := &h.writes[at]; d.End == nil {
			w.again()
		} else {
			w.recordOutcome(said{d.End.Timestamp, d.End.Outcome, d.End.Tables})
		}
		return nil
	})
}

// Delivered lists the writes of which a journal notes that they were about to be sent again, each as often as it does.
func Delivered(in io.Reader) ([]Place, error) {
	var places []Place
	err := readLines(in, "deliveries", func(d delivery) error {
		if d.End == nil {
			places = append(places, d.Of)
		}
		return nil
	})
	return places, err
}
