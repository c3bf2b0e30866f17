package reconcile

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/internal/catalog"
	"github.com/denorm-go/denorm/internal/driver"
	"github.com/denorm-go/denorm/internal/murmur3"
	"github.com/denorm-go/denorm/internal/repair"
	"github.com/denorm-go/denorm/internal/request"
	"github.com/denorm-go/denorm/internal/statement"
	"github.com/denorm-go/denorm/internal/tablerow"
	"github.com/denorm-go/denorm/retry"
)

// The kinds of requests: not equally fast, so each has a target of its own.
const (
	pages        = iota // a read of rows of a range
	points              // a read or write of one row
	transactions        // a lightweight transaction, or a read at SERIAL
	kinds
)

// table is a table of a set on the cluster.
type table struct {
	tablerow.Layout
	keyspace string // physical
	columns  []string
	timed    []string
	selects  string // up to the WHERE
	ranges   string // all of it, of a range of tokens
	live     catalog.Table
	version  int // of the base table of a set with Versioned: which column has the version; else -1
	surveyor *tablerow.Surveyor
	flaws    []flaw
	derives  bool // it is a base table with columns of tables.Derive
}

// flaw is null in a column of the base table, or another value than tables.Derive gives. Other code has written it.
type flaw struct {
	column    int
	unadopted bool  // it is the column of the stamp or version
	elsewhere bool  // the row is under another key than the library gives it
	why       error // why writers reject each change of such a row; nil if they do not
}

func newTable(l tablerow.Layout, keyspace string) *table {
	t := &table{Layout: l, keyspace: keyspace, columns: l.AllColumns(), timed: tablerow.Timed(l)}
	t.version = slices.Index(t.columns, l.Version())
	t.surveyor = tablerow.NewSurveyor(l)
	t.flaws = t.allFlaws()
	t.derives = t.Table == t.Base().Table && slices.ContainsFunc(t.Table.Read, t.isDerived)
	t.selects = "SELECT " + strings.Join(tablerow.Selected(l), ", ") + " FROM " + t.qualified()
	key := strings.Join(t.Partition(), ", ")
	t.ranges = t.selects + " WHERE token(" + key + ") > ? AND token(" + key + ") <= ?"
	return t
}

func (t *table) isDerived(column int) bool { return t.Set.Columns[column].Derived != nil }

// allFlaws are the flaws that rows of the table may have.
func (t *table) allFlaws() (out []flaw) {
	if t.Table != t.Base().Table {
		return nil
	}
	if t.version >= 0 {
		why := fmt.Errorf("a row of %s has no version: Adopt (denorm adopt) gives it one", t.qualified())
		out = append(out, flaw{column: t.version, unadopted: true, why: why})
	} else if i := slices.Index(t.columns, tablerow.StampColumn(t.Layout)); i >= 0 {
		out = append(out, flaw{column: i, unadopted: true})
	}
	for _, name := range tablerow.NotNull(t.Layout) {
		why := fmt.Errorf("a row of %s has null in column %s, so no change of it can hold: UPDATE the column to a value by hand",
			t.qualified(), name)
		out = append(out, flaw{column: slices.Index(t.columns, name), why: why})
	}
	return out
}

// flaw is what is wrong with a row, nil if nothing is.
func (t *table) flaw(cells [][]byte) *flaw {
	var found *flaw
	if i := slices.IndexFunc(t.flaws, func(f flaw) bool { return cells[f.column] == nil }); i >= 0 {
		found = &t.flaws[i]
	}
	if !t.derives {
		return found
	}
	r, err := tablerow.Read(t.Layout, cells[:len(t.columns)])
	if err != nil {
		return found
	}
	why, key := t.underived(r)
	if why == nil {
		return found
	}
	both := flaw{why: why, elsewhere: key}
	if found != nil {
		both.unadopted, both.why = found.unadopted, cmp.Or(found.why, why)
	}
	return &both
}

// underived says what is wrong with a base row that tables.Derive does not give, and whether that is in its key.
func (t *table) underived(r tablerow.Row) (why error, key bool) {
	column, key := r.Underived()
	if text := repair.Underived("a row of "+t.qualified(), column, key); text != "" {
		return errors.New(text), key
	}
	return nil, false
}

func (t *table) qualified() string {
	if t.keyspace == "" {
		return t.Name()
	}
	return t.keyspace + "." + t.Name()
}

// row is a row as it was read.
type row struct {
	repair.Row
	ends   time.Time // when the first of its columns expires, zero if none does
	survey tablerow.Survey
	flaw   *flaw
}

