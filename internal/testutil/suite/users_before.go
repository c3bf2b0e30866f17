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
	own := p.Open(t, 3, nicknameTables...) // its rows are counted
	over, cancel := context.WithCancel(t.Context())
	cancel()
	for _, column := range []string{"name", "nickname"} {
		nickname := "new"
		u := nicknamed{UserID: gocql.MustRandomUUID(), Name: "new", Nickname: &nickname}
		_, err := own.Writer.Write(over, "signUp", nicknames.Insert(u))
		var stored writer.Error
		if data, err := failedOf(t, err).MarshalBinary(); err != nil {
			t.Fatal(err)
		} else if err := stored.UnmarshalBinary(data); err != nil {
			t.Fatal(err)
		}
		if err := own.Session.Reads().Query("INSERT INTO nicknamed (user_id, "+column+") VALUES (?, 'old')", u.UserID).Exec(); err != nil {
			t.Fatal(err)
		}
		if _, err := own.Writer.Resume(t.Context(), &stored); !errors.Is(err, writer.ErrConflict) {
			t.Errorf("%s, resumed: %v", column, err)
		}
		_, err = own.Writer.Write(t.Context(), "signUp", nicknames.Insert(u))
		now, ok := writer.Current[nicknamed](err)
		if !errors.Is(err, writer.ErrConflict) || !failedOf(t, err).NotApplied() || !ok || now.Name != "old" && *now.Nickname != "old" {
			t.Errorf("%s: %v, with %+v", column, err, now)
		}
	}
	for table, want := range map[string]int{"nicknamed": 2, "by_nickname": 0, "page_of_nickname": 0} {
		var rows int
		if err := own.Session.Reads().Query("SELECT count(*) FROM " + table).Consistency(gocql.All).Scan(&rows); err != nil || rows != want {
			t.Errorf("%d rows in %s, want %d (%v)", rows, table, want, err)
		}
	}
}

const seatTable = `CREATE TABLE seats (seat_id text PRIMARY KEY, holder text, pending text, pair tuple<int, text>, odd map<frozen<list<int>>, int>)`

type seat struct{ SeatID, Holder string }

var seats = tables.Must(tables.New[seat]("seat", tables.Table{Name: "seats", PartKey: []string{"seat_id"}}, tables.Compare("holder")))

// The answer to an insert that is rejected holds columns that the set does not know, of types that gocql has no Go type for.
func (p userTests) ConflictWithARowOfUnknownTypes(t *testing.T) {
	if err := p.Session.Reads().Query("INSERT INTO seats (seat_id, holder, pending, pair, odd) VALUES ('a', 'ann', 'x', (1, 'x'), {[1]: 2})").Exec(); err != nil {
		t.Fatal(err)
	}
	_, err := p.Writer.Write(t.Context(), "reserve", seats.Insert(seat{"a", "bob"}))
	if now, ok := writer.Current[seat](err); !errors.Is(err, writer.ErrConflict) || !ok || now.Holder != "ann" {
		t.Errorf("%v, with %+v", err, now)
	}
}

func failedOf(t *testing.T, err error) *writer.Error {
	t.Helper()
	var failed *writer.Error
	if !errors.As(err, &failed) {
		t.Fatalf("want a *writer.Error, got %v", err)
	}
	return failed
}
