package entity

import (
	"bytes"
	"encoding/gob"
	"fmt"

	"github.com/denorm-go/denorm/internal/cqltype"
	"github.com/denorm-go/denorm/internal/gobscan"
)

// Decoder decodes what was stored together, such as the parts of one write: equal column types are parsed once, and what all of them
// take is bounded, because others may have written them. The zero value is ready to use. It is not safe for concurrent use.
type Decoder struct {
	types map[string]*cqltype.Type
	size  int // of their texts
}

// Mutation is [Mutation.UnmarshalBinary] of m.
func (d *Decoder) Mutation(data []byte, m *Mutation) error {
	return decode(d, "mutation", data, new(wireMutation), (*wireMutation).mutation, m)
}

// Conditional is [Conditional.UnmarshalBinary] of c.
func (d *Decoder) Conditional(data []byte, c *Conditional) error {
	return decode(d, "condition", data, new(wireCondition), (*wireCondition).conditional, c)
}

// Bounds of what is stored, far above what a row has: a byte of a stream can stand for a column, and what is made of one
// takes a few hundred.
const (
	maxStored = 10_000  // columns of a mutation, or of a condition with its claims
	maxType   = 1 << 16 // bytes of the text of a column's type
	maxTypes  = 1 << 20 // bytes of the texts of all types that differ; parsed, a text takes up to 60 times as much
)

var (
	errStoredSize = fmt.Errorf("more than %d columns", maxStored)
	errTypeSize   = fmt.Errorf("a type of more than %d characters", maxType)
	errTypesSize  = fmt.Errorf("column types of more than %d characters together", maxTypes)
)

// decode reads what is stored, unless it would cost far more memory than it has bytes, and makes what it stands for of it.
func decode[W wire, T any](d *Decoder, what string, data []byte, w W, from func(W, *Decoder) (*T, error), into *T) (err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("tables: decode %s: %w", what, err)
		}
	}()
	switch n, err := gobscan.Elements(data); {
	case err != nil:
		return err
	case n > maxStored:
		return errStoredSize
	}
	if err := gob.NewDecoder(bytes.NewReader(data)).Decode(w); err != nil {
		return err
	}
	if err := w.check(); err != nil {
		return err
	}
	decoded, err := from(w, d)
	if err == nil {
		*into = *decoded
	}
	return err
}

// typ parses the text of a type.
func (d *Decoder) typ(text string) (*cqltype.Type, error) {
	if t := d.types[text]; t != nil {
		return t, nil
	}
	if len(text) > maxType {
		return nil, errTypeSize
	}
	if d.size += len(text); d.size > maxTypes {
		return nil, errTypesSize
	}
	t, err := cqltype.ParseDefinition(text)
	if err != nil {
		return nil, err
	}
	if d.types == nil {
		d.types = make(map[string]*cqltype.Type)
	}
	d.types[text] = t
	return t, nil
}