// access reads and writes the tables of a set.
type access struct {
	reads, writes *gocql.Session
	retrier       request.Retrier
	keyspace      func(declared string) string
	consistency   gocql.Consistency
	throttle      *throttle
}

// mark is where the next page of a range begins: after a row. The zero value is the beginning.
type mark struct {
	state []byte
	token int64 // of the last row, if there is a state
}

// page reads one page of the rows whose tokens are in a range, and gives where the next one begins: with no state at
// the end.
func (a *access) page(ctx context.Context, t *table, in segment, size int, from mark) (rows []row, next mark, err error) {
	next, err = a.visit(ctx, t, in, size, from, func(iter *gocql.Iter) (last []byte, err error) {
		rows, last, err = scan(iter, t)
		return last, err
	})
	return rows, next, err
}

// visit is page for rows that are not kept. read is called again if reading has failed, and gives the partition key of
// the last row.
func (a *access) visit(
	ctx context.Context, t *table, in segment, size int, from mark, read func(*gocql.Iter) (last []byte, err error),
) (next mark, err error) {
	r := request.New(t.keyspace, nil)
	r.Token = &in.high
	attempts := 0
	err = a.do(ctx, pages, r, func(ctx context.Context) error {
		attempts++
		iter := a.query(ctx, t.ranges, a.consistency, in.low, in.high).PageSize(size).PageState(from.state).Iter()
		next = mark{state: append([]byte(nil), iter.PageState()...), token: from.token}
		last, err := read(iter)
		if last != nil {
			next.token = murmur3.Token(last)
		}
		if attempts > 1 && tooMuch(err) {
			err = request.Stop(err) // another node has failed as well: a smaller page may not
		}
		return err
	})
	if err != nil {
		return mark{}, t.unread(err)
	}
	return next, nil
}

// unread is the error of a read of the table.
func (t *table) unread(err error) error { return fmt.Errorf("read %s: %w", t.qualified(), err) }

// row reads the row with an encoded key, nil if there is none.
func (a *access) row(ctx context.Context, t *table, key string, consistency gocql.Consistency) (*row, error) {
	values, partition := tablerow.Arguments(t.Layout, key)
	text := t.selects + " WHERE " + strings.Join(t.Table.KeyNames, " = ? AND ") + " = ?"
	var rows []row
	err := a.do(ctx, points, request.New(t.keyspace, partition), func(ctx context.Context) (err error) {
		rows, _, err = scan(a.query(ctx, text, consistency, values...).RoutingKey(partition).PageState(nil).Iter(), t)
		return err
	})
	switch {
	case err != nil:
		return nil, t.unread(err)
	case len(rows) == 0:
		return nil, nil
	}
	return &rows[0], nil
}

// do sends a request when there is room for it, and again as the retry policy says.
func (a *access) do(ctx context.Context, kind int, r *request.Request, send func(context.Context) error) error {
	return a.throttle.do(ctx, kind, func() error {
		_, err := r.Do(ctx, &a.retrier, retry.Partition, send, nil)
		return err
	})
}

func (a *access) query(ctx context.Context, text string, consistency gocql.Consistency, values ...any) *gocql.Query {
	return a.reads.Query(text, values...).Consistency(consistency).Idempotent(true).RetryPolicy(driver.NoRetry).WithContext(ctx)
}

// send sends mutations one after the other, and waits for the answer to each.
func (a *access) send(ctx context.Context, mutations []statement.Mutation) error {
	began := time.Now()
	for i := range mutations {
		if err := a.sendTogether(ctx, began, mutations[i:i+1]); err != nil {
			return err
		}
	}
	return nil
}

// sendRow sends mutations of one row together, so that a process that dies leaves all of them or none.
func (a *access) sendRow(ctx context.Context, mutations []statement.Mutation) error {
	return a.sendTogether(ctx, time.Now(), mutations)
}

