package writer_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/denorm-go/denorm/cassandratest"
	"github.com/denorm-go/denorm/retry"
	"github.com/denorm-go/denorm/schema"
	"github.com/denorm-go/denorm/tables"
	"github.com/denorm-go/denorm/writer"
	"github.com/gocql/gocql"
)

// night is one night of a room, which one guest can have.
type night struct {
	Room  string
	Night int32
	Guest string
	Mark  gocql.UUID
}

// The same table, with and without a Mark.
var (
	nightTable = tables.Table{Name: "nights", PartKey: []string{"room"}, SortKey: []string{"night"}}
	nights     = tables.Must(tables.New[night]("night", nightTable, tables.Compare("guest"), tables.Mark("mark")))
	plain      = tables.Must(tables.New[night]("night", nightTable, tables.Compare("guest")))
)

// hotel is a service with two free nights of one room.
type hotel struct {
	*service
	free [2]night
}

func openHotel(t *testing.T, c *cassandratest.Cluster) *hotel {
	t.Helper()
	c.Create(schema.Must(schema.Declare(schema.Sets(nights))).In(map[string]string{"": "shop"}).Statements()...)
	h := &hotel{service: start(t, c), free: [2]night{{Room: "1", Night: 1}, {Room: "1", Night: 2}}}
	if _, err := h.w.Write(t.Context(), "open", nights.Insert(h.free[0]), nights.Insert(h.free[1])); err != nil {
		t.Fatal(err)
	}
	return h
}

// book gives both nights to a guest, if both are as they were read.
func book(set *tables.Set[night], guest string, read ...night) []tables.Change {
	var out []tables.Change
	for _, n := range read {
		booked := n
		booked.Guest = guest
		out = append(out, set.Update(n, booked))
	}
	return out
}

// guests are who has the nights of the room, in order.
func (h *hotel) guests(t *testing.T) string {
	t.Helper()
	var out []string
	iter := h.reads.Query(`SELECT night, guest FROM nights WHERE room = '1'`).Consistency(gocql.Consistency(gocql.Serial)).
		Iter()
	var n int
	var guest string
	for iter.Scan(&n, &guest) {
		out = append(out, fmt.Sprintf("%d%s", n, guest))
	}
	if err := iter.Close(); err != nil {
		t.Fatal(err)
	}
	return strings.Join(out, " ")
}

// Two rows of one partition change together, in one transaction, or not at all.
func TestConditionsOfOnePartition(t *testing.T) {
	t.Parallel()
	cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
		h := openHotel(t, c)
		before := len(c.Journal(cassandratest.Execute, cassandratest.Table("nights")))
		res, err := h.w.Write(t.Context(), "book", book(nights, "ann", h.free[:]...)...)
		if err != nil || res.Mode != writer.Conditional || res.Attempts != 1 ||
			len(c.Journal(cassandratest.Execute, cassandratest.Table("nights"))) != before+1 || h.guests(t) != "1ann 2ann" {
			t.Fatalf("%+v, %v: %s", res, err, h.guests(t))
		}
		ann := [2]night{{"1", 1, "ann", gocql.UUID{}}, {"1", 2, "ann", gocql.UUID{}}}
		if _, err := h.w.Write(t.Context(), "free", book(nights, "", ann[1])...); err != nil {
			t.Fatal(err)
		}
		// Of every kind of change, one condition that does not hold keeps the other row as it is.
		for name, changes := range map[string][]tables.Change{
			"two updates":        book(nights, "bob", h.free[:]...),
			"in the other order": book(nights, "bob", h.free[1], h.free[0]),
			"update and insert": append(book(nights, "bob", h.free[1]),
				nights.Insert(night{Room: "1", Night: 1, Guest: "bob"})),
			"update and delete":     append(book(nights, "bob", h.free[1]), nights.Delete(h.free[0])),
			"insert and delete":     {nights.Insert(night{Room: "1", Night: 3}), nights.Delete(h.free[0])},
			"insert and insert":     {nights.Insert(night{Room: "1", Night: 3}), nights.Insert(h.free[0])},
			"one that is not there": append(book(nights, "bob", h.free[1]), nights.Delete(night{Room: "1", Night: 9})),
		} {
			_, err := h.w.Write(t.Context(), "change", changes...)
			now, ok := writer.Current[night](err)
			there := name != "one that is not there"
			if writer.OutcomeOf(err) != writer.Conflict || ok != there || there && (now.Night != 1 || now.Guest != "ann") {
				t.Errorf("%s: %v, and the row is %+v, %t", name, err, now, ok)
			}
			if failed := failedWrite(t, err); failed.Resumable() || len(failed.Tables) != 1 ||
				!strings.Contains(err.Error(), " of the 2 with conditions: ") {
				t.Errorf("%s: %v", name, err)
			}
			if got := h.guests(t); got != "1ann 2" {
				t.Fatalf("%s: it was applied in part: %s", name, got)
			}
		}
		// And with conditions that hold, all kinds are applied together.
		changes := append(book(nights, "bob", h.free[1]), nights.Insert(night{Room: "1", Night: 3, Guest: "bob"}),
			nights.Delete(ann[0]))
		if _, err := h.w.Write(t.Context(), "change", changes...); err != nil || h.guests(t) != "2bob 3bob" {
			t.Errorf("%v: %s", err, h.guests(t))
		}
	})
}

