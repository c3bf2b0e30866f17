package writer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/denorm-go/denorm/internal/driver"
	"github.com/denorm-go/denorm/internal/entity"
	"github.com/denorm-go/denorm/internal/fanout"
	"github.com/denorm-go/denorm/internal/layout"
	"github.com/denorm-go/denorm/internal/period"
	req "github.com/denorm-go/denorm/internal/request"
	"github.com/denorm-go/denorm/internal/statement"
	"github.com/denorm-go/denorm/internal/undecoded"
	"github.com/denorm-go/denorm/retry"
	"github.com/denorm-go/denorm/session"
	"github.com/denorm-go/denorm/tables"
	"github.com/gocql/gocql"
)

// Modify reads the base row under key, calls change to make the new row from it, and writes that as an Update. It uses
// only the base key of key. It returns the row as written, with its new stamp or version; the field of a [tables.Mark]
// stays as read. The function change may modify the row in place, also behind pointers: the before-image is encoded
// first. If it returns an error, Modify returns that error unchanged.
//
// In a Versioned or Compare set, a client that comes second meets a conflict. Modify then starts again with the new
// row, until the policy's MaxElapsedTime has passed or too little time is left for a round. So change must have no side
// effects. It must not call Modify. In other sets the later timestamp wins, and the other edit is lost: docs/write.md.
//
// Modify fails as [Writer.Write] does, and then returns the row that [Writer.Resume] will write. After a failed read
// the error is NotApplied. It matches [ErrNotFound] if there is no base row. It matches [ErrInvalid] if the row has no
// stamp for OneOf ([tables.UnstampedRows]), null in a Compare column, or a TTL without an expiry for ExpiresAt.
func Modify[T any](
	ctx context.Context, w *Writer, op string, set *tables.Set[T], key T, change func(T) (T, error),
) (T, error) {
	w = w.made()
	if err := missing(ctx, op, set); err != nil {
		return *new(T), reject(op, err)
	}
	if change == nil {
		return *new(T), reject(op, errors.New("the function that changes the row is nil"))
	}
	ctx, call := fanout.Deadline(ctx, w.timeout)
	defer call.End()
	ctx = w.tracer.TraceStart(ctx, session.OperationStart{Operation: session.OperationModify, Op: op})
	end := session.OperationEnd{Operation: session.OperationModify, Op: op}
	row, err := modify(ctx, w, op, set, key, func(before T) (after T, err error) {
		end.Rounds++
		after, err = change(before)
		end.Declined = err != nil
		return after, err
	})
	end.Err = err
	w.tracer.TraceEnd(ctx, end)
	return row, err
}

// Waits between two tries of Modify that met a conflict. Each conflict is another writer's success, so they are short.
const (
	leastConflictWait = 2 * time.Millisecond
	mostConflictWait  = 200 * time.Millisecond
)

func modify[T any](
	ctx context.Context, w *Writer, op string, set *tables.Set[T], key T, change func(T) (T, error),
) (T, error) {
	verb := set.Update(key, key).Internal().CheckVerb() // not only once a row was found
	if err := cmp.Or(w.err, inKeyspaces(w, set), verb); err != nil {
		return *new(T), reject(op, err)
	}
	leave, err := w.turn(ctx, op, set.Internal(), key)
	if err != nil {
		return *new(T), err
	}
	defer leave()
	before, ends, failed := read(ctx, w, op, set, key, true)
	end := time.Now().Add(w.policy.WithDefaults().MaxElapsedTime)
	deadline, _ := ctx.Deadline() // fanout.Deadline has set it
	for wait := leastConflictWait; ; wait = min(2*wait, mostConflictWait) {
		began := time.Now()
		if failed != nil {
			return before, failed
		}
		update := set.Updating(before)
		after, err := change(before)
		if err != nil {
			return before, err
		}
		if _, err := set.Key(after); err != nil {
			return after, reject(op, fmt.Errorf("the row that the function returned: %w", err))
		}
		if ends && unexpiring(set.Internal(), after) {
			if err := w.unkept(ctx, op, set.Internal()); err != nil {
				return after, err
			}
		}
		result, err := w.Write(ctx, op, update(after))
		set.Internal().SetVersion(&after, result.Version)
		if result.Timestamp != 0 {
			set.SetStamp(&after, result.Timestamp)
		}
		var met *Error
		if !errors.As(err, &met) || !met.Is(ErrConflict) || met.known.Taken != nil || !met.NotApplied() ||
			time.Now().Add(wait).After(end) ||
			time.Now().Add(wait+time.Since(began)*3/2).After(deadline) { // a round that the deadline ends is Unknown
			return after, err
		}
		if req.Sleep(ctx, rand.N(wait)) != nil { //nolint:gosec // it spreads
			return after, met
		}
		// The row that the conflict left was read at SERIAL, or by the transaction.
		var found bool
		if before, found = Current[T](met); !found {
			before, _, failed = read(ctx, w, op, set, key, false)
		}
	}
}

