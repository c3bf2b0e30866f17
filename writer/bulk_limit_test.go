package writer_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/denorm-go/denorm/internal/decide"
	"github.com/denorm-go/denorm/internal/fanout"
	"github.com/denorm-go/denorm/internal/statement"
	"github.com/denorm-go/denorm/tables"
	"github.com/denorm-go/denorm/writer"
	"github.com/denorm-go/denorm/writer/bulk"
	"github.com/gocql/gocql"
)

// What docs/bulk.md and the comment of bulk.WriteAll promise.
const (
	mostInFlight    = 256
	mostTogether    = 64
	mostParked      = 10_000
	mostParkedBytes = 64 << 20
	aheadItems      = 4 // for each write that may be in flight
	aheadBytes      = 64 << 20
	aheadUnsized    = 16
)

// The source is read ahead by a bounded number of items, and where nodes are slow fewer writes are under way than at
// the beginning.
func TestWriteAllIsBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		under, most, given, sent := 0, 0, 0, 0
		x := writer.Answer(func(context.Context, fanout.Attempt) error {
			mu.Lock()
			under, sent = under+1, sent+1
			n := sent
			if n > 10_000 {
				most = max(most, under)
			}
			slow := time.Millisecond * time.Duration(1+under) // one at a time
			mu.Unlock()
			<-time.After(slow/2 + rand.N(slow))
			mu.Lock()
			defer mu.Unlock()
			under--
			return nil
		})
		var done atomic.Int32
		source := func(yield func(bulk.Item, error) bool) {
			for _, i := range notesOf(t, 20_000, 20_000) {
				if given++; given-int(done.Load()) > aheadItems*mostInFlight+mostInFlight*mostTogether {
					t.Errorf("%d items were read, and %d are done", given, done.Load())
				}
				if !yield(i, nil) {
					return
				}
			}
		}
		b := bulk.WriteAll(t.Context(), bulkWriter(x), "import", source)
		for range b.All() {
			done.Add(1)
		}
		t.Log(most)
		if b.Err() != nil || done.Load() != 20_000 || most < 16 || most > 160 {
			t.Errorf("%d items, %d requests at a time at the end: %v", done.Load(), most, b.Err())
		}
	})
}

// A run that ends early gives each item that was read, and says why it ended.
func TestWriteAllEndsEarly(t *testing.T) {
	t.Parallel()
	why := errors.New("why")
	for name, test := range map[string]struct {
		source  func(context.CancelFunc) iter.Seq2[bulk.Item, error]
		options []bulk.Option
		leave   bool
		cause   error
		says    string
		written int // at least
	}{
		"the source fails": {source: func(context.CancelFunc) iter.Seq2[bulk.Item, error] {
			return func(yield func(bulk.Item, error) bool) {
				_ = yield(notesOf(t, 1, 1)[0], nil) && yield(bulk.Item{}, why)
			}
		}, cause: why, written: 1},
		"the context ends": {source: func(cancel context.CancelFunc) iter.Seq2[bulk.Item, error] {
			return func(yield func(bulk.Item, error) bool) {
				for n, i := range notesOf(t, 5000, 5000) {
					if n == 3000 {
						cancel()
					}
					if !yield(i, nil) {
						return
					}
				}
			}
		}, cause: context.Canceled, written: 100},
		"the checkpoint fails": {
			source: func(context.CancelFunc) iter.Seq2[bulk.Item, error] {
				items := notesOf(t, 5000, 5000)
				for n := range items {
					items[n].At = writer.Earliest + int64(n)
				}
				return from(items)
			}, options: []bulk.Option{bulk.Checkpoint(func(context.Context, string, int64) error { return why })}, cause: why,
			written: 100,
		},
		"the loop is left": {source: func(context.CancelFunc) iter.Seq2[bulk.Item, error] {
			return from(notesOf(t, 5000, 5000))
		}, leave: true, says: "the loop over All was left"},
	} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			x := writer.Answer(func(ctx context.Context, _ fanout.Attempt) error {
				select {
				case <-time.After(20 * time.Millisecond):
				case <-ctx.Done():
				}
				return ctx.Err()
			})
			b := bulk.WriteAll(ctx, bulkWriter(x), "import", test.source(cancel), test.options...)
			seen := make(map[int64]bool)
			for d := range b.All() {
				if seen[d.Position] {
					t.Errorf("%s: item %d given twice", name, d.Position)
				}
				seen[d.Position] = true
				if test.leave {
					break
				}
			}
			var failed *bulk.Error
			if !errors.As(b.Err(), &failed) || test.cause != nil && !errors.Is(failed, test.cause) ||
				!strings.Contains(failed.Error(), test.says) || failed.Written < test.written {
				t.Errorf("%s: %v", name, b.Err())
			}
			if n := failed.Written + failed.Failed + failed.Parked + failed.NotBegun; !test.leave && n != len(seen) {
				t.Errorf("%s: %d items counted, %d given", name, n, len(seen))
			}
		})
	}
}

