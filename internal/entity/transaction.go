package entity

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/internal/cqltype"
	"github.com/denorm-go/denorm/internal/statement"
)

// Transaction is changes of entities of Transactional sets as one transaction of Cassandra 6: all rows in all tables
// are written if the condition of each change holds, else none. It is immutable. It reads the rows of its conditions,
// as nothing else says whether they held (docs/design/conditions.md).
type Transaction struct {
	statement.Bound
	parts    []*Conditional
	fences   []gocql.UUID
	released map[string]bool // by Claim.id
}

// CommitTransaction ends the text of a transaction. gocql prepares a text that begins with BEGIN only if its last word
// is batch (session.go, shouldPrepare), and without preparing it sends no values. The server takes the rest of the line
// for a comment.
const CommitTransaction = "COMMIT TRANSACTION -- batch\n"

// NewTransaction makes the transaction of changes, with their mutations in the query tables. fences are, by change, the
// versions of deleted entities that inserts have met; nil if they have met none.
func NewTransaction(changes []*Conditional, mutations []*statement.Mutation, fences []gocql.UUID) *Transaction {
	t := &Transaction{parts: slices.Clone(changes), fences: slices.Clone(fences), released: make(map[string]bool)}
	claimed := make(map[string]bool)
	for _, c := range changes {
		for _, key := range c.Claims {
			claimed[key.id()] = true
		}
		for _, key := range c.Releases {
			t.released[key.id()] = true
		}
	}
	var lets, selected, writes []string
	var holds statement.Terms
	var args []any
	let := func(name string, columns []string, table string, key statement.Terms) {
		read := statement.Bound{Text: "SELECT " + strings.Join(columns, ", ") + " FROM " + table}.Where(key)
		lets, t.Args = append(lets, "LET "+name+" = ("+read.Text+");\n"), append(t.Args, read.Args...)
		for _, column := range columns {
			selected = append(selected, name+"."+column)
		}
	}
	write := func(s statement.Bound) { writes, args = append(writes, s.Text+";\n"), append(args, s.Args...) }
	for n, change := range changes {
		cond := change.Condition
		b, row := cond.base, "row"+strconv.Itoa(n)
		columns := append([]string{b.VersionColumn()}, b.Set.Names(b.Set.Regular())...)
		let(row, columns, b.table(), b.where())
		if before := t.before(n); before != (gocql.UUID{}) {
			holds.Equal(row+"."+b.VersionColumn(), cqltype.TimeUUID(before))
			for _, i := range b.imaged() {
				if name := row + "." + b.Set.Columns[i].Name; b.before[i].Data == nil {
					holds.Texts = append(holds.Texts, name+" IS NULL")
				} else {
					holds.Equal(name, &b.before[i])
				}
			}
		} else { // a row of before the declaration has no version either
			for _, column := range columns {
				holds.Texts = append(holds.Texts, row+"."+column+" IS NULL")
			}
		}
		write(cond.write())
		for k, claim := range t.contested(n) {
			key := fmt.Sprintf("key%d_%d", n, k)
			let(key, claim.table.KeyNames[:1], claim.name(), claim.where())
			holds.Texts = append(holds.Texts, key+" IS NULL")
		}
		for _, claim := range change.Claims {
			names, owner := claim.row()
			write(statement.Insert(claim.name(), names, owner))
		}
		for _, claim := range change.Releases {
			if !claimed[claim.id()] { // at one timestamp the delete would win
				write(statement.Bound{Text: "DELETE FROM " + claim.name()}.Where(claim.where()))
			}
		}
	}
	for _, m := range mutations {
		write(m.Untimed())
	}
	t.Text = "BEGIN TRANSACTION\n" + strings.Join(lets, "") + "SELECT " + strings.Join(selected, ", ") + ";\nIF " +
		strings.Join(holds.Texts, " AND ") + " THEN\n" + strings.Join(writes, "") + "END IF\n" + CommitTransaction
	t.Args = slices.Concat(t.Args, holds.Args, args)
	return t
}

