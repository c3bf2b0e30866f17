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
	h.mu.Lock()
	defer h.mu.Unlock()
	h.writes = append(h.writes, Write[T]{By: by, Kind: kind, Row: row})
	h.journal.begin(len(h.writes)-1, &h.writes[len(h.writes)-1])
	return len(h.writes) - 1
}

// End notes what Write, Modify or Resume returned of write n. A write that is resumed ends again.
func (h *History[T]) End(n int, timestamp int64, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.writes[n].settle(timestamp, err)
	h.journal.end(n, &h.writes[n])
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
