package writer_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/denorm-go/denorm/cassandratest"
	"github.com/denorm-go/denorm/internal/fanout"
	"github.com/denorm-go/denorm/retry"
	"github.com/denorm-go/denorm/tables"
	"github.com/denorm-go/denorm/writer"
	"github.com/denorm-go/denorm/writer/bulk"
	"github.com/gocql/gocql"
)

// notesOf are inserts of notes, of which so many users have one each time around.
func notesOf(tb testing.TB, items, users int) []bulk.Item {
	tb.Helper()
	set, all := writer.NoteSet(tb), make([]bulk.Item, items)
	for i := range all {
		n := writer.NewNote()
		n.UserID[0], n.UserID[1] = byte(i%users), byte(i%users>>8)
		n.NoteID[0], n.NoteID[1], n.NoteID[2] = byte(i), byte(i>>8), byte(i>>16)
		all[i] = bulk.Item{Change: set.Insert(n), Position: int64(i)}
	}
	return all
}

func from(items []bulk.Item) iter.Seq2[bulk.Item, error] {
	return func(yield func(bulk.Item, error) bool) {
		for _, i := range items {
			if !yield(i, nil) {
				return
			}
		}
	}
}

// bulkWriter has a clock of its own: others of the process have another time than a bubble.
func bulkWriter(x fanout.Executor, options ...writer.NewOption) *writer.Writer {
	return writer.FakeWriter(x, append(options, writer.WithClock(writer.NewClock(time.Now)))...)
}

func all(b *bulk.Run) (done []bulk.Done) {
	for d := range b.All() {
		done = append(done, d)
	}
	return done
}

// Changes of one entity are written one after another in the order of the source, whatever the others do, and each item
// is given once.
func TestWriteAllKeepsTheOrderOfAnEntity(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		set := writer.TaskSet(t)
		const entities, each = 50, 40
		var items []bulk.Item
		for n := range entities * each {
			task := writer.NewTask(fmt.Sprintf("owner %d", n))
			task.TaskID[0] = byte(rand.IntN(entities))
			items = append(items, bulk.Item{Change: set.Insert(task), Position: int64(n)})
		}
		var mu sync.Mutex
		under, last, most := make(map[string]int), make(map[string]int64), 0
		x := writer.Answer(func(_ context.Context, r fanout.Attempt) error {
			if !writer.Carries(r, "tasks") {
				return nil
			}
			mu.Lock()
			for _, m := range r.Mutations {
				key := string(m.PartitionKey)
				if under[key]++; under[key] > 1 {
					t.Error("two writes of one entity at a time")
				}
				if at := m.Timestamp; at <= last[key] {
					t.Errorf("%d after %d", at, last[key])
				} else {
					last[key] = at
				}
			}
			most = max(most, len(under))
			mu.Unlock()
			<-time.After(rand.N(20 * time.Millisecond))
			mu.Lock()
			defer mu.Unlock()
			for _, m := range r.Mutations {
				delete(under, string(m.PartitionKey))
			}
			return nil
		})
		b := bulk.WriteAll(t.Context(), bulkWriter(x), "import", from(items))
		seen := make(map[int64]int)
		for d := range b.All() {
			seen[d.Position]++
			if d.Err != nil || d.Result.Timestamp == 0 {
				t.Errorf("item %d: %+v, %v", d.Position, d.Result, d.Err)
			}
		}
		if b.Err() != nil || len(seen) != len(items) || most < 4 {
			t.Errorf("%d of %d items given, at most %d at a time: %v", len(seen), len(items), most, b.Err())
		}
		for at, n := range seen {
			if n != 1 {
				t.Errorf("item %d was given %d times", at, n)
			}
		}
		if n := len(all(b)); n != 0 {
			t.Errorf("a second loop gave %d items", n)
		}
	})
}

