package writer_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"testing"
	"time"

	"github.com/denorm-go/denorm/cassandratest"
	"github.com/denorm-go/denorm/reader"
	"github.com/denorm-go/denorm/retry"
	"github.com/denorm-go/denorm/tables"
	"github.com/denorm-go/denorm/writer"
	"github.com/gocql/gocql"
)

// ended is one call of a kind that OutcomeOf is asked about.
type ended struct {
	name string
	err  error
	want writer.Outcome
}

// endings are calls of every function of which OutcomeOf knows the errors, with every outcome they can have.
func endings(t *testing.T, s *service) []ended {
	t.Helper()
	ctx := t.Context()
	gone, cancel := context.WithCancel(ctx)
	cancel()
	when := func(call func() error, on cassandratest.Matcher, steps ...cassandratest.Step) error {
		rule := s.When(on).Do(steps...)
		defer rule.End()
		return call()
	}
	write := func(changes ...tables.Change) func() error {
		return func() error {
			_, err := s.w.Write(ctx, "write", changes...)
			return err
		}
	}
	in := func(ctx context.Context, key user, change func(user) (user, error)) func() error {
		return func() error {
			_, err := writer.Modify(ctx, s.w, "modify", users, key, change)
			return err
		}
	}
	load := func(ctx context.Context, key user) func() error {
		return func() error {
			_, err := writer.Load(ctx, s.w, "load", users, key)
			return err
		}
	}
	resume := func(err error) func() error {
		return func() error {
			_, err := s.w.Resume(ctx, failedWrite(t, err))
			return err
		}
	}
	bob := s.signUp(t, user{UserID: gocql.MustRandomUUID(), Email: "b@x", City: "rome", Name: "bob"})
	eve := s.signUp(t, user{UserID: gocql.MustRandomUUID(), Email: "e@x", City: "rome", Name: "eve"})
	old := bob
	if err := s.rename(ctx, bob, "robert"); err != nil {
		t.Fatal(err)
	}
	nobody := user{UserID: gocql.MustRandomUUID(), Email: "n@x", City: "rome"}
	seat := ticket{TicketID: gocql.MustRandomUUID(), UserID: gocql.MustRandomUUID(), Seat: "1"}
	moved := old
	moved.City = "oslo"
	same := func(u user) (user, error) { return u, nil }
	take := func(u user) (user, error) { u.Email = "e@x"; return u, nil }
	spoil := func(u user) (user, error) { u.City = ""; return u, nil }
	dark := cassandratest.Table("tickets_by_id", "tickets_by_user")
	base := cassandratest.Table("users")

	lost := when(write(tickets.Insert(seat)), dark, cassandratest.Drop)
	none := when(write(tickets.Insert(seat)), dark, unavailable)
	half := when(write(tickets.Insert(seat)), cassandratest.Table("tickets_by_user"), unavailable)
	_, expired := s.client(t, writer.WithClock(writer.NewClock(func() time.Time {
		return time.Now().Add(300 * time.Hour)
	}))).w.Resume(ctx, failedWrite(t, lost))
	_, rejected := s.w.With(writer.Timeout(-1)).Resume(ctx, failedWrite(t, lost))
	rd, err := reader.New(s.both, reader.Retry(retry.Policy{MaxAttempts: 1}))
	if err != nil {
		t.Fatal(err)
	}
	list := func(q reader.Query[ticket]) func() error {
		return func() error {
			_, _, err := reader.List(ctx, rd, "list", q)
			return err
		}
	}
	byUser := reader.From(tickets, "tickets_by_user")
	var many []tables.Change
	for range 20 {
		many = append(many, tickets.Insert(ticket{TicketID: gocql.MustRandomUUID(), UserID: seat.UserID, Seat: "2"}))
	}

	return []ended{
		{"Write", write(tickets.Insert(seat))(), writer.Applied},
		{"Write: answers lost", lost, writer.Unknown},
		{"Write: partial", half, writer.Unknown},
		{"Write: unavailable", none, writer.NotApplied},
		{
			"Write: context over", func() error { _, err := s.w.Write(gone, "write", tickets.Insert(seat)); return err }(),
			writer.NotApplied,
		},
		{"Write: invalid row", write(tickets.Insert(ticket{}))(), writer.Invalid},
		{"Write: over the limit of a batch", func() error {
			_, err := s.w.With(writer.Logged(), writer.BatchLimit(1<<10)).Write(ctx, "write", many...)
			return err
		}(), writer.NotApplied},
		{
			"Write: invalid option", func() error { _, err := s.w.With(writer.Timeout(-1)).Write(ctx, "write"); return err }(),
			writer.Invalid,
		},
		{"Write: exists", write(users.Insert(bob))(), writer.Conflict},
		{"Write: overtaken", write(users.Update(old, moved))(), writer.Conflict},
		{"Write: exists, an earlier try at this timestamp is possible", func() error {
			_, err := s.w.With(writer.At(time.Now().UnixMicro())).Write(ctx, "write", users.Insert(bob))
			return err
		}(), writer.Unknown},
		{
			"Write: key of another", write(users.Insert(user{UserID: nobody.UserID, Email: "e@x", City: "rome"}))(),
			writer.Taken,
		},
		{"Write: condition, answers lost", when(write(users.Insert(nobody)), base, cassandratest.Drop), writer.Unknown},

		{"Modify", in(ctx, eve, same)(), writer.Applied},
		{"Modify: answers lost", when(in(ctx, eve, same), cassandratest.Text("UPDATE"), cassandratest.Drop), writer.Unknown},
		{"Modify: no row", in(ctx, user{UserID: gocql.MustRandomUUID()}, same)(), writer.NotFound},
		{"Modify: read fails", when(in(ctx, eve, same), base, unavailable), writer.NotApplied},
		{"Modify: context over", in(gone, eve, same)(), writer.NotApplied},
		{"Modify: key of another", in(ctx, bob, take)(), writer.Taken},
		{"Modify: invalid row", in(ctx, eve, spoil)(), writer.Invalid},

		{"Load", load(ctx, eve)(), writer.Applied},
		{"Load: no row", load(ctx, user{UserID: gocql.MustRandomUUID()})(), writer.NotFound},
		{"Load: unavailable", when(load(ctx, eve), base, unavailable), writer.NotApplied},
		{"Load: answers lost", when(load(ctx, eve), base, cassandratest.Drop), writer.NotApplied},
		{"Load: context over", load(gone, eve)(), writer.NotApplied},
		{"Load: invalid key", load(ctx, user{})(), writer.Invalid},

		{"Resume", resume(half)(), writer.Applied},
		{"Resume: unavailable", when(resume(none), dark, unavailable), writer.Unknown},
		{"Resume: conflict", resume(write(users.Update(old, moved))())(), writer.Unknown},
		{"Resume: nothing to send", resume(write(tickets.Insert(ticket{}))())(), writer.Invalid},
		{"Resume: too old", expired, writer.Unknown},
		{"Resume: invalid option", rejected, writer.Unknown},

		{"reader", list(byUser.Eq("user_id", seat.UserID))(), writer.Applied},
		{"reader: unavailable", when(list(byUser.Eq("user_id", seat.UserID)), dark, unavailable), writer.NotApplied},
		{"reader: answers lost", when(list(byUser.Eq("user_id", seat.UserID)), dark, cassandratest.Drop), writer.NotApplied},
		{"reader: invalid query", list(byUser.Eq("seat", "1"))(), writer.Invalid},
	}
}

