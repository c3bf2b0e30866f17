package tables

import (
	"bytes"
	"encoding/gob"
	"errors"
	"fmt"

	"github.com/denorm-go/denorm/internal/cqltype"
	"github.com/gocql/gocql"
)

// wireMutation is a Mutation as it is stored. gob does not tell nil from empty, so values say what they are.
type wireMutation struct {
	Keyspace, Table string
	Kind            MutationKind
	Timestamp       int64
	PartitionKey    []byte
	Statement       string
	Names           []string
	Args            []wireArg
	ExpiresAt       int64
	Expired         *wireMutation
}

type wireArg struct {
	State uint8
	Type  string
	Data  []byte
}

const (
	wireUnset = iota
	wireNull
	wireValue
)

// MarshalBinary encodes the mutation with its bound values, so that the same bytes can be sent by another process.
func (m *Mutation) MarshalBinary() ([]byte, error) {
	wire, err := m.wire()
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	if err := gob.NewEncoder(&out).Encode(wire); err != nil {
		return nil, fmt.Errorf("tables: encode mutation: %w", err)
	}
	return out.Bytes(), nil
}

func (m *Mutation) wire() (*wireMutation, error) {
	w := &wireMutation{
		Keyspace: m.Keyspace, Table: m.Table, Kind: m.Kind, Timestamp: m.Timestamp, PartitionKey: m.PartitionKey,
		Statement: m.Statement, Names: m.Names, ExpiresAt: m.expiresAt,
	}
	for _, a := range m.Args {
		v, ok := a.(*Value)
		switch {
		case ok && v.data == nil:
			w.Args = append(w.Args, wireArg{State: wireNull, Type: v.Type()})
		case ok:
			w.Args = append(w.Args, wireArg{State: wireValue, Type: v.Type(), Data: v.data})
		case a == any(gocql.UnsetValue):
			w.Args = append(w.Args, wireArg{State: wireUnset})
		default:
			return nil, fmt.Errorf("tables: encode mutation: an argument is of Go type %T", a)
		}
	}
	if m.expired != nil {
		expired, err := m.expired.wire()
		if err != nil {
			return nil, err
		}
		w.Expired = expired
	}
	return w, nil
}

// UnmarshalBinary is the reverse of MarshalBinary.
func (m *Mutation) UnmarshalBinary(data []byte) error {
	var w wireMutation
	if err := gob.NewDecoder(bytes.NewReader(data)).Decode(&w); err != nil {
		return fmt.Errorf("tables: decode mutation: %w", err)
	}
	return m.unwire(&w)
}

func (m *Mutation) unwire(w *wireMutation) error {
	*m = Mutation{
		Keyspace: w.Keyspace, Table: w.Table, Kind: w.Kind, Timestamp: w.Timestamp, PartitionKey: w.PartitionKey,
		Statement: w.Statement, Names: w.Names, expiresAt: w.ExpiresAt,
	}
	if len(w.Names) != len(w.Args) || w.Statement == "" || w.Timestamp <= 0 ||
		w.ExpiresAt != 0 && (w.Expired == nil || len(w.Args) < 2) {
		return errors.New("tables: decode mutation: incomplete")
	}
	for _, a := range w.Args {
		if a.State == wireUnset {
			m.Args = append(m.Args, gocql.UnsetValue)
			continue
		}
		if a.State > wireValue {
			return errors.New("tables: decode mutation: a value in a state of a later version")
		}
		typ, err := cqltype.Parse(a.Type)
		if err != nil {
			return fmt.Errorf("tables: decode mutation: %w", err)
		}
		v := &Value{typ: typ}
		if a.State == wireValue {
			v.data = append([]byte{}, a.Data...) // never nil, which would be null
		}
		m.Args = append(m.Args, v)
	}
	if w.Expired != nil {
		m.expired = new(Mutation)
		return m.expired.unwire(w.Expired)
	}
	return nil
}