// After a change that failed the later ones of its entity are not written, and the others go on.
func TestWriteAllParks(t *testing.T) {
	t.Parallel()
	set := writer.TaskSet(t)
	var items []bulk.Item
	for n := range 90 {
		task := writer.NewTask("ann")
		if task.TaskID[0] = byte(n % 3); n == 4 { // the second of entity 1
			task.Owner = "bad"
		}
		items = append(items, bulk.Item{Change: set.Insert(task), Position: int64(n)})
	}
	x := writer.Answer(func(_ context.Context, r fanout.Attempt) error {
		for _, m := range r.Mutations {
			if m.Table == "tasks_by_owner" && strings.Contains(string(m.PartitionKey), "bad") {
				return writer.ErrSyntax
			}
		}
		return nil
	})
	b := bulk.WriteAll(t.Context(), bulkWriter(x), "import", from(items))
	for _, d := range all(b) {
		var failed *writer.Error
		switch {
		case d.Position == 4:
			if !errors.As(d.Err, &failed) || errors.Is(d.Err, bulk.ErrParked) || failed.Tables[0].Outcome != writer.Applied ||
				failed.Tables[1].Outcome != writer.NotApplied {
				t.Errorf("the one that fails: %v", d.Err)
			}
		case d.Position > 4 && d.Position%3 == 1:
			if !errors.Is(d.Err, bulk.ErrParked) || !errors.As(d.Err, &failed) || !errors.Is(d.Err, writer.ErrSyntax) {
				t.Errorf("item %d: %v", d.Position, d.Err)
			}
		case d.Err != nil:
			t.Errorf("item %d: %v", d.Position, d.Err)
		}
	}
	var failed *bulk.Error
	if !errors.As(b.Err(), &failed) || failed.Written != 61 || failed.Failed != 1 || failed.Parked != 28 ||
		!errors.Is(failed, writer.ErrSyntax) {
		t.Errorf("%v", b.Err())
	}
}

// Items that write the same partitions are sent together, each at its own timestamp. One that is not valid fails alone.
func TestWriteAllSendsTogether(t *testing.T) {
	t.Parallel()
	for name, bad := range map[string]int64{"all valid": -1, "one is not": 777} {
		synctest.Test(t, func(t *testing.T) {
			items, stamps := notesOf(t, 2000, 20), make(map[int64]bool)
			items[max(bad, 0)].At = writer.Earliest + 1
			x := writer.Answer(func(_ context.Context, r fanout.Attempt) error {
				<-time.After(5 * time.Millisecond)
				for _, m := range r.Mutations {
					if bad >= 0 && m.Timestamp == writer.Earliest+1 {
						return writer.ErrSyntax
					}
				}
				return nil
			})
			b := bulk.WriteAll(t.Context(), bulkWriter(x), "import", from(items))
			for _, d := range all(b) {
				if (d.Err != nil) != (d.Position == bad) {
					t.Errorf("%s: item %d: %v", name, d.Position, d.Err)
				}
				stamps[d.Result.Timestamp] = true // of the one that fails, too
			}
			if len(stamps) != len(items) {
				t.Errorf("%s: %d timestamps of %d items", name, len(stamps), len(items))
			}
			sent, most := x.Sent(), 0
			for _, r := range sent {
				most = max(most, len(r.Mutations))
				for _, m := range r.Mutations {
					if !stamps[m.Timestamp] {
						t.Errorf("%s: a row has timestamp %d, which is of no item", name, m.Timestamp)
					}
				}
			}
			if len(sent) > len(items)/3 || most > 2*mostTogether {
				t.Errorf("%s: %d requests of up to %d rows for %d items", name, len(sent), most, len(items))
			}
		})
	}
}

// What an item's rows met in a request for several items stays what may have happened: a later rejection of the item
// alone does not make it NotApplied.
func TestWriteAllKeepsWhatMayHaveHappened(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		x := writer.Answer(func(_ context.Context, r fanout.Attempt) error {
			<-time.After(time.Millisecond)
			if len(r.Mutations) > 2 { // each note has two rows
				return writer.ErrBatch
			}
			return writer.ErrSyntax
		})
		b := bulk.WriteAll(t.Context(), bulkWriter(x, writer.Once()), "import", from(notesOf(t, 500, 1)))
		unknown, not := 0, 0
		for _, d := range all(b) {
			switch failed := writer.AsError(t, d.Err); failed.Tables[0].Outcome {
			case writer.Unknown:
				unknown++
			case writer.NotApplied:
				not++
			default:
				t.Errorf("%v", failed)
			}
		}
		if unknown < 400 || not > 100 {
			t.Errorf("%d unknown, %d not applied", unknown, not)
		}
	})
}

