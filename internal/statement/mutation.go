// Package statement is what is sent for one row of one table: its CQL text with bound values, in memory and as bytes.
// It knows no declaration. It is pure: no I/O, no session, no clock.
package statement

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/denorm-go/denorm/internal/cqltype"
	"github.com/denorm-go/denorm/internal/printable"
)

// MutationKind says what a mutation does to its row.
type MutationKind uint8

const (
	// Put writes the row: all of it, or in a Patch the columns that are edited.
	Put MutationKind = iota + 1
	// Remove deletes a row that the same write does not put: a moved or swept key, or a deleted entity.
	Remove
	// Increment adds to the counters of a row. It has no timestamp and is not idempotent.
	Increment
	// Merge puts or removes elements of maps and sets, and leaves the others alone. A Put of the same row goes with it,
	// except in a Patch that expires, where it writes the columns too.
	Merge
)

var mutationKinds = [...]string{Put: "put", Remove: "remove", Increment: "increment", Merge: "merge"}

func (k MutationKind) String() string {
	return printable.Enum("MutationKind", k, mutationKinds[:])
}

// Mutation is one bound statement for one row of one table. Its fields are for reading.
type Mutation struct {
	Keyspace, Table string // physical; Keyspace is empty for the session's
	Kind            MutationKind
	Timestamp       int64 // microseconds; 0 for an Increment
	Rotates         bool  // Table is one of those that a table with Rotate becomes; not stored
	// PartitionKey is the encoded partition key, as the driver's routing key. Mutations of one keyspace with equal
	// ones are sent together.
	PartitionKey []byte

	// Statement, Names and Args are the CQL text and what is bound to its marks: *[cqltype.Value] or gocql.UnsetValue.
	// Names are columns, or "[timestamp]" and "[ttl]".
	Statement string
	Names     []string
	Args      []any

	Keys, Part int           // how many columns of Names are the primary key, and how many of these the partition key
	Merges     []MergeColumn // of a Merge
	Expires    int64         // milliseconds; 0: the table's default_time_to_live decides, or ends
	Expired    *Mutation     // sent in place of this one once it has expired
	ends       int64         // milliseconds, or never: see EndAs; not stored
}

// String says what the mutation does to which table, without values.
func (m Mutation) String() string {
	return m.Kind.String() + " " + Qualified(m.Keyspace, m.Table)
}

// Format prints [Mutation.String] for every verb: a mutation printed in full would show its partition key.
func (m Mutation) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, m.String()) }

// MarshalText is [Mutation.String]: a structured logger would show the partition key. What is stored is
// MarshalBinary's.
func (m Mutation) MarshalText() ([]byte, error) { return []byte(m.String()), nil }

// Names under which the values of USING clauses are bound. The brackets keep them apart from columns.
const (
	TimestampName = "[timestamp]"
	TTLName       = "[ttl]"
)

// Qualified is the name of a table in CQL text. An empty keyspace is the keyspace of the session.
func Qualified(keyspace, table string) string {
	if keyspace == "" {
		return table
	}
	return keyspace + "." + table
}

// PutText compiles a Put, with the names of what is to be bound.
func PutText(qualified string, columns []string, ttl bool) (text string, names []string) {
	marks := strings.TrimSuffix(strings.Repeat("?,", len(columns)), ",")
	using, names := using(ttl)
	return "INSERT INTO " + qualified + " (" + strings.Join(columns, ",") + ") VALUES (" + marks + ")" + using,
		slices.Concat(columns, names)
}

// RemoveText compiles a Remove. It and [PutText] make also what comes out of storage.
func RemoveText(qualified string, keys []string) (text string, names []string) {
	using, names := using(false)
	return "DELETE FROM " + qualified + using + Where(keys), slices.Concat(names, keys)
}

// IncrementText compiles an Increment.
func IncrementText(qualified string, counters, keys []string) (text string, names []string) {
	set := make([]string, len(counters))
	for i, c := range counters {
		set[i] = c + "=" + c + "+?"
	}
	return "UPDATE " + qualified + " SET " + strings.Join(set, ",") + Where(keys), slices.Concat(counters, keys)
}

// using is the clause of a write, and the names of what is bound to it.
func using(ttl bool) (text string, names []string) {
	if ttl {
		return " USING TTL ? AND TIMESTAMP ?", []string{TTLName, TimestampName}
	}
	return " USING TIMESTAMP ?", []string{TimestampName}
}