// What is not valid is one error that says what to do, and nothing is read.
func TestWriteAllRefuses(t *testing.T) {
	t.Parallel()
	w := writer.FakeWriter(writer.NopExecutor{})
	unread := func(func(bulk.Item, error) bool) { t.Error("the source was read") }
	for want, b := range map[string]*bulk.Run{
		"op is empty":                      bulk.WriteAll(t.Context(), w, "", unread),
		"the context is nil":               bulk.WriteAll(nil, w, "import", unread), //nolint:staticcheck // that is the fault
		"the source is nil":                bulk.WriteAll(t.Context(), w, "import", nil),
		"InFlight: 0 is not from 1 to 256": bulk.WriteAll(t.Context(), w, "import", unread, bulk.InFlight(0)),
		"Checkpoint: the function is nil":  bulk.WriteAll(t.Context(), w, "import", unread, bulk.Checkpoint(nil)),
		"the writer has the option At": bulk.WriteAll(t.Context(), w.With(writer.At(time.Now().UnixMicro())),
			"import", unread),
		"it is made by writer.New":                    bulk.WriteAll(t.Context(), new(writer.Writer), "import", unread),
		"the run has not ended: range over All first": bulk.WriteAll(t.Context(), w, "import", from(nil)),
	} {
		if !strings.Contains(want, "has not ended") && len(all(b)) > 0 {
			t.Errorf("%s: items", want)
		}
		if err := b.Err(); !errors.Is(err, writer.ErrInvalid) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
	save := bulk.Checkpoint(func(context.Context, string, int64) error { return nil })
	pinned := notesOf(t, 2, 2)
	pinned[0].At, pinned[1].At = writer.Earliest+1, writer.Earliest+2
	pinned[0].Position = 9
	pinned[1].Change = pinned[0].Change
	for want, items := range map[string][]bulk.Item{
		"an item without At, with Checkpoint":                notesOf(t, 1, 1),
		`position 1 of lane "" comes after 9`:                pinned,
		"a change was not made by a verb of a set":           {{At: writer.Earliest}},
		"At: timestamp 7 is before the year 1990":            {{Change: pinned[0].Change, At: 7}},
		"counters with Checkpoint: a run that begins again ": {{Change: counterAdd(t), At: writer.Earliest}},
	} {
		b := bulk.WriteAll(t.Context(), w, "import", from(items), save)
		var failed error
		for _, d := range all(b) {
			failed = cmp.Or(failed, d.Err)
		}
		if !errors.Is(failed, writer.ErrInvalid) || !strings.Contains(failed.Error(), want) ||
			!errors.Is(b.Err(), writer.ErrInvalid) {
			t.Errorf("%s: %v; %v", want, failed, b.Err())
		}
	}
}

// A checkpoint is the position up to which all items of the lane are acknowledged: an item that is under way, or has
// failed, holds it.
func TestWriteAllCheckpoint(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var items []bulk.Item
		for n, i := range notesOf(t, 3000, 3000) {
			i.Lane, i.At = fmt.Sprint(n%3), writer.Earliest+int64(n)
			items = append(items, i)
		}
		x := writer.Answer(func(_ context.Context, r fanout.Attempt) error {
			<-time.After(rand.N(400 * time.Millisecond))
			if r.Mutations[0].Timestamp == items[1501].At { // of lane 1
				return writer.ErrSyntax
			}
			return nil
		})
		acknowledged, saved, saves := make(map[int64]bool), make(map[string]int64), 0
		b := bulk.WriteAll(t.Context(), bulkWriter(x), "import", from(items),
			bulk.Checkpoint(func(_ context.Context, lane string, upTo int64) error {
				saves++
				for _, i := range items {
					if i.Lane == lane && i.Position <= upTo && !acknowledged[i.Position] {
						t.Errorf("lane %s was saved up to %d, and %d is not acknowledged", lane, upTo, i.Position)
						break
					}
				}
				if upTo <= saved[lane] && saved[lane] > 0 {
					t.Errorf("lane %s was saved at %d after %d", lane, upTo, saved[lane])
				}
				saved[lane] = upTo
				return nil
			}))
		for d := range b.All() {
			acknowledged[d.Position] = d.Err == nil
		}
		if saved["0"] != 2997 || saved["1"] != 1498 || saved["2"] != 2999 || saves < 6 {
			t.Errorf("%v after %d checkpoints", saved, saves)
		}
	})
}

