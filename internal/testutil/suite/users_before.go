package suite

import (
	"context"
	"errors"
	"testing"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/tables"
	"github.com/denorm-go/denorm/writer"
)

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
		now, ok := writer.Current[nicknamed](err)
		wrong(t, !errors.Is(err, writer.ErrConflict) || !failedOf(t, err).NotApplied() || !ok || now.Name != "old" && *now.Nickname != "old",
			"%s: %v, with %+v", column, err, now)
	}
	for _, table := range []string{"by_nickname", "page_of_nickname"} {
		rows := p.count(t, "SELECT count(*) FROM "+table+" WHERE nickname IN ('new', 'old')")
		wrong(t, rows != 0, "%d rows in %s", rows, table)
	}
}

const seatTable = `CREATE TABLE seats (seat_id text PRIMARY KEY, holder text, pending text, pair tuple<int, text>, odd map<frozen<list<int>>, int>)`

type seat struct{ SeatID, Holder string }

var seats = tables.Must(tables.New[seat]("seat", tables.Table{Name: "seats", PartKey: []string{"seat_id"}}, tables.Compare("holder")))

// The answer to an insert that is rejected holds columns that the set does not know, of types that gocql has no Go type for.
func (p userTests) ConflictWithARowOfUnknownTypes(t *testing.T) {
	p.exec(t, "INSERT INTO seats (seat_id, holder, pending, pair, odd) VALUES ('a', 'ann', 'x', (1, 'x'), {[1]: 2})")
	_, err := p.Writer.Write(t.Context(), "reserve", seats.Insert(seat{"a", "bob"}))
	now, ok := writer.Current[seat](err)
	wrong(t, !errors.Is(err, writer.ErrConflict) || !ok || now.Holder != "ann", "%v, with %+v", err, now)
}

// stored is an error that was kept, and read again by another process.
func stored(t *testing.T, failed *writer.Error) *writer.Error {
	t.Helper()
	data, err := failed.MarshalBinary()
	must(t, err)
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
