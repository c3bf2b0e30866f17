package history

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/denorm-go/denorm/tables"
	"github.com/denorm-go/denorm/writer"
)

// Place is where a write is: in which history, by a name that its processes have for it, and its number there.
type Place struct {
	History string `json:"history,omitempty"` // empty in the journal of the history itself
	N       int    `json:"n"`
}

// entry is a line of a journal: the begin of a write, what was told of it, or that it is sent again.
type entry[T any] struct {
	Place

	Begin *beginning[T] `json:"begin,omitempty"`
	End   *said         `json:"end,omitempty"`
	Again bool          `json:"again,omitempty"`

	// Of Again:
	Repeated bool     `json:"repeated,omitempty"` // its caller does not know what became of the first one
	Counters []string `json:"counters,omitempty"` // tables to which it is not sent again
}

type beginning[T any] struct {
	By   string      `json:"by"`
	Kind tables.Kind `json:"kind"`
	Row  T           `json:"row"`
	At   int64       `json:"at,omitempty"` // the timestamp, if the client has chosen it
}

// writeLine writes a line of JSON by one call of Write, and nothing where out is nil. It panics if that fails.
func writeLine[T any](out io.Writer, line entry[T]) {
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
func (h *History[T]) Load(in io.Reader) error { return h.Deliver(in, "", len(h.Writes())) }

// Deliver adds the deliveries of a journal to the writes of the history of this name, of which first is the number here
// of its first one. A last line that was cut off by the end of its process is left out.
func (h *History[T]) Deliver(in io.Reader, name string, first int) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	return readLines(in, func(e entry[T]) error {
		at := first + e.N
		switch {
		case e.History != name:
		case e.Begin != nil && at == len(h.writes):
			h.writes = append(h.writes, Write[T]{By: e.Begin.By, Kind: e.Begin.Kind, Row: e.Begin.Row, Timestamp: e.Begin.At})
		case e.End != nil && at >= first && at < len(h.writes):
			h.writes[at].recordOutcome(*e.End)
		case e.Again && at >= first && at < len(h.writes):
			h.writes[at].again(e.Repeated, e.Counters)
		default:
			return errors.New("it is of a write that did not begin there")
		}
		return nil
	})
}

// readLines reads the lines of a journal. A last one that was cut off by the end of its process is left out.
func readLines[T any](in io.Reader, read func(entry[T]) error) error {
	lines := bufio.NewReader(in)
	for n := 1; ; n++ {
		line, err := lines.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return nil
		}
		var e entry[T]
		if err == nil {
			err = json.Unmarshal(line, &e)
		}
		if err == nil {
			err = read(e)
		}
		if err != nil {
			return fmt.Errorf("history: line %d of the journal: %w", n, err)
		}
	}
}

// Deliveries is a journal of writes of other processes that this one has resumed, one after the other.
type Deliveries struct{ out io.Writer }

// NewDeliveries appends to out, as [New] does.
func NewDeliveries(out io.Writer) Deliveries { return Deliveries{out} }

// Again notes that a write is about to be sent again.
func (d Deliveries) Again(of Place) { writeLine(d.out, entry[struct{}]{Place: of, Again: true}) }

// End notes what Resume returned of it.
func (d Deliveries) End(of Place, timestamp int64, err error) {
	writeLine(d.out, entry[struct{}]{Place: of, End: saidBy(timestamp, err)})
}

// Delivered lists the writes of which a journal notes that they were about to be sent again, each as often as it does.
func Delivered(in io.Reader) ([]Place, error) {
	var places []Place
	err := readLines(in, func(e entry[struct{}]) error {
		if e.Again {
			places = append(places, e.Place)
		}
		return nil
	})
	return places, err
}

// Queue is a queue of failed writes between processes: a directory that exists, in which each file is a stored error,
// named after the place of its write. Nobody holds a message while it is delivered, so two processes may have the same
// one at the same time, and one that is killed loses none. An empty name is no queue.
type Queue string

// Message is a failed write.
type Message struct {
	Of     Place
	Failed *writer.Error

	name string
}

const suffix = ".message"

// Put stores a failed write.
func (q Queue) Put(of Place, failed *writer.Error) error {
	return q.Again(Message{name: fmt.Sprintf("%s,%d,%016x%s", of.History, of.N, rand.Uint64(), suffix)}, failed)
}

// Again stores what is known of a message now in place of what was. It writes the whole of a file or nothing of it.
func (q Queue) Again(m Message, failed *writer.Error) error {
	data, err := failed.MarshalBinary()
	part := filepath.Join(string(q), fmt.Sprintf("%016x.part", rand.Uint64()))
	if err == nil {
		err = os.WriteFile(part, data, 0o600)
	}
	if err == nil {
		err = os.Rename(part, filepath.Join(string(q), m.name))
	}
	return err
}

// Take gives any message, or false if the queue is empty. It stays where it is.
func (q Queue) Take() (m Message, ok bool, err error) {
	for {
		entries, err := os.ReadDir(string(q))
		entries = slices.DeleteFunc(entries, func(e fs.DirEntry) bool { return filepath.Ext(e.Name()) != suffix })
		if err != nil || len(entries) == 0 {
			return m, false, err
		}
		name := entries[rand.IntN(len(entries))].Name()
		data, err := os.ReadFile(filepath.Join(string(q), name))
		if errors.Is(err, fs.ErrNotExist) {
			continue // somebody else has done with it
		}
		m = Message{Failed: new(writer.Error), name: name}
		if err == nil {
			m.Of.History, name, _ = strings.Cut(name, ",")
			_, err = fmt.Sscanf(name, "%d,", &m.Of.N)
		}
		if err == nil {
			err = m.Failed.UnmarshalBinary(data)
		}
		return m, true, err
	}
}

// Done takes a message out. It may be gone already.
func (q Queue) Done(m Message) error {
	if err := os.Remove(filepath.Join(string(q), m.name)); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
