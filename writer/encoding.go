package writer

import (
	"encoding"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"regexp"
	"slices"

	"github.com/denorm-go/denorm/internal/decide"
	"github.com/denorm-go/denorm/internal/entity"
	"github.com/denorm-go/denorm/internal/fanout"
	"github.com/denorm-go/denorm/internal/printable"
	req "github.com/denorm-go/denorm/internal/request"
	"github.com/denorm-go/denorm/internal/statement"
	"github.com/denorm-go/denorm/internal/wire"
	"github.com/denorm-go/denorm/retry"
)

var (
	_ encoding.BinaryMarshaler   = (*Error)(nil)
	_ encoding.BinaryUnmarshaler = (*Error)(nil)
)

// magic begins every stored Error; its last byte is the version of the format.
const magic = "denorm\x03"

// Bounds of a stored error, far above what a write is. Package entity has one for columns.
const (
	maxStored = 128 << 20 // bytes: eight tables with rows as large as Cassandra takes them by default
	maxParts  = 100_000   // requests, mutations, conditions and tables
	maxTables = 1_000     // of an entity with conditions
	maxOp     = 256       // bytes; MarshalBinary cuts
	maxTries  = 1 << 30   // attempts of a request; MarshalBinary stores no more, so that sums stay in an int
)

var (
	errStoredSize = fmt.Errorf("denorm: a stored error has at most %d MiB, and %d tables of an entity with conditions",
		maxStored>>20, maxTables)
	errStored = errors.New("denorm: decode error: incomplete")
)

// wireError is an Error as it is stored, and wirePath one of its requests. The texts of errors are kept, not their
// types.
type wireError struct {
	Op        string
	Timestamp int64
	Mode      Mode
	Strict    bool
	Link      string // the traceparent of the write
	Paths     []wirePath
	Decision  wireDecision
}

// wireDecision is the conditions of a write with what is known of them. A write without conditions has none.
type wireDecision struct {
	Outcome    Outcome
	Attempts   int
	Err        string
	Refused    bool
	Conflict   bool
	Taken      string   // the table, if another entity has the key
	Tables     []string // of a Versioned entity, with their keyspaces
	ID         decide.IDClaim
	Conditions [][]byte
}

type wirePath struct {
	Outcome   Outcome
	Attempts  int
	Err       string
	Refused   bool
	Mutations [][]byte
}

// MarshalBinary encodes the error with its encoded mutations, so that another process can Resume it: store failed
// writes in a queue. The bytes hold the bound values of the write; store them as you store the rows. They hold physical
// keyspaces, and the traceparent of a traced write. For counters they hold the outcome alone. An error cannot be
// encoded if nothing was planned (a rejected write, a failed read), or if the write is too large.
func (e *Error) MarshalBinary() ([]byte, error) {
	if err := e.nothing(); err != nil {
		return nil, err
	}
	w := wireError{Op: e.Op[:min(len(e.Op), maxOp)], Timestamp: e.Timestamp, Mode: e.Mode, Strict: e.strict, Link: e.link}
	requests := slices.Clip(e.requests) // others may encode it at the same time
	if d, known := e.decision, &e.known; d != nil {
		w.Decision = wireDecision{
			Outcome: known.Outcome, Attempts: min(known.Attempts, maxTries), Conflict: known.Conflict,
			Tables: d.Tables, ID: known.ID,
		}
		for _, one := range d.Parts {
			data, err := one.MarshalBinary()
			if err != nil {
				return nil, err
			}
			w.Decision.Conditions = append(w.Decision.Conditions, data)
		}
		if known.Taken != nil {
			w.Decision.Taken = known.Taken.Table
		}
		w.Decision.Err, w.Decision.Refused = wireCause(known.Err)
		all := fanout.Request{Mutations: d.Mutations, Outcome: known.Outcome, Attempts: known.Attempts, Err: known.Err}
		requests = append(requests, all.Split()...)
	}
	for i := range requests {
		p := &requests[i]
		stored := wirePath{Outcome: p.Outcome, Attempts: min(p.Attempts, maxTries)}
		stored.Err, stored.Refused = wireCause(p.Err)
		for _, m := range p.Mutations {
			data, err := m.MarshalBinary()
			if err != nil {
				return nil, err
			}
			stored.Mutations = append(stored.Mutations, data)
		}
		w.Paths = append(w.Paths, stored)
	}
	data := wire.Append([]byte(magic), w)
	data = binary.BigEndian.AppendUint32(data, crc32.ChecksumIEEE(data))
	if err := new(Error).UnmarshalBinary(data); err != nil {
		return nil, fmt.Errorf("denorm: encode error: it could not be decoded again: %w", err)
	}
	return data, nil
}

// UnmarshalBinary decodes what MarshalBinary returned. It rejects bytes that are damaged, of another version or over
// 128 MiB, and values that do not have their column's stored type. Causes come back as texts of one line, without
// types.
//
// The bytes hold no CQL: whoever can forge them can make Resume write and delete rows, but run no other statement. With
// [Resumes] these are rows that its sets could have written, otherwise any in the writer's keyspaces. If you cannot
// rule out forgery, sign the bytes, as ExampleError_MarshalBinary_signed does.
func (e *Error) UnmarshalBinary(data []byte) error {
	if e == nil {
		return errors.New("denorm: decode error: the error to decode into is nil: declare a value, var failed writer.Error")
	}
	body, last := len(data)-crc32.Size, len(magic)-1
	switch {
	case len(data) <= last || string(data[:last]) != magic[:last]:
		return errors.New("denorm: decode error: not an encoded writer.Error")
	case data[last] < magic[last]:
		return errors.New("denorm: decode error: made by an unreleased version: drain the queue before the update")
	case data[last] > magic[last]:
		return errors.New("denorm: decode error: made by a later version: resume it with that")
	case len(data) > maxStored:
		return errStoredSize
	case body < len(magic) || crc32.ChecksumIEEE(data[:body]) != binary.BigEndian.Uint32(data[body:]):
		return errors.New("denorm: decode error: damaged")
	}
	var w wireError
	if _, err := wire.Decode(data[len(magic):body], &w, maxParts); err != nil {
		return fmt.Errorf("denorm: decode error: %w", err)
	}
	decoded, err := w.error()
	if err != nil {
		return err
	}
	*e = *decoded
	return nil
}

