package writer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"reflect"
	"sync/atomic"

	"github.com/denorm-go/denorm/internal/entity"
	"github.com/denorm-go/denorm/internal/period"
	req "github.com/denorm-go/denorm/internal/request"
	"github.com/denorm-go/denorm/internal/undecoded"
	"github.com/denorm-go/denorm/retry"
	"github.com/denorm-go/denorm/tables"
	"github.com/gocql/gocql"
)

// Modify reads the base row under key, lets change make the new row of it, and writes that as an Update. Of key only
// the fields of the base key are used. It returns the row as written, with its new stamp.
//
// Rows win as a whole: if two actors modify one entity at the same time, the one with the larger timestamp wins and the
// other's edit is lost, though both are acknowledged. Not so in a set that is Versioned or has Compare: there the
// second one meets a conflict, and Modify begins again with the row as it is then, until the policy's MaxElapsedTime
// has passed. So change may be called more than once, and must not have side effects; its error ends Modify and is
// returned as it is. It may change the row in place, also behind pointers and in slices and maps: what the row was is
// encoded before.
//
// A missing base row is [ErrNotFound]. A row without stamp in a set with OneOf, such as one from before the library, is
// [ErrInvalid] unless the set declares [tables.UnstampedRows]. Where the read fails, or finds no row, the [*Error] says
// so: NotApplied, after so many attempts, for this cause, and there is nothing to resume. If the write fails the error
// is as from [Writer.Write], and the row returned is the one that [Writer.Resume] will complete.
func Modify[T any](
	ctx context.Context, w *Writer, op string, set *tables.Set[T], key T, change func(T) (T, error),
) (T, error) {
	w = w.made()
	if err := missing(ctx, op, set); err != nil {
		return *new(T), refuse(op, err)
	}
	if change == nil {
		return *new(T), refuse(op, errors.New("the function that changes the row is nil"))
	}
	ctx, call := w.deadline(ctx)
	defer call.end()
	ctx = w.tracer.modifyStart(ctx, op)
	end := ModifyEnd{Op: op}
	row, err := modify(ctx, w, op, set, key, func(before T) (after T, err error) {
		end.Rounds++
		after, err = change(before)
		end.Declined = err != nil
		return after, err
	})
	end.Err = err
	w.tracer.modifyEnd(ctx, end)
	return row, err
}

func modify[T any](
	ctx context.Context, w *Writer, op string, set *tables.Set[T], key T, change func(T) (T, error),
) (T, error) {
	var none T
	if w.err != nil {
		return none, refuse(op, w.err)
	}
	if err := inKeyspaces(w, set); err != nil {
		return none, refuse(op, err)
	}
	if err := set.Update(key, key).Internal().CheckVerb(); err != nil { // not only once a row was found
		return none, refuse(op, err)
	}
	if set.Internal().Conditional() {
		return modifyConditional(ctx, w, op, set, key, change)
	}
	before, err := read(ctx, w, op, set, key)
	if err != nil {
		return before, err
	}
	update := set.Updating(before)
	after, err := change(before)
	if err != nil {
		return before, err
	}
	if err := keyless(set, after); err != nil {
		return after, refuse(op, err)
	}
	result, err := w.Write(ctx, op, update(after))
	if result.Timestamp != 0 {
		set.SetStamp(&after, result.Timestamp)
	}
	return after, err
}

// keyless says what is wrong with the base key of the row that the function of Modify returned.
func keyless[T any](set *tables.Set[T], after T) error {
	if _, err := set.Key(after); err != nil {
		return fmt.Errorf("the row that the function returned: %w", err)
	}
	return nil
}

// read reads a base row. Its error is an *Error.
func read[T any](ctx context.Context, w *Writer, op string, set *tables.Set[T], key T) (row T, err error) {
	base := set.Internal().Describe().Tables[0]
	keyspace := w.physical(base.Keyspace)
	statement, _, values, err := set.SelectRow(keyspace, key)
	if err != nil {
		return row, refuse(op, err)
	}
	layout, _ := set.Internal().Layout(base.Name)
	part := make([]*entity.Value, len(layout.Partition()))
	for i := range part {
		part[i], _ = values[i].(*entity.Value)
	}
	request := req.New(cmp.Or(keyspace, w.odd), layout.PartitionKey(part), leastSilence)
	var sent atomic.Int32
	row, err = runDetached(ctx, func() (row T, err error) {
		var found bool
		_, err = request.Do(ctx, &w.retrier, retry.Partition, func(ctx context.Context) (err error) {
			sent.Add(1)
			q := w.reads.Query(statement, values...).Consistency(w.consistency).RetryPolicy(nil).WithContext(ctx)
			found, err = scanRow(q.Iter(), layout, &row)
			return err
		}, nil)
		if err == nil && !found {
			err = ErrNotFound
		}
		return row, err
	})
	if err != nil {
		return row, unread(op, keyspace, base.Name, int(sent.Load()), period.Explain(err, in(keyspace, base)))
	}
	return row, nil
}

// only says of the name of a table that it is in the keyspace.
func only(keyspace, table string) func(string) (string, bool) {
	return func(name string) (string, bool) {
		if name != table {
			return "", false
		}
		return keyspace, false
	}
}

// in says of a name that it is that of t, or of one of the tables that t rotates through, which are in the keyspace.
func in(keyspace string, t entity.TableDescription) func(string) (string, bool) {
	return func(name string) (string, bool) {
		if t.Rotation == nil {
			return keyspace, false
		}
		_, ok := t.Rotation.Of(name)
		return keyspace, ok
	}
}

// scanRow scans the row of an answer, and says whether there was one.
func scanRow[T any](iter *gocql.Iter, layout entity.Layout, row *T) (found bool, err error) {
	var dest []any
	for _, c := range iter.Columns() {
		field := reflect.ValueOf(row).Elem().FieldByIndex(layout.Field(c.Name))
		dest = append(dest, &undecoded.Cell{Column: c.Name, Into: field.Addr().Interface()})
	}
	found = iter.Scan(dest...)
	return found, iter.Close()
}

// Load reads the base row of the entity of key, of which the fields of the base key are used. A missing row is
// [ErrNotFound]; so is, in a Versioned set, one that was deleted and still has a version. It reads at the writer's
// consistency: of a set with conditions it may miss a change that is decided and not yet everywhere, so a write from
// what it returns may meet [ErrConflict]. Its errors are those of a read of [Modify].
func Load[T any](ctx context.Context, w *Writer, op string, set *tables.Set[T], key T) (T, error) {
	var none T
	w = w.made()
	if err := missing(ctx, op, set); err != nil {
		return none, refuse(op, err)
	}
	ctx, call := w.deadline(ctx)
	defer call.end()
	if w.err != nil {
		return none, refuse(op, w.err)
	}
	if err := inKeyspaces(w, set); err != nil {
		return none, refuse(op, err)
	}
	if !set.Internal().Conditional() {
		return read(ctx, w, op, set, key)
	}
	base, err := set.Internal().Base(key, w.physical)
	if err != nil {
		return none, refuse(op, err)
	}
	return readBase[T](ctx, w, op, base, true)
}
