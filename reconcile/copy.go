package reconcile

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/internal/declare"
	"github.com/denorm-go/denorm/internal/driver"
	"github.com/denorm-go/denorm/internal/request"
	"github.com/denorm-go/denorm/internal/statement"
	"github.com/denorm-go/denorm/internal/tablerow"
)

// copied is a column of ReadOnly, and one that gets its values.
type copied struct{ from, to string }

// Copy makes [Reconciler.Adopt] first copy the lists of a [tables.ReadOnly] column (from) into another column (to) of a
// fitting Go type. A value is written at the time of its list, so later writes win, and a repeated copy does no harm.
// In Cassandra 4.1, which does not tell that time, it is the earliest time in the row. [Report] counts the lists. The
// option may be given for several columns.
func Copy(from, to string) Option {
	return func(c *config) { c.copies = append(c.copies, copied{from, to}) }
}

func (j *job) checkCopies() error {
	into := make(map[string]bool)
	for _, c := range j.copies {
		from, to := j.base().Column(c.from), j.base().Column(c.to)
		switch {
		case from == nil || !from.ReadOnly:
			return invalid("Copy: set %s has no column %s of ReadOnly to copy", j.entity, c.from)
		case !tablerow.Fillable(j.base().Layout, c.to):
			return invalid("Copy: column %s of set %s cannot get the lists: declare a column that is written, and is neither in a key nor compared", c.to, j.entity)
		case into[c.to]:
			return invalid("Copy: column %s is named twice: copy each list into a column of its own", c.to)
		}
		into[c.to] = true
		if reason := declare.Disagree(to.Go, from.CQL); reason != "" {
			return invalid("Copy: the field of column %s, of Go type %s, does not fit %s, the type of %s%s", c.to, to.Go, from.CQL, c.from, reason)
		}
	}
	return nil
}

// copyRow copies the lists of a base row into their new columns, in all tables that have them.
func (j *job) copyRow(ctx context.Context, u *unit, r *row) error {
	for _, c := range j.copies {
		if err := j.copyList(ctx, u, r, c); err != nil {
			return err
		}
	}
	return nil
}

// copyList writes the base row last: the value in it says that the other tables have it.
func (j *job) copyList(ctx context.Context, u *unit, r *row, c copied) error {
	value, err := r.Convert(c.from, c.to)
	if err == nil && (value == nil || r.Holds(c.to, value)) {
		return nil
	}
	var as statement.Written
	var last int64
	if err == nil {
		if as, last, err = j.listWritten(ctx, r, c); errors.Is(err, gocql.ErrNotFound) {
			return nil // it was deleted meanwhile
		} else if err != nil {
			return err
		}
		switch {
		case as.At == 0:
			err = errors.New("nothing says when it was written: write the new column through the set")
		case last >= as.At: // kept
		case as.At > j.adopt:
			err = errUnended
		}
	}
	if err != nil {
		j.leave(u, fmt.Errorf("a list in column %s of %s was not copied: %w", c.from, j.base().qualified(), err))
		return nil
	}
	if last >= as.At || j.dryRun {
		j.countCopy(last < as.At)
		return nil
	}
	for _, t := range append(slices.Clip(j.queries), j.base()) {
		key, there := r.KeyIn(t.Layout)
		if !there || t.Column(c.to) == nil {
			continue
		}
		have, err := j.row(ctx, t, key, j.level())
		if err != nil {
			return err
		}
		if have == nil || have.Holds(c.to, value) {
			continue
		}
		m, err := have.PutCell(c.to, value, as, j.keyspace)
		if err == nil {
			err = j.send(ctx, []statement.Mutation{m})
		}
		if err != nil {
			return err
		}
	}
	now, err := j.row(ctx, j.base(), r.Entity(), j.level())
	if err == nil && now != nil {
		j.countCopy(now.Holds(c.to, value))
	}
	return err
}

func (j *job) countCopy(there bool) {
	to := &j.report.Kept
	if there {
		to = &j.report.Copied
	}
	j.report.count(to, 1)
}

// listWritten says when the list of a base row was written, and when the column that gets it was, 0 if that has no
// value.
func (j *job) listWritten(ctx context.Context, r *row, c copied) (as statement.Written, last int64, err error) {
	t := j.base()
	values, partition := tablerow.Arguments(t.Layout, r.Entity())
	text := fmt.Sprintf("SELECT MAXWRITETIME(%s), TTL(%[1]s), MAXWRITETIME(%s) FROM %s WHERE %s = ?", c.from, c.to, t.qualified(),
		strings.Join(t.Table.KeyNames, " = ? AND "))
	var at, own *int64
	var ttl []*int32
	err = j.do(ctx, points, request.New(t.keyspace, partition), func(ctx context.Context) error {
		return j.query(ctx, text, j.level(), values...).RoutingKey(partition).Scan(&at, &ttl, &own)
	})
	rejected, answered := driver.RequestError(err)
	switch {
	case answered && rejected.Code() == gocql.ErrCodeInvalid: // of Cassandra 4.1
		as, last = earliest(r, c.to)
		if as.At > j.adopt { // the library has written the row as a whole since then
			last = as.At
		}
		return as, last, nil
	case err != nil:
		return as, 0, t.unread(err)
	}
	if own != nil {
		last = *own
	}
	if at == nil { // the list was removed meanwhile
		return as, last, nil
	}
	as.At = *at
	if len(ttl) > 0 && !slices.Contains(ttl, nil) { // a value ends as a whole, with the last element
		as.Ends = 1000 * (time.Now().Unix() + int64(*slices.MaxFunc(ttl, func(a, b *int32) int { return int(*a) - int(*b) })))
	}
	return as, last, nil
}

// earliest is when the first of the other columns of a row was written: no write of the row that has the column to is
// before it. last is when that one was. A row with a version was written as a whole.
func earliest(r *row, to string) (first statement.Written, last int64) {
	if len(r.Written) == 0 {
		return statement.Written{At: r.At}, r.At
	}
	for name, w := range r.Written {
		if name != to && (first.At == 0 || w.At < first.At) {
			first = w
		}
	}
	return first, r.Written[to].At
}
