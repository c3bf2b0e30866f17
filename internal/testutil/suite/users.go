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
	if err != nil {
		t.Fatal(err)
	}
	if id, err := users.ByEmail(t.Context(), p.Session.Reads(), u.Email); err != nil || id != u.UserID {
		t.Errorf("%v, %v", id, err)
	}
	other := users.User{UserID: gocql.MustRandomUUID(), Email: u.Email, Name: "B"}
	if _, err := users.SignUp(t.Context(), p.Writer, other); !errors.Is(err, users.ErrTaken) || !errors.Is(err, writer.ErrConflict) {
		t.Errorf("an address that is taken: %v", err)
	}
	if _, err := users.SignUp(t.Context(), p.Writer, u); !errors.Is(err, writer.ErrConflict) || errors.Is(err, users.ErrTaken) {
		t.Errorf("signed up again: %v", err)
	}
	second, err := users.SignUp(t.Context(), p.Writer, users.User{UserID: gocql.MustRandomUUID(), Email: "e@example.org", Name: "E"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := users.ChangeEmail(t.Context(), p.Writer, second.UserID, u.Email); !errors.Is(err, users.ErrTaken) {
		t.Errorf("changed to an address that is taken: %v", err)
	}
	moved, err := users.ChangeEmail(t.Context(), p.Writer, u.UserID, "b@example.org")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := users.SignUp(t.Context(), p.Writer, other); err != nil {
		t.Errorf("an address that was given free: %v", err)
	}
	if found, err := users.ByID(t.Context(), p.Writer, u.UserID); err != nil || found != moved {
		t.Errorf("%+v, %v, want %+v", found, err, moved)
	}
	_, err = p.Writer.Write(t.Context(), "rename", users.Users.Update(u, u))
	current, ok := writer.Current[users.User](err)
	if !errors.Is(err, writer.ErrConflict) || !ok || current != moved {
		t.Errorf("an update from an old row: %v, now %+v, %t", err, current, ok)
	}
	if err := users.Leave(t.Context(), p.Writer, moved); err != nil {
		t.Fatal(err)
	}
	if _, err := users.ChangeEmail(t.Context(), p.Writer, u.UserID, "c@example.org"); !errors.Is(err, writer.ErrNotFound) {
		t.Errorf("a user who has left: %v", err)
	}
	if _, err := users.ByID(t.Context(), p.Writer, u.UserID); !errors.Is(err, writer.ErrNotFound) {
		t.Errorf("the row of a user who has left: %v", err)
	}
	if _, err := users.ByEmail(t.Context(), p.Session.Reads(), "b@example.org"); !errors.Is(err, gocql.ErrNotFound) {
		t.Errorf("the address of a user who has left: %v", err)
	}
	if _, err := users.SignUp(t.Context(), p.Writer, users.User{UserID: u.UserID, Email: "d@example.org", Name: "D"}); err != nil {
		t.Errorf("back again: %v", err)
	}
}
