package writer

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strconv"
	"strings"

	"github.com/denorm-go/denorm/internal/decide"
	"github.com/denorm-go/denorm/internal/fanout"
	req "github.com/denorm-go/denorm/internal/request"
	"github.com/denorm-go/denorm/retry"
)

// What an [*Error] can match with errors.Is.
var (
	// ErrInvalid: the call or a row is not valid; nothing was sent. Or a Versioned before-image has the row's version
	// but other keys. Or a compared column is null and its field cannot be nil, so no condition holds. In the last two
	// cases nothing was applied. From Resume it means that this call has sent nothing, but the write may be half
	// applied: then [OutcomeOf] returns Unknown. While the error is [Error.Resumable], the fault may be the writer's.
	ErrInvalid = decide.ErrInvalid
	// ErrPartial: at least one table has the write, and another is not known to have it. Resume it if it is
	// [Error.Resumable].
	ErrPartial = errors.New("partially applied")
	// ErrUnknown: at least one table may or may not have the write, now or later. Resume it if it is [Error.Resumable].
	ErrUnknown = errors.New("outcome unknown")
	// ErrConflict: the condition of a Versioned or Compare set did not hold, because another writer came first.
	// [Current] returns the row as it is. The write is NotApplied, or Unknown if an earlier attempt may have been
	// applied. An Insert may have met the row of an earlier try of the same request. Look at Current, or give all tries
	// one [At].
	ErrConflict = errors.New("conflict")
	// ErrTaken: another entity has, or is about to have, a key that the set declares Unique. The error also matches
	// ErrConflict.
	ErrTaken = decide.ErrTaken
	// ErrExpired: the write is too old to Resume. The limit is half the smallest gc_grace_seconds of its tables, but at
	// least a minute. A table that the cluster does not have counts as 10 days. For an insert into a Versioned or
	// Compare set whose transaction is not known to be applied, the limit is at most 12 hours. Later, the server may
	// have purged the tombstone of a delete, so the write would bring its row back.
	ErrExpired = errors.New("too old to resume")
	// ErrTooLarge: a logged batch would be larger than [BatchLimit]; nothing was sent. [OutcomeOf] returns NotApplied,
	// but a repeat fails again: write fewer rows at a time.
	ErrTooLarge = errors.New("too large")
	// ErrRefused: the server rejects the write to a table, and would again. A value is too large for an index or a
	// guardrail, or a permission is missing. See [Error.Resumable].
	ErrRefused = req.ErrRefused
	// ErrNotFound: Modify or Load found no base row under the key. Nothing was written.
	ErrNotFound = errors.New("no such entity")
)

// TableResult is what is known about one table after a write that failed.
type TableResult struct {
	Keyspace, Table string // physical
	Outcome         Outcome
	// attempts that included the table, in earlier calls too; the largest number if it was in several requests
	Attempts int
	Err      error // why Outcome is not Applied; otherwise nil
	Counter  bool  // the table holds counters
}

// Error is the error of every failed write, and of the reads of [Modify] and [Load]. It says per table what is known,
// unwraps to all causes, and matches [ErrInvalid], [ErrTooLarge], [ErrPartial], [ErrUnknown], [ErrRefused],
// [ErrConflict], [ErrTaken], [ErrExpired] and [ErrNotFound] with errors.Is. An Error that matches none of them was not
// applied to any table.
//
// It holds the encoded mutations, so that [Writer.Resume] can finish the write, also in another process: store it with
// MarshalBinary. It prints no bound value in any format. It is immutable and safe for concurrent use.
type Error struct {
	Op        string // the name of the logical write
	Timestamp int64  // microseconds, of all its mutations; 0 if the write was rejected before it got a timestamp
	Mode      Mode
	// Tables has one result per table with rows of the entity, the base table of the first change first. Unique tables
	// have claims instead, and are not listed. Tables is empty if the write was rejected. After a failed read it has the
	// base table: NotApplied, with the attempts of the read.
	Tables []TableResult

	refusal error // why nothing was sent; nil if something was, or might have been
	unread  error // why the row to write from was not read; nil if the error is not of a read
	kept    bool  // the refusal is that of a Resume which another writer may carry out
	expired bool
	strict  bool // a logged batch must stay one
	stored  bool // it comes out of storage, and others may have written it

	link string // the traceparent of the write; empty if it is not known

	decided
	requests []fanout.Request
}

var (
	_ error          = (*Error)(nil)
	_ fmt.Formatter  = Error{}
	_ slog.LogValuer = Error{}
	_ json.Marshaler = Error{}
)

// reject is the error of a write of which nothing was sent because it is not valid.
func reject(op string, cause error) *Error { return &Error{Op: op, refusal: cause} }

// unread is the error of a read before which, and after which, nothing was written.
func unread(op, keyspace, table string, attempts int, cause error) *Error {
	return &Error{
		Op: op, unread: cause,
		Tables: []TableResult{{Keyspace: keyspace, Table: table, Outcome: NotApplied, Attempts: attempts, Err: cause}},
	}
}

