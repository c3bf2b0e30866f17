package writer

import (
	"bytes"
	"encoding"
	"encoding/binary"
	"encoding/gob"
	"errors"
	"fmt"
	"hash/crc32"
	"slices"

	"github.com/denorm-go/denorm/internal/entity"
	"github.com/denorm-go/denorm/internal/gobscan"
	"github.com/denorm-go/denorm/internal/printable"
	"github.com/denorm-go/denorm/retry"
)

var (
	_ encoding.BinaryMarshaler   = (*Error)(nil)
	_ encoding.BinaryUnmarshaler = (*Error)(nil)
)

// magic begins every stored Error; its last byte is the version of the format.
const magic = "denorm\x01"

// wireFormat is the latest Format that this code understands: 1 is that of errors with several conditions, 2 that of transactions.
const wireFormat = 2

// Bounds of a stored error, far above what a write is: without them a few bytes could take all the memory of the reader.
const (
	maxStored    = 128 << 20 // bytes: eight tables with rows as large as Cassandra takes them by default
	maxMutations = 100_000
	maxColumns   = 1_000_000 // of all mutations
	maxTables    = 1_000     // of an entity with conditions
)

var errStoredSize = fmt.Errorf("denorm: a stored error has at most %d MiB, %d mutations and %d columns", maxStored>>20, maxMutations, maxColumns)

// wireError is an Error as it is stored, and wirePath one of its requests. The texts of errors are kept, not their types.
//
// gob ignores fields that it does not know. So an error with a field that an older process must not ignore is stored with a Format
// above that of the code without the field, and every other error with 0. Tables of wireDecision is of Format 0: without it an error
// says something else of tables that were not written, and resumes the same.
type wireError struct {
	Format    uint8
	Op        string
	Timestamp int64
	Mode      Mode
	Strict    bool
	Paths     []wirePath
	Condition *wireDecision
	Link      string // the traceparent of the write; a process that does not know the field resumes without it
}

// wireDecision is a condition with what is known of it.
type wireDecision struct {
	Outcome   Outcome
	Attempts  int
	Err       string
	Refused   bool
	Conflict  bool
	Taken     string   // the table, if another entity has the key
	Tables    []string // of a Versioned entity, with their keyspaces
	Condition []byte
	More      [][]byte // the conditions of other rows, of Formats 1 and 2
}

type wirePath struct {
	Outcome   Outcome
	Attempts  int
	Err       string
	Refused   bool
	Mutations [][]byte
}

