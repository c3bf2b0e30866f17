package repair_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/denorm-go/denorm/internal/cassandra/merge"
	"github.com/denorm-go/denorm/internal/cqltype"
	"github.com/denorm-go/denorm/internal/statement"
	"github.com/gocql/gocql"
)

// lawReplica is the model's state of the tables of one family. It does what the CQL text of a mutation says with what
// is bound to its marks.
type lawReplica struct {
	family     *lawFamily
	tables     []*merge.Table
	statements []lawStatement
	key        []byte
}

// lawStatement is a parsed CQL text.
type lawStatement struct {
	text           string
	table          int
	insert, update bool  // else a delete
	slots          []int // by mark: the model's column, or slotKey
	timestamp, ttl int   // marks, ttl -1 for none
}

const (
	slotKey = -1 - iota
	slotOther
)

func newLawReplica(f *lawFamily) *lawReplica {
	r := &lawReplica{family: f}
	for i := range f.tables {
		r.tables = append(r.tables, merge.NewTable(len(f.tables[i].columns)))
	}
	return r
}

func (r *lawReplica) reset() {
	for _, t := range r.tables {
		t.Reset()
	}
}

// apply executes a mutation that arrives in the second.
func (r *lawReplica) apply(m *statement.Mutation, second int64) error {
	text, args := m.Statement, m.Args
	if r.family.expiry >= 0 {
		text, args = m.At(time.Unix(second, 0))
	}
	s, err := r.statement(text)
	if err != nil {
		return err
	}
	if len(args) != len(s.slots) || r.family.tables[s.table].name != m.Table {
		return fmt.Errorf("table %s, %d arguments: %s", m.Table, len(args), text)
	}
	timestamp, err := number(args[s.timestamp])
	if err != nil {
		return fmt.Errorf("timestamp: %w: %s", err, text)
	}
	if timestamp != m.Timestamp {
		return fmt.Errorf("timestamp %d is bound, the mutation says %d: %s", timestamp, m.Timestamp, text)
	}
	r.key = r.key[:0]
	for i, slot := range s.slots {
		if slot == slotKey {
			v, ok := args[i].(*cqltype.Value)
			if !ok || len(v.Data) == 0 {
				return fmt.Errorf("no value for a key column: %s", text)
			}
			r.key = appendKey(r.key, v.Data)
		}
	}
	row := r.tables[s.table].Row(r.key)
	if !s.insert && !s.update {
		row.Delete(timestamp)
		return nil
	}
	var expires int64
	if s.ttl >= 0 {
		ttl, err := number(args[s.ttl])
		if err != nil {
			return fmt.Errorf("TTL: %w: %s", err, text)
		}
		if ttl <= 0 {
			return fmt.Errorf("TTL %d: %s", ttl, text)
		}
		expires = second + ttl
	}
	if s.insert {
		row.Mark(merge.Liveness{Timestamp: timestamp, Expires: expires})
	}
	for i, slot := range s.slots {
		if slot < 0 {
			continue
		}
		switch v := args[i].(type) {
		case *cqltype.Value:
			row.Set(slot, merge.Cell{Timestamp: timestamp, Value: v.Data, Expires: expires})
		default:
			if v != gocql.UnsetValue {
				return fmt.Errorf("a %T is bound: %s", v, text)
			}
		}
	}
	return nil
}

func number(arg any) (int64, error) {
	v, ok := arg.(*cqltype.Value)
	switch {
	case ok && len(v.Data) == 8:
		return int64(binary.BigEndian.Uint64(v.Data)), nil
	case ok && len(v.Data) == 4:
		return int64(int32(binary.BigEndian.Uint32(v.Data))), nil
	}
	return 0, fmt.Errorf("no number: %T", arg)
}

func (r *lawReplica) statement(text string) (*lawStatement, error) {
	for i := range r.statements {
		if r.statements[i].text == text {
			return &r.statements[i], nil
		}
	}
	s, err := r.parse(text)
	if err != nil {
		return nil, err
	}
	r.statements = append(r.statements, s)
	return &r.statements[len(r.statements)-1], nil
}