func (e *Error) Error() string {
	text := "denorm: "
	if e.Op != "" {
		text += e.Op + ": "
	}
	switch {
	case e.expired:
		return fmt.Sprintf("%s%v: %v", text, ErrExpired, e.refusal)
	case e.refusal != nil:
		if e.Is(ErrInvalid) {
			text += ErrInvalid.Error() + ": "
		}
		text += e.refusal.Error()
		if e.Resumable() {
			text += "; nothing was sent, and the write is still to be finished: keep the error"
		}
		return text
	case e.unread != nil:
		text += "read of " + e.Tables[0].Table
		if n := e.Tables[0].Attempts; n > 1 {
			text += fmt.Sprintf(" after %d attempts", n)
		}
		return text + ": " + causeText(e.unread)
	}
	return text + e.Mode.String() + ": " + strings.Join(e.texts(), "; ")
}

// texts says how many tables have the write, and what is known of each of the others.
func (e *Error) texts() (texts []string) {
	applied, last := 0, ""
	for _, r := range e.Tables {
		if r.Outcome == Applied {
			applied++
			continue
		}
		text := r.Table + " " + r.Outcome.String()
		switch {
		case r.Attempts > 1:
			text += fmt.Sprintf(" after %d attempts", r.Attempts)
		case r.Attempts == 0 && r.Outcome == NotApplied:
			text += ", not sent"
		}
		if r.Counter {
			text += ", and counters are never sent again"
		}
		if cause := causeText(r.Err); cause == last { // a batch fails all tables alike
			text += ", for the same reason"
		} else {
			text, last = text+": "+cause, cause
		}
		texts = append(texts, text)
	}
	if applied > 0 || len(e.Tables) != 1 && !e.Is(ErrUnknown) { // "applied to 0" would read as not applied
		all := fmt.Sprintf("applied to %d of %d tables", applied, len(e.Tables))
		texts = slices.Insert(texts, 0, all)
	}
	return texts
}

// causeText is the text of a cause, or at least its type.
func causeText(err error) string {
	if err == nil {
		return "no cause known"
	}
	if text := err.Error(); text != "" {
		return text
	}
	return fmt.Sprintf("%T", err)
}

// Format prints the message for every verb: printed as a struct, an Error would show encoded values.
func (e Error) Format(s fmt.State, verb rune) {
	text := e.Error()
	if verb == 'q' {
		text = strconv.Quote(text)
	}
	_, _ = io.WriteString(s, text)
}

// LogValue returns the message, for slog.
func (e Error) LogValue() slog.Value { return slog.StringValue(e.Error()) }

// MarshalJSON always fails: JSON would not hold what [Writer.Resume] sends, so the write could not be finished. Store
// the bytes of MarshalBinary, in JSON as a []byte, or only the text of the error.
func (e Error) MarshalJSON() ([]byte, error) {
	return nil, errors.New("denorm: JSON cannot hold what Resume needs: store the bytes of MarshalBinary, or the text " +
		"of Error()")
}

// Is matches the sentinels of this package.
func (e *Error) Is(target error) bool {
	switch target {
	case ErrExpired:
		return e.expired
	case ErrInvalid:
		return e.refusal != nil && !e.expired && !errors.Is(e.refusal, ErrTooLarge)
	case ErrConflict:
		return e.known.Conflict
	case ErrUnknown:
		return e.any(func(o Outcome) bool { return o == Unknown || o == Pending })
	case ErrPartial:
		return e.any(func(o Outcome) bool { return o == Applied }) && e.any(func(o Outcome) bool { return o != Applied })
	}
	return false
}

// nothing is why the error holds nothing that could be sent, or nil if it does.
func (e *Error) nothing() error {
	switch {
	case len(e.requests) > 0 || e.decision != nil:
		return nil
	case e.refusal != nil || e.unread != nil:
		return errNothingToResume
	}
	return errNotDecoded
}

func (e *Error) any(is func(Outcome) bool) bool {
	return slices.ContainsFunc(e.Tables, func(r TableResult) bool { return is(r.Outcome) })
}

// wrongImage says whether the before-image had the version of the row, and other keys, or a compared column was null.
func (e *Error) wrongImage() bool { return errors.Is(e.known.Err, ErrInvalid) }

// Unwrap returns the causes: why each table is not Applied, why the write was rejected, or why the read failed.
func (e *Error) Unwrap() []error {
	if e.refusal != nil {
		return []error{e.refusal}
	}
	if e.unread != nil {
		return []error{e.unread}
	}
	var causes []error
	if e.undecided() && e.known.Err != nil {
		causes = append(causes, e.known.Err)
	}
	for i := range e.requests {
		if e.requests[i].Err != nil {
			causes = append(causes, e.requests[i].Err)
		}
	}
	return causes
}

