package reader

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/denorm-go/denorm/internal/each"
	"github.com/denorm-go/denorm/internal/entity"
	"github.com/denorm-go/denorm/internal/period"
	"github.com/denorm-go/denorm/internal/statement"
	"github.com/denorm-go/denorm/session"
)

// Transaction reads rows of a [tables.Transactional] set in one transaction of Cassandra 6: all of them as they are at
// one moment. So it sees all of a write to such sets, or nothing of the write. Each query names one row: it gives every
// column of its table's key with Eq, except derived ones that follow from the others. The rows come in the order of the
// queries; nil stands for a row that does not exist. The transaction waits for others of the same partitions, and is
// retried as any read.
//
// The error matches [ErrInvalid], and nothing was sent, if a query does not name one row, or has Confirm, After,
// OrderBy or Limit. The same holds if a set is not Transactional, or [Partitions] allows fewer queries. Other errors
// are an [*Error], without rows. Transaction is experimental: docs/why/accord.md in the repository.
func Transaction[T any](ctx context.Context, r *Reader, op string, queries ...Query[T]) ([]*T, error) {
	if fault := unusable(ctx, r, op); fault != "" {
		return nil, &queryError{Op: op, Reason: fault}
	}
	if len(queries) == 0 {
		return nil, &queryError{Op: op, Reason: "there is no query: give one for each row"}
	}
	names := each.Once(each.Of(queries, func(q Query[T]) string { return q.name }))
	ctx = r.tracer.TraceStart(ctx, session.OperationStart{
		Operation: session.OperationRead, Op: op,
		Table: strings.Join(names, ", "),
	})
	end := session.OperationEnd{Operation: session.OperationRead, Op: op}
	rows, err := transaction(ctx, r, op, queries, &end)
	end.Err = err
	r.tracer.TraceEnd(ctx, end)
	return rows, err
}

// unusable says what a call lacks; empty if nothing.
func unusable(ctx context.Context, r *Reader, op string) string {
	switch {
	case ctx == nil:
		return "the context is nil: pass the caller's, or context.Background()"
	case r == nil:
		return "the reader is nil"
	case r.source == nil:
		return "the reader is a zero value: it is made by reader.New"
	case op == "":
		return "op is empty: name the read, as in newestLogs; errors, spans and metrics show it"
	}
	return ""
}

func transaction[T any](ctx context.Context, r *Reader, op string, queries []Query[T], end *session.OperationEnd) ([]*T,
	error,
) {
	if len(queries) > r.partitions {
		return nil, &queryError{Op: op, Reason: strconv.Itoa(len(queries)) +
			" queries are more than the option Partitions allows"}
	}
	var plans rowPlans
	for _, q := range queries {
		q.op = op
		p, err := r.rowPlan(q.query)
		if err != nil {
			return nil, err
		}
		plans = append(plans, p)
	}
	first, names := plans[0], plans.tables()
	end.Keyspace, end.Partitions = first.keyspace, len(plans)
	x := newRead[T](ctx, r, first, end)
	defer x.cancel()
	text, values := plans.statement()
	request := session.RequestEnd{}
	if r.tracer.Requests() {
		ctx = x.traced(ctx, first.keyspace, text, &partition{number: 1}, names...)
		defer func() { r.tracer.TraceRequestEnd(ctx, request) }()
	}
	var rows []*T
	page := attempt{text, values, statement.PartitionKey(first.only().key), 1, nil, x.consistency}
	_, attempts, err := x.send(ctx, first.keyspace, page, &request, func(a answer) { rows = decodeRows[T](plans, a) })
	if err == nil && rows == nil {
		err = errNoAnswer
	}
	if err != nil {
		err = &Error{
			Op: op, Keyspace: first.keyspace, Table: strings.Join(names, ", "), Attempts: attempts,
			Err: period.Explain(err, plans.keyspace),
		}
		request.Err = err
		return nil, err
	}
	for _, row := range rows {
		if row != nil {
			end.Rows++
		}
	}
	request.Rows = end.Rows
	return rows, nil
}

// errNoAnswer is of a server that does what 6.0-alpha2 does not: it gives one row, whatever it has found.
var errNoAnswer = errors.New("the answer to the transaction has no row")

// rowPlans are the plans of queries that name one row each.
type rowPlans []*plan

// only is the partition of a plan that has one.
func (p *plan) only() *partition { return p.groups[0][0] }

// statement is the transaction, with its values.
func (all rowPlans) statement() (text string, values []any) {
	var lets, selected []string
	for n, p := range all {
		name, read := "row"+strconv.Itoa(n), p.only().scans[0]
		lets, values = append(lets, "LET "+name+" = ("+read.statement+");\n"), append(values, read.values...)
		for _, column := range p.selected {
			selected = append(selected, name+"."+column)
		}
	}
	return "BEGIN TRANSACTION\n" + strings.Join(lets, "") + "SELECT " + strings.Join(selected, ", ") + ";\n" +
		entity.CommitTransaction, values
}

// tables are the names of the tables, with their keyspaces where these are not that of the first.
func (all rowPlans) tables() []string {
	return each.Once(each.Of(all, func(p *plan) string {
		if p.keyspace != all[0].keyspace && p.keyspace != "" {
			return p.keyspace + "." + p.only().table
		}
		return p.only().table
	}))
}

// keyspace is that of a table, for [period.Explain].
func (all rowPlans) keyspace(table string) (keyspace string, rotates bool) {
	for _, p := range all {
		if x := p.only(); x.table == table {
			return p.keyspace, table != p.layout.Name()
		}
	}
	return "", false
}

// rowPlan is the plan of a query that names one row of a table of transactions.
func (r *Reader) rowPlan(q query) (*plan, error) {
	switch {
	case q.confirmed:
		return nil, q.invalid("", "Confirm has no place in a transaction: query the base table as well")
	case q.token != "" || q.order != "" || q.limit != 0:
		return nil, q.invalid("", "After, OrderBy and Limit have no place in a transaction: each query names one row")
	}
	p, err := r.plan(&q)
	switch {
	case err != nil:
		return nil, err
	case !p.layout.Set.Transactional:
		return nil, q.invalid("", "the set is not Transactional: declare tables.Transactional, or read each row by List")
	case p.fixed < len(p.columns):
		return nil, q.invalid(p.columns[p.fixed],
			"is missing: a transaction reads single rows, so each query gives the whole key with Eq")
	case p.partitions == 0:
		return nil, q.invalid("", "no partition of the table can have such a row")
	case p.partitions > 1:
		return nil, q.invalid("", "the row may be in "+strconv.Itoa(p.partitions)+" partitions: give the bucket with Eq, too")
	}
	return p, nil
}

// decodeRows decodes the one row of an answer, which has the columns of all rows.
func decodeRows[T any](plans rowPlans, a answer) []*T {
	rows := make([]*T, len(plans))
	decoders := make([]*decoder[T], len(plans))
	var dest []any
	for n, p := range plans {
		rows[n], decoders[n] = new(T), newDecoder[T](p.layout, p.selected, 0)
		decoders[n].into(rows[n])
		dest = append(dest, decoders[n].dest...)
	}
	if !a.Scan(dest...) {
		return nil // the error is in the answer
	}
	for n, d := range decoders {
		if d.gone() || !slices.ContainsFunc(d.cells, func(c cell) bool { return c.data != nil }) {
			rows[n] = nil
		}
	}
	return rows
}
