package statement

import (
	"fmt"

	"github.com/denorm-go/denorm/internal/cqltype"
	"github.com/denorm-go/denorm/internal/wire"
)

// Decoder decodes what was stored together, such as the parts of one write: equal column types are parsed once, and what all of them
// take is bounded, because others may have written them. The zero value is ready to use. It is not safe for concurrent use.
type Decoder struct {
	types    map[string]*cqltype.Type
	size     int // of their texts
	elements int
}

// Mutation is [Mutation.UnmarshalBinary] of m.
func (d *Decoder) Mutation(data []byte, m *Mutation) error {
	return Decode(d, "mutation", data, new(wireMutation), (*wireMutation).mutation, m)
}

// Bounds of what a [Decoder] decodes, far above what a write has: a column takes a few bytes, and up to 100 times as much in memory.
const (
	maxElements = 1_000_000 // columns and claims
	maxType     = 1 << 16   // bytes of the text of a column's type
	maxTypes    = 1 << 20   // bytes of the texts of all types that differ; parsed, a text takes up to 60 times as much
)

var (
	errTypeSize  = fmt.Errorf("a type of more than %d characters", maxType)
	errTypesSize = fmt.Errorf("column types of more than %d characters together", maxTypes)
)

// Decode reads what is stored and makes of it what it stands for.
func Decode[W interface{ Check() error }, T any](d *Decoder, what string, data []byte, w W, from func(W, *Decoder) (*T, error), into *T) error {
	n, err := wire.Decode(data, w, maxElements-d.elements)
	d.elements += n
	if err == nil {
		err = w.Check()
	}
	var decoded *T
	if err == nil {
		decoded, err = from(w, d)
	}
	if err != nil {
		return fmt.Errorf("tables: decode %s: %w", what, err)
	}
	*into = *decoded
	return nil
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
