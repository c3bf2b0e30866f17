package reader

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/denorm-go/denorm/internal/cql"
	"github.com/denorm-go/denorm/internal/cqltype"
	"github.com/denorm-go/denorm/internal/slots"
	"github.com/denorm-go/denorm/internal/tablerow"
	"github.com/denorm-go/denorm/tables"
)

// Query says which rows of a declared table to read, in which order, and how many. [From] makes it. Its methods return
// a changed copy. An invalid query, such as the zero value, is reported when it is read. A Query is printed and logged
// as the name of its table, without values.
type Query[T any] struct {
	query
	unconfirmed []func(T)
}

// query is a Query without its row type.
type query struct {
	op         string // of the read
	layout     tablerow.Layout
	name       string // of the table, as given
	known      bool   // the table is declared
	unset      bool   // the set is nil
	made       bool   // by From
	conditions []condition
	order      string
	limit      int
	token      Token
	confirmed  bool
}

// String returns the name of the table.
func (q query) String() string { return "query of " + q.name }

// Format prints String for every format of fmt.
func (q query) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, q.String()) }

// MarshalText returns String, for structured loggers.
func (q query) MarshalText() ([]byte, error) { return []byte(q.String()), nil }

type condition struct {
	column string
	op     operator
	value  any
}

type operator string

const (
	eq     operator = "="
	gt     operator = ">"
	gtOrEq operator = ">="
	lt     operator = "<"
	ltOrEq operator = "<="
)

// From begins a query of the table declared under name in the set. If several keyspaces have such a table, put the
// declared keyspace before the name, as in "shop.orders". The query reads all rows under the partition key that Eq
// gives. Rows of a table with tables.Table.Columns have zero values in the fields of the other columns. Do not give
// such rows to Set.Update, which would write these zeros to every table. writer.Modify reads the whole row.
func From[T any](set *tables.Set[T], name string) Query[T] {
	layout, ok := tablerow.LayoutOf(set.Internal(), name)
	return Query[T]{query: query{layout: layout, name: name, known: ok, unset: set == nil, made: true}}
}

// Eq limits the query to rows in which a column of the partition key, or a clustering column, has the value. The value
// must be of the Go type of the column's field. A value that [tables.OneOf] does not list is not an error, as rows from
// before the declaration may have it; usually it finds no rows. A value that [tables.Derive] cannot give is rejected.
func (q Query[T]) Eq(column string, value any) Query[T] { return q.where(column, eq, value) }

// Gt limits the query to rows whose clustering column is greater than value. In Gt, GtOrEq, Lt and LtOrEq of a timeuuid
// column, a time.Time stands for all timeuuids of that moment. A lower bound above the upper one fails with
// [ErrInvalid]; equal bounds are valid.
func (q Query[T]) Gt(column string, value any) Query[T] { return q.where(column, gt, value) }

// GtOrEq is [Query.Gt] with the value itself included.
func (q Query[T]) GtOrEq(column string, value any) Query[T] { return q.where(column, gtOrEq, value) }

// Lt limits the query to rows whose clustering column is less than value.
func (q Query[T]) Lt(column string, value any) Query[T] { return q.where(column, lt, value) }

// LtOrEq is [Query.Lt] with the value itself included.
func (q Query[T]) LtOrEq(column string, value any) Query[T] { return q.where(column, ltOrEq, value) }

func (q Query[T]) where(column string, op operator, value any) Query[T] {
	q.conditions = append(slices.Clip(q.conditions), condition{column, op, value})
	return q
}

// OrderBy sets the direction: the first clustering column without Eq, followed by ASC or DESC. Default: the clustering
// order of the table. A column alone means ASC, as in CQL, even if the table has it in descending order.
func (q Query[T]) OrderBy(order string) Query[T] {
	q.order = order
	return q
}

// Limit sets the largest number of rows to read; 0 stands for all.
func (q Query[T]) Limit(rows int) Query[T] {
	q.limit = rows
	return q
}

