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
}

// settle notes what Write, Modify or Resume returned.
func (w *Write[T]) settle(timestamp int64, err error) {
	w.learn(timestamp)
	w.Outcome, w.Tables = writer.Unknown, nil
	if err == nil {
		w.Outcome = writer.Applied
		return
	}
	var failed *writer.Error
	if !errors.As(err, &failed) {
		return
	}
	w.learn(failed.Timestamp)
	if failed.NotApplied() {
		w.Outcome = writer.NotApplied
		return
	}
	w.Tables = make(map[string]writer.Outcome, len(failed.Tables))
	for _, r := range failed.Tables {
		w.Tables[r.Table] = r.Outcome
	}
}

// learn keeps a timestamp that the client had chosen where the answer has none: nothing was sent then.
func (w *Write[T]) learn(timestamp int64) {
	if timestamp != 0 {
		w.Timestamp = timestamp
	}
}

// again forgets where the write is said not to be.
func (w *Write[T]) again() {
	w.Resumed, w.Outcome = true, writer.Unknown
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
