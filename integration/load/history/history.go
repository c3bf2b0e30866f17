package history

import (
	"errors"
	"io"
	"slices"
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

// New is a history that is also appended to out, if that is not nil: each write before it is sent and when it has
// ended. Every entry is one call of Write, so that it is there even if the process is killed the moment after.
func New[T any](out io.Writer) *History[T] { return &History[T]{journal: out} }

// Begin notes a write that is about to be sent, and returns its number. Until it ends its outcome is unknown. It panics
// if the journal cannot be written: a history with gaps would make a sound table look wrong.
func (h *History[T]) Begin(by string, kind tables.Kind, row T) int {
	return h.BeginAt(by, kind, row, 0)
}

// BeginAt is Begin for a write whose client has chosen the timestamp itself (writer.At): it is known even if the client
// is killed, and with it the write can be repeated.
func (h *History[T]) BeginAt(by string, kind tables.Kind, row T, timestamp int64) int {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.writes = append(h.writes, Write[T]{By: by, Kind: kind, Row: row, Timestamp: timestamp})
	n := len(h.writes) - 1
	writeLine(h.journal, entry[T]{Place: Place{N: n}, Begin: &beginning[T]{by, kind, row, timestamp}})
	return n
}

// End notes what Write, Modify or Resume returned of write n. A write that is resumed ends again, and may do so in
// several places at once: whatever was said to be applied has to be there in the end, and whatever is said not to be
// must not, unless it is sent again later.
func (h *History[T]) End(n int, timestamp int64, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	told := saidBy(timestamp, err)
	h.writes[n].recordOutcome(*told)
	writeLine(h.journal, entry[T]{Place: Place{N: n}, End: told})
}

// Again notes that write n, which has ended, is about to be sent again: until it ends once more whatever it was said
// not to be applied to may have it, but for tables of counters.
func (h *History[T]) Again(n int, counters ...string) { h.sentAgain(n, false, counters) }

// Repeat is Again for a write that is made again by a caller that does not know what became of the first one: what it
// is told not to be applied may be there all the same.
func (h *History[T]) Repeat(n int) { h.sentAgain(n, true, nil) }

func (h *History[T]) sentAgain(n int, repeated bool, counters []string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.writes[n].again(repeated, counters)
	writeLine(h.journal, entry[T]{Place: Place{N: n}, Again: true, Repeated: repeated, Counters: counters})
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

// Write is one logical write of one entity, as its client knows it.
type Write[T any] struct {
	By   string // the client
	Kind tables.Kind
	// Row is what is written; of a Delete, what was to be deleted. Its stamp, if it has one, is ignored.
	Row T
	// Timestamp in microseconds. 0 if the client did not learn it, because it was killed or because nothing was sent.
	Timestamp int64
	// Outcome is Applied if every table acknowledged the write, NotApplied if it is surely in none, and else Unknown.
	Outcome writer.Outcome
	// Tables is what the client was told last of each table. Nil if it was told of the write as a whole.
	Tables map[string]writer.Outcome
	// Resumed says that it was sent again after it had ended.
	Resumed bool
	// Contradiction is what two callers were told of the write that cannot both be true, empty if there is nothing.
	Contradiction string

	repeated bool // it was made again by a caller that does not know what became of the first
}

// said is what Write, Modify or Resume told of a write.
type said struct {
	Timestamp int64                     `json:"timestamp"`
	Outcome   writer.Outcome            `json:"outcome"`
	Tables    map[string]writer.Outcome `json:"tables,omitempty"` // nil if it was told of the write as a whole, or nothing
}

func saidBy(timestamp int64, err error) *said {
	s := &said{Timestamp: timestamp}
	var failed *writer.Error
	switch {
	case err == nil:
		s.Outcome = writer.Applied
		return s
	case !errors.As(err, &failed):
		return s
	}
	if failed.Timestamp != 0 {
		s.Timestamp = failed.Timestamp
	}
	if failed.NotApplied() {
		s.Outcome = writer.NotApplied
		return s
	}
	s.Tables = make(map[string]writer.Outcome, len(failed.Tables))
	for i := range failed.Tables {
		s.Tables[failed.Tables[i].Table] = failed.Tables[i].Outcome
	}
	return s
}

// recordOutcome notes what one caller was told, alongside what others were that have sent the write, too: what was said
// to be applied stays so whatever is said later, and what was said not to be applied stays so until it is sent again.
func (w *Write[T]) recordOutcome(s said) {
	if s.Timestamp != 0 { // else nothing was sent, perhaps at a timestamp that the client had chosen
		w.Timestamp = s.Timestamp
	}
	if s.Outcome == writer.NotApplied && w.repeated {
		return
	}
	if s.Outcome == writer.Unknown {
		for table, o := range s.Tables {
			w.told(table, o)
		}
		return
	}
	w.contradict(w.Outcome, s.Outcome)
	for _, o := range w.Tables {
		w.contradict(o, s.Outcome)
	}
	if s.Outcome == writer.Applied || w.Outcome != writer.Applied {
		w.Outcome, w.Tables = s.Outcome, nil
	}
}

// told notes what is said of one table.
func (w *Write[T]) told(table string, said writer.Outcome) {
	if said == writer.NotApplied && w.repeated {
		said = writer.Unknown
	}
	w.contradict(w.Outcome, said)
	if w.Outcome != writer.Unknown {
		return // of all tables more was said already
	}
	if w.Tables == nil {
		w.Tables = make(map[string]writer.Outcome)
	}
	before := w.Tables[table]
	w.contradict(before, said)
	if before != writer.Applied && before != writer.NotApplied || said == writer.Applied {
		w.Tables[table] = said
	}
}

func (w *Write[T]) contradict(one, other writer.Outcome) {
	if one == writer.Applied && other == writer.NotApplied || one == writer.NotApplied && other == writer.Applied {
		w.Contradiction = "one caller was told that it is applied, and another one that it is not"
	}
}

// again forgets where the write is said not to be, but for tables of counters, which are not sent again.
func (w *Write[T]) again(repeated bool, counters []string) {
	w.Resumed = true
	w.repeated = w.repeated || repeated
	if w.Outcome == writer.NotApplied && counters != nil {
		w.Tables = make(map[string]writer.Outcome)
		for _, table := range counters {
			w.Tables[table] = writer.NotApplied
		}
	}
	if w.Outcome != writer.Applied {
		w.Outcome = writer.Unknown
	}
	for table, o := range w.Tables {
		if o == writer.NotApplied && !slices.Contains(counters, table) {
			w.Tables[table] = writer.Unknown
		}
	}
}

// Of is what the client was told of a table.
func (w *Write[T]) Of(table string) writer.Outcome {
	if w.Tables == nil {
		return w.Outcome
	}
	return w.Tables[table]
}