// After a lost answer the marks of the rows tell whether they were changed, to the next attempt and to Resume, also
// when another write has changed one of them since.
func TestLostAnswerOfConditions(t *testing.T) {
	t.Parallel()
	applied := []cassandratest.Step{cassandratest.Apply, cassandratest.Drop}
	for name, test := range map[string]struct {
		set    *tables.Set[night]
		step   []cassandratest.Step // of the first attempt
		later  int                  // the night that another write changes before the second
		want   writer.Outcome
		guests string
	}{
		"applied":     {nights, applied, 0, writer.Applied, "1ann 2ann"},
		"not applied": {nights, []cassandratest.Step{cassandratest.Drop}, 0, writer.Applied, "1ann 2ann"},
		"accepted by one node": {
			nights,
			[]cassandratest.Step{cassandratest.Propose},
			0, writer.Applied,
			"1ann 2ann",
		},
		"applied, first changed since":    {nights, applied, 1, writer.Applied, "1eve 2ann"},
		"applied, second changed since":   {nights, applied, 2, writer.Applied, "1ann 2eve"},
		"not applied, and one is taken":   {nights, []cassandratest.Step{cassandratest.Drop}, 2, writer.Unknown, "1 2eve"},
		"applied, without a mark":         {plain, applied, 0, writer.Unknown, "1ann 2ann"},
		"not applied, without a mark":     {plain, []cassandratest.Step{cassandratest.Drop}, 0, writer.Applied, "1ann 2ann"},
		"taken by others, without a mark": {plain, []cassandratest.Step{cassandratest.Drop}, 1, writer.Unknown, "1eve 2"},
	} {
		for how, again := range map[string]func(*writer.Error) *writer.Error{
			"the next attempt": nil,
			"resumed":          func(e *writer.Error) *writer.Error { return e },
			"stored":           func(e *writer.Error) *writer.Error { return delivered(t, e) },
		} {
			if again == nil && test.later > 0 {
				continue
			}
			t.Run(name+", "+how, func(t *testing.T) {
				t.Parallel()
				cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
					h := openHotel(t, c)
					other := h.client(t)
					w := h.w
					if again != nil {
						w = w.With(writer.Retry(retry.Policy{MaxAttempts: 1}))
					}
					lost := c.When(cassandratest.Execute, cassandratest.Table("nights"), cassandratest.Nth(1)).Do(test.step...)
					_, err := w.Write(t.Context(), "book", book(test.set, "ann", h.free[:]...)...)
					if again != nil {
						lost.End()
						failed := failedWrite(t, err)
						if got := writer.OutcomeOf(err); got != writer.Unknown || !failed.Resumable() {
							t.Fatalf("%v: %v", got, err)
						}
						if test.later > 0 {
							other.overtake(t, h.free[test.later-1])
						}
						_, err = h.w.Resume(t.Context(), again(failed))
					}
					if got := writer.OutcomeOf(err); got != test.want || h.guests(t) != test.guests {
						t.Errorf("%v, %s: %v", got, h.guests(t), err)
					}
				})
			})
		}
	}
}

// overtake gives a night to eve, as it is now.
func (s *service) overtake(t *testing.T, n night) {
	t.Helper()
	now, err := writer.Load(t.Context(), s.w, "load", nights, n)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.w.Write(t.Context(), "book", book(nights, "eve", now)...); err != nil {
		t.Fatal(err)
	}
}