// MarshalBinary encodes the error with the encoded mutations in it, so that another process can Resume it: store failed writes in a
// queue. The bytes hold the bound values of the write; store them as you store the rows. Keyspaces in them are physical. If the write
// was traced, they hold its traceparent. Of counters they hold the outcome, and nothing that could be sent again. An error that cannot
// be resumed, because nothing was sent, cannot be encoded. Nor can one of more than 128 MiB, 100,000 mutations, 1,000,000 columns or
// 1,000 tables of an entity with conditions; one with a column whose type, with the user-defined types in it, takes more than 64 KiB
// of text; or one whose different types take more than 1 MiB together.
func (e *Error) MarshalBinary() ([]byte, error) {
	if len(e.requests) == 0 && e.condition == nil {
		if e.empty() {
			return nil, errNotDecoded
		}
		return nil, errNothingToResume
	}
	w := wireError{Op: e.Op, Timestamp: e.Timestamp, Mode: e.Mode, Strict: e.strict, Link: e.link}
	if c := e.condition; c != nil {
		w.Condition = &wireDecision{Outcome: c.outcome, Attempts: c.attempts, Conflict: c.conflict, Tables: c.tables}
		for i, one := range c.all() {
			data, err := one.MarshalBinary()
			if err != nil {
				return nil, err
			}
			if i == 0 {
				w.Condition.Condition = data
				continue
			}
			w.Format, w.Condition.More = 1, append(w.Condition.More, data)
		}
		if c.Condition.Transactional {
			w.Format = 2
		}
		if c.taken != nil {
			w.Condition.Taken = c.taken.Table
		}
		if c.err != nil {
			w.Condition.Err, w.Condition.Refused = causeText(c.err), errors.Is(c.err, ErrRefused)
		}
	}
	mutations, columns := 0, 0
	if w.Condition != nil {
		mutations = len(w.Condition.More) + len(w.Condition.Tables)
		if len(w.Condition.Tables) > maxTables {
			return nil, fmt.Errorf("denorm: a stored error has at most %d tables of an entity with conditions", maxTables)
		}
	}
	for i := range e.requests {
		p := &e.requests[i]
		stored := wirePath{Outcome: p.outcome, Attempts: p.attempts}
		if p.err != nil {
			stored.Err, stored.Refused = causeText(p.err), errors.Is(p.err, ErrRefused)
		}
		for _, m := range p.mutations {
			data, err := m.MarshalBinary()
			if err != nil {
				return nil, err
			}
			stored.Mutations = append(stored.Mutations, data)
			mutations, columns = mutations+1, columns+len(m.Args)
		}
		w.Paths = append(w.Paths, stored)
	}
	out := bytes.NewBufferString(magic)
	if err := gob.NewEncoder(out).Encode(w); err != nil {
		return nil, fmt.Errorf("denorm: encode error: %w", err)
	}
	if out.Len()+crc32.Size > maxStored || len(w.Paths)+mutations > maxMutations || columns > maxColumns {
		return nil, errStoredSize
	}
	data := binary.BigEndian.AppendUint32(out.Bytes(), crc32.ChecksumIEEE(out.Bytes()))
	if len(data) > 1<<20 { // smaller ones cannot have types beyond what is decoded
		if err := new(Error).UnmarshalBinary(data); err != nil {
			return nil, fmt.Errorf("denorm: encode error: it could not be decoded again: %w", err)
		}
	}
	return data, nil
}