// contested are the keys that the n-th change takes and that no other change of the transaction gives up: these have to
// be free.
func (t *Transaction) contested(n int) []*Claim {
	return slices.DeleteFunc(slices.Clone(t.parts[n].Claims), func(key *Claim) bool { return t.released[key.id()] })
}

// Contended is a key that two of the changes take, nil if there is none.
func Contended(changes []*Conditional) *Claim {
	seen := make(map[string]bool)
	for _, c := range changes {
		for _, key := range c.Claims {
			if seen[key.id()] {
				return key
			}
			seen[key.id()] = true
		}
	}
	return nil
}

// id is equal for claims of one key of one table.
func (c *Claim) id() string { return c.name() + "\x00" + c.Key() }

// before is the version that the base row of a change must have, zero if there must be no row.
func (t *Transaction) before(n int) gocql.UUID {
	if t.fences != nil && t.fences[n] != (gocql.UUID{}) {
		return t.fences[n]
	}
	return t.parts[n].Condition.Before
}

// write is the statement that makes the base row: of a deleted entity one with a version and nothing else.
func (c *Condition) write() statement.Bound {
	b := c.base
	var set statement.Terms
	for _, i := range b.Set.Regular() {
		if c.after == nil {
			set.Null(b.Set.Columns[i].Name)
		} else {
			set.Equal(b.Set.Columns[i].Name, bound(&c.after[i], c.Kind != Insert))
		}
	}
	set.Equal(b.VersionColumn(), cqltype.TimeUUID(c.Version))
	return statement.Bound{Text: "UPDATE " + b.table()}.Set(set).Where(b.where())
}

// Found are the values that a transaction has read, as they were before it wrote, or did not write.
type Found struct {
	t      *Transaction
	values []rawValue // by change: the version, the regular columns, and a column of each key that has to be free
	starts []int      // of changes in values
}

// String says of how many values it is.
func (f Found) String() string { return fmt.Sprintf("found %d values", len(f.values)) }

// Format prints [Found.String] for every verb: printed in full it would show rows.
func (f Found) Format(s fmt.State, _ rune) { _, _ = io.WriteString(s, f.String()) }

// MarshalText is [Found.String].
func (f Found) MarshalText() ([]byte, error) { return []byte(f.String()), nil }

// Found is what the one row of the answer is scanned into.
func (t *Transaction) Found() *Found {
	f := &Found{t: t}
	n := 0
	for i, change := range t.parts {
		f.starts = append(f.starts, n)
		n += 1 + len(change.Condition.base.Set.Regular()) + len(t.contested(i))
	}
	f.values = make([]rawValue, n)
	return f
}

// Dest is what to scan the columns of the answer into.
func (f *Found) Dest() []any {
	dest := make([]any, len(f.values))
	for n := range f.values {
		dest[n] = &f.values[n]
	}
	return dest
}

// Row is the base row of the n-th change. That of a deleted entity has a version alone, and one that does not exist has
// nothing.
func (f *Found) Row(n int) (row Row) {
	values := f.values[f.starts[n]:]
	b := f.t.parts[n].Condition.base
	row = b.readRow(b.Set.Regular(), values[1:])
	copy(row.Version[:], values[0].Data)
	return row
}

// Holds says whether the base row of the n-th change was as its condition wants it. It is sure unless the row has the
// version, and differs in the bytes of a column that keys follow from: the server may have taken them as equal.
func (f *Found) Holds(n int) (holds, sure bool) {
	row, before, b := f.Row(n), f.t.before(n), f.t.parts[n].Condition.base
	switch {
	case row.Version != before:
		return false, true
	case before == (gocql.UUID{}):
		return !row.Present, true
	}
	same := !slices.ContainsFunc(b.imaged(), func(i int) bool {
		return !cqltype.Identical(b.before[i].Data, row.Values[i].Data)
	})
	return same, same
}

// Taken is the first key that the n-th change takes and that an entity had, nil if there was none.
func (f *Found) Taken(n int) *Claim {
	change := f.t.parts[n]
	at := f.starts[n] + 1 + len(change.Condition.base.Set.Regular())
	for k, claim := range f.t.contested(n) {
		if f.values[at+k].Data != nil {
			return claim
		}
	}
	return nil
}
