package suite

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/examples/accounts"
	"github.com/denorm-go/denorm/examples/users"
	"github.com/denorm-go/denorm/internal/testutil/faulty"
	"github.com/denorm-go/denorm/session"
	"github.com/denorm-go/denorm/tables"
	"github.com/denorm-go/denorm/writer"
)

type userTests struct{ *Place }

// newUser has the address of a name.
func newUser(name string) users.User {
	return users.User{UserID: gocql.MustRandomUUID(), Email: name + "@example.org", Name: name}
}

func (p userTests) signUp(t *testing.T, name string) users.User {
	t.Helper()
	return value(users.SignUp(t.Context(), p.Writer, newUser(name)))(t)
}

// A life of a user: signed up, another address, gone, and back under the same id.
func (p userTests) Life(t *testing.T) {
	p.check(t, users.Users)
	u, other := p.signUp(t, "a"), newUser("a")
	id := value(users.ByEmail(t.Context(), p.Session.Reads(), u.Email))(t)
	wrong(t, id != u.UserID, "%v", id)
	_, err := users.SignUp(t.Context(), p.Writer, other)
	wrong(t, !errors.Is(err, users.ErrTaken) || !errors.Is(err, writer.ErrConflict), "an address that is taken: %v", err)
	_, err = users.SignUp(t.Context(), p.Writer, u)
	wrong(t, !errors.Is(err, writer.ErrConflict) || errors.Is(err, users.ErrTaken), "signed up again: %v", err)
	wantError(t, "changed to an address that is taken",
		errorOf(users.ChangeEmail(t.Context(), p.Writer, p.signUp(t, "e").UserID, u.Email)), users.ErrTaken)
	moved := value(users.ChangeEmail(t.Context(), p.Writer, u.UserID, "b@example.org"))(t)
	wantError(t, "an address that was given free", errorOf(users.SignUp(t.Context(), p.Writer, other)), nil)
	found := value(users.ByID(t.Context(), p.Writer, u.UserID))(t)
	wrong(t, found != moved, "%+v, want %+v", found, moved)
	_, err = p.Writer.Write(t.Context(), "rename", users.Users.Update(u, u))
	current := conflict[users.User](t, "an update from an old row", err)
	wrong(t, current != moved, "an update from an old row: now %+v", current)
	must(t, users.Leave(t.Context(), p.Writer, moved))
	wantError(t, "a user who has left", errorOf(users.ChangeEmail(t.Context(), p.Writer, u.UserID, "c@example.org")),
		writer.ErrNotFound)
	wantError(t, "the row of a user who has left", errorOf(users.ByID(t.Context(), p.Writer, u.UserID)),
		writer.ErrNotFound)
	wantError(t, "the address of a user who has left",
		errorOf(users.ByEmail(t.Context(), p.Session.Reads(), "b@example.org")), gocql.ErrNotFound)
	wantError(t, "back again", errorOf(users.SignUp(t.Context(), p.Writer,
		users.User{UserID: u.UserID, Email: "d@example.org", Name: "D"})), nil)
}

// A row from before its set was Versioned has no version. An insert of its entity is a conflict, whichever of its
// columns are null, also if the insert comes out of storage.
func (p userTests) InsertOverARowOfBefore(t *testing.T) {
	over, cancel := context.WithCancel(t.Context())
	cancel()
	for _, column := range []string{"name", "nickname"} {
		nickname := "new"
		u := nicknamed{UserID: gocql.MustRandomUUID(), Name: "new", Nickname: &nickname}
		_, err := p.Writer.Write(over, "signUp", nicknames.Insert(u))
		failed := stored(t, failedOf(t, err))
		p.exec(t, "INSERT INTO nicknamed (user_id, "+column+") VALUES (?, 'old')", u.UserID)
		wantError(t, column+", resumed", errorOf(p.Writer.Resume(t.Context(), failed)), writer.ErrConflict)
		_, err = p.Writer.Write(t.Context(), "signUp", nicknames.Insert(u))
		now := conflict[nicknamed](t, column, err)
		wrong(t, !failedOf(t, err).NotApplied() ||
			now.Name != "old" && (now.Nickname == nil || *now.Nickname != "old"), "%s: %v, with %+v", column, err, now)
	}
	for _, table := range []string{"by_nickname", "page_of_nickname"} {
		p.wantCount(t, 0, "SELECT count(*) FROM "+table+" WHERE nickname IN ('new', 'old')")
	}
}

const seatTable = `CREATE TABLE seats (seat_id text PRIMARY KEY, holder text, pending text, pair tuple<int, text>, odd map<frozen<list<int>>, int>)`

type seat struct{ SeatID, Holder string }

var seats = tables.Must(tables.New[seat]("seat", tables.Table{Name: "seats", PartKey: []string{"seat_id"}},
	tables.Compare("holder")))

// The answer to an insert that is rejected holds columns that the set does not know, of types that gocql has no Go type
// for.
func (p userTests) ConflictWithARowOfUnknownTypes(t *testing.T) {
	p.exec(t, "INSERT INTO seats (seat_id, holder, pending, pair, odd) VALUES ('a', 'ann', 'x', (1, 'x'), {[1]: 2})")
	_, err := p.Writer.Write(t.Context(), "reserve", seats.Insert(seat{"a", "bob"}))
	now := conflict[seat](t, "a seat that is taken", err)
	wrong(t, now.Holder != "ann", "%+v", now)
}