// Confirm leaves out rows of a query table that the base row of their entity does not confirm: ghosts, and rows of
// writes in flight. It returns the values of the base row, in all fields, so the row may be given to Set.Update. Limits
// and tokens count the rows that are returned. Confirm does not find rows that this table lacks.
//
// Each function is called with each row that is left out, as this table has it. The call is on the goroutine of the
// loop, in the row's place in the order. A function that repairs the entity should first look again: the write may be
// in flight.
//
// It costs a read of the base table for each row that is fetched, at the reader's level and within [Parallel]. Confirm
// rejects queries of the base table, of counters, and of tables whose rows may be under several bucket functions
// ([tables.Since] without a time).
func (q Query[T]) Confirm(unconfirmed ...func(row T)) Query[T] {
	q.confirmed = true
	q.unconfirmed = append(slices.Clip(q.unconfirmed), unconfirmed...)
	return q
}

// After continues a query: it begins after the last row that was returned before [Rows.Token] was taken. An empty token
// stands for the beginning. The query must be as for page 1, with the same bounds; only the limit may differ. Otherwise
// the error matches [ErrToken] and says what differs.
func (q Query[T]) After(token Token) Query[T] {
	q.token = token
	return q
}

// bound is a query with its values encoded and its columns in place.
type bound struct {
	query
	equal     map[string]*cqltype.Value
	partition []string
	columns   []string // clustering columns
	fixed     int      // how many of the clustering columns equal a value
	low, high *slots.Bound
	ranged    string // the column of low and high
	reverse   bool
}

// bind checks what can be checked without looking at buckets.
func (q *query) bind() (*bound, error) {
	switch {
	case !q.made:
		return nil, q.invalid("", "the Query is a zero value: it is made by reader.From")
	case q.unset:
		return nil, q.invalid("", "the set is nil")
	case !q.known:
		return nil, q.invalid("", "no table of this name is declared in the set, or several are, in "+
			"different keyspaces: name one of these with its keyspace, as in shop.orders")
	case q.layout.Table.Hidden:
		return nil, q.invalid("", "the table is Hidden until its backfill is complete: read another table until then, and "+
			"remove Hidden "+
			"from its declaration once Reconciler.Backfill has returned no error")
	case q.limit < 0:
		return nil, q.invalid("", fmt.Sprintf("the limit is %d: give a positive number, or 0 for all rows", q.limit))
	}
	b := &bound{
		query: *q, equal: make(map[string]*cqltype.Value), partition: q.layout.Partition(), columns: q.layout.Clustering(),
	}
	for _, c := range q.conditions {
		if err := b.condition(c); err != nil {
			return nil, err
		}
	}
	for _, name := range b.partition {
		if b.equal[name] == nil && !q.layout.Derived(name) {
			return nil, q.invalid(name, "is missing: a query gives every column of the partition key with Eq")
		}
	}
	for b.fixed < len(b.columns) && b.equal[b.columns[b.fixed]] != nil {
		b.fixed++
	}
	for i, name := range b.columns[b.fixed:] {
		if b.equal[name] != nil || name == b.ranged && i > 0 {
			return nil, q.invalid(b.columns[b.fixed], "is missing: it comes before "+name+
				" in the clustering key, and a range of it would have to be filtered")
		}
	}
	if b.ranged != "" && slices.Contains(b.columns[:b.fixed], b.ranged) {
		return nil, q.invalid(b.ranged, "has a value and a range")
	}
	if b.low != nil && b.high != nil && b.swapped() {
		return nil, q.invalid(b.ranged,
			"the lower bound is above the upper one, so there can be no rows: the two are swapped")
	}
	return b, b.direction()
}

func (b *bound) condition(c condition) error {
	clustering := slices.Contains(b.columns, c.column)
	switch {
	case !clustering && !slices.Contains(b.partition, c.column) && !slices.Contains(b.layout.Columns(), c.column):
		return b.invalid(c.column, "is no column of the table"+
			cql.Meant(c.column, slices.Concat(b.partition, b.layout.Columns())))
	case !clustering && !slices.Contains(b.partition, c.column):
		return b.invalid(c.column, "is no key column of the table, so rows would have to be filtered by it: "+
			"declare a table keyed by it")
	case !clustering && c.op != eq:
		return b.invalid(c.column, "is a column of the partition key, which has no order: give it with Eq")
	case b.equal[c.column] != nil:
		return b.invalid(c.column, "has two conditions, one of them Eq")
	}
	v, open, err := b.value(c)
	if err != nil {
		return err
	}
	if c.op == eq {
		b.equal[c.column] = v
		return nil
	}
	if b.ranged != "" && b.ranged != c.column {
		return b.invalid(c.column, "has a range, and "+b.ranged+" has one too: rows would have to be filtered by one of them")
	}
	b.ranged = c.column
	end := &b.low
	if c.op == lt || c.op == ltOrEq {
		end = &b.high
	}
	if *end != nil {
		return b.invalid(c.column, "has two conditions of one kind")
	}
	*end = &slots.Bound{Value: v, Open: open}
	return nil
}