var (
	insertText = regexp.MustCompile(`^INSERT INTO (\w+) \(([\w,]+)\) VALUES \(([?,]+)\) USING (TTL \? AND )?TIMESTAMP \?$`)
	nullText   = regexp.MustCompile(`^UPDATE (\w+) USING TIMESTAMP \? SET (\w+)=\? WHERE ((?:\w+=\?(?: AND )?)+)$`)
	deleteText = regexp.MustCompile(`^DELETE FROM (\w+) USING TIMESTAMP \? WHERE ((?:\w+=\?(?: AND )?)+)$`)
)

func (r *lawReplica) parse(text string) (lawStatement, error) {
	s := lawStatement{text: text, ttl: -1}
	var table string
	var names []string
	if in := insertText.FindStringSubmatch(text); in != nil {
		s.insert, table, names = true, in[1], strings.Split(in[2], ",")
		if strings.Count(in[3], "?") != len(names) {
			return s, fmt.Errorf("marks and columns differ in number: %s", text)
		}
		if in[4] != "" {
			s.ttl, names = len(names), append(names, "")
		}
		s.timestamp, names = len(names), append(names, "")
	} else if del := deleteText.FindStringSubmatch(text); del != nil {
		table, names = del[1], append([]string{""}, strings.Split(strings.ReplaceAll(del[2], "=?", ""), " AND ")...)
	} else if set := nullText.FindStringSubmatch(text); set != nil {
		s.update, table = true, set[1]
		names = append([]string{"", set[2]}, strings.Split(strings.ReplaceAll(set[3], "=?", ""), " AND ")...)
	} else {
		return s, fmt.Errorf("not understood: %s", text)
	}
	s.table = slices.IndexFunc(r.family.tables, func(t lawTable) bool { return t.name == table })
	if s.table < 0 {
		return s, fmt.Errorf("no such table: %s", text)
	}
	t := &r.family.tables[s.table]
	var key, columns []int
	for _, name := range names {
		column := slices.Index(r.family.names, name)
		switch n := slices.Index(t.columns, column); {
		case slices.Contains(t.key, column):
			s.slots, key = append(s.slots, slotKey), append(key, column)
		case n >= 0 && (s.insert || s.update):
			s.slots, columns = append(s.slots, n), append(columns, column)
		case name == "":
			s.slots = append(s.slots, slotOther)
		default:
			return s, fmt.Errorf("no column %s in the table: %s", name, text)
		}
	}
	if !slices.Equal(key, t.key) || s.insert && !r.family.patched && len(columns) != len(t.columns) {
		return s, fmt.Errorf("want the key in order, and all columns in an INSERT: %s", text)
	}
	return s, nil
}

// differs holds a table against what it should hold in the second now: the one row under the key, or with a nil key
// none. It says what is wrong, and nothing if nothing is. A nil row stands for any values.
func (r *lawReplica) differs(table int, now int64, key []byte, row *lawRow, timestamp int64) string {
	t := &r.family.tables[table]
	found := false
	for have := range r.tables[table].Visible(now) {
		if key == nil || have.Key() != string(key) {
			return "has a row that should not be there" + r.show(table, now)
		}
		found = true
		for i, column := range t.columns {
			if row == nil {
				break
			}
			want, got := row.values[column], have.Value(i, now)
			if column == r.family.stamp {
				if len(got) != 8 || int64(binary.BigEndian.Uint64(got)) != timestamp {
					return fmt.Sprintf("column %s: want %s%s", r.family.names[column], lawTime(timestamp), r.show(table, now))
				}
				continue
			}
			if !bytes.Equal(got, want) || (got == nil) != (want == nil) {
				kind := r.family.types[column]
				return fmt.Sprintf("column %s: want %s%s", r.family.names[column], lawValue(kind, want), r.show(table, now))
			}
		}
	}
	if key != nil && !found {
		return "lacks the row" + r.show(table, now)
	}
	return ""
}

// show prints what a table holds.
func (r *lawReplica) show(table int, now int64) string {
	f, t := r.family, &r.family.tables[table]
	var b strings.Builder
	b.WriteString("; it holds:")
	none := true
	for have := range r.tables[table].Visible(now) {
		none = false
		b.WriteString("\n      " + f.keyText(table, have.Key()) + " |")
		for i, column := range t.columns {
			fmt.Fprintf(&b, " %s=%s", f.names[column], lawValue(f.types[column], have.Value(i, now)))
		}
	}
	if none {
		b.WriteString(" nothing")
	}
	return b.String()
}