// read reads the base row of an entity, of a set with conditions at SERIAL unless plain, and says whether a change
// would drop its end. Its error is an *Error.
func read[T any](ctx context.Context, w *Writer, op string, set *tables.Set[T], key T, plain bool) (row T, ends bool,
	err error,
) {
	if !set.Internal().Conditional() {
		return readRow(ctx, w, op, set, key)
	}
	base, err := entity.BaseOf(set.Internal(), key, w.physical)
	if err != nil {
		return row, false, reject(op, err)
	}
	row, err = readBase[T](ctx, w, op, base, plain)
	return row, false, err
}

// readRow reads the base row of an entity of a set without conditions, and says whether it ends without an expiry in
// a set with ExpiresAt.
func readRow[T any](ctx context.Context, w *Writer, op string, set *tables.Set[T], key T) (row T, ends bool,
	err error,
) {
	base := set.Internal().Tables[0]
	keyspace := w.physical(base.Keyspace)
	name, text, rowKey, err := set.Internal().SelectRow(keyspace, key)
	if err != nil {
		return row, false, reject(op, err)
	}
	text = withEnds(set.Internal(), text)
	values := statement.AppendArgs(nil, rowKey)
	request := req.New(keyspace, statement.PartitionKey(rowKey[:base.Part]))
	var sent atomic.Int32
	type answer struct {
		row  T
		ends bool
	}
	got, err := fanout.Detached(ctx, func() (got answer, err error) {
		var found bool
		ctx, told := w.tracer.Read(ctx, request, op, name, text, w.consistency)
		result, err := request.Do(ctx, &w.sender.Retrier, retry.Partition, func(ctx context.Context) (err error) {
			sent.Add(1)
			q := w.reads.Query(text, values...).Consistency(w.consistency).RetryPolicy(driver.NoRetry).WithContext(ctx)
			found, got.ends, err = scanRow(q.Iter(), set.Internal(), &got.row)
			return err
		}, told.Observer())
		told.End(found, result, err)
		if err == nil && !found {
			err = ErrNotFound
		}
		return got, err
	})
	if err != nil {
		err = period.Explain(err, func(string) (string, bool) { return keyspace, base.Rotation != nil })
		return got.row, false, unread(op, keyspace, base.Name, int(sent.Load()), err)
	}
	return got.row, got.ends, nil
}

// readBase reads a base row of a set with conditions.
func readBase[T any](ctx context.Context, w *Writer, op string, base *entity.Base, plain bool) (row T, err error) {
	env := w.env(op)
	row, err = fanout.Detached(ctx, func() (row T, err error) {
		stored, err := env.Read(ctx, base, plain)
		if err != nil {
			return row, err
		}
		if stored == nil || !stored.Present {
			return row, ErrNotFound
		}
		stored.Version = stored.Current()
		decoded, err := base.Decode(*stored)
		if err != nil {
			return row, err
		}
		row, _ = decoded.(T)
		return row, nil
	})
	if err != nil {
		keyspace, table, _ := base.Place()
		place := func(string) (string, bool) { return keyspace, false }
		return row, unread(op, keyspace, table, int(env.Sent.Load()), period.Explain(err, place))
	}
	return row, nil
}