// Where is the clause of the row under a key.
func Where(keys []string) string { return " WHERE " + strings.Join(keys, "=? AND ") + "=?" }

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

// ExpiresAt is the moment at which the row ends, and whether it does.
func (m *Mutation) ExpiresAt() (time.Time, bool) {
	at := cmp.Or(m.Expires, m.ends)
	return time.UnixMilli(at), at != 0 && at != never
}

// never is the end of a mutation that is sent with TTL 0.
const never = math.MinInt64

// EndAs makes a mutation without an expiry end as w does, or never, whatever default_time_to_live its table has. The
// first call decides.
func (m *Mutation) EndAs(w Written) {
	if m.Kind != Put && m.Kind != Merge || m.Expires != 0 || m.ends != 0 {
		return
	}
	if m.ends = w.Last(); m.ends == 0 {
		m.ends = never
	} else {
		m.Expired = m.remains()
	}
	using := slices.Index(m.Names, TimestampName)
	m.Statement = strings.Replace(m.Statement, " USING TIMESTAMP ?", " USING TTL ? AND TIMESTAMP ?", 1)
	m.Names = slices.Insert(slices.Clone(m.Names), using, TTLName)
	m.Args = slices.Insert(slices.Clone(m.Args), using, any(cqltype.Int(0)))
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

// Written says of a value of a row that was read when it was written, and until when it stays.
type Written struct {
	At   int64 // its WRITETIME, in microseconds
	Ends int64 // the second, in milliseconds since the Unix epoch, in which it expires; 0: it does not
}

// Last is the [Mutation.ExpiresAt] with which no table keeps the value for longer than the one that it was read from. A
// TTL is rounded up when it is sent, and counted by the server from the beginning of the second.
func (w Written) Last() int64 {
	if w.Ends == 0 {
		return 0
	}
	return max(1, w.Ends-1999)
}

// At is the statement to send at an attempt made at now, with what to bind to it. It differs from Statement and Args
// only for a row that expires: the TTL is what remains, rounded up to seconds, and once nothing remains the statement
// is a delete, because TTL 0 would mean forever. It is empty where nothing is to be sent then: as of what is repaired.
func (m *Mutation) At(now time.Time) (statement string, args []any) {
	ends, ok := m.ExpiresAt()
	if !ok {
		return m.Statement, m.Args
	}
	remaining := (ends.UnixMilli() - now.UnixMilli() + 999) / 1000
	if remaining <= 0 && m.Expired == nil {
		return "", nil
	}
	if remaining <= 0 {
		return m.Expired.Statement, m.Expired.Args
	}
	args = append(make([]any, 0, len(m.Args)), m.Args...)
	args[slices.Index(m.Names, TTLName)] = cqltype.Int(min(remaining, MaxTTL))
	return m.Statement, args
}

// Size estimates, from above, the bytes that the server counts for the mutation against batch_size_fail_threshold.
func (m *Mutation) Size() int {
	size := rowOverhead
	for _, a := range m.Args {
		size += cellOverhead
		if v, ok := a.(*cqltype.Value); ok {
			size += len(v.Data) + v.Cells()*cellOverhead
		}
	}
	return size
}

const (
	// The server counts, alongside the bytes of a value, its timestamp and expiry, and the same for the row
	// (org.apache.cassandra.db.rows: AbstractCell.dataSize, BTreeRow.dataSize).
	cellOverhead = 16
	rowOverhead  = 40

	// MaxTTL is Cassandra's limit: 20 years (org.apache.cassandra.cql3.Attributes).
	MaxTTL = 20 * 365 * 24 * 60 * 60
)

// Transactable says whether a transaction can hold the mutation: it writes or removes a whole row, which does not
// expire.
func (m *Mutation) Transactable() bool {
	return (m.Kind == Put || m.Kind == Remove) && m.Expires == 0
}

// Untimed is the statement of a Put or Remove without its timestamp: a transaction has one of its own.
func (m *Mutation) Untimed() Bound {
	at := slices.Index(m.Names, TimestampName)
	names, args := slices.Delete(slices.Clone(m.Names), at, at+1), slices.Delete(slices.Clone(m.Args), at, at+1)
	if m.Kind != Remove {
		return Insert(Qualified(m.Keyspace, m.Table), names, args)
	}
	var key Terms
	for n, name := range names {
		key.Equal(name, args[n])
	}
	return Bound{Text: "DELETE FROM " + Qualified(m.Keyspace, m.Table)}.Where(key)
}
