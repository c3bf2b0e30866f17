package writer

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/denorm-go/denorm/internal/cqltype"
	"github.com/denorm-go/denorm/internal/decide"
	"github.com/denorm-go/denorm/internal/entity"
	"github.com/denorm-go/denorm/internal/statement"
	"github.com/denorm-go/denorm/retry"
	"github.com/denorm-go/denorm/tables"
	"github.com/gocql/gocql"
)

// Piece is versioned, and stands in two tables.
type Piece struct {
	ItemID  gocql.UUID
	Shelf   string
	Count   int32
	Version gocql.UUID
}

func itemSet(tb testing.TB) *tables.Set[Piece] {
	tb.Helper()
	return mustSet[Piece](tb, "item",
		tables.Table{Name: "items", PartKey: []string{"item_id"}},
		tables.Table{Name: "items_by_shelf", PartKey: []string{"shelf"}, SortKey: []string{"item_id"}},
		tables.Versioned("version"),
	)
}

// seatSet is changed by Compare.
func seatSet(tb testing.TB) *tables.Set[Piece] {
	tb.Helper()
	return mustSet[Piece](tb, "seat", tables.Table{Name: "seats", PartKey: []string{"item_id"}}, tables.Compare("count"))
}

// markedSet is seatSet with a Mark.
func markedSet(tb testing.TB) *tables.Set[Piece] {
	tb.Helper()
	return mustSet[Piece](tb, "seat", tables.Table{Name: "seats", PartKey: []string{"item_id"}}, tables.Compare("count"), tables.Mark("version"))
}

func newItem() Piece {
	return Piece{ItemID: mustUUID("d2b6a2f0-5b1c-4c1e-9a51-0123456789ab"), Shelf: "a", Version: decide.Version(time.Now().Add(-time.Second).UnixMicro(), 1)}
}

// scripted is the answer to one request of a condition.
type scripted struct {
	applied bool
	row     map[string]any
	err     error
	found   func(dest []any) // what a read finds; nil is no row
	own     bool             // of a transaction of Cassandra 6: its last row has the version of the write
}

// fakeTransactor answers from a script, and remembers what was asked. After the script everything is applied.
type fakeTransactor struct {
	steps []scripted
	block chan struct{} // if not nil, a swap waits for it and ignores its context
	hold  chan struct{} // if not nil, the removal of an entry waits for it

	mu    sync.Mutex
	sent  []string
	texts []string // of transactions of Cassandra 6, and of reads an empty one
	args  [][]any
}

func (x *fakeTransactor) next(text string) scripted {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.sent = append(x.sent, text[:strings.Index(text+" ", " ")])
	if len(x.steps) == 0 {
		return scripted{applied: true}
	}
	s := x.steps[0]
	x.steps = x.steps[1:]
	return s
}

func (x *fakeTransactor) Swap(_ context.Context, statements []statement.Bound, _ decide.Options) (bool, map[string]any, error) {
	if x.block != nil {
		<-x.block
	}
	s := x.next(statements[0].Text)
	return s.applied, s.row, s.err
}

func (x *fakeTransactor) Read(_ context.Context, s statement.Bound, dest []any, _ bool, _ decide.Options) (bool, error) {
	a := x.next(s.Text)
	x.texts = append(x.texts, "")
	if a.found != nil {
		a.found(dest)
	}
	return a.found != nil, a.err
}

func (x *fakeTransactor) Commit(_ context.Context, t *entity.Transaction, _ decide.Options) (*entity.Found, error) {
	a, found := x.next(t.Text), t.Found()
	x.texts, x.args = append(x.texts, t.Text), append(x.args, t.Args)
	if a.found != nil {
		a.found(found.Dest())
	}
	if a.own { // the last row has the version that the transaction writes
		dest, version := found.Dest(), []byte(nil)
		for _, arg := range t.Args {
			if v, ok := arg.(*cqltype.Value); ok && v.Type.String() == "timeuuid" {
				version = v.Data
			}
		}
		_ = dest[len(dest)-3].(gocql.Unmarshaler).UnmarshalCQL(nil, version) //nolint:forcetypeassert // that is what Dest gives
	}
	return found, a.err
}

func (x *fakeTransactor) Exec(ctx context.Context, s statement.Bound, _ decide.Options) error {
	if x.hold != nil {
		select {
		case <-x.hold:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return x.next(s.Text).err
}

func (x *fakeTransactor) asked() string {
	x.mu.Lock()
	defer x.mu.Unlock()
	return strings.Join(x.sent, " ")
}

// conditional is a writer on both fakes, which waits little.
func conditional(steps []scripted, options ...NewOption) (*Writer, *fakeTransactor, *fakeExecutor) {
	x, e := &fakeTransactor{steps: steps}, &fakeExecutor{}
	w := fakeWriter(e, append([]NewOption{
		Retry(retry.Policy{InitialInterval: time.Nanosecond, MaxInterval: time.Nanosecond, MaxAttempts: 3}),
	}, options...)...)
	w.transact = x
	return w, x, e
}

// item scans the columns of an Piece, as items lies in Cassandra: shelf, count, version, pending.
func item(shelf string, version gocql.UUID) func([]any) {
	return func(dest []any) {
		for i, data := range [][]byte{[]byte(shelf), {0, 0, 0, 7}} {
			u, _ := dest[i].(gocql.Unmarshaler)
			_ = u.UnmarshalCQL(nil, data)
		}
		if len(dest) > 2 {
			*dest[2].(*gocql.UUID) = version //nolint:forcetypeassert // that is what Select gives
		}
	}
}

var errLost = &gocql.RequestErrWriteTimeout{WriteType: "CAS"}
