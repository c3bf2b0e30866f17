package writer

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/denorm-go/denorm/internal/compare"
	"github.com/denorm-go/denorm/internal/cql"
	"github.com/denorm-go/denorm/internal/driver"
	"github.com/denorm-go/denorm/internal/entity"
	"github.com/denorm-go/denorm/internal/fingerprint"
	"github.com/denorm-go/denorm/tables"
	"github.com/gocql/gocql"
)

// ask reads from the schema tables what they say of a name, with retries.
func ask[T any](c *checker, id cql.Name, read func(context.Context, cql.Name) (T, error)) (found T, err error) {
	err = askSchema(c.ctx, &c.w.retrier, func(ctx context.Context) (err error) {
		found, err = read(ctx, id)
		return err
	})
	return found, err
}

// exists says whether there is a keyspace, or a view if id has its name.
func (c *checker) exists(ctx context.Context, id cql.Name) (bool, error) {
	q := c.session.Query(`SELECT keyspace_name FROM system_schema.keyspaces WHERE keyspace_name = ?`, id.Keyspace)
	if id.Name != "" {
		q = c.session.Query(`SELECT keyspace_name FROM system_schema.views WHERE keyspace_name = ? AND view_name = ?`, id.Keyspace, id.Name)
	}
	var name string
	err := q.WithContext(ctx).Consistency(gocql.One).RetryPolicy(driver.NoRetry).Scan(&name)
	if errors.Is(err, gocql.ErrNotFound) {
		return false, nil
	}
	return err == nil, err
}

// fields are those of a live user-defined type, nil if there is none.
func (c *checker) fields(ctx context.Context, id cql.Name) ([]entity.FieldDescription, error) {
	var names, types []string
	err := c.session.Query(`SELECT field_names, field_types FROM system_schema.types WHERE keyspace_name = ? AND type_name = ?`,
		id.Keyspace, id.Name).WithContext(ctx).Consistency(gocql.One).RetryPolicy(driver.NoRetry).Scan(&names, &types)
	if errors.Is(err, gocql.ErrNotFound) {
		return nil, nil
	}
	if err == nil && len(names) != len(types) {
		err = fmt.Errorf("system_schema.types has %d names and %d types of the fields of %s", len(names), len(types), id.Name)
	}
	if err != nil {
		return nil, err
	}
	out := make([]entity.FieldDescription, len(names))
	for i := range names {
		out[i] = entity.FieldDescription{Name: names[i], Type: types[i]}
	}
	return out, nil
}

// live reads the columns and the comment of a table.
func (c *checker) live(ctx context.Context, id cql.Name) (compare.Table, error) {
	var t compare.Table
	var comment string
	var flags []string
	if err := c.session.Query(`SELECT comment, flags FROM system_schema.tables WHERE keyspace_name = ? AND table_name = ?`, id.Keyspace, id.Name).
		WithContext(ctx).Consistency(gocql.One).RetryPolicy(driver.NoRetry).Scan(&comment, &flags); err != nil {
		return t, err
	}
	t.Comment, t.Fingerprint = fingerprint.Split(comment)
	iter := c.session.Query(`SELECT column_name, kind, position, clustering_order, type FROM system_schema.columns
		WHERE keyspace_name = ? AND table_name = ?`, id.Keyspace, id.Name).
		WithContext(ctx).Consistency(gocql.One).RetryPolicy(driver.NoRetry).Iter()
	var l entity.ColumnDescription
	var order string
	for iter.Scan(&l.Name, &l.Kind, &l.Position, &order, &l.Type) {
		l.Desc = order == "desc"
		if l.Kind = compare.Visible(flags, l.Kind, l.Type); l.Kind != "" {
			t.Columns = append(t.Columns, l)
		}
	}
	return t, iter.Close()
}

// warm makes gocql find out, for every statement, which of its values are the partition key. Failure costs token
// awareness of a statement, not correctness, so it is not reported.
func (w *Writer) warm(ctx context.Context, set tables.Described) {
	x, ok := w.exec.(gocqlExecutor)
	if !ok {
		return
	}
	for i, t := range set.Internal().Describe().Tables {
		for _, statement := range set.Internal().Statements(i, w.physical(t.Keyspace)) {
			values := make([]any, strings.Count(statement, "?"))
			_, _ = x.session.Query(statement, values...).WithContext(ctx).GetRoutingKey()
		}
	}
}
