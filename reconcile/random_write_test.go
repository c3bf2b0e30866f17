package reconcile_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/cassandratest"
	"github.com/denorm-go/denorm/internal/statement"
	"github.com/denorm-go/denorm/retry"
	"github.com/denorm-go/denorm/tables"
	"github.com/denorm-go/denorm/writer"
)

// logged is a write that was attempted.
type logged struct {
	tables.Change

	row   item // as it is after the write, of a delete before
	edits []string
	at    int64
	acked bool
}

func isRead(r cassandratest.Request) bool {
	return len(r.Statements) > 0 && strings.HasPrefix(r.Statements[0].Text, "SELECT")
}

func (x *random) readFault() []cassandratest.Step {
	network := cassandratest.Delay(time.Duration(100+x.number(900)) * 10 * time.Microsecond)
	switch x.number(300) {
	case 0:
		return []cassandratest.Step{network, cassandratest.Drop}
	case 1:
		return []cassandratest.Step{network, cassandratest.Fail(cassandratest.ReadTimeout(1, 2))}
	case 2:
		return []cassandratest.Step{network, cassandratest.Fail(cassandratest.Overloaded)}
	}
	return []cassandratest.Step{network}
}

// fault is what becomes of a write.
func (x *random) fault(r cassandratest.Request) []cassandratest.Step {
	network := cassandratest.Delay(time.Duration(100+x.number(900)) * 10 * time.Microsecond)
	if x.number(6) > 0 {
		return []cassandratest.Step{network}
	}
	kind := "SIMPLE"
	if r.Kind == cassandratest.Batch {
		kind = "UNLOGGED_BATCH"
		if r.Logged {
			kind = "BATCH"
		}
	}
	late := cassandratest.Delay(time.Duration(1+x.number(8000)) * time.Millisecond)
	timeout := cassandratest.Fail(cassandratest.WriteTimeout(kind, 1, 2))
	one := cassandratest.ApplyAt(1 + x.number(randomNodes))
	scripts := [][]cassandratest.Step{
		{cassandratest.Drop},
		{cassandratest.Apply, cassandratest.Drop},
		{cassandratest.Drop, late, cassandratest.Apply},
		{cassandratest.Apply, late},
		{late},
		{cassandratest.Cut},
		{cassandratest.Apply, cassandratest.Cut},
		{cassandratest.Cut, late, cassandratest.Apply},
		{timeout},
		{cassandratest.Apply, timeout},
		{one, timeout},
		{one, cassandratest.Cut},
		{one, cassandratest.Drop},
		{cassandratest.StoreBatch, cassandratest.Cut},
		{cassandratest.StoreBatch, cassandratest.Drop},
		{cassandratest.Fail(cassandratest.Overloaded)},
		{cassandratest.Fail(cassandratest.Code(gocql.ErrCodeBootstrapping))},
		{cassandratest.Fail(cassandratest.Code(gocql.ErrCodeServer))},
		{cassandratest.Fail(cassandratest.Unavailable(gocql.LocalQuorum, 2, 1))},
		{cassandratest.Fail(cassandratest.Unprepared)},
	}
	return append([]cassandratest.Step{network}, scripts[x.number(len(scripts))]...)
}

// storm makes one or two nodes ill, now and then, and restarts them.
func (x *random) storm(over <-chan struct{}) {
	for {
		for _, ill := range []bool{true, false} {
			n := x.Node(1 + x.number(randomNodes))
			if ill {
				[]func(){n.Silence, n.Freeze, n.Stop, n.Vanish, n.Cut, n.Forget}[x.number(6)]()
			}
			select {
			case <-over:
				return
			case <-time.After(time.Duration(1+x.number(15_000)) * time.Millisecond):
			}
			if !ill {
				for i := range randomNodes {
					x.Node(i + 1).Restore()
				}
			}
		}
	}
}

func (x *random) id() (u gocql.UUID) {
	for i := range u {
		u[i] = byte(x.rand.Uint32())
	}
	return u
}

// clock gives a timestamp of which there is one only, by a clock that is wrong by up to half a second, above that of a
// row.
func (x *random) clock(above int64) int64 {
	x.mu.Lock()
	defer x.mu.Unlock()
	at := max(time.Now().UnixMicro()+x.rand.Int64N(1_000_000)-500_000, above+1+x.rand.Int64N(100))
	at = at/1000*1000 + x.last%1000
	for x.last++; at <= above || x.last%1000 == 0; {
		at++
		if x.last%1000 == 0 {
			x.last++
		}
	}
	return at
}

// value is one that no other write has.
func (x *random) value() *int64 {
	v := int64(len(x.log))<<8 | x.rand.Int64N(256)
	return &v
}

// maybe is a value, or now and then none.
func (x *random) maybe() *int64 {
	if x.rand.IntN(6) == 0 {
		return nil
	}
	return x.value()
}

// created is the write of a new item.
func (x *random) created() *logged {
	x.mu.Lock()
	defer x.mu.Unlock()
	o := item{ID: x.id(), Owner: x.id(), Status: statuses[x.rand.IntN(len(statuses))], A: x.value(), B: x.maybe()}
	l := &logged{Change: x.insert(o), row: o}
	x.log = append(x.log, l)
	x.items = append(x.items, &l.row)
	return l
}