// A request that is repeated with At knows what its first try has done, in whatever order its changes come; another
// request at that timestamp does not pass for it, be it a part of it or more than it.
func TestRepeatOfConditions(t *testing.T) {
	t.Parallel()
	third := night{Room: "1", Night: 3}
	for name, test := range map[string]struct {
		repeat func(free [2]night) []tables.Change
		want   writer.Outcome
	}{
		"the same": {
			func(free [2]night) []tables.Change { return book(nights, "ann", free[:]...) },
			writer.Applied,
		},
		"in another order": {
			func(free [2]night) []tables.Change { return book(nights, "ann", free[1], free[0]) },
			writer.Applied,
		},
		"for somebody else": {
			func(free [2]night) []tables.Change { return book(nights, "bob", free[:]...) },
			writer.Unknown,
		},
		"a part of it": {func(free [2]night) []tables.Change { return book(nights, "ann", free[0]) }, writer.Unknown},
		"more than it": {
			func(free [2]night) []tables.Change { return book(nights, "ann", free[0], free[1], third) },
			writer.Unknown,
		},
		"other nights of it": {
			func(free [2]night) []tables.Change { return book(nights, "ann", free[1], third) },
			writer.Unknown,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
				h := openHotel(t, c)
				if _, err := h.w.Write(t.Context(), "open", nights.Insert(third)); err != nil {
					t.Fatal(err)
				}
				at := writer.At(time.Now().UnixMicro())
				if _, err := h.w.With(at).Write(t.Context(), "book", book(nights, "ann", h.free[:]...)...); err != nil {
					t.Fatal(err)
				}
				_, err := h.client(t).w.With(at).Write(t.Context(), "book", test.repeat(h.free)...)
				if got := writer.OutcomeOf(err); got != test.want || h.guests(t) != "1ann 2ann 3" {
					t.Errorf("%v, %s: %v", got, h.guests(t), err)
				}
			})
		})
	}
}

// Other entities are written when the conditions of all rows hold, and not otherwise.
func TestConditionsBesideOthers(t *testing.T) {
	t.Parallel()
	cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
		h := openHotel(t, c)
		sold := func(guest string) []tables.Change {
			return append(book(nights, guest, h.free[:]...),
				tickets.Insert(ticket{gocql.MustRandomUUID(), gocql.MustRandomUUID(), guest}))
		}
		if _, err := h.w.Write(t.Context(), "sell", sold("ann")...); err != nil ||
			h.count(t, `SELECT count(*) FROM tickets_by_id`) != 1 {
			t.Errorf("%v", err)
		}
		_, err := h.w.Write(t.Context(), "sell", sold("bob")...)
		if writer.OutcomeOf(err) != writer.Conflict || h.count(t, `SELECT count(*) FROM tickets_by_id`) != 1 ||
			h.guests(t) != "1ann 2ann" {
			t.Errorf("%v: %s", err, h.guests(t))
		}
	})
}

// What one transaction cannot hold is rejected, with the reason.
func TestConditionsApart(t *testing.T) {
	t.Parallel()
	cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
		h := openHotel(t, c)
		one := user{UserID: gocql.MustRandomUUID(), Email: "a@x", City: "rome"}
		two := user{UserID: gocql.MustRandomUUID(), Email: "b@x", City: "rome"}
		for why, changes := range map[string][]tables.Change{
			"is of one partition": {
				nights.Insert(night{Room: "1", Night: 3}),
				nights.Insert(night{Room: "2", Night: 3}),
			},
			"is of one table":               {nights.Insert(night{Room: "1", Night: 3}), users.Insert(one)},
			"has a transaction of its own":  {users.Insert(one), users.Insert(two)},
			"night: changed twice in one w": book(nights, "bob", h.free[0], h.free[0]),
		} {
			_, err := h.w.Write(t.Context(), "change", changes...)
			if !errors.Is(err, writer.ErrInvalid) || !strings.Contains(err.Error(), why) {
				t.Errorf("%s: %v", why, err)
			}
		}
	})
}

// A set with Compare has no version that tells an old change from a new one, so its errors are too old when those of
// other sets are: within half of the table's gc_grace_seconds a reservation may be made, given up and made again.
func TestOldErrorOfCompareIsRefused(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, c *cassandratest.Cluster, again func(*writer.Error) *writer.Error) {
		t.Helper()
		s := start(t, c)
		free := slot{SlotID: "a"}
		_, err := s.w.Write(t.Context(), "open", slots.Insert(free))
		read, unread := writer.Load(t.Context(), s.w, "show", slots, free)
		if err != nil || unread != nil {
			t.Fatal(err, unread)
		}
		mine := read
		mine.Holder = "alice"
		away := c.When(cassandratest.Table("slots")).Do(unavailable)
		_, err = s.w.Write(t.Context(), "take", slots.Update(read, mine))
		failed := failedWrite(t, err)
		away.End()
		after := func(d time.Duration) error {
			late := s.client(t, writer.WithClock(writer.NewClock(func() time.Time { return time.Now().Add(d) })))
			_, err := late.w.Resume(t.Context(), again(failed))
			return err
		}
		if err := after(6 * 24 * time.Hour); !errors.Is(err, writer.ErrExpired) || failedWrite(t, err).NotApplied() {
			t.Errorf("after six days: %v", err)
		}
		if err := after(4 * 24 * time.Hour); err != nil {
			t.Errorf("after four days: %v", err)
		}
	})
}

