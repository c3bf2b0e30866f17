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
	journal *journal[T] // nil: none is kept
}

// New is a history that is also appended to out, if that is not nil: each write before it is sent and when it has ended.
// Every entry is one call of Write, so that it is there even if the process is killed the moment after.
func New[T any](out io.Writer) *History[T] {
	h := new(History[T])
	if out != nil {
		h.journal = newJournal[T](out)
	}
	return h
}

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
	h.journal.begin(len(h.writes)-1, &h.writes[len(h.writes)-1])
	return len(h.writes) - 1
}

// End notes what Write, Modify or Resume returned of write n. A write that is resumed ends again, and may do so in several places at
// once: whatever was said to be applied has to be there in the end, and whatever is said not to be must not, unless it is sent
// again later.
func (h *History[T]) End(n int, timestamp int64, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.writes[n].recordOutcome(saidBy(timestamp, err))
	h.journal.end(n, &h.writes[n])
}

// Again notes that write n, which has ended, is about to be sent again: until it ends once more whatever it was said not to
// be applied to may have it.
func (h *History[T]) Again(n int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.writes[n].again()
	h.journal.again(n)
}

// Repeat is Again for a write that is made again by a caller that does not know what became of the first one: what it is told not to
// be applied may be there all the same.
func (h *History[T]) Repeat(n int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.writes[n].again()
	h.writes[n].repeated = true
	h.journal.again(n)
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