// Changes with conditions, counters and logged batches are written as by Write.
func TestWriteAllOfOtherModes(t *testing.T) {
	t.Parallel()
	w, x, e := writer.Scripted(nil)
	var items []bulk.Item
	for n := range 20 {
		i := writer.NewItem()
		i.ItemID[0] = byte(n)
		items = append(items, bulk.Item{Change: writer.ItemSet(t).Insert(i)})
	}
	before, after := writer.Move()
	items = append(items, bulk.Item{Change: writer.OrderSet(t).Update(before, after)}, bulk.Item{Change: counterAdd(t)},
		bulk.Item{Change: counterAdd(t)})
	b := bulk.WriteAll(t.Context(), w, "import", from(items))
	modes := make(map[writer.Mode]int)
	for d := range b.All() {
		modes[d.Result.Mode]++
	}
	if err := errors.Join(b.Err(), w.Wait(t.Context())); err != nil || modes[writer.Conditional] != 20 ||
		modes[writer.LoggedBatch] != 1 || modes[writer.Counter] != 2 {
		t.Errorf("%v, %v", modes, err)
	}
	if n := strings.Count(x.Asked(), "UPDATE"); n != 20 || len(e.Sent()) != 20+1+4 {
		t.Errorf("%d transactions, %d requests alongside", n, len(e.Sent()))
	}
}

func counterAdd(tb testing.TB) tables.Change {
	tb.Helper()
	return writer.ViewSet(tb).Add(writer.NewView())
}

// A change that is written alone, such as a logged batch, has its place in the order of its entity: the next one has a
// later timestamp.
func TestWriteAllTimestampsFollowTheOrder(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		set := writer.TaskSet(t, tables.SingleWriter("owner"))
		var items []bulk.Item
		for n := range 600 {
			before := writer.NewTask(fmt.Sprint("owner ", n/60))
			before.TaskID[0] = byte(n % 30)
			after, code := before, fmt.Sprint(n)
			after.Code = &code // a fan-out
			if n/30%2 == 1 {
				after.Owner = fmt.Sprint("owner ", n/60+1) // a logged batch
			}
			items = append(items, bulk.Item{Change: set.Update(before, after), Position: int64(n)})
		}
		x := writer.Answer(func(context.Context, fanout.Attempt) error {
			<-time.After(rand.N(20 * time.Millisecond))
			return nil
		})
		last, modes := make(map[int64]int64), make(map[writer.Mode]int)
		b := bulk.WriteAll(t.Context(), bulkWriter(x), "import", from(items))
		for d := range b.All() {
			entity := d.Position % 30
			if modes[d.Result.Mode]++; d.Result.Timestamp <= last[entity] {
				t.Errorf("item %d has timestamp %d, the one of its entity before it %d", d.Position, d.Result.Timestamp,
					last[entity])
			}
			last[entity] = d.Result.Timestamp
		}
		if b.Err() != nil || modes[writer.LoggedBatch] != 300 || modes[writer.FanOut] != 300 {
			t.Errorf("%v: %v", modes, b.Err())
		}
	})
}