// A run remembers each entity that has failed, and ends before that takes too much memory. Nothing of what was read by
// then is said to be written.
func TestWriteAllEndsWhenManyHaveFailed(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		text           string
		deleted        bool
		atLeast, below int // items that are read
	}{
		"entities": {"short", false, mostParked, mostParked + 2*aheadItems*mostInFlight},
		"bytes": {
			strings.Repeat("x", 128<<10), false, mostParkedBytes / (256 << 10) / 2,
			3 * mostParkedBytes / (256 << 10),
		},
		"deleted": {
			strings.Repeat("x", 128<<10), true, mostParkedBytes / (128 << 10) / 2,
			3 * mostParkedBytes / (128 << 10),
		},
	} {
		x := writer.Answer(func(context.Context, fanout.Attempt) error { return writer.ErrUnavailable })
		var count atomic.Int64 // the source may go on for a moment
		source := func(yield func(bulk.Item, error) bool) {
			for set, read := writer.NoteSet(t), 0; read < 2*test.below; read++ {
				count.Store(int64(read))
				n := writer.NewNote()
				n.UserID[0], n.UserID[1], n.UserID[2] = byte(read), byte(read>>8), byte(read>>16)
				n.Text = test.text
				change := set.Insert(n)
				if test.deleted {
					change = set.Delete(n)
				}
				if !yield(bulk.Item{Change: change, Position: int64(read)}, nil) {
					return
				}
			}
		}
		b := bulk.WriteAll(t.Context(), bulkWriter(x, writer.Once()), "import", source)
		given := 0
		for d := range b.All() {
			given++
			if d.Err == nil {
				t.Fatalf("%s: item %d is said to be written", name, d.Position)
			}
		}
		var failed *bulk.Error
		if !errors.As(b.Err(), &failed) || !strings.Contains(failed.Error(), "a run keeps no more") ||
			!errors.Is(failed, writer.ErrUnavailable) {
			t.Fatalf("%s: %v", name, b.Err())
		}
		read := int(count.Load())
		if failed.Failed < test.atLeast || read > test.below || failed.Failed+failed.NotBegun != given {
			t.Errorf("%s: %d items read, %d given: %v", name, read, given, failed)
		}
	}
}

// Photo is a row that may be large.
type Photo struct {
	ID      gocql.UUID
	Data    []byte
	Label   string
	Version gocql.UUID
}

// Rows of a megabyte are read ahead of slow nodes up to 64 MiB and sixteen more, however many writes may be under way,
// and whether the rows are those of a request, of a transaction, or of a before-image.
func TestWriteAllHoldsSixtyFourMegabytes(t *testing.T) {
	t.Parallel()
	const items, row = 300, 1 << 20
	table := tables.Table{Name: "photos", PartKey: []string{"id"}}
	plain, compared := writer.MustSet[Photo](t, "photo", table), writer.MustSet[Photo](t, "photo", table,
		tables.Compare("label"))
	versioned := writer.MustSet[Photo](t, "photo", table, tables.Versioned("version"))
	small := func(p Photo) Photo { return Photo{ID: p.ID, Label: "small", Version: p.Version} }
	for name, change := range map[string]func(Photo) tables.Change{
		"insert":                     plain.Insert,
		"update of a large row":      func(p Photo) tables.Change { return plain.Update(p, small(p)) },
		"delete":                     plain.Delete,
		"patch of a large row":       func(p Photo) tables.Change { return plain.Patch(p, tables.Column("label")) },
		"Compare, insert":            compared.Insert,
		"Compare, update to large":   func(p Photo) tables.Change { return compared.Update(small(p), p) },
		"Compare, update of large":   func(p Photo) tables.Change { return compared.Update(p, small(p)) },
		"Compare, delete":            compared.Delete,
		"Versioned, insert":          versioned.Insert,
		"Versioned, update to large": func(p Photo) tables.Change { return versioned.Update(small(p), p) },
		"Versioned, delete":          versioned.Delete,
	} {
		t.Run(name, func(t *testing.T) { //nolint:paralleltest // each takes much memory
			synctest.Test(t, func(t *testing.T) {
				photo := Photo{Data: []byte(strings.Repeat("x", row)), Label: "large", Version: gocql.UUIDFromTime(time.Now())}
				var mu sync.Mutex
				held, most := 0, 0
				source := func(yield func(bulk.Item, error) bool) {
					for i := range items {
						mu.Lock()
						held++
						most = max(most, held)
						mu.Unlock()
						photo.ID = writer.NewTask("").TaskID
						photo.ID[0], photo.ID[1] = byte(i), byte(i>>8)
						if !yield(bulk.Item{Change: change(photo)}, nil) {
							return
						}
					}
				}
				w := bulkWriter(slowExecutor{})
				w.Transact(slowTransactor{new(writer.FakeTransactor)})
				b := bulk.WriteAll(t.Context(), w, "import", source)
				for d := range b.All() {
					mu.Lock()
					held--
					mu.Unlock()
					if d.Err != nil {
						t.Error(d.Err)
					}
				}
				if err := w.Wait(t.Context()); err != nil {
					t.Error(err)
				}
				// One more is taken in when the rest is just below the bound, and one waits at the source.
				if allowed := aheadBytes/row + aheadUnsized + 2; b.Err() != nil || most > allowed || most < allowed-4 {
					t.Errorf("%d rows of a megabyte were held, want about %d: %v", most, allowed, b.Err())
				}
			})
		})
	}
}