// UnmarshalBinary is the reverse of MarshalBinary. It rejects bytes that are damaged or of a later version, and values that are not of
// their column's stored type. Causes come back as texts of one line: errors.As does not find the driver's types in them. The bytes hold no
// CQL: whoever can forge them can make Resume write and delete rows, but run no other statement. [Resumes] limits these rows to what its
// sets could have written; without it, they are limited to the keyspaces of the writer. If you cannot rule out forgery, sign the bytes, as
// ExampleError_MarshalBinary_signed in example_test.go does.
func (e *Error) UnmarshalBinary(data []byte) error {
	if e == nil {
		return errors.New("denorm: decode error: the error to decode into is nil: declare a value, var failed writer.Error")
	}
	body := len(data) - crc32.Size
	if body < len(magic) || string(data[:len(magic)]) != magic {
		return errors.New("denorm: decode error: not an encoded writer.Error of this version")
	}
	if crc32.ChecksumIEEE(data[:body]) != binary.BigEndian.Uint32(data[body:]) {
		return errors.New("denorm: decode error: damaged")
	}
	var w wireError
	switch n, err := gobscan.Elements(data[len(magic):body]); {
	case err != nil:
		return fmt.Errorf("denorm: decode error: %w", err)
	case n > maxMutations || len(data) > maxStored:
		return errStoredSize
	}
	if err := gob.NewDecoder(bytes.NewReader(data[len(magic):body])).Decode(&w); err != nil {
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
	if w.Format > wireFormat {
		return nil, errors.New("denorm: decode error: stored by a later version of denorm: resume it with that")
	}
	if w.Timestamp <= 0 || w.Mode < Single || w.Mode > Transaction || len(w.Paths) == 0 && w.Condition == nil {
		return nil, errors.New("denorm: decode error: incomplete")
	}
	e := &Error{Op: printable.Line(w.Op), Timestamp: w.Timestamp, Mode: w.Mode, strict: w.Strict, stored: true, link: traceparent(w.Link)}
	var types entity.Decoder
	if w.Condition != nil {
		if w.Format < 2 && (w.Format == 1) != (len(w.Condition.More) > 0) {
			return nil, errors.New("denorm: decode error: incomplete")
		}
		var err error
		if e.condition, err = w.Condition.condition(&types); err != nil {
			return nil, err
		}
	}
	columns := 0
	for _, stored := range w.Paths {
		if stored.Outcome > Pending || stored.Attempts < 0 || len(stored.Mutations) == 0 {
			return nil, errors.New("denorm: decode error: incomplete")
		}
		p := request{kind: retry.Partition, outcome: stored.Outcome, attempts: stored.Attempts}
		if w.Mode == LoggedBatch {
			p.kind = retry.LoggedBatch
		}
		if stored.Err != "" {
			p.err = storedCause(stored.Err, stored.Refused)
		}
		for _, data := range stored.Mutations {
			m := new(entity.Mutation)
			if err := types.Mutation(data, m); err != nil {
				return nil, err
			}
			if columns += len(m.Args); columns > maxColumns {
				return nil, errStoredSize
			}
			p.mutations = append(p.mutations, m)
		}
		counter := isIncrement(p.mutations[0])
		mixed := slices.ContainsFunc(p.mutations, func(m *entity.Mutation) bool { return isIncrement(m) != counter })
		switch {
		case counter && !mixed:
			p.kind = retry.Counter
		case mixed || w.Mode == Counter || w.Mode == LoggedBatch && len(e.requests) > 0 || len(e.requests) > 0 && e.requests[len(e.requests)-1].kind == retry.Counter:
			return nil, errors.New("denorm: decode error: incomplete")
		}
		e.requests = append(e.requests, p)
	}
	if err := e.agree(); err != nil {
		return nil, err
	}
	transaction := e.condition != nil && e.condition.Condition.Transactional
	if transaction != (w.Mode == Transaction) || transaction != (w.Format == 2) || transaction && !e.transacts() {
		return nil, errors.New("denorm: decode error: incomplete")
	}
	e.Tables = e.results()
	return e, nil
}

// transacts says whether all of the error can be of one transaction of Cassandra 6.
func (e *Error) transacts() bool {
	c := e.condition
	if entity.Contended(c.all()) != nil {
		return false
	}
	seen := make(map[string]bool)
	for _, one := range c.all() {
		key := one.Condition.Entity + "\x00" + one.Key
		if !one.Condition.Transactional || seen[key] {
			return false
		}
		seen[key] = true
	}
	for i := range e.requests {
		r := &e.requests[i]
		if r.outcome != c.outcome || slices.ContainsFunc(r.mutations, func(m *entity.Mutation) bool { return !m.Transactable() }) {
			return false
		}
	}
	return true
}

func (w *wireDecision) condition(types *entity.Decoder) (*condition, error) {
	if w.Outcome > Pending || w.Attempts < 0 || len(w.Tables) > maxTables {
		return nil, errors.New("denorm: decode error: incomplete")
	}
	c := &condition{Conditional: new(entity.Conditional), attempts: w.Attempts, tables: w.Tables}
	c.outcome = w.Outcome
	if w.Err != "" {
		c.err = storedCause(w.Err, w.Refused)
	}
	if w.Taken != "" {
		c.err = errTaken(printable.Line(w.Taken))
	}
	c.conflict = (w.Conflict || w.Taken != "") && c.outcome != Applied
	if err := types.Conditional(w.Condition, c.Conditional); err != nil {
		return nil, err
	}
	if c.Condition.Versioned {
		c.version = c.Condition.Version
	}
	for _, data := range w.More {
		other := new(entity.Conditional)
		if err := types.Conditional(data, other); err != nil {
			return nil, err
		}
		if err := together(c.Condition, other.Condition); err != nil {
			return nil, fmt.Errorf("denorm: decode error: %w", err)
		}
		c.more = append(c.more, other)
	}
	return c, nil
}

// storedCause is the cause of a failure, as far as it was stored.
func storedCause(text string, refused bool) error {
	err := errors.New(printable.Line(text))
	if refused {
		return &refusedError{err}
	}
	return err
}
