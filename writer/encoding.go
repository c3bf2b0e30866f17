package writer

import (
	"bytes"
	"encoding"
	"encoding/binary"
	"encoding/gob"
	"errors"
	"fmt"
	"hash/crc32"

	"github.com/denorm-go/denorm/tables"
)

var (
	_ encoding.BinaryMarshaler   = (*Error)(nil)
	_ encoding.BinaryUnmarshaler = (*Error)(nil)
)

// magic begins every stored Error; its last byte is the version of the format.
const magic = "denorm\x01"

// wireError is an Error as it is stored, and wireLeg one of its paths. The texts of errors are kept, not their types.
type wireError struct {
	Op        string
	Timestamp int64
	Mode      Mode
	Strict    bool
	Legs      []wireLeg
}

type wireLeg struct {
	Outcome   Outcome
	Attempts  int
	Err       string
	Mutations [][]byte
}

// MarshalBinary encodes the error with the encoded mutations in it, so that another process can Resume it: a queue is
// where failed writes go. The bytes hold the bound values of the write; store them as you store the rows. Keyspaces
// are physical. An error that cannot be resumed, because nothing was sent, cannot be encoded.
func (e *Error) MarshalBinary() ([]byte, error) {
	if len(e.legs) == 0 {
		return nil, errNothingToResume
	}
	w := wireError{Op: e.Op, Timestamp: e.Timestamp, Mode: e.Mode, Strict: e.strict}
	for _, l := range e.legs {
		leg := wireLeg{Outcome: l.outcome, Attempts: l.attempts}
		if l.err != nil {
			leg.Err = l.err.Error()
		}
		for _, m := range l.mutations {
			data, err := m.MarshalBinary()
			if err != nil {
				return nil, err
			}
			leg.Mutations = append(leg.Mutations, data)
		}
		w.Legs = append(w.Legs, leg)
	}
	out := bytes.NewBufferString(magic)
	if err := gob.NewEncoder(out).Encode(w); err != nil {
		return nil, fmt.Errorf("denorm: encode error: %w", err)
	}
	return binary.BigEndian.AppendUint32(out.Bytes(), crc32.ChecksumIEEE(out.Bytes())), nil
}

// UnmarshalBinary is the reverse of MarshalBinary. It refuses bytes that are damaged or of another version. Causes come
// back as texts: errors.As does not find the driver's types in them.
func (e *Error) UnmarshalBinary(data []byte) error {
	body := len(data) - crc32.Size
	if body < len(magic) || string(data[:len(magic)]) != magic {
		return errors.New("denorm: decode error: not an encoded writer.Error of this version")
	}
	if crc32.ChecksumIEEE(data[:body]) != binary.BigEndian.Uint32(data[body:]) {
		return errors.New("denorm: decode error: damaged")
	}
	var w wireError
	if err := gob.NewDecoder(bytes.NewReader(data[len(magic):body])).Decode(&w); err != nil {
		return fmt.Errorf("denorm: decode error: %w", err)
	}
	decoded := Error{Op: w.Op, Timestamp: w.Timestamp, Mode: w.Mode, strict: w.Strict}
	for _, wl := range w.Legs {
		l := leg{outcome: wl.Outcome, attempts: wl.Attempts}
		if wl.Err != "" {
			l.err = errors.New(wl.Err)
		}
		for _, data := range wl.Mutations {
			m := new(tables.Mutation)
			if err := m.UnmarshalBinary(data); err != nil {
				return err
			}
			l.mutations = append(l.mutations, m)
		}
		if len(l.mutations) == 0 {
			return errors.New("denorm: decode error: a path without mutations")
		}
		decoded.legs = append(decoded.legs, l)
	}
	if len(decoded.legs) == 0 {
		return errNothingToResume
	}
	decoded.Tables = tableResults(decoded.legs)
	*e = decoded
	return nil
}
