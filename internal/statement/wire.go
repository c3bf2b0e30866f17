package statement

import (
	"errors"
	"fmt"
	"io"

	"github.com/denorm-go/denorm/internal/cql"
	"github.com/denorm-go/denorm/internal/cqltype"
	"github.com/denorm-go/denorm/internal/wire"
	"github.com/gocql/gocql"
)

// wireMutation is a Mutation as it is stored. It holds what the mutation is about and no CQL: whoever can write to the
// storage could otherwise have any statement executed. What follows from the rest is not stored either: the statement,
// the values of its USING clause, the partition key, what is sent after the expiry.
type wireMutation struct {
	Kind            MutationKind
	Keyspace, Table string
	Timestamp       int64
	ExpiresAt       int64
	Keys, Part      int // of the columns, the first Keys are the primary key, the first Part the partition key
	Columns         []Column
}

// Column is a column with the value bound to it.
type Column struct {
	Name  string
	State uint8
	Type  string
	Data  []byte
	Edit  EditKind // of a Merge, alongside the key
}

const (
	unset = iota
	null
	valued
)

// MarshalBinary encodes the mutation with its bound values, so that the same bytes can be sent by another process.
// Of an [Increment] only kind and table are encoded: it must not be sent again.
func (m *Mutation) MarshalBinary() ([]byte, error) {
	w, err := m.wire()
	if err != nil {
		return nil, fmt.Errorf("tables: encode mutation: %w", err)
	}
	return wire.Append(nil, *w), nil
}

func (m *Mutation) wire() (*wireMutation, error) {
	w := &wireMutation{Kind: m.Kind, Keyspace: m.Keyspace, Table: m.Table}
	if m.Kind == Increment {
		return w, nil
	}
	if m.Keys == 0 || len(m.Names) != len(m.Args) {
		return nil, errors.New("it was not rendered from a change")
	}
	w.Timestamp, w.ExpiresAt, w.Keys, w.Part = m.Timestamp, m.Expires, m.Keys, m.Part
	names, args := m.Names, m.Args
	if m.Kind == Merge { // stored with its key first, as a Put is
		names, args = names[len(names)-m.Keys:], args[len(args)-m.Keys:]
	}
	for i, a := range args {
		if names[i] == TimestampName || names[i] == TTLName {
			continue
		}
		switch v, ok := a.(*cqltype.Value); {
		case ok:
			w.Columns = append(w.Columns, ColumnOf(names[i], v))
		case a == any(gocql.UnsetValue):
			w.Columns = append(w.Columns, Column{Name: names[i]})
		default:
			return nil, fmt.Errorf("an argument is of Go type %T", a)
		}
	}
	for _, c := range m.Merges {
		column := ColumnOf(c.Name, c.Value)
		column.Edit = c.Kind
		w.Columns = append(w.Columns, column)
	}
	return w, nil
}

// Format prints the name for every verb: printed in full a column would show its value.
func (c Column) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, c.Name) }

// MarshalText is the name: a structured logger would show the value.
func (c Column) MarshalText() ([]byte, error) { return []byte(c.Name), nil }

// ColumnOf is a column that has the value.
func ColumnOf(name string, v *cqltype.Value) Column {
	c := Column{Name: name, State: null, Type: v.Type.Definition(), Data: v.Data}
	if v.Data != nil {
		c.State = valued
	}
	return c
}

// UnmarshalBinary is the reverse of MarshalBinary. The statement is compiled again, from names that can be nothing else
// in it.
func (m *Mutation) UnmarshalBinary(data []byte) error { return new(Decoder).Mutation(data, m) }

func (w *wireMutation) mutation(d *Decoder) (*Mutation, error) {
	if w.Kind == Increment {
		return &Mutation{Keyspace: w.Keyspace, Table: w.Table, Kind: Increment}, nil
	}
	names, args := make([]string, len(w.Columns)), make([]any, len(w.Columns), len(w.Columns)+2) // two for USING
	for i, c := range w.Columns {
		names[i], args[i] = c.Name, gocql.UnsetValue
		if !c.Bound() {
			continue
		}
		v, err := c.Value(d)
		if err != nil {
			return nil, err
		}
		args[i] = v
	}
	key := make([]*cqltype.Value, w.Keys)
	for i := range key {
		v, ok := args[i].(*cqltype.Value)
		if !ok || !FitsKey(v) {
			return nil, ErrKeyValue
		}
		key[i] = v
	}
	remove := w.remove(names[:w.Keys], key)
	if w.Kind == Remove {
		return remove, nil
	}
	m := *remove
	m.Kind = w.Kind
	if w.Kind == Merge {
		columns, err := w.merges(args)
		if err != nil {
			return nil, err
		}
		at, _ := remove.Args[0].(*cqltype.Value)
		m.Args = nil
		m.SetMerge(names[:w.Keys], key, at, columns, w.ExpiresAt)
		return &m, nil
	}
	m.Statement, m.Names = PutText(Qualified(w.Keyspace, w.Table), names, w.ExpiresAt != 0)
	if w.ExpiresAt != 0 {
		m.Expires, m.Expired = w.ExpiresAt, remove
		args = append(args, cqltype.Int(MaxTTL))
	}
	args = append(args, remove.Args[0])
	m.Args = args
	return &m, nil
}

// merges are the columns of a Merge, with what is bound to them.
func (w *wireMutation) merges(args []any) ([]MergeColumn, error) {
	var out []MergeColumn
	for n := w.Keys; n < len(args); n++ {
		v, ok := args[n].(*cqltype.Value)
		kind := w.Columns[n].Edit
		if !ok || kind != PutColumn && !elementsOf(v, kind) {
			return nil, errors.New("elements without a value, or of a type that has none")
		}
		out = append(out, MergeColumn{w.Columns[n].Name, kind, v})
	}
	return out, nil
}

