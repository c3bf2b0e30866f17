package history

import (
	"errors"

	"github.com/denorm-go/denorm/tables"
	"github.com/denorm-go/denorm/writer"
)

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
	timestamp int64
	outcome   writer.Outcome
	tables    map[string]writer.Outcome // nil if it was told of the write as a whole, or nothing
}

func saidBy(timestamp int64, err error) said {
	s := said{timestamp: timestamp}
	var failed *writer.Error
	switch {
	case err == nil:
		s.outcome = writer.Applied
		return s
	case !errors.As(err, &failed):
		return s
	}
	if failed.Timestamp != 0 {
		s.timestamp = failed.Timestamp
	}
	if failed.NotApplied() {
		s.outcome = writer.NotApplied
		return s
	}
	s.tables = make(map[string]writer.Outcome, len(failed.Tables))
	for i := range failed.Tables {
		s.tables[failed.Tables[i].Table] = failed.Tables[i].Outcome
	}
	return s
}

// recordOutcome notes what one caller was told, alongside what others were that have sent the write, too: what was said to be applied stays
// so whatever is said later, and what was said not to be applied stays so until it is sent again.
func (w *Write[T]) recordOutcome(s said) {
	if s.timestamp != 0 { // else nothing was sent, perhaps at a timestamp that the client had chosen
		w.Timestamp = s.timestamp
	}
	if s.outcome == writer.NotApplied && w.repeated {
		return
	}
	if s.outcome == writer.Unknown {
		for table, o := range s.tables {
			w.told(table, o)
		}
		return
	}
	w.contradict(w.Outcome, s.outcome)
	for _, o := range w.Tables {
		w.contradict(o, s.outcome)
	}
	if s.outcome == writer.Applied || w.Outcome != writer.Applied {
		w.Outcome, w.Tables = s.outcome, nil
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

// again forgets where the write is said not to be.
func (w *Write[T]) again() {
	w.Resumed = true
	if w.Outcome != writer.Applied {
		w.Outcome = writer.Unknown
	}
	for table, o := range w.Tables {
		if o == writer.NotApplied {
			w.Tables[table] = writer.Unknown
		}
	}
}

// of is what the client was told of a table.
func (w *Write[T]) of(table string) writer.Outcome {
	if w.Tables == nil {
		return w.Outcome
	}
	return w.Tables[table]
}