func (w *wireError) error() (*Error, error) {
	if len(w.Op) > maxOp || w.Timestamp <= 0 || w.Mode < Single || w.Mode > Transaction ||
		len(w.Paths)+len(w.Decision.Conditions) == 0 {
		return nil, errStored
	}
	e := &Error{
		Op: printable.Line(w.Op), Timestamp: w.Timestamp, Mode: w.Mode, strict: w.Strict, stored: true,
		link: traceparent(w.Link),
	}
	var types statement.Decoder
	if len(w.Decision.Conditions) > 0 {
		var err error
		if e.decided, err = w.Decision.decided(&types); err != nil {
			return nil, err
		}
	}
	for _, stored := range w.Paths {
		if stored.Outcome > Pending || stored.Attempts < 0 || stored.Attempts > maxTries || len(stored.Mutations) == 0 {
			return nil, errStored
		}
		p := fanout.Request{
			Kind: retry.Partition, Outcome: stored.Outcome, Attempts: stored.Attempts,
			Err: storedCause(stored.Err, stored.Refused),
		}
		if w.Mode == LoggedBatch {
			p.Kind = retry.LoggedBatch
		}
		for _, data := range stored.Mutations {
			m := new(statement.Mutation)
			if err := types.Mutation(data, m); err != nil {
				return nil, err
			}
			p.Mutations = append(p.Mutations, m)
		}
		counter := isIncrement(p.Mutations[0])
		mixed := slices.ContainsFunc(p.Mutations, func(m *statement.Mutation) bool { return isIncrement(m) != counter })
		switch {
		case counter && !mixed:
			p.Kind = retry.Counter
		case mixed || w.Mode == Counter || w.Mode == LoggedBatch && len(e.requests) > 0 || len(e.requests) > 0 &&
			e.requests[len(e.requests)-1].Kind == retry.Counter:
			return nil, errStored
		}
		e.requests = append(e.requests, p)
	}
	if err := e.agree(); err != nil {
		return nil, err
	}
	if whole := e.decision != nil && e.decision.Whole; whole != (w.Mode == Transaction) || whole && !e.unite() {
		return nil, errStored
	}
	if e.decision != nil && e.decision.Check != nil && e.decision.Check(e.decision) != nil {
		return nil, errStored
	}
	e.Tables = e.results()
	return e, nil
}

// unite makes the requests a part of the decision, and says whether they can be one: it alone is sent.
func (e *Error) unite() bool {
	for i := range e.requests {
		if e.requests[i].Outcome != e.known.Outcome {
			return false
		}
		e.decision.Mutations = append(e.decision.Mutations, e.requests[i].Mutations...)
	}
	e.requests = nil
	return true
}

func (w *wireDecision) decided(types *statement.Decoder) (d decided, err error) {
	if w.Outcome > Pending || w.Attempts < 0 || w.Attempts > maxTries || w.ID > decide.Claimed {
		return d, errStored
	}
	if len(w.Tables) > maxTables {
		return d, errStoredSize
	}
	d.known = decide.Known{Outcome: w.Outcome, Attempts: w.Attempts, Err: storedCause(w.Err, w.Refused), ID: w.ID}
	if w.Taken != "" {
		d.known.Err = decide.TakenError(printable.Line(w.Taken))
	}
	d.known.Conflict = (w.Conflict || w.Taken != "") && w.Outcome != Applied
	for i, data := range w.Conditions {
		one := new(entity.Conditional)
		if err := one.Decode(types, data); err != nil {
			return d, err
		}
		if i == 0 {
			protocol, err := protocolOf(one.Condition.By)
			if err != nil {
				return d, fmt.Errorf("denorm: decode error: %w", err)
			}
			d.decision = decide.New(protocol, one)
			d.decision.Tables = w.Tables
		} else if err := d.decision.Add(one); err != nil {
			return d, fmt.Errorf("denorm: decode error: %w", err)
		}
	}
	return d, nil
}

// wireCause is what is stored of the cause of a failure, nothing if there is none.
func wireCause(err error) (text string, refused bool) {
	if err == nil {
		return "", false
	}
	return causeText(err), errors.Is(err, ErrRefused)
}

// storedCause is the reverse of wireCause.
func storedCause(text string, refused bool) error {
	if text == "" {
		return nil
	}
	err := errors.New(printable.Line(text))
	if refused {
		return &req.RefusedError{Cause: err}
	}
	return err
}

// traceparent is a text that has the form of one, as version 00 of the W3C's Trace Context defines it; empty otherwise.
// Who can write to the storage of errors, or a tracer, could put anything there, and it goes where traces go.
func traceparent(text string) string { return traceparentForm.FindString(text) }

var traceparentForm = regexp.MustCompile(`^00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$`)