// Items of one entity are given in the order of the source, whatever becomes of them, also where the run ends early: so
// a caller that keeps those that failed has them in the order in which they are to be written.
func TestWriteAllGivesItemsInOrder(t *testing.T) {
	t.Parallel()
	for range 20 {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			set := writer.TaskSet(t)
			var items []bulk.Item
			for n := range 3000 {
				task := writer.NewTask("ann")
				task.TaskID[0] = byte(n % 40)
				items = append(items, bulk.Item{Change: set.Insert(task), Position: int64(n)})
			}
			x := writer.Answer(func(ctx context.Context, _ fanout.Attempt) error {
				select {
				case <-time.After(rand.N(20 * time.Millisecond)):
				case <-ctx.Done():
				}
				if rand.IntN(200) == 0 {
					return writer.ErrSyntax
				}
				return ctx.Err()
			})
			time.AfterFunc(rand.N(300*time.Millisecond), cancel)
			b, last, ended := bulk.WriteAll(ctx, bulkWriter(x, writer.Once()), "import", from(items)), make(map[int64]int64),
				make(map[int64]bool)
			for d := range b.All() {
				entity := d.Position % 40
				if before, ok := last[entity]; ok && d.Position != before+40 {
					t.Errorf("item %d was given after %d", d.Position, before)
				}
				if last[entity] = d.Position; ended[entity] && d.Err == nil {
					t.Errorf("item %d was written after one of its entity that was not", d.Position)
				}
				ended[entity] = ended[entity] || d.Err != nil
			}
			if b.Err() == nil {
				t.Error("the run has not ended early")
			}
		})
	}
}

// bulkWrites are the requests of a bulk write.
var bulkWrites = cassandratest.Where(func(r cassandratest.Request) bool {
	return r.On("notes") || r.On("notes_by_time")
})

// wantNotes looks for all notes in both tables, and for no other.
func wantNotes(t *testing.T, s *writer.WireShop, n int) {
	t.Helper()
	for _, table := range []string{"notes", "notes_by_time"} {
		var rows int
		if err := s.Gocql().Query("SELECT count(*) FROM shop." + table).Consistency(gocql.All).Scan(&rows); err != nil ||
			rows != n {
			t.Errorf("%d rows in %s, want %d: %v", rows, table, n, err)
		}
	}
}

// A node that takes requests and does not answer costs a bulk write some attempts, not the changes: all of them are
// acknowledged by the others.
func TestWriteAllWithAnUnresponsiveNode(t *testing.T) {
	t.Parallel()
	const items = 2000
	synctest.Test(t, func(t *testing.T) {
		writer.Unwind(t)
		s := writer.OpenWire(t, cassandratest.Start, 3)
		s.When(bulkWrites).Do(cassandratest.Delay(2 * time.Millisecond))
		begun := time.Now()
		time.AfterFunc(50*time.Millisecond, s.Node(2).Silence) // in the middle
		b := bulk.WriteAll(t.Context(), s.Writer(), "import", from(notesOf(t, items, items)))
		failed := 0
		for d := range b.All() {
			if d.Err != nil {
				failed++
			}
		}
		took := time.Since(begun)
		if failed > 0 || b.Err() != nil || took > time.Minute {
			t.Errorf("%d failed after %v: %v", failed, took, b.Err())
		}
		if n := len(s.Journal(bulkWrites, cassandratest.On(2))); n == 0 || n == items {
			t.Errorf("%d requests to the node: it was not away in the middle", n)
		}
		t.Logf("took %v", took)
		s.Node(2).Restore()
		<-time.After(time.Minute) // hints have come
		wantNotes(t, s, items)
	})
}

// Nodes that reject what comes above a number of requests in flight are not asked over and over: few requests are
// rejected, and all changes arrive, the few that fail by a Resume.
func TestWriteAllToOverloadedNodes(t *testing.T) {
	t.Parallel()
	const items, bearable = 5000, 24
	synctest.Test(t, func(t *testing.T) {
		writer.Unwind(t)
		s := writer.OpenWire(t, cassandratest.Start, 3)
		var mu sync.Mutex
		inFlight, most, taken, rejected := 0, 0, 0, 0
		s.When(bulkWrites).Choose(func(cassandratest.Request) []cassandratest.Step {
			mu.Lock()
			defer mu.Unlock()
			if inFlight >= bearable {
				rejected++
				return []cassandratest.Step{cassandratest.Fail(cassandratest.Overloaded)}
			}
			inFlight++
			taken++
			most = max(most, inFlight)
			time.AfterFunc(5*time.Millisecond, func() {
				mu.Lock()
				defer mu.Unlock()
				inFlight--
			})
			return []cassandratest.Step{cassandratest.Delay(5 * time.Millisecond)}
		})
		b := bulk.WriteAll(t.Context(), s.Writer(), "import", from(notesOf(t, items, items)))
		var failed []*writer.Error
		for d := range b.All() {
			if d.Err != nil {
				failed = append(failed, writer.AsError(t, d.Err))
			}
		}
		t.Logf("%d taken, at most %d at a time, %d rejected, %d items failed", taken, most, rejected, len(failed))
		if rejected == 0 || rejected > items/8 {
			t.Errorf("%d requests were rejected, and %d taken", rejected, taken)
		}
		for _, e := range failed { // a few, whose attempts all came while the bound was still too high
			if _, err := s.Writer().Resume(t.Context(), e); err != nil {
				t.Error(err)
			}
		}
		wantNotes(t, s, items)
	})
}