// scanRow scans the row of an answer. It says whether there was one, and whether it ends without an expiry.
func scanRow[T any](iter *gocql.Iter, s *layout.Set, row *T) (found, ends bool, err error) {
	var dest []any
	left := make([]*int32, len(endings(s)))
	for n := range left {
		dest = append(dest, &left[n])
	}
	for _, c := range iter.Columns()[min(len(left), len(iter.Columns())):] {
		n := slices.IndexFunc(s.Columns, func(of layout.Column) bool { return of.Name == c.Name })
		field := reflect.ValueOf(row).Elem().FieldByIndex(s.Columns[n].Index)
		dest = append(dest, &undecoded.Cell{Column: c.Name, Into: field.Addr().Interface()})
	}
	found = iter.Scan(dest...)
	ends = slices.ContainsFunc(left, func(ttl *int32) bool { return ttl != nil }) && unexpiring(s, *row)
	return found, ends, iter.Close()
}

// endings are the columns of which a read of a base row selects the TTL: those with one cell, in a set with
// ExpiresAt. Other code may have written a row that ends and does not say when.
func endings(s *layout.Set) (names []string) {
	if s.Expiry < 0 {
		return nil
	}
	for _, i := range s.Regular() {
		if c := &s.Columns[i]; !c.CQL.MultiCell() {
			names = append(names, c.Name)
		}
	}
	return names
}

// withEnds is a SELECT of a base row that selects those TTLs first.
func withEnds(s *layout.Set, text string) string {
	names := endings(s)
	if len(names) == 0 {
		return text
	}
	return "SELECT TTL(" + strings.Join(names, "),TTL(") + ")," + strings.TrimPrefix(text, "SELECT ")
}

// unexpiring says whether a row has no expiry.
func unexpiring(s *layout.Set, row any) bool {
	v, err := s.Encode(reflect.ValueOf(row), s.Expiry)
	return err == nil && v.Data == nil
}

// unkept rejects the change of a row that ends without an expiry, unless the table ends all rows.
func (w *Writer) unkept(ctx context.Context, op string, s *layout.Set) error {
	base := s.Tables[0]
	keyspace, name := w.physical(base.Keyspace), base.Name
	if rotation, ok := base.Rotates(); ok {
		name, _, _ = rotation.At(w.clock.now())
	}
	live, err := w.live.table(ctx, &w.sender.Retrier, keyspace, name)
	switch {
	case err != nil:
		return unread(op, keyspace, name, 0, err)
	case live.ttl != 0:
		return nil
	}
	return reject(op, s.Invalid(base, s.Columns[s.Expiry].Name,
		"the row ends by a TTL and has no expiry, so it would stay: give it one, or adopt the set first "+
			"(a TTL on some columns only: write them alike, all with a TTL or none)"))
}

// Load reads the base row under key, at the writer's consistency level. It uses only the base key of key. If the entity
// does not exist, the error matches [ErrNotFound]. In a Versioned or Compare set Load may miss a change that is decided
// and has not reached all replicas. A write made from its result may then meet [ErrConflict]. Load fails as the read of
// [Modify] does.
func Load[T any](ctx context.Context, w *Writer, op string, set *tables.Set[T], key T) (T, error) {
	w = w.made()
	if err := missing(ctx, op, set); err != nil {
		return *new(T), reject(op, err)
	}
	ctx, call := fanout.Deadline(ctx, w.timeout)
	defer call.End()
	if err := cmp.Or(w.err, inKeyspaces(w, set)); err != nil {
		return *new(T), reject(op, err)
	}
	row, _, err := read(ctx, w, op, set, key, true)
	return row, err
}

// missing says which argument of a [Modify] or [Load] is nil.
func missing[T any](ctx context.Context, op string, set *tables.Set[T]) error {
	switch {
	case ctx == nil:
		return errNoContext
	case op == "":
		return errNoOp
	case set == nil || set.Internal() == nil:
		return errors.New("the set is nil or a zero value: it is made by tables.New")
	}
	return nil
}
