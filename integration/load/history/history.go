package history

import (
	"io"
	"sync"

	"github.com/denorm-go/denorm/tables"
	"github.com/denorm-go/denorm/writer"
)

// History is all writes of a load. It is safe for concurrent use. The zero value is ready.
type History[T any] struct {
	mu      sync.Mutex
	writes  []Write[T]
	journal io.Writer // nil: none is kept
}

// New is a history that is also appended to out, if that is not nil: each write before it is sent and when it has ended.
// Every entry is one call of Write, so that it is there even if the process is killed the moment after.
func New[T any](out io.Writer) *History[T] { return &History[T]{journal: out} }

// Begin notes a write that is about to be sent, and returns its number. Until it ends its outcome is unknown. It panics if
// the journal cannot be written: a history with gaps would make a sound table look wrong.
func (h *History[T]) Begin(by string, kind tables.Kind, row T) int {
	return h.BeginAt(by, kind, row, 0)
}

// BeginAt is Begin for a write whose client has chosen the timestamp itself (writer.At): it is known even if the client is
// killed, and with it the write can be repeated.
func (h *History[T]) BeginAt(by string, kind tables.Kind, row T, timestamp int64) int {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.writes = append(h.writes, Write[T]{By: by, Kind: kind, Row: row, Timestamp: timestamp})
	n := len(h.writes) - 1
	writeLine(h.journal, entry[T]{N: n, Begin: &beginning[T]{by, kind, row, timestamp}})
	return n
}

// End notes what Write, Modify or Resume returned of write n. A write that is resumed ends again, and may do so in several places at
// once: whatever was said to be applied has to be there in the end, and whatever is said not to be must not, unless it is sent
// again later.
func (h *History[T]) End(n int, timestamp int64, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	w := &h.writes[n]
	w.recordOutcome(saidBy(timestamp, err))
	writeLine(h.journal, entry[T]{N: n, End: &ending{w.Timestamp, w.Outcome, w.Tables, w.Contradiction}})
}

// Again notes that write n, which has ended, is about to be sent again: until it ends once more whatever it was said not to
// be applied to may have it.
func (h *History[T]) Again(n int) { h.sentAgain(n, false) }

// Repeat is Again for a write that is made again by a caller that does not know what became of the first one: what it is told not to
// be applied may be there all the same.
func (h *History[T]) Repeat(n int) { h.sentAgain(n, true) }

func (h *History[T]) sentAgain(n int, repeated bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	w := &h.writes[n]
	w.again()
	w.repeated = w.repeated || repeated
	writeLine(h.journal, entry[T]{N: n, Again: true})
}

// Writes returns all writes so far. The slice must not be changed, and no write of it ends any more.
func (h *History[T]) Writes() []Write[T] {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.writes[:len(h.writes):len(h.writes)]
}

// Count returns how many writes have each outcome.
func (h *History[T]) Count() map[writer.Outcome]int {
	h.mu.Lock()
	defer h.mu.Unlock()
	n := make(map[writer.Outcome]int)
	for i := range h.writes {
		n[h.writes[i].Outcome]++
	}
	return n
}