// bulkFault is a random fault of a request.
func bulkFault(random *rand.Rand) []cassandratest.Step {
	timeout := cassandratest.Fail(cassandratest.WriteTimeout("SIMPLE", 1, 2))
	unavailable := cassandratest.Fail(cassandratest.Unavailable(gocql.LocalQuorum, 2, 1))
	delay := cassandratest.Delay(time.Millisecond + time.Duration(random.IntN(20))*time.Millisecond)
	if random.IntN(3) > 0 {
		return []cassandratest.Step{delay}
	}
	return [][]cassandratest.Step{
		{timeout},
		{cassandratest.Apply, timeout},
		{unavailable},
		{delay, unavailable},
		{cassandratest.Apply, cassandratest.Drop},
		{cassandratest.Drop},
		{cassandratest.Apply, cassandratest.Cut},
		{cassandratest.Fail(cassandratest.Overloaded)},
		{delay, cassandratest.Apply, timeout},
	}[random.IntN(9)]
}

// Under timeouts, rejections and lost answers nothing of a change of an entity is sent before the one before it is
// done, nothing after one that has failed, and what is said of the changes is true of the rows.
func TestWriteAllKeepsTheOrderUnderFaults(t *testing.T) {
	t.Parallel()
	const entities, each = 30, 25
	for seed := range uint64(4) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				writer.Unwind(t)
				// Each bubble has a time of its own: a clock that it shared with the others would go back with them.
				s := writer.OpenWire(t, cassandratest.Start, 3, writer.Retry(retry.Policy{MaxAttempts: 2}),
					writer.WithClock(writer.NewClock(time.Now)))
				set, random := writer.NoteSet(t), rand.New(rand.NewPCG(seed, 1))
				items := changesOf(set, entities, each)
				rule := s.When(bulkWrites).Choose(func(cassandratest.Request) []cassandratest.Step { return bulkFault(random) })
				begin := len(s.Journal())
				b := bulk.WriteAll(t.Context(), s.Writer(), "import", from(items))
				last, failed, parked := make([]int64, entities), make([]error, entities), 0
				at := make([]int64, len(items))
				for d := range b.All() {
					entity := int(d.Position) % entities
					switch {
					case errors.Is(d.Err, bulk.ErrParked):
						if parked++; failed[entity] == nil {
							t.Errorf("item %d is parked, and nothing has failed before it", d.Position)
						}
						continue
					case d.Err != nil:
						failed[entity] = d.Err
					case failed[entity] != nil:
						t.Errorf("item %d was written after %v", d.Position, failed[entity])
					case d.Result.Timestamp <= last[entity]:
						t.Errorf("item %d is at %d, the one before at %d", d.Position, d.Result.Timestamp, last[entity])
					default:
						last[entity] = d.Result.Timestamp
					}
					at[d.Position] = d.Result.Timestamp
				}
				rule.End()
				wantOrder(t, s, begin)
				<-time.After(time.Minute)
				lost := 0
				for entity := range entities {
					if failed[entity] != nil {
						lost++
					}
					judgeNote(t, s, entity, last[entity], failed[entity])
				}
				t.Logf("%d of %d entities failed, %d items parked", lost, entities, parked)
				if lost == 0 || lost == entities || parked == 0 {
					t.Errorf("%d of %d entities failed, %d items parked: these faults show nothing", lost, entities, parked)
				}
			})
		})
	}
}

