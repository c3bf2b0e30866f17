package suite

import (
	"errors"
	"testing"
	"time"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/examples/users"
	"github.com/denorm-go/denorm/internal/testutil/faulty"
	"github.com/denorm-go/denorm/session"
	"github.com/denorm-go/denorm/tables"
	"github.com/denorm-go/denorm/writer"
)

// A request that is repeated with its timestamp, by another process, is the same write, also when its answer
// was lost; another one at this timestamp is a conflict.
func (p userTests) RepeatedRequests(t *testing.T) {
	var dialer faulty.Dialer
	var w [3]*writer.Writer // the third loses nothing
	for i, s := range []*session.Session{p.Faulty(t, &dialer), p.Faulty(t, &dialer), p.Session} {
		w[i] = NewWriter(t, s, writer.ClaimGrace(time.Second), writer.Timeout(20*time.Second))
	}
	u := users.User{UserID: gocql.MustRandomUUID(), Email: "repeat-a@example.org", Name: "A"}
	at := writer.At(time.Now().UnixMicro())
	dialer.LoseReplies(2)
	_, _ = users.SignUp(t.Context(), w[0].With(at), u)
	first, err := users.SignUp(t.Context(), w[1].With(at), u)
	must(t, err)
	again, err := users.SignUp(t.Context(), w[2].With(at), u)
	wrong(t, err != nil || again != first, "signed up again: %+v, %v, was %+v", again, err, first)
	other := u
	other.Name = "B"
	var failed *writer.Error
	_, err = users.SignUp(t.Context(), w[2].With(at), other)
	wrong(t, !errors.Is(err, writer.ErrConflict) || !errors.As(err, &failed) || failed.NotApplied(), "another user at this timestamp: %v", err)
	moved := first
	moved.Email = "repeat-b@example.org"
	at = writer.At(time.Now().UnixMicro())
	one, err := w[2].With(at).Write(t.Context(), "move", users.Users.Update(first, moved))
	two, err2 := w[2].With(at).Write(t.Context(), "move", users.Users.Update(first, moved))
	wrong(t, err != nil || err2 != nil || one.Version != two.Version, "moved: %v and %v, versions %v and %v", err, err2, one.Version, two.Version)
	wantError(t, "the address that was given up", errorOf(users.ByEmail(t.Context(), p.Session.Reads(), u.Email)), gocql.ErrNotFound)
	at = writer.At(time.Now().UnixMicro())
	moved.Version = two.Version
	for range 2 {
		wantError(t, "left", errorOf(w[2].With(at).Write(t.Context(), "leave", users.Users.Delete(moved))), nil)
	}
}

// nicknamed has a key behind a pointer.
type nicknamed struct {
	UserID   gocql.UUID
	Name     string
	Nickname *string
	Version  gocql.UUID
}

var nicknames = tables.Must(tables.New[nicknamed]("nicknamed",
	tables.Table{Name: "nicknamed", PartKey: []string{"user_id"}},
	tables.Table{Name: "by_nickname", PartKey: []string{"nickname"}, Unique: true},
	tables.Table{Name: "page_of_nickname", PartKey: []string{"nickname"}, SortKey: []string{"user_id"}},
	tables.Versioned("version"),
))

// A Modify that changes a key in place has to claim it, and leaves nothing under the former one.
func (p userTests) ModifyInPlace(t *testing.T) {
	signUp := func(nickname string) nicknamed {
		u := nicknamed{UserID: gocql.MustRandomUUID(), Name: nickname, Nickname: &nickname}
		Write(t, p.Writer, "signUp", nicknames.Insert(u))
		return u
	}
	_, b := signUp("a"), signUp("b")
	change := func(to string) error {
		_, err := writer.Modify(t.Context(), p.Writer, "change", nicknames, b, func(u nicknamed) (nicknamed, error) {
			*u.Nickname = to
			return u, nil
		})
		return err
	}
	wantError(t, "a nickname that another one has", change("a"), writer.ErrTaken)
	wantError(t, "write", change("c"), nil)
	read, err := writer.Load(t.Context(), p.Writer, "show", nicknames, b)
	must(t, err)
	*read.Nickname = "d"
	for name, c := range map[string]tables.Change{"update": nicknames.Update(read, read), "delete": nicknames.Delete(read)} {
		_, err := p.Writer.Write(t.Context(), name, c)
		wrong(t, writer.OutcomeOf(err) != writer.Invalid, "%s from a row changed in place: %v", name, err)
	}
	rows := p.count(t, "SELECT count(*) FROM page_of_nickname")
	wrong(t, rows != 2, "%d rows of two users", rows)
}