// What a Mark does not tell: the repeat of a delete, whose row is gone, is not known to be one, and the repeat of an
// insert whose row was deleted is an insert.
func TestRepeatsThatAMarkDoesNotTell(t *testing.T) {
	t.Parallel()
	set := countedSet(tables.Compare("left", "mark"), tables.Mark("mark"))
	cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
		create(c, set)
		w, _ := open(t, c)
		n := counted{CountedID: gocql.MustRandomUUID(), Left: 5}
		build := w.With(writer.At(time.Now().UnixMicro()))
		_, built := build.Write(t.Context(), "build", set.Insert(n))
		time.Sleep(time.Second)
		now, unread := writer.Load(t.Context(), w, "show", set, n)
		raze := w.With(writer.At(time.Now().UnixMicro()))
		_, razed := raze.Write(t.Context(), "raze", set.Delete(now))
		if err := errors.Join(built, unread, razed); err != nil {
			t.Fatal(err)
		}
		_, err := raze.Write(t.Context(), "raze", set.Delete(now))
		if _, current := writer.Current[counted](err); !errors.Is(err, writer.ErrConflict) ||
			!errors.Is(err, writer.ErrUnknown) || current {
			t.Errorf("the repeat of the delete: %v", err)
		}
		_, err = build.Write(t.Context(), "build", set.Insert(n))
		if _, unread := writer.Load(t.Context(), w, "show", set, n); err != nil || unread != nil {
			t.Errorf("the repeat of the insert: %v, %v", err, unread)
		}
	})
}

// A compared column that was added to a table with rows is null in these. It is read as zero, and no change from that
// can hold: it is Invalid at once, and not a Conflict, which Modify would try again until its time is over. Where the
// field is a pointer the change is made, and a before-image that differs stays a Conflict.
func TestNullInAComparedColumn(t *testing.T) {
	t.Parallel()
	type code struct {
		Code          string
		Uses, Changes int32
	}
	type loose struct {
		Code    string
		Uses    int32
		Changes *int32
	}
	table := tables.Table{Name: "codes", PartKey: []string{"code"}}
	strict := tables.Must(tables.New[code]("code", table, tables.Compare("uses", "changes")))
	pointed := tables.Must(tables.New[loose]("code", table, tables.Compare("uses", "changes")))
	cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
		c.Create(schema.Must(schema.Declare(schema.Sets(strict))).In(map[string]string{"": "shop"}).Statements()...)
		s := start(t, c)
		for _, key := range []string{"a", "b", "c"} {
			if err := s.reads.Query(`INSERT INTO codes (code, uses) VALUES (?, 3)`, key).Exec(); err != nil {
				t.Fatal(err)
			}
		}
		wants := func(what string, err error, want writer.Outcome) {
			t.Helper()
			if got := writer.OutcomeOf(err); got != want || want == writer.Invalid && (failedWrite(t, err).Resumable() ||
				!errors.Is(err, writer.ErrInvalid) || errors.Is(err, writer.ErrConflict) ||
				!strings.Contains(err.Error(), "column changes is null and compared")) {
				t.Errorf("%s: %v, want %v: %v", what, got, want, err)
			}
		}
		rounds := 0
		_, err := writer.Modify(t.Context(), s.w, "redeem", strict, code{Code: "a"}, func(x code) (code, error) {
			rounds++
			x.Uses, x.Changes = x.Uses-1, x.Changes+1
			return x, nil
		})
		if wants("Modify", err, writer.Invalid); rounds != 1 {
			t.Errorf("%d rounds", rounds)
		}
		read := code{Code: "a", Uses: 3}
		_, err = s.w.Write(t.Context(), "set", strict.Update(read, code{Code: "a", Uses: 2, Changes: 1}))
		wants("Update", err, writer.Invalid)
		_, err = s.w.Write(t.Context(), "end", strict.Delete(read))
		wants("Delete", err, writer.Invalid)
		_, err = s.w.Write(t.Context(), "set", strict.Update(code{Code: "a", Uses: 3, Changes: 7}, read))
		wants("Update of another row", err, writer.Conflict)
		_, err = s.w.Write(t.Context(), "end", strict.Delete(code{Code: "z"}))
		wants("Delete of no row", err, writer.Conflict)
		lost := c.When(cassandratest.Execute, cassandratest.Table("codes"), cassandratest.Nth(1)).Do(cassandratest.Drop)
		_, err = s.w.Write(t.Context(), "set", strict.Update(read, code{Code: "a", Uses: 2, Changes: 1}))
		wants("Update whose first answer is lost", err, writer.Unknown)
		lost.End()
		_, err = writer.Modify(t.Context(), s.w, "redeem", pointed, loose{Code: "b"}, func(x loose) (loose, error) {
			x.Uses, x.Changes = x.Uses-1, new(int32)
			return x, nil
		})
		wants("Modify by a pointer", err, writer.Applied)
	})
}
