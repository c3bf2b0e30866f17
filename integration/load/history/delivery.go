package history

import (
	"io"
	"sync"
)

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

// Deliver adds the deliveries of a journal to the writes of the history of this name, of which first is the number here of its
// first one. A last line that was cut off by the end of its process is left out.
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