// Current returns the row as it was when err's write met [ErrConflict]. It returns false if the row does not exist or
// could not be read, if T is not the row type, and for other errors. Of several changes it returns the row of the first
// whose condition did not hold.
func Current[T any](err error) (T, bool) {
	var e *Error
	if !errors.As(err, &e) || !e.known.Conflict {
		return *new(T), false
	}
	row, ok := e.known.Current.(T)
	return row, ok
}

// NotApplied reports whether the write is surely in no table, and will not appear. Fail the request, or make it again,
// but not after [ErrRefused] or [ErrTooLarge]. Claims in Unique tables do not count: they are released. If that fails,
// another entity that wants the key gets [ErrTaken] until the claim is older than [ClaimGrace]. The same entity gets
// the key at once, so make the request again under the same id.
//
// NotApplied describes the call that returned the error. Once the error was given to [Writer.Resume], or to a queue
// whose consumers resume it, rely only on the error that Resume returns.
func (e *Error) NotApplied() bool {
	if len(e.Tables) == 0 {
		return e.refusal != nil && !errors.Is(e.refusal, errNoError) && !errors.Is(e.refusal, errNotDecoded)
	}
	return !e.any(func(o Outcome) bool { return o != NotApplied })
}

// Resumable reports whether [Writer.Resume] should be called: a table without counters is not Applied. It does not
// check how old the write is. It is false after
//
//   - every [ErrConflict], [ErrTaken] included, even if the outcome is Unknown: [Current] or a read returns the row,
//     which has changed since;
//   - [ErrRefused], if only refused tables are left. First raise the limit, drop the index or grant the permission;
//     then call Resume. Until then a Versioned entity takes no other write. In other sets a Delete undoes the write;
//   - a NotApplied Insert into a Versioned set with a Unique table of the ID, if the ID is not claimed: insert it
//     again;
//   - [ErrInvalid], unless Resume has rejected a write at most 5 days old for what may be a fault of the writer.
func (e *Error) Resumable() bool {
	return (e.refusal == nil || e.kept) && e.open() && !e.Is(ErrConflict) && !e.wrongImage() && !e.onlyRefused() &&
		!e.ended()
}

// ended says whether an insert was not applied and has no claim of its ID. No Resume sends it.
func (e *Error) ended() bool {
	return e.decision != nil && e.known.Outcome == NotApplied && e.known.ID == decide.Unclaimed && !e.known.Conflict
}

// onlyRefused says whether the server refuses all that is still to be sent.
func (e *Error) onlyRefused() bool {
	if e.undecided() {
		return errors.Is(e.known.Err, ErrRefused) // the rest waits for it
	}
	return !slices.ContainsFunc(e.requests, func(p fanout.Request) bool {
		return resumable(p) && !errors.Is(p.Err, ErrRefused)
	})
}

// open says whether the write lacks anything but counters.
func (e *Error) open() bool {
	return e.undecided() || slices.ContainsFunc(e.requests, resumable)
}

func resumable(p fanout.Request) bool { return p.Kind != retry.Counter && p.Outcome != Applied }

// OnlyCounters reports whether counters are all that the write lacks: every other table is Applied, and Resume has
// nothing to send. Repeat a NotApplied Add in a Write of its own. An Add that is Unknown may have been counted.
func (e *Error) OnlyCounters() bool { return !e.open() && !fanout.AllApplied(e.requests) }

// results has the base table first if a condition decided about it.
func (e *Error) results() []TableResult {
	requests := tableResults(e.requests)
	if e.decision == nil {
		return requests
	}
	for i := range requests {
		if r := &requests[i]; !r.Counter && e.decision.Follows(r.Keyspace, r.Table) {
			r.Outcome = e.followed(r.Outcome, errors.Is(r.Err, ErrRefused))
		}
	}
	return append(e.decided.results(), requests...)
}

// tableResults combines the requests of a write into one result a table.
func tableResults(requests []fanout.Request) []TableResult {
	var out []TableResult
	mutations := 0
	for i := range requests {
		mutations += len(requests[i].Mutations)
	}
	known := fanout.NewIndex(mutations)
	for i := range requests {
		p := &requests[i]
		for _, m := range p.Mutations {
			at := fanout.Find(known, m.Keyspace, m.Table, len(out), func(r int) bool {
				return out[r].Table == m.Table && out[r].Keyspace == m.Keyspace
			})
			if at == len(out) {
				out = append(out, TableResult{
					Keyspace: m.Keyspace, Table: m.Table, Outcome: p.Outcome, Attempts: p.Attempts, Err: p.Err,
					Counter: p.Kind == retry.Counter,
				})
				continue
			}
			r := &out[at]
			r.Outcome = r.Outcome.And(p.Outcome)
			r.Attempts = max(r.Attempts, p.Attempts)
			if r.Err == nil {
				r.Err = p.Err
			}
		}
	}
	return out
}