// sendTogether sends mutations of one row, the turn of which has come since began.
func (a *access) sendTogether(ctx context.Context, began time.Time, mutations []statement.Mutation) error {
	for i := range mutations {
		mutations[i].EndAs(statement.Written{}) // it ends as the row that was read
	}
	m := &mutations[0]
	attempt := func(ctx context.Context) error {
		b := a.writes.NewBatch(gocql.UnloggedBatch).DefaultTimestamp(false).RetryPolicy(driver.NoRetry).WithContext(ctx)
		b.Cons = a.consistency
		for i := range mutations {
			if text, args := mutations[i].At(time.Now()); text != "" { // else the row has expired meanwhile
				b.Entries = append(b.Entries, gocql.BatchEntry{Stmt: text, Args: args, Idempotent: true})
			}
		}
		switch len(b.Entries) {
		case 0:
			return nil
		case 1:
			return a.writes.Query(b.Entries[0].Stmt, b.Entries[0].Args...).Consistency(a.consistency).DefaultTimestamp(false).
				RoutingKey(m.PartitionKey).Idempotent(true).RetryPolicy(driver.NoRetry).WithContext(ctx).Exec()
		}
		return a.writes.ExecuteBatch(b)
	}
	err := a.throttle.do(ctx, points, func() error {
		if time.Since(began) > staleAfter { // of later attempts it would be wrong to say that nothing was sent
			return errStale
		}
		_, err := request.New(m.Keyspace, m.PartitionKey).Do(ctx, &a.retrier, retry.Partition, attempt, nil)
		return err
	})
	if err != nil {
		return fmt.Errorf("%s: %w", m, err)
	}
	return nil
}

// errStale is for what has waited, as in a run that was paused: a tombstone that covers it may be purged meanwhile.
var errStale = fmt.Errorf("not sent: it was read more than %v before its turn came: look again", staleAfter)

// cell keeps the bytes of a column, which are those of the driver's buffer; nil for null.
type cell []byte

// UnmarshalCQL implements [gocql.Unmarshaler].
func (c *cell) UnmarshalCQL(_ gocql.TypeInfo, data []byte) error {
	*c = data
	return nil
}

// eachRow gives f what was read of each row of a page, the columns of the table first. It is valid until f returns.
// last is the partition key of the last row, also of one that f is not given; nil if there is none.
func eachRow(iter *gocql.Iter, t *table, f func(values [][]byte) error) (last []byte, err error) {
	values := make([][]byte, len(t.columns)+2*len(t.timed))
	dest := make([]any, len(values))
	for i := range values {
		dest[i] = (*cell)(&values[i])
	}
	for iter.Scan(dest...) {
		if !t.surveyor.Row(values) {
			continue
		}
		if err := f(values); err != nil {
			_ = iter.Close()
			return nil, request.Stop(err)
		}
	}
	if values[0] != nil {
		last = bytes.Clone(t.PartitionKeyOf(values[:t.Table.Part]))
	}
	return last, iter.Close()
}

// scan reads the rows of a page.
func scan(iter *gocql.Iter, t *table) (rows []row, last []byte, err error) {
	rows = make([]row, 0, min(iter.NumRows(), defaultPageSize)) // the server says how many, in a frame that may have fewer
	now := time.Now()
	last, err = eachRow(iter, t, func(cells [][]byte) error {
		size := 0
		for _, c := range cells[:len(t.columns)] {
			size += len(c)
		}
		arena, values := make([]byte, 0, size), make([][]byte, len(t.columns))
		for i, c := range cells[:len(t.columns)] {
			if start := len(arena); c != nil {
				arena = append(arena, c...)
				values[i] = arena[start:len(arena):len(arena)]
			}
		}
		read, err := tablerow.Read(t.Layout, values)
		if err != nil {
			return err
		}
		r := row{Row: repair.Row{Row: read}, flaw: t.flaw(cells)}
		r.At, r.ends = t.times(cells, now)
		if end, partly := t.surveyor.End(cells, now); !partly {
			r.Ends = end
		}
		t.surveyor.Count(&r.survey, cells, now)
		if t.version < 0 || r.At == 0 { // else they are times of transactions
			r.Written = t.written(cells, now)
		}
		rows = append(rows, r)
		return nil
	})
	return rows, last, err
}

// times are when a row was written, 0 if nothing says so, and when the first of its columns expires, zero if none does.
func (t *table) times(cells [][]byte, now time.Time) (at int64, ends time.Time) {
	if t.version >= 0 {
		id, err := gocql.UUIDFromBytes(cells[t.version])
		if err != nil || id.Version() != 1 {
			return 0, time.Time{}
		}
		return id.Time().UnixMicro(), time.Time{} // WRITETIME is that of the transaction
	}
	for i := range t.timed {
		w := t.surveyor.Cell(cells, i, now)
		at = max(at, w.At)
		if e := time.UnixMilli(w.Ends); w.Ends != 0 && (ends.IsZero() || e.Before(ends)) {
			ends = e
		}
	}
	return at, ends
}

// written is by column, of those that are not null.
func (t *table) written(cells [][]byte, now time.Time) map[string]statement.Written {
	out := make(map[string]statement.Written, len(t.timed))
	for i, name := range t.timed {
		if w := t.surveyor.Cell(cells, i, now); w.At != 0 {
			out[name] = w
		}
	}
	return out
}