// stored is an error that was kept, and read again by another process.
func stored(t *testing.T, failed *writer.Error) *writer.Error {
	t.Helper()
	data := value(failed.MarshalBinary())(t)
	again := new(writer.Error)
	must(t, again.UnmarshalBinary(data))
	return again
}

func failedOf(t *testing.T, err error) *writer.Error {
	t.Helper()
	var failed *writer.Error
	if !errors.As(err, &failed) {
		t.Fatalf("want a *writer.Error, got %v", err)
	}
	return failed
}

// A request that is repeated with its timestamp, by another process, is the same write, also when its answer
// was lost; another one at this timestamp is a conflict.
func (p userTests) RepeatedRequests(t *testing.T) {
	var dialer faulty.Dialer
	var w [3]*writer.Writer // the third loses nothing
	for i, s := range []*session.Session{p.Faulty(t, &dialer), p.Faulty(t, &dialer), p.Session} {
		w[i] = NewWriter(t, s, writer.ClaimGrace(time.Second), writer.Timeout(20*time.Second))
	}
	u := newUser("repeat-a")
	at := writer.At(time.Now().UnixMicro())
	dialer.LoseReplies(2)
	_, _ = users.SignUp(t.Context(), w[0].With(at), u)
	first := value(users.SignUp(t.Context(), w[1].With(at), u))(t)
	again := value(users.SignUp(t.Context(), w[2].With(at), u))(t)
	wrong(t, again != first, "signed up again: %+v, was %+v", again, first)
	other := u
	other.Name = "B"
	_, err := users.SignUp(t.Context(), w[2].With(at), other)
	wrong(t, !errors.Is(err, writer.ErrConflict) || failedOf(t, err).NotApplied(), "at the timestamp of another: %v", err)
	moved := first
	moved.Email = "repeat-b@example.org"
	at = writer.At(time.Now().UnixMicro())
	one := Write(t, w[2].With(at), "move", users.Users.Update(first, moved))
	two := Write(t, w[2].With(at), "move", users.Users.Update(first, moved))
	wrong(t, one.Version != two.Version, "moved: versions %v and %v", one.Version, two.Version)
	wantError(t, "the address that was given up", errorOf(users.ByEmail(t.Context(), p.Session.Reads(), u.Email)),
		gocql.ErrNotFound)
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
		return errorOf(writer.Modify(t.Context(), p.Writer, "change", nicknames, b, func(u nicknamed) (nicknamed, error) {
			*u.Nickname = to
			return u, nil
		}))
	}
	wantError(t, "a nickname that another one has", change("a"), writer.ErrTaken)
	wantError(t, "write", change("c"), nil)
	read := value(writer.Load(t.Context(), p.Writer, "show", nicknames, b))(t)
	*read.Nickname = "d"
	for name, c := range map[string]tables.Change{
		"update": nicknames.Update(read, read),
		"delete": nicknames.Delete(read),
	} {
		_, err := p.Writer.Write(t.Context(), name, c)
		wrong(t, writer.OutcomeOf(err) != writer.Invalid, "%s from a row changed in place: %v", name, err)
	}
	p.wantCount(t, 2, "SELECT count(*) FROM page_of_nickname")
}

type accountTests struct{ *Place }

// Of many who want one address at once one gets it, and the others are told who did.
func (p accountTests) CreatedOnce(t *testing.T) {
	const email = "ann@example.org"
	var created atomic.Int32
	together(20, func(n int) {
		err := accounts.Create(t.Context(), p.Writer, email, string(rune('A'+n)))
		if err == nil {
			created.Add(1)
			return
		}
		u := conflict[accounts.User](t, "created again", err)
		wrong(t, u.Email != email || u.Name == "", "the user who is there: %+v", u)
	})
	n := created.Load()
	wrong(t, n != 1, "created %d times, want once", n)
	u := value(accounts.Get(t.Context(), p.Writer, email))(t)
	wrong(t, u.Email != email, "%+v", u)
	wantError(t, "nobody's address", errorOf(accounts.Get(t.Context(), p.Writer, "bob@example.org")), writer.ErrNotFound)
	wantError(t, "no address", accounts.Create(t.Context(), p.Writer, "", "A"), writer.ErrInvalid)
}

// The answer to the own insert is lost: it counts as what it was.
func (p accountTests) OwnLostReply(t *testing.T) {
	w, dialer := p.lossy(t)
	must(t, accounts.Create(t.Context(), w, "warm@example.org", "W"))
	dialer.LoseReplies(1)
	wantError(t, "the answer was lost", accounts.Create(t.Context(), w, "eve@example.org", "Ann"), nil)
	u := value(accounts.Get(t.Context(), p.Writer, "eve@example.org"))(t)
	wrong(t, u.Name != "Ann", "%+v", u)
	wantError(t, "created again", accounts.Create(t.Context(), w, "eve@example.org", "Bob"), writer.ErrConflict)
}
