package suite

import (
	"errors"
	"testing"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/examples/users"
	"github.com/denorm-go/denorm/writer"
)

type userTests struct{ *Place }

// A life of a user: signed up, another address, gone, and back under the same id.
func (p userTests) Life(t *testing.T) {
	p.check(t, users.Users)
	u, err := users.SignUp(t.Context(), p.Writer, users.User{UserID: gocql.MustRandomUUID(), Email: "a@example.org", Name: "A"})
	must(t, err)
	id, err := users.ByEmail(t.Context(), p.Session.Reads(), u.Email)
	wrong(t, err != nil || id != u.UserID, "%v, %v", id, err)
	other := users.User{UserID: gocql.MustRandomUUID(), Email: u.Email, Name: "B"}
	_, err = users.SignUp(t.Context(), p.Writer, other)
	wrong(t, !errors.Is(err, users.ErrTaken) || !errors.Is(err, writer.ErrConflict), "an address that is taken: %v", err)
	_, err = users.SignUp(t.Context(), p.Writer, u)
	wrong(t, !errors.Is(err, writer.ErrConflict) || errors.Is(err, users.ErrTaken), "signed up again: %v", err)
	second, err := users.SignUp(t.Context(), p.Writer, users.User{UserID: gocql.MustRandomUUID(), Email: "e@example.org", Name: "E"})
	must(t, err)
	wantError(t, "changed to an address that is taken", errorOf(users.ChangeEmail(t.Context(), p.Writer, second.UserID, u.Email)), users.ErrTaken)
	moved, err := users.ChangeEmail(t.Context(), p.Writer, u.UserID, "b@example.org")
	must(t, err)
	wantError(t, "an address that was given free", errorOf(users.SignUp(t.Context(), p.Writer, other)), nil)
	found, err := users.ByID(t.Context(), p.Writer, u.UserID)
	wrong(t, err != nil || found != moved, "%+v, %v, want %+v", found, err, moved)
	_, err = p.Writer.Write(t.Context(), "rename", users.Users.Update(u, u))
	current, ok := writer.Current[users.User](err)
	wrong(t, !errors.Is(err, writer.ErrConflict) || !ok || current != moved, "an update from an old row: %v, now %+v, %t", err, current, ok)
	must(t, users.Leave(t.Context(), p.Writer, moved))
	wantError(t, "a user who has left", errorOf(users.ChangeEmail(t.Context(), p.Writer, u.UserID, "c@example.org")), writer.ErrNotFound)
	wantError(t, "the row of a user who has left", errorOf(users.ByID(t.Context(), p.Writer, u.UserID)), writer.ErrNotFound)
	wantError(t, "the address of a user who has left", errorOf(users.ByEmail(t.Context(), p.Session.Reads(), "b@example.org")), gocql.ErrNotFound)
	wantError(t, "back again", errorOf(users.SignUp(t.Context(), p.Writer, users.User{UserID: u.UserID, Email: "d@example.org", Name: "D"})), nil)
}