// Check rejects what no change renders.
func (w *wireMutation) Check() error {
	switch {
	case w.Kind == Increment && (w.Timestamp != 0 || w.ExpiresAt != 0 || w.Keys != 0 || w.Part != 0 || len(w.Columns) > 0):
		return errors.New("an increment is stored without key and values")
	case w.Kind == Increment: // it has nothing but a table
	case w.Kind != Put && w.Kind != Remove && w.Kind != Merge:
		return errors.New("of an unknown kind")
	case w.Timestamp <= 0 || w.Part < 1 || w.Part > w.Keys || w.Keys > len(w.Columns):
		return errors.New("incomplete")
	case w.Kind == Merge && w.Keys == len(w.Columns):
		return errors.New("a merge of nothing")
	case w.Kind == Remove && (w.Keys < len(w.Columns) || w.ExpiresAt != 0):
		return errors.New("a remove has nothing but a key")
	}
	if w.Keyspace != "" && !cql.IsTable(w.Keyspace) || !cql.IsTable(w.Table) {
		return fmt.Errorf("keyspace and table must be %s", cql.TableRule)
	}
	names := make(map[string]bool, len(w.Columns))
	for i := range w.Columns {
		name := w.Columns[i].Name
		twice := names[name]
		names[name] = true
		switch {
		case !cql.IsColumn(name):
			return fmt.Errorf("columns must be %s", cql.ColumnRule)
		case twice:
			return errors.New("a column is in it twice")
		case (w.Columns[i].Edit != 0) != (w.Kind == Merge && i >= w.Keys) || w.Columns[i].Edit > RemoveElements ||
			w.Columns[i].Edit == PutColumn && w.ExpiresAt == 0:
			return errors.New("edits of elements in a mutation of whole columns, or the other way round")
		}
	}
	return nil
}

// Bound says whether something is bound to the column, null or a value.
func (c *Column) Bound() bool { return c.State != unset }

// Valued says whether the column has a value that is not null.
func (c *Column) Valued() bool { return c.State == valued }

// Value is what is bound to the column.
func (c *Column) Value(d *Decoder) (*cqltype.Value, error) {
	switch c.State {
	case unset:
		return nil, errors.New("a column without a value")
	case null, valued:
	default:
		return nil, errors.New("a value in an unknown state")
	}
	typ, err := d.typ(c.Type)
	if err != nil {
		return nil, err
	}
	v := &cqltype.Value{Type: typ}
	if c.State == valued {
		if reason := typ.Malformed(c.Data); reason != "" {
			return nil, fmt.Errorf("column %s: %.200s", c.Name, reason) // somebody else may have written the type
		}
		v.Data = append([]byte{}, c.Data...) // never nil, which would be null
	}
	return v, nil
}

// ErrKeyValue is what is wrong with a stored key without [FitsKey].
var ErrKeyValue = errors.New("a key column without a value")

// FitsKey says whether a column of a primary key can have the value.
func FitsKey(v *cqltype.Value) bool { return len(v.Data) > 0 && len(v.Data) <= MaxKeyBytes }

// elementsOf says whether v holds elements that can be put, or whose keys can be removed.
func elementsOf(v *cqltype.Value, kind EditKind) bool {
	return v.Data != nil && v.Type.MultiCell() &&
		(v.Type.Kind() == gocql.TypeSet || v.Type.Kind() == gocql.TypeMap && kind != RemoveElements)
}

// remove is the Remove of the row under key.
func (w *wireMutation) remove(names []string, key []*cqltype.Value) *Mutation {
	m := &Mutation{
		Keyspace: w.Keyspace, Table: w.Table, Kind: Remove, Timestamp: w.Timestamp, PartitionKey: PartitionKey(key[:w.Part]),
		Args: AppendArgs([]any{cqltype.BigInt(w.Timestamp)}, key), Keys: w.Keys, Part: w.Part,
	}
	m.Statement, m.Names = RemoveText(Qualified(w.Keyspace, w.Table), names)
	return m
}

// Decoder decodes what was stored together, such as the parts of one write: equal column types are parsed once, and
// what all of them take is bounded, because others may have written them. The zero value is ready to use. It is not
// safe for concurrent use.
type Decoder struct {
	types    map[string]*cqltype.Type
	size     int // of their texts
	elements int
}

// Mutation is [Mutation.UnmarshalBinary] of m.
func (d *Decoder) Mutation(data []byte, m *Mutation) error {
	return Decode(d, "mutation", data, new(wireMutation), (*wireMutation).mutation, m)
}

// Bounds of what a [Decoder] decodes, far above what a write has: a column takes a few bytes, and up to 100 times as
// much in memory.
const (
	maxElements = 1_000_000 // columns and claims
	maxType     = 1 << 16   // bytes of the text of a column's type
	maxTypes    = 1 << 20   // bytes of the texts of all types that differ; parsed, a text takes up to 60 times as much
)

// Decode reads what is stored and makes of it what it stands for.
func Decode[W interface{ Check() error }, T any](d *Decoder, what string, data []byte, w W,
	from func(W, *Decoder) (*T, error), into *T,
) error {
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
		return nil, fmt.Errorf("a type of more than %d characters", maxType)
	}
	if d.size += len(text); d.size > maxTypes {
		return nil, fmt.Errorf("column types of more than %d characters together", maxTypes)
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
