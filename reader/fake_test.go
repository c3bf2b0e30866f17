package reader

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/denorm-go/denorm/internal/cqltype"
	"github.com/denorm-go/denorm/internal/describe"
	"github.com/denorm-go/denorm/internal/driver"
	"github.com/denorm-go/denorm/internal/statement"
	"github.com/denorm-go/denorm/tables"
	"github.com/gocql/gocql"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fakeSource holds rows as a server does: by table and partition, in clustering order. It reads the statements it is
// sent, so what a statement does not say is not done. It compares values by itself.
type fakeSource struct {
	mu       sync.Mutex
	tables   map[string]*fakeTable
	declared map[string]*fakeTable
	types    map[string]gocql.TypeInfo
	requests []attempt
	before   func(ctx context.Context, r attempt) error // called before a page is made

	active, most atomic.Int64 // requests under way, and the most of them
}

type fakeTable struct {
	part, clustering []string
	desc             []bool
	rows             map[string][]fakeRow // by partition key
}

type fakeRow map[string][]byte

// newFake has the tables of a set, whose types it takes from the description.
func newFake(d describe.Description) *fakeSource {
	f := &fakeSource{tables: make(map[string]*fakeTable), types: make(map[string]gocql.TypeInfo)}
	for _, table := range d.Tables {
		t := &fakeTable{rows: make(map[string][]fakeRow)}
		for _, c := range table.Columns {
			kind, ok := map[string]gocql.Type{
				"text": gocql.TypeVarchar, "int": gocql.TypeInt, "bigint": gocql.TypeBigInt, "timestamp": gocql.TypeTimestamp,
				"timeuuid": gocql.TypeTimeUUID, "date": gocql.TypeDate, "uuid": gocql.TypeUUID,
			}[c.Type]
			if !ok {
				panic(c.Type)
			}
			f.types[c.Name] = driver.NativeType(kind)
			switch c.Kind {
			case "partition_key":
				t.part = append(t.part, c.Name)
			case "clustering":
				t.clustering, t.desc = append(t.clustering, c.Name), append(t.desc, c.Desc)
			}
		}
		f.tables[table.Name] = t
	}
	f.declared = maps.Clone(f.tables)
	return f
}

// write applies the mutations of a change to one table, and says whether its row was not there before.
func (f *fakeSource) write(tb testing.TB, c tables.Change) (added bool) {
	tb.Helper()
	r, err := c.Internal().Render(1, nil)
	if err != nil {
		tb.Fatal(err)
	}
	for _, m := range r.Mutations {
		t := f.table(m.Table)
		if t.rows[string(m.PartitionKey)] == nil && f.tables[m.Table] == nil {
			f.tables[m.Table] = t
		}
		row := make(fakeRow)
		for i, name := range m.Names {
			if v, ok := m.Args[i].(*cqltype.Value); ok {
				row[name] = v.Data
			}
		}
		rows := t.rows[string(m.PartitionKey)]
		i, found := slices.BinarySearchFunc(rows, row, func(a, b fakeRow) int {
			return f.compare(t, a, b, len(t.clustering))
		})
		if !found {
			added = true
			t.rows[string(m.PartitionKey)] = slices.Insert(rows, i, row)
		}
	}
	return added
}

// table finds a table by name, or the one that a rotating table's name begins with.
func (f *fakeSource) table(name string) *fakeTable {
	if t := f.tables[name]; t != nil {
		return t
	}
	for base, t := range f.declared {
		if strings.HasPrefix(name, base+"_") {
			return &fakeTable{part: t.part, clustering: t.clustering, desc: t.desc, rows: make(map[string][]fakeRow)}
		}
	}
	panic(name)
}

func (f *fakeSource) compare(t *fakeTable, a, b fakeRow, columns int) int {
	for i, name := range t.clustering[:columns] {
		if c := compareFake(f.types[name].Type(), a[name], b[name]); c != 0 {
			if t.desc[i] {
				return -c
			}
			return c
		}
	}
	return 0
}

func compareFake(t gocql.Type, a, b []byte) int {
	if len(a) == 0 || len(b) == 0 { // an empty value comes first
		return cmp.Compare(len(a), len(b))
	}
	switch t {
	case gocql.TypeInt:
		return cmp.Compare(int32(binary.BigEndian.Uint32(a)), int32(binary.BigEndian.Uint32(b)))
	case gocql.TypeTimestamp, gocql.TypeBigInt:
		return cmp.Compare(int64(binary.BigEndian.Uint64(a)), int64(binary.BigEndian.Uint64(b)))
	case gocql.TypeTimeUUID:
		x, y := gocql.UUID(a), gocql.UUID(b)
		if c := cmp.Compare(x.Timestamp(), y.Timestamp()); c != 0 {
			return c
		}
		for i := range 8 {
			if c := int(int8(a[8+i])) - int(int8(b[8+i])); c != 0 {
				return c
			}
		}
		return 0
	}
	return bytes.Compare(a, b)
}

var statementForm = regexp.MustCompile(
	`^SELECT ([a-z_,0-9]+) FROM ([a-z_.0-9]+) WHERE (.+?)(?: ORDER BY ([a-z_]+) (ASC|DESC))?$`)

