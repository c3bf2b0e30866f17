package statement

import (
	"slices"
	"strings"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/internal/cqltype"
	"github.com/denorm-go/denorm/internal/printable"
)

// EditKind is one of the things that an tables.Edit can do.
type EditKind uint8

const (
	// PutColumn writes the column.
	PutColumn EditKind = iota + 1
	// PutElements writes elements of the column.
	PutElements
	// RemoveElements removes elements of the column.
	RemoveElements
)

var editKinds = [...]string{PutColumn: "put", PutElements: "put elements of", RemoveElements: "remove elements of"}

func (k EditKind) String() string {
	return printable.Enum("EditKind", k, editKinds[:])
}

// MergeColumn is a column of a Merge. Only in one that expires columns are written whole.
type MergeColumn struct {
	Name  string
	Kind  EditKind
	Value *cqltype.Value
}

// SetMerge makes the statements of a Merge: the one of now, and the one after it has expired. That one writes at the
// same timestamp what is left of the first one then, a tombstone a cell.
func (m *Mutation) SetMerge(keys []string, key []*cqltype.Value, at *cqltype.Value, columns []MergeColumn,
	expiresAt int64,
) {
	m.Merges, m.Expires = columns, expiresAt
	m.compileMerge(m, keys, key, at, columns)
	if expiresAt != 0 {
		m.Expired = m.past(keys, key, at, columns)
	}
}

// past is what is sent once a write of the columns has expired.
func (m *Mutation) past(keys []string, key []*cqltype.Value, at *cqltype.Value, columns []MergeColumn) *Mutation {
	ended := slices.Clone(columns)
	for n, c := range columns {
		switch c.Kind {
		case PutColumn:
			ended[n].Value = &cqltype.Value{Type: c.Value.Type}
		case PutElements:
			ended[n].Kind, ended[n].Value = RemoveElements, c.Value.Keys()
		case RemoveElements:
		}
	}
	out := new(Mutation)
	m.compileMerge(out, keys, key, at, ended)
	return out
}

// remains is what is left of a Put or Merge once all of it has expired: nulls, and no row marker. Of a key alone it is
// a Remove.
func (m *Mutation) remains() *Mutation {
	at, _ := m.Args[slices.Index(m.Names, TimestampName)].(*cqltype.Value)
	first := 0 // where the key is
	columns := m.Merges
	if m.Kind == Merge {
		first = len(m.Names) - m.Keys
	} else {
		for n, a := range m.Args[m.Keys:] {
			if v, ok := a.(*cqltype.Value); ok && v != at {
				columns = append(columns, MergeColumn{m.Names[m.Keys+n], PutColumn, v})
			}
		}
	}
	names, key := m.Names[first:first+m.Keys], make([]*cqltype.Value, m.Keys)
	for i := range key {
		key[i], _ = m.Args[first+i].(*cqltype.Value)
	}
	if len(columns) > 0 {
		return m.past(names, key, at, columns)
	}
	out := &Mutation{Args: AppendArgs([]any{at}, key)}
	out.Statement, out.Names = RemoveText(Qualified(m.Keyspace, m.Table), names)
	return out
}

// compileMerge gives into, which is a Merge or what is sent once it has expired, its statement.
func (m *Mutation) compileMerge(into *Mutation, keys []string, key []*cqltype.Value, at *cqltype.Value,
	columns []MergeColumn,
) {
	using, names := using(into.Expires != 0)
	if into.Expires != 0 {
		into.Args = append(into.Args, cqltype.Int(MaxTTL))
	}
	into.Args = append(into.Args, at)
	set := make([]string, len(columns))
	for i, c := range columns {
		switch c.Kind {
		case PutColumn:
			set[i] = c.Name + "=?"
		case PutElements:
			set[i] = c.Name + "=" + c.Name + "+?"
		case RemoveElements:
			set[i] = c.Name + "=" + c.Name + "-?"
		}
		names, into.Args = append(names, c.Name), append(into.Args, c.Value)
	}
	into.Statement = "UPDATE " + Qualified(m.Keyspace, m.Table) + using + " SET " + strings.Join(set, ",") + Where(keys)
	into.Names = slices.Concat(names, keys)
	into.Args = AppendArgs(into.Args, key)
}

// elementsOf says whether v holds elements that can be put, or whose keys can be removed.
func elementsOf(v *cqltype.Value, kind EditKind) bool {
	if v.Data == nil || !v.Type.MultiCell() || v.Type.Kind() != gocql.TypeSet &&
		(kind == RemoveElements || v.Type.Kind() != gocql.TypeMap) {
		return false
	}
	return v.Type.Malformed(v.Data) == ""
}