// value encodes the value of a condition, and says whether it is itself out of the range.
func (b *bound) value(c condition) (v *cqltype.Value, open bool, err error) {
	open = c.op == gt || c.op == lt
	if t, ok := c.value.(*time.Time); ok && t != nil {
		c.value = *t
	}
	if t, ok := c.value.(time.Time); ok && c.op != eq {
		if t.IsZero() {
			return nil, false, b.invalid(c.column, "the value is the zero time")
		}
		if c.op == lt || c.op == gtOrEq { // the first value that is not before t, the others the last one not after it
			t = b.layout.Ceil(c.column, t)
			c.value = t
		}
		if v, ok := b.layout.Moment(c.column, t, c.op == gt || c.op == ltOrEq); ok {
			return v, open, nil
		}
	}
	v, err = b.layout.Encode(c.column, c.value)
	if err != nil {
		return nil, false, b.rejected(c.column, reason(err), err)
	}
	if fault := slots.BucketFault(b.layout, c.column, v); fault != "" && c.op == eq {
		return nil, false, b.invalid(c.column, fault)
	}
	return v, open, nil
}

// swapped says whether the lower bound is above the upper one, in the order of the column. Times that the column does
// not tell apart are equal, however [bound.value] rounds them, and so are a time and the timeuuids of its moment.
func (b *bound) swapped() bool {
	low, high := b.low.Value, b.high.Value
	for _, c := range b.conditions {
		t, ok := c.value.(time.Time)
		if c.column != b.ranged || !ok {
			continue
		}
		end, last := &low, c.op == lt || c.op == ltOrEq
		if last {
			end = &high
		}
		if v, ok := b.layout.Moment(c.column, t, last); ok {
			*end = v
		} else if v, err := b.layout.Encode(c.column, t); err == nil {
			*end = v
		}
	}
	return b.layout.Compare(b.fixed, low.Data, high.Data) > 0
}

// direction reads OrderBy.
func (b *bound) direction() error {
	if b.order == "" {
		return nil
	}
	words := strings.Fields(b.order)
	desc := len(words) == 2 && strings.EqualFold(words[1], "desc")
	if len(words) == 0 || len(words) > 2 || len(words) == 2 && !desc && !strings.EqualFold(words[1], "asc") {
		return b.invalid("", fmt.Sprintf("OrderBy(%q): want a column, optionally followed by ASC or DESC", b.order))
	}
	i := slices.Index(b.columns, words[0])
	switch {
	case i < 0:
		return b.invalid(words[0], "OrderBy: is no clustering column of the table")
	case i > b.fixed:
		return b.invalid(words[0], "OrderBy: rows come in the order of "+b.columns[b.fixed]+", which comes before it")
	}
	b.reverse = desc != b.layout.Desc(i)
	return nil
}

// slots lists the partitions. from, if not nil, is where the query continues.
func (b *bound) slots(from *position, limit int) (slots.Slots, error) {
	bounds := slots.Bounds{Equal: b.equal, Ranged: b.ranged, Low: b.low, High: b.high}
	if from != nil && b.ranged != "" { // it narrows the range, if the query has that end at all
		end := &bounds.Low
		if b.descending(b.fixed) {
			end = &bounds.High
		}
		if *end != nil {
			*end = &slots.Bound{Value: b.layout.Raw(b.fixed, from.Key[b.fixed])}
		}
	}
	return slots.Of(b.layout, bounds, limit, b.invalid)
}

// descending says whether rows come with falling values of clustering column i.
func (b *bound) descending(i int) bool { return b.layout.Desc(i) != b.reverse }

// compare orders two clustering keys as the query does.
func (b *bound) compare(x, y [][]byte) int {
	for i := b.fixed; i < len(b.columns); i++ {
		if c := b.layout.Compare(i, x[i], y[i]); c != 0 {
			if b.descending(i) {
				return -c
			}
			return c
		}
	}
	return 0
}