// slowTransactor applies every transaction, after a while.
type slowTransactor struct{ *writer.FakeTransactor }

func (x slowTransactor) Swap(ctx context.Context, statements []statement.Bound, o decide.Options) (bool, map[string]any,
	error,
) {
	<-time.After(100 * time.Millisecond)
	return x.FakeTransactor.Swap(ctx, statements, o)
}

// A run whose context ends while it waits for the source is not done, though all that was read is acknowledged.
func TestWriteAllIsCanceledWhileItWaits(t *testing.T) {
	t.Parallel()
	for range 100 { // the end of the context and that of the source meet
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			items := notesOf(t, 5, 5)
			b := bulk.WriteAll(ctx, bulkWriter(writer.NopExecutor{}), "import", func(yield func(bulk.Item, error) bool) {
				for _, i := range items {
					if !yield(i, nil) {
						return
					}
				}
				<-ctx.Done()
			})
			given := 0
			for d := range b.All() {
				if given++; given == len(items) {
					cancel()
					<-time.After(time.Second) // the source ends
				}
				if d.Err != nil {
					t.Error(d.Err)
				}
			}
			if given != len(items) || !errors.Is(b.Err(), context.Canceled) {
				t.Fatalf("%d items given, %v", given, b.Err())
			}
		})
	}
}

// What was read when a run ends early is given as not begun: at most what the source gives at that moment is not.
func TestWriteAllGivesWhatWasRead(t *testing.T) {
	t.Parallel()
	const fails = 700
	for name, options := range map[string][]bulk.Option{
		"the context ends":     nil,
		"the checkpoint fails": {bulk.Checkpoint(func(context.Context, string, int64) error { return writer.ErrSyntax })},
	} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			items := notesOf(t, 5000, 5000)
			var count atomic.Int64
			x := writer.Answer(func(context.Context, fanout.Attempt) error {
				<-time.After(400 * time.Millisecond)
				return nil
			})
			b := bulk.WriteAll(ctx, bulkWriter(x), "import", func(yield func(bulk.Item, error) bool) {
				for n, i := range items {
					i.At = writer.Earliest + int64(n)
					if count.Add(1) == fails && options == nil {
						cancel()
					}
					if !yield(i, nil) {
						return
					}
				}
			}, options...)
			given, notBegun := 0, 0
			for d := range b.All() {
				given++
				if d.Err != nil && writer.OutcomeOf(d.Err) == writer.NotApplied {
					notBegun++
				}
				if failed := (*writer.Error)(nil); options != nil && errors.As(d.Err, &failed) {
					t.Errorf("%s: the error of an item is that of the checkpoint: %v", name, d.Err)
				}
			}
			<-time.After(time.Minute) // what the run has left
			read := int(count.Load())
			if read-given > 2 || notBegun == 0 || read == len(items) {
				t.Errorf("%s: %d items were read and %d given, %d of them not begun: %v", name, read, given, notBegun, b.Err())
			}
		})
	}
}

