package entity

import (
	"errors"
	"fmt"

	"github.com/denorm-go/denorm/internal/cql"
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
	Columns         []wireColumn
}

// wireColumn is a column with the value bound to it.
type wireColumn struct {
	Name  string
	State uint8
	Type  string
	Data  []byte
	Edit  EditKind // of a Merge, alongside the key
}

const (
	wireUnset = iota
	wireNull
	wireValue
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
	if m.keys == 0 || len(m.Names) != len(m.Args) {
		return nil, errors.New("it was not rendered from a change")
	}
	w.Timestamp, w.ExpiresAt, w.Keys, w.Part = m.Timestamp, m.expiresAt, m.keys, m.part
	names, args := m.Names, m.Args
	if m.Kind == Merge { // stored with its key first, as a Put is
		names, args = names[len(names)-m.keys:], args[len(args)-m.keys:]
	}
	for i, a := range args {
		if names[i] == timestampName || names[i] == ttlName {
			continue
		}
		switch v, ok := a.(*Value); {
		case ok:
			w.Columns = append(w.Columns, wireOf(names[i], v))
		case a == any(gocql.UnsetValue):
			w.Columns = append(w.Columns, wireColumn{Name: names[i]})
		default:
			return nil, fmt.Errorf("an argument is of Go type %T", a)
		}
	}
	for _, c := range m.merges {
		column := wireOf(c.name, c.value)
		column.Edit = c.kind
		w.Columns = append(w.Columns, column)
	}
	return w, nil
}

func wireOf(name string, v *Value) wireColumn {
	c := wireColumn{Name: name, State: wireNull, Type: v.typ.Definition(), Data: v.data}
	if v.data != nil {
		c.State = wireValue
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
	for i := range w.Columns {
		arg, err := w.Columns[i].arg(d)
		if err != nil {
			return nil, err
		}
		names[i], args[i] = w.Columns[i].Name, arg
	}
	key := make([]*Value, w.Keys)
	for i := range key {
		v, ok := args[i].(*Value)
		if !ok || !v.fitsKey() {
			return nil, errKeyValue
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
		at, _ := remove.Args[0].(*Value)
		m.Args = nil
		m.merge(names[:w.Keys], key, at, columns, w.ExpiresAt)
		return &m, nil
	}
	m.Statement, m.Names = putText(qualified(w.Keyspace, w.Table), names, w.ExpiresAt != 0)
	if w.ExpiresAt != 0 {
		m.expiresAt, m.expired = w.ExpiresAt, remove
		args = append(args, encodeInt(maxTTL))
	}
	args = append(args, remove.Args[0])
	m.Args = args
	return &m, nil
}

// merges are the columns of a Merge, with what is bound to them.
func (w *wireMutation) merges(args []any) ([]mergeColumn, error) {
	var out []mergeColumn
	for n := w.Keys; n < len(args); n++ {
		v, ok := args[n].(*Value)
		kind := w.Columns[n].Edit
		if !ok || kind != PutColumn && !elementsOf(v, kind) {
			return nil, errors.New("elements without a value, or of a type that has none")
		}
		out = append(out, mergeColumn{w.Columns[n].Name, kind, v})
	}
	return out, nil
}

// check rejects what no change renders.
func (w *wireMutation) check() error {
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

func (c *wireColumn) arg(d *Decoder) (any, error) {
	switch c.State {
	case wireUnset:
		return gocql.UnsetValue, nil
	case wireNull, wireValue:
	default:
		return nil, errors.New("a value in an unknown state")
	}
	typ, err := d.typ(c.Type)
	if err != nil {
		return nil, err
	}
	v := &Value{typ: typ}
	if c.State == wireValue {
		if reason := malformed(typ, c.Data); reason != "" {
			return nil, fmt.Errorf("column %s: %.200s", c.Name, reason) // somebody else may have written the type
		}
		v.data = append([]byte{}, c.Data...) // never nil, which would be null
	}
	return v, nil
}

var errKeyValue = errors.New("a key column without a value")

// fitsKey says whether a column of a primary key can have the value.
func (v *Value) fitsKey() bool { return len(v.data) > 0 && len(v.data) <= maxKeyBytes }

// remove is the Remove of the row under key.
func (w *wireMutation) remove(names []string, key []*Value) *Mutation {
	m := &Mutation{
		Keyspace: w.Keyspace, Table: w.Table, Kind: Remove, Timestamp: w.Timestamp, PartitionKey: partitionKey(key[:w.Part]),
		Args: appendValues([]any{bigintValue(w.Timestamp)}, key), keys: w.Keys, part: w.Part,
	}
	m.Statement, m.Names = removeText(qualified(w.Keyspace, w.Table), names)
	return m
}
