package writer

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/denorm-go/denorm/cassandratest"
	"github.com/denorm-go/denorm/internal/fanout"
	"github.com/denorm-go/denorm/retry"
	"github.com/denorm-go/denorm/tables"
	"github.com/gocql/gocql"
)

// bulkWrites are the requests of a bulk write.
var bulkWrites = cassandratest.Where(func(r cassandratest.Request) bool { return r.On("notes") || r.On("notes_by_time") })

// wantNotes looks for all notes in both tables, and for no other.
func (s *wireShop) wantNotes(t *testing.T, n int) {
	t.Helper()
	for _, table := range []string{"notes", "notes_by_time"} {
		var rows int
		if err := s.session.Query("SELECT count(*) FROM shop." + table).Consistency(gocql.All).Scan(&rows); err != nil || rows != n {
			t.Errorf("%d rows in %s, want %d: %v", rows, table, n, err)
		}
	}
}

// A node that takes requests and does not answer costs a bulk write some attempts, not the changes: all of them are acknowledged by the others.
func TestWriteAllWithAnUnresponsiveNode(t *testing.T) {
	t.Parallel()
	const items = 2000
	synctest.Test(t, func(t *testing.T) {
		unwind(t)
		s := openWire(t, cassandratest.Start, 3)
		s.When(bulkWrites).Do(cassandratest.Delay(2 * time.Millisecond))
		begun := time.Now()
		time.AfterFunc(50*time.Millisecond, s.Node(2).Silence) // in the middle
		b := s.w.WriteAll(t.Context(), "import", from(notesOf(t, items, items)))
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
		s.wantNotes(t, items)
	})
}

// Nodes that reject what comes above a number of requests in flight are not asked over and over: few requests are rejected, and all changes arrive,
// the few that fail by a Resume.
func TestWriteAllToOverloadedNodes(t *testing.T) {
	t.Parallel()
	const items, bearable = 5000, 24
	synctest.Test(t, func(t *testing.T) {
		unwind(t)
		s := openWire(t, cassandratest.Start, 3)
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
		b := s.w.WriteAll(t.Context(), "import", from(notesOf(t, items, items)))
		var failed []*Error
		for d := range b.All() {
			if d.Err != nil {
				failed = append(failed, asError(t, d.Err))
			}
		}
		t.Logf("%d taken, at most %d at a time, %d rejected, %d items failed", taken, most, rejected, len(failed))
		if rejected == 0 || rejected > items/8 {
			t.Errorf("%d requests were rejected, and %d taken", rejected, taken)
		}
		for _, e := range failed { // a few, whose attempts all came while the bound was still too high
			if _, err := s.w.Resume(t.Context(), e); err != nil {
				t.Error(err)
			}
		}
		s.wantNotes(t, items)
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

// Under timeouts, rejections and lost answers nothing of a change of an entity is sent before the one before it is done, nothing after one that
// has failed, and what is said of the changes is true of the rows.
func TestWriteAllKeepsTheOrderUnderFaults(t *testing.T) {
	t.Parallel()
	const entities, each = 30, 25
	for seed := range uint64(4) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				unwind(t)
				// Each bubble has a time of its own: a clock that it shared with the others would go back with them.
				s := openWire(t, cassandratest.Start, 3, Retry(retry.Policy{MaxAttempts: 2}), WithClock(NewClock(time.Now)))
				set, random := noteSet(t), rand.New(rand.NewPCG(seed, 1))
				items := changesOf(set, entities, each)
				rule := s.When(bulkWrites).Choose(func(cassandratest.Request) []cassandratest.Step { return bulkFault(random) })
				begin := len(s.Journal())
				b := s.w.WriteAll(t.Context(), "import", from(items))
				last, failed, parked := make([]int64, entities), make([]error, entities), 0
				at := make([]int64, len(items))
				for d := range b.All() {
					entity := int(d.Position) % entities
					switch {
					case errors.Is(d.Err, ErrParked):
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
				s.wantOrder(t, begin)
				<-time.After(time.Minute)
				lost := 0
				for entity := range entities {
					if failed[entity] != nil {
						lost++
					}
					s.judgeNote(t, entity, last[entity], failed[entity])
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
func noteOf(entity int) Note {
	n := newNote()
	n.UserID[0], n.NoteID[0] = byte(entity%5), byte(entity)
	return n
}

// changesOf are changes of so many notes in turn. Of what is written to a note each text says its number.
func changesOf(set *tables.Set[Note], entities, each int) (items []Item) {
	for i := range entities * each {
		n := noteOf(i % entities)
		n.Text = fmt.Sprint(i / entities)
		items = append(items, Item{Change: set.Insert(n), Position: int64(i)})
	}
	return items
}

// wantOrder says whether requests for a row came in the order of their timestamps.
func (s *wireShop) wantOrder(t *testing.T, from int) {
	t.Helper()
	newest, together := make(map[string]int64), 0
	for _, r := range s.writes(from) {
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

// judgeNote compares the rows of an entity with the last change that was acknowledged, and the one that failed after it.
func (s *wireShop) judgeNote(t *testing.T, entity int, acknowledged int64, failed error) {
	t.Helper()
	n := noteOf(entity)
	for table, key := range map[string]string{"notes": "", "notes_by_time": " AND written = ?"} {
		args := []any{n.UserID, n.NoteID}
		if key != "" {
			args = append(args, n.Written)
		}
		var at int64
		err := s.session.Query("SELECT writetime(text) FROM shop."+table+" WHERE user_id = ? AND note_id = ?"+key, args...).Consistency(gocql.All).Scan(&at)
		if err != nil && !errors.Is(err, gocql.ErrNotFound) {
			t.Fatal(err)
		}
		var e *Error
		switch {
		case at == acknowledged:
		case errors.As(failed, &e) && at == e.Timestamp && !e.NotApplied():
		default:
			t.Errorf("%s of entity %d is of %d, and %d was acknowledged, then: %v", table, entity, at, acknowledged, failed)
		}
	}
}

// slowExecutor acknowledges everything, after a while.
type slowExecutor struct{}

func (slowExecutor) Execute(context.Context, *fanout.Attempt) error {
	<-time.After(100 * time.Millisecond)
	return nil
}