// A checkpoint that fails as the context of the run has ended is saved once more at the end.
func TestWriteAllSavesAfterItsContext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		var items []bulk.Item
		for n, i := range notesOf(t, 50, 50) {
			i.At = writer.Earliest + int64(n)
			items = append(items, i)
		}
		saved, saves := int64(-1), 0
		b := bulk.WriteAll(ctx, bulkWriter(writer.NopExecutor{}), "import", func(yield func(bulk.Item, error) bool) {
			for _, i := range items {
				if !yield(i, nil) {
					return
				}
			}
			<-ctx.Done()
		}, bulk.Checkpoint(func(ctx context.Context, _ string, upTo int64) error {
			if saves++; saves == 1 {
				cancel()
			}
			if ctx.Err() != nil {
				return fmt.Errorf("save: %w", ctx.Err())
			}
			saved = upTo
			return nil
		}))
		for d := range b.All() {
			if d.Err != nil {
				t.Error(d.Err)
			}
		}
		if saves != 2 || saved != items[len(items)-1].Position || !errors.Is(b.Err(), context.Canceled) {
			t.Errorf("%d checkpoints, the last at %d: %v", saves, saved, b.Err())
		}
	})
}

// An item whose own write did not begin in time has failed, and so has the run.
func TestWriteAllCountsItemsThatDidNotBegin(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		x := writer.Answer(func(context.Context, fanout.Attempt) error {
			return fmt.Errorf("%w: %w", fanout.ErrUnbegun, context.DeadlineExceeded)
		})
		b := bulk.WriteAll(t.Context(), bulkWriter(x), "import", from(notesOf(t, 1, 1)))
		for d := range b.All() {
			if d.Err == nil {
				t.Error("acknowledged")
			}
		}
		if failed := (*bulk.Error)(nil); !errors.As(b.Err(), &failed) || failed.Failed != 1 || failed.NotBegun != 0 {
			t.Errorf("%v", b.Err())
		}
	})
}

// A source that ends its goroutine has not come to its end: what it has not yielded must not be taken for written.
func TestWriteAllSaysThatTheSourceHasNotReturned(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		items := notesOf(t, 10, 10)
		b := bulk.WriteAll(t.Context(), bulkWriter(writer.Answer(nil)), "import", func(yield func(bulk.Item, error) bool) {
			for n, i := range items {
				if n == 5 {
					runtime.Goexit()
				}
				if !yield(i, nil) {
					return
				}
			}
		})
		if got := len(all(b)); got != 5 || !strings.Contains(b.Err().Error(), "it has not returned") {
			t.Errorf("%d items, %v", got, b.Err())
		}
	})
}

// A panic of the source is one of the loop, whose caller can recover it. What was read before is written.
func TestWriteAllPanicsAsTheSource(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		items := notesOf(t, 5, 5)
		b := bulk.WriteAll(t.Context(), bulkWriter(writer.Answer(nil)), "import", func(yield func(bulk.Item, error) bool) {
			from(items)(yield)
			panic("a line is too short")
		})
		written := 0
		func() {
			defer func() {
				if got := recover(); got != "a line is too short" {
					t.Errorf("recovered %v", got)
				}
			}()
			for range b.All() {
				written++
			}
		}()
		if written != 5 || !strings.Contains(b.Err().Error(), "it has not returned") {
			t.Errorf("%d items, %v", written, b.Err())
		}
	})
}

// A record that is two changes has one position. The second change is rejected, so the position is not saved: a run
// that begins after it would leave that change out.
func TestWriteAllDoesNotSaveThePositionOfAFailedItem(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		items := notesOf(t, 4, 4)
		for n := range items {
			items[n].At, items[n].Position = writer.Earliest+int64(n), int64(n/2)
		}
		saved := int64(-1)
		b := bulk.WriteAll(t.Context(), bulkWriter(writer.Answer(nil)), "import", from(items),
			bulk.Checkpoint(func(_ context.Context, _ string, upTo int64) error {
				saved = upTo
				return nil
			}))
		failed := int64(-1)
		for d := range b.All() {
			if d.Err != nil && failed < 0 {
				failed = d.Position
			}
		}
		if failed != 0 || saved >= failed {
			t.Errorf("saved up to %d, and an item at %d has failed: %v", saved, failed, b.Err())
		}
	})
}

// slowExecutor acknowledges everything, after a while.
type slowExecutor struct{}

func (slowExecutor) Execute(context.Context, *fanout.Attempt) error {
	<-time.After(100 * time.Millisecond)
	return nil
}