// Every error has one outcome, wrapped too, and what may have happened is never reported as not happened.
func TestOutcomeOf(t *testing.T) {
	t.Parallel()
	cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
		all := endings(t, start(t, c))
		for _, e := range all {
			if got := writer.OutcomeOf(e.err); got != e.want {
				t.Errorf("%s: %v, want %v: %v", e.name, got, e.want, e.err)
			}
			if e.err == nil {
				continue
			}
			own := errors.New("of the service")
			for name, err := range map[string]error{
				"wrapped":         fmt.Errorf("sign up: %w", e.err),
				"with another":    fmt.Errorf("%w: %w", own, e.err),
				"joined with own": errors.Join(own, nil, fmt.Errorf("sign up: %w", e.err)),
				"twice":           errors.Join(e.err, e.err),
			} {
				if got := writer.OutcomeOf(err); got != e.want {
					t.Errorf("%s, %s: %v, want %v", e.name, name, got, e.want)
				}
			}
			for _, other := range all {
				if other.err == nil {
					continue
				}
				want := e.want
				switch {
				case e.want == writer.Unknown || other.want == writer.Unknown:
					want = writer.Unknown
				case e.want != other.want:
					want = writer.NotApplied
				}
				if got := writer.OutcomeOf(errors.Join(e.err, other.err)); got != want {
					t.Errorf("%s joined with %s: %v, want %v", e.name, other.name, got, want)
				}
			}
			if failed := new(writer.Error); errors.As(e.err, &failed) {
				if _, err := failed.MarshalBinary(); err != nil {
					continue
				}
				// Another consumer may have resumed it meanwhile.
				if got := writer.OutcomeOf(delivered(t, failed)); got != writer.Unknown {
					t.Errorf("%s, stored: %v", e.name, got)
				}
			}
		}
	})
}

// A service's own error, whose method looks like one of the library, hides nothing.
type serviceError struct{ error }

func (serviceError) Outcome() writer.Outcome { return writer.NotApplied }

func (e serviceError) Unwrap() error { return e.error }

func TestOutcomeOfAnErrorWithAnOutcomeOfItsOwn(t *testing.T) {
	t.Parallel()
	if got := writer.OutcomeOf(serviceError{writer.ErrUnknown}); got != writer.Unknown {
		t.Errorf("%v, want %v", got, writer.Unknown)
	}
}

// What is not the library's is not known, and its sentinels stand for themselves, as in a fake.
func TestOutcomeOfOtherErrors(t *testing.T) {
	t.Parallel()
	for err, want := range map[error]writer.Outcome{
		io.EOF: writer.Unknown, context.Canceled: writer.Unknown, gocql.ErrNotFound: writer.Unknown,
		retry.ErrBudget:   writer.Unknown,
		new(writer.Error): writer.Unknown,
		writer.ErrUnknown: writer.Unknown, writer.ErrPartial: writer.Unknown, writer.ErrExpired: writer.Unknown,
		writer.ErrInvalid: writer.Invalid, reader.ErrInvalid: writer.Invalid, writer.ErrConflict: writer.Conflict,
		writer.ErrTaken: writer.Taken, writer.ErrNotFound: writer.NotFound, writer.ErrTooLarge: writer.NotApplied,
	} {
		if got := writer.OutcomeOf(err); got != want {
			t.Errorf("%v: %v, want %v", err, got, want)
		}
		if got := writer.OutcomeOf(fmt.Errorf("write: %w", err)); got != want {
			t.Errorf("%v, wrapped: %v, want %v", err, got, want)
		}
	}
	for o := writer.Unknown; o <= writer.NotFound; o++ {
		if text := o.String(); text == fmt.Sprintf("Outcome(%d)", o) {
			t.Errorf("%s has no name", text)
		}
	}
}