func (f *fakeSource) page(ctx context.Context, r attempt) answer {
	if n := f.active.Add(1); n > f.most.Load() {
		f.most.Store(n)
	}
	defer f.active.Add(-1)
	f.mu.Lock()
	f.requests = append(f.requests, r)
	f.mu.Unlock()
	if f.before != nil {
		if err := f.before(ctx, r); err != nil {
			return &fakeAnswer{err: err}
		}
	}
	if err := ctx.Err(); err != nil {
		return &fakeAnswer{err: err}
	}
	answer := f.answer
	if strings.HasPrefix(r.statement, "BEGIN") {
		answer = f.transaction
	}
	a, err := answer(r)
	if err != nil {
		return &fakeAnswer{err: err}
	}
	return a
}

// fakeError is an error of the server.
type fakeError struct {
	code int
	text string
}

func (e fakeError) Code() int       { return e.code }
func (e fakeError) Message() string { return e.text }
func (e fakeError) Error() string   { return e.text }

func (f *fakeSource) answer(r attempt) (*fakeAnswer, error) {
	parts := statementForm.FindStringSubmatch(r.statement)
	if parts == nil {
		return nil, fmt.Errorf("not understood: %s", r.statement)
	}
	name := parts[2][strings.Index(parts[2], ".")+1:]
	t := f.tables[name]
	if t == nil || t.part == nil {
		return nil, fakeError{gocql.ErrCodeInvalid, "table " + name + " does not exist"}
	}
	rows := slices.Clone(t.rows[string(r.key)])
	relations := strings.Split(parts[3], " AND ")
	if len(relations) != len(r.values) {
		return nil, errors.New("as many values as marks are needed")
	}
	for i, relation := range relations {
		m := regexp.MustCompile(`^([a-z_]+)(=|<=?|>=?)\?$`).FindStringSubmatch(relation)
		v, err := r.values[i].(*cqltype.Value).MarshalCQL(f.types[m[1]])
		if err != nil {
			return nil, err
		}
		rows = slices.DeleteFunc(rows, func(row fakeRow) bool {
			c := compareFake(f.types[m[1]].Type(), row[m[1]], v)
			keep := c == 0 && strings.Contains(m[2], "=") || c < 0 && m[2][0] == '<' || c > 0 && m[2][0] == '>'
			return !keep
		})
	}
	if parts[4] != "" && (parts[5] == "DESC") != t.desc[slices.Index(t.clustering, parts[4])] {
		slices.Reverse(rows)
	}
	from := 0
	if r.state != nil {
		from = int(binary.BigEndian.Uint32(r.state))
	}
	a := &fakeAnswer{fake: f, columns: strings.Split(parts[1], ",")}
	if from%3 == 1 && len(r.state) == 4 { // now and then an empty page, as after many tombstones
		a.state = append(slices.Clone(r.state), 0)
		return a, nil
	}
	to := min(len(rows), from+r.size)
	a.rows = rows[min(from, len(rows)):to]
	if to < len(rows) || from < to && r.size%2 == 0 { // now and then there is nothing more
		a.state = binary.BigEndian.AppendUint32(nil, uint32(to))
	}
	return a, nil
}

var (
	letForm    = regexp.MustCompile(`(?m)^LET (row[0-9]+) = \((.*)\);$`)
	selectForm = regexp.MustCompile(`(?m)^SELECT ([a-z_,.0-9 ]+);\nCOMMIT TRANSACTION -- batch\n$`)
)

// transaction answers one that reads single rows. A row that does not exist is null in all columns.
func (f *fakeSource) transaction(r attempt) (*fakeAnswer, error) {
	selected := selectForm.FindStringSubmatch(r.statement)
	if selected == nil {
		return nil, fmt.Errorf("not understood: %s", r.statement)
	}
	a, all := &fakeAnswer{fake: f, types: make(map[string]gocql.TypeInfo)}, make(fakeRow)
	for _, let := range letForm.FindAllStringSubmatch(r.statement, -1) {
		marks := strings.Count(let[2], "?")
		one := attempt{statement: let[2], values: r.values[:marks], size: 2}
		r.values = r.values[marks:]
		parts := statementForm.FindStringSubmatch(let[2])
		name := parts[2][strings.Index(parts[2], ".")+1:]
		var key []*cqltype.Value
		for n := range f.tables[name].part {
			key = append(key, one.values[n].(*cqltype.Value))
		}
		one.key = statement.PartitionKey(key)
		found, err := f.answer(one)
		if err != nil {
			return nil, err
		}
		if len(found.rows) > 1 {
			return nil, errors.New("a LET reads one row")
		}
		for _, column := range found.columns {
			a.types[let[1]+"."+column] = f.types[column]
			if len(found.rows) == 1 {
				all[let[1]+"."+column] = found.rows[0][column]
			}
		}
	}
	a.columns, a.rows = strings.Split(selected[1], ", "), []fakeRow{all}
	return a, nil
}

type fakeAnswer struct {
	fake    *fakeSource
	types   map[string]gocql.TypeInfo // nil: those of the columns of the fake
	columns []string
	rows    []fakeRow
	state   []byte
	err     error
}

func (a *fakeAnswer) NumRows() int          { return len(a.rows) }
func (a *fakeAnswer) PageState() []byte     { return a.state }
func (a *fakeAnswer) Host() *gocql.HostInfo { return nil }
func (a *fakeAnswer) Close() error          { return a.err }

func (a *fakeAnswer) Scan(dest ...any) bool {
	if a.err != nil || len(a.rows) == 0 {
		return false
	}
	types := a.types
	if types == nil {
		types = a.fake.types
	}
	for i, name := range a.columns {
		if dest[i] == nil {
			continue
		}
		if a.err = gocql.Unmarshal(types[name], a.rows[0][name], dest[i]); a.err != nil {
			return false
		}
	}
	a.rows = a.rows[1:]
	return true
}