// changed is a write of an item, or of the one that is given, which for a set of a single writer must not be busy; it
// then is.
func (x *random) changed(of *item) *logged {
	x.mu.Lock()
	defer x.mu.Unlock()
	n := x.rand.IntN(len(x.items))
	if of != nil {
		n = slices.IndexFunc(x.items, func(i *item) bool { return i.ID == of.ID })
	}
	before := *x.items[n]
	if x.busy[before.ID] {
		return nil
	}
	x.busy[before.ID] = x.single
	after := before
	l := &logged{row: before}
	switch k := x.rand.IntN(10); {
	case x.versioned && before.Version == (gocql.UUID{}): // it is not known to be there
		after.A, after.B = x.value(), x.maybe()
		l.row, l.Change = after, x.insert(after)
	case k == 0:
		l.Change = x.remove(before)
	case x.patches && k < 8:
		l.edits = [][]string{{"a"}, {"b"}, {"a", "b"}}[x.rand.IntN(3)]
		after.A, after.B = x.value(), x.maybe()
		edits := make([]tables.Edit, len(l.edits))
		for i, name := range l.edits {
			edits[i] = tables.Column(name)
		}
		if len(edits) == 1 && !x.stamp {
			after.B = x.value() // else a row without any value, of which nothing says when it was written
		}
		l.row, l.Change = after, x.set.Patch(after, edits...)
	default:
		after.A, after.B = x.value(), x.maybe()
		if x.moves {
			after.Status = statuses[x.rand.IntN(len(statuses))]
		}
		l.row, l.Change = after, x.update(before, after)
	}
	x.log = append(x.log, l)
	if !x.versioned && (x.rand.IntN(4) > 0 || x.single) { // else others go on from what was before
		x.items[n] = &l.row
	}
	return l
}

// change makes a random write.
func (x *random) change() {
	if x.number(16) == 0 {
		x.clash()
		return
	}
	if x.number(8) == 0 {
		x.write(x.created(), x.number(4))
		return
	}
	if l := x.changed(nil); l != nil {
		x.write(l, x.number(4))
		x.mu.Lock()
		defer x.mu.Unlock()
		delete(x.busy, l.row.ID)
	}
}

// write makes a write. What fails is given up, resumed at once, or stored and resumed late.
func (x *random) write(l *logged, fate int) {
	x.mu.Lock()
	above := l.row.UpdatedAt
	x.mu.Unlock()
	at := x.clock(above)
	x.mu.Lock()
	l.at = at
	l.row.UpdatedAt = at
	x.mu.Unlock()
	mode := []writer.Option{writer.Auto(), writer.Logged(), writer.Concurrent()}[x.number(3)]
	w := x.w.With(mode)
	if !x.versioned {
		w = w.With(writer.At(at))
	}
	switch x.number(5) {
	case 0:
		w = w.With(writer.Retry(retry.Policy{MaxAttempts: 1}))
	case 1:
		w = w.With(writer.Timeout(300 * time.Millisecond))
	}
	ctx, cancel := context.WithCancel(x.t.Context())
	defer cancel()
	if x.gives && x.number(20) == 0 { // the writer dies
		time.AfterFunc(time.Duration(1+x.number(int(12*time.Millisecond))), cancel)
		fate = 0
	}
	res, err := w.Write(ctx, "write", l.Change)
	failed := x.told(l, res, err)
	switch {
	case failed == nil || fate == 0 && x.gives:
	case fate <= 2 || x.single:
		x.resume(l, failed)
	default:
		stored, err := failed.MarshalBinary()
		if err != nil {
			x.t.Error(err)
			return
		}
		x.late.Go(func() {
			x.wait(x.mood.late)
			again := failed
			if !x.versioned || x.gives { // a stored change of a Versioned set may wait for the next write of its entity, which may never come
				again = new(writer.Error)
				if err := again.UnmarshalBinary(stored); err != nil {
					x.t.Error(err)
					return
				}
			}
			x.resume(l, again)
		})
	}
}

// told notes what a write or its Resume has ended with.
func (x *random) told(l *logged, res writer.Result, err error) *writer.Error {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.versioned && x.toldVersion(l, res, err) {
		return nil
	}
	if err == nil {
		l.acked = true
		x.tally.mu.Lock()
		x.tally.acked++
		x.tally.mu.Unlock()
		return nil
	}
	var failed *writer.Error
	if !errors.As(err, &failed) || errors.Is(err, writer.ErrInvalid) {
		x.t.Errorf("%v: %v", l.Change, err)
		return nil
	}
	return failed
}

func (x *random) resume(l *logged, failed *writer.Error) {
	for range 100 {
		if failed == nil {
			return
		}
		res, err := x.w.Resume(x.t.Context(), failed)
		failed = x.told(l, res, err)
	}
	if failed != nil && !x.gives {
		x.t.Errorf("%v: resumed 100 times: %v", l.Change, failed)
	}
}

// plant sends a part of a write.
func (x *random) plant() {
	l := x.next(nil)
	if l == nil {
		return
	}
	for _, m := range x.rendered(l) {
		if x.number(2) == 0 {
			x.send(m)
		}
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	delete(x.busy, l.row.ID)
}

// next is a write of a new item or of one that is there, nil if that is busy. Of an item that is given, it is a write
// of that one.
func (x *random) next(of *item) *logged {
	if of == nil && x.number(2) == 0 {
		return x.created()
	}
	return x.changed(of)
}

// rendered are the mutations of a write, which gets its timestamp.
func (x *random) rendered(l *logged) []statement.Mutation {
	x.mu.Lock()
	above := l.row.UpdatedAt
	x.mu.Unlock()
	at := x.clock(above)
	x.mu.Lock()
	l.at, l.row.UpdatedAt = at, at
	x.mu.Unlock()
	r, err := l.Change.Internal().Render(at, func(string) string { return "shop" })
	if err != nil {
		x.t.Error(err)
	}
	return r.Mutations
}

// send sends a mutation until it is acknowledged.
func (x *random) send(m statement.Mutation) {
	for {
		text, args := m.At(time.Now())
		if x.s.Writes().Query(text, args...).DefaultTimestamp(false).Exec() == nil {
			return
		}
		x.wait(time.Second)
	}
}