// noteOf is the note of an entity: five users have all.
func noteOf(entity int) writer.Note {
	n := writer.NewNote()
	n.UserID[0], n.NoteID[0] = byte(entity%5), byte(entity)
	return n
}

// changesOf are changes of so many notes in turn. Of what is written to a note each text says its number.
func changesOf(set *tables.Set[writer.Note], entities, each int) (items []bulk.Item) {
	for i := range entities * each {
		n := noteOf(i % entities)
		n.Text = fmt.Sprint(i / entities)
		items = append(items, bulk.Item{Change: set.Insert(n), Position: int64(i)})
	}
	return items
}

// wantOrder says whether requests for a row came in the order of their timestamps.
func wantOrder(t *testing.T, s *writer.WireShop, from int) {
	t.Helper()
	newest, together := make(map[string]int64), 0
	for _, r := range s.Writes(from) {
		if len(r.Statements) > 2 {
			together++
		}
		for _, st := range r.Statements {
			id, _ := st.Value("note_id")
			stamp, _ := st.Value("[timestamp]")
			row, at := st.Table+string(id.Bytes), writtenExactly(stamp.Bytes)
			if at < newest[row] {
				t.Errorf("request %d of %s is at %d, after one at %d", r.Number, st.Table, at, newest[row])
			}
			newest[row] = max(newest[row], at)
		}
	}
	if together == 0 {
		t.Error("no items were sent together")
	}
}

// writtenExactly is a timestamp as it was sent.
func writtenExactly(b []byte) (at int64) {
	for _, c := range b {
		at = at<<8 | int64(c)
	}
	return at
}

// judgeNote compares the rows of an entity with the last change that was acknowledged, and the one that failed after
// it.
func judgeNote(t *testing.T, s *writer.WireShop, entity int, acknowledged int64, failed error) {
	t.Helper()
	n := noteOf(entity)
	for table, key := range map[string]string{"notes": "", "notes_by_time": " AND written = ?"} {
		args := []any{n.UserID, n.NoteID}
		if key != "" {
			args = append(args, n.Written)
		}
		var at int64
		err := s.Gocql().Query("SELECT writetime(text) FROM shop."+table+" WHERE user_id = ? AND note_id = ?"+key, args...).
			Consistency(gocql.All).Scan(&at)
		if err != nil && !errors.Is(err, gocql.ErrNotFound) {
			t.Fatal(err)
		}
		var e *writer.Error
		switch {
		case at == acknowledged:
		case errors.As(failed, &e) && at == e.Timestamp && !e.NotApplied():
		default:
			t.Errorf("%s of entity %d is of %d, and %d was acknowledged, then: %v", table, entity, at, acknowledged, failed)
		}
	}
}

// Changes of one entity in a bulk write keep the order of the source, where each has the stamp that was read.
func TestLaterItemsOfAnEntityHaveLaterTimestamps(t *testing.T) {
	t.Parallel()
	set := writer.OrderSet(t)
	w := writer.FakeWriter(writer.NopExecutor{})
	run := bulk.WriteAll(t.Context(), w, "import", func(yield func(bulk.Item, error) bool) {
		for i := range int64(40) {
			o := writer.OtherOrder()
			o.UpdatedAt = time.Now().Add(3 * time.Second).UnixMicro()
			for _, c := range []tables.Change{set.Update(o, o), set.Update(o, o), set.Delete(o)} {
				if !yield(bulk.Item{Change: c, Position: i}, nil) {
					return
				}
			}
		}
	})
	last := make(map[int64]int64)
	for done := range run.All() {
		if done.Err != nil || done.Result.Timestamp <= last[done.Position] {
			t.Fatalf("%d after %d, %v", done.Result.Timestamp, last[done.Position], done.Err)
		}
		last[done.Position] = done.Result.Timestamp
	}
	if err := run.Err(); err != nil || len(last) != 40 {
		t.Error(len(last), err)
	}
}
