package writer_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/denorm-go/denorm/cassandratest"
	"github.com/denorm-go/denorm/tables"
	"github.com/denorm-go/denorm/writer"
	"github.com/gocql/gocql"
)

// member has fields that share memory with their copies, in keys and alongside them.
type member struct {
	MemberID gocql.UUID
	Name     string
	Card     *string // a pointer
	Photo    []byte  // a slice
	Notes    notes   // a map
	Version  gocql.UUID
}

// notes encode themselves: a map has no order that Go and Cassandra share, and is no key without.
type notes map[string]string

func (n notes) MarshalCQL(gocql.TypeInfo) ([]byte, error) { return []byte(n["desk"]), nil }

func (n *notes) UnmarshalCQL(_ gocql.TypeInfo, data []byte) error {
	*n = notes{"desk": string(data)}
	return nil
}

// inPlace are changes that change what a copy of the row shares with it.
var inPlace = map[string]func(*member){
	"pointer": func(m *member) { *m.Card = "L2" },
	"slice":   func(m *member) { m.Photo[0] = '2' },
	"map":     func(m *member) { m.Notes["desk"] = "2" },
}

// memberSet has a query table, or a Unique one, keyed by each of the fields that share memory.
func memberSet(unique bool, options ...tables.Option) *tables.Set[member] {
	by := func(name, column string) tables.Table {
		if unique {
			return tables.Table{Name: name, PartKey: []string{column}, Unique: true}
		}
		return tables.Table{Name: name, PartKey: []string{column}, SortKey: []string{"member_id"}}
	}
	return tables.Must(tables.New[member]("member", append([]tables.Option{
		tables.Table{Name: "members", PartKey: []string{"member_id"}},
		by("members_by_card", "card"),
		by("members_by_photo", "photo"), by("members_by_notes", "notes"), tables.Type("notes", "text"),
	}, options...)...))
}

func newMember() member {
	card := "L1"
	return member{MemberID: gocql.MustRandomUUID(), Name: "A", Card: &card, Photo: []byte("1"), Notes: notes{"desk": "1"}}
}

// A function that changes the row in place, by a pointer, a slice or a map, does not change what the row was: it moves, and
// leaves nothing behind.
func TestModifyInPlaceLeavesNoGhost(t *testing.T) {
	t.Parallel()
	for rule, set := range map[string]*tables.Set[member]{
		"SingleWriter": memberSet(false, tables.SingleWriter("card"), tables.SingleWriter("photo"), tables.SingleWriter("notes")),
		"Versioned":    memberSet(false, tables.Versioned("version")),
	} {
		for name, change := range inPlace {
			t.Run(rule+" "+name, func(t *testing.T) {
				t.Parallel()
				cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
					create(c, set)
					w, s := open(t, c)
					m := newMember()
					if _, err := w.Write(t.Context(), "join", set.Insert(m)); err != nil {
						t.Fatal(err)
					}
					if _, err := writer.Modify(t.Context(), w, "move", set, m, func(m member) (member, error) { change(&m); return m, nil }); err != nil {
						t.Fatal(err)
					}
					for _, table := range []string{"members_by_card", "members_by_photo", "members_by_notes"} {
						var rows int
						if err := s.Query("SELECT count(*) FROM " + table).Scan(&rows); err != nil || rows != 1 {
							t.Errorf("%s has %d rows of one member (%v)", table, rows, err)
						}
					}
				})
			})
		}
	}
}

// A key of a Unique table that is changed in place is claimed: another entity that has it keeps it.
func TestModifyInPlaceClaims(t *testing.T) {
	t.Parallel()
	set := memberSet(true, tables.Versioned("version"))
	for name, change := range inPlace {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
				create(c, set)
				w, _ := open(t, c)
				owner, other := newMember(), newMember()
				change(&owner) // has the key that the other one is about to want, and no other of its keys
				card := "other"
				if name != "pointer" {
					other.Card = &card
				}
				if name != "slice" {
					other.Photo = []byte("other")
				}
				if name != "map" {
					other.Notes = notes{"desk": "other"}
				}
				for _, m := range []member{owner, other} {
					if _, err := w.Write(t.Context(), "join", set.Insert(m)); err != nil {
						t.Fatal(err)
					}
				}
				_, err := writer.Modify(t.Context(), w, "move", set, other, func(m member) (member, error) { change(&m); return m, nil })
				if failed := failedWrite(t, err); !errors.Is(err, writer.ErrTaken) || !failed.NotApplied() {
					t.Errorf("two owners of one key, or not known: %v", err)
				}
			})
		})
	}
}

// An Update or Delete whose before-image was changed in place would leave its row, or its claim, under the former key. In a Versioned
// set it is rejected, also when it comes out of storage, and changes nothing.
func TestUpdateInPlace(t *testing.T) {
	t.Parallel()
	for _, unique := range []bool{false, true} {
		set := memberSet(unique, tables.Versioned("version"))
		for name, change := range inPlace {
			for verb, of := range map[string]func(member) tables.Change{
				"update": func(m member) tables.Change { return set.Update(m, m) }, "delete": set.Delete,
			} {
				t.Run(fmt.Sprintf("unique %t, %s, %s", unique, name, verb), func(t *testing.T) {
					t.Parallel()
					cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
						create(c, set)
						w, s := open(t, c)
						joined := newMember()
						if _, err := w.Write(t.Context(), "join", set.Insert(joined)); err != nil {
							t.Fatal(err)
						}
						m, err := writer.Load(t.Context(), w, "show", set, joined)
						if err != nil {
							t.Fatal(err)
						}
						change(&m)
						_, err = w.Write(t.Context(), "move", of(m))
						failed := failedWrite(t, err)
						if !errors.Is(err, writer.ErrInvalid) || writer.OutcomeOf(err) != writer.Invalid || !failed.NotApplied() || failed.Resumable() {
							t.Errorf("outcome %v: %v", writer.OutcomeOf(err), err)
						}
						if _, err := w.Resume(t.Context(), delivered(t, failed)); !errors.Is(err, writer.ErrInvalid) || failedWrite(t, err).Resumable() {
							t.Errorf("resumed: %v", err)
						}
						if now, err := writer.Load(t.Context(), w, "show", set, m); err != nil || *now.Card != "L1" || now.Photo[0] != '1' || now.Notes["desk"] != "1" {
							t.Errorf("%+v, %v", now, err)
						}
						if _, err := writer.Modify(t.Context(), w, "move", set, m, func(m member) (member, error) { change(&m); return m, nil }); err != nil {
							t.Error(err)
						}
						for _, table := range []string{"members_by_card", "members_by_photo", "members_by_notes"} {
							var rows int
							if err := s.Query("SELECT count(*) FROM " + table).Scan(&rows); err != nil || rows != 1 {
								t.Errorf("%s has %d rows of one member (%v)", table, rows, err)
							}
						}
					})
				})
			}
		}
	}
}

// box has a key that is no pointer: null is read as 0.
type box struct {
	BoxID   gocql.UUID
	Shelf   int32
	Name    string
	Version gocql.UUID
}

// A row that something else has written, with null where Go reads a zero value, is the row as it was read.
func TestUpdateOfARowWithNulls(t *testing.T) {
	t.Parallel()
	set := tables.Must(tables.New[box]("box", tables.Table{Name: "boxes", PartKey: []string{"box_id"}},
		tables.Table{Name: "boxes_by_shelf", PartKey: []string{"shelf"}, SortKey: []string{"box_id"}}, tables.Versioned("version")))
	both(t, func(t *testing.T, c *cassandratest.Cluster, again func(*writer.Error) *writer.Error) {
		t.Helper()
		create(c, set)
		w, s := open(t, c)
		b := box{BoxID: gocql.MustRandomUUID(), Name: "A"}
		if _, err := w.Write(t.Context(), "store", set.Insert(b)); err != nil {
			t.Fatal(err)
		}
		if err := s.Query("UPDATE boxes SET shelf = null WHERE box_id = ?", b.BoxID).Exec(); err != nil {
			t.Fatal(err)
		}
		read, err := writer.Load(t.Context(), w, "show", set, b)
		if err != nil {
			t.Fatal(err)
		}
		next := read
		next.Name = "B"
		over, cancel := context.WithCancel(t.Context())
		cancel()
		_, err = w.Write(over, "rename", set.Update(read, next))
		if _, err := w.Resume(t.Context(), again(failedWrite(t, err))); err != nil {
			t.Error(err)
		}
		if now, err := writer.Load(t.Context(), w, "show", set, b); err != nil || now.Name != "B" {
			t.Errorf("%+v, %v", now, err)
		}
	})
}

// seat is reserved by a Compare of a column that shares memory with copies of the row.
type seat struct {
	SeatID gocql.UUID
	Guest  *string
	Price  int32
}

// A compared column that is changed in place is compared with what was read, again after each conflict.
func TestModifyInPlaceCompares(t *testing.T) {
	t.Parallel()
	set := tables.Must(tables.New[seat]("seat",
		tables.Table{Name: "seats", PartKey: []string{"seat_id"}}, tables.Compare("price", "guest"),
	))
	cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
		create(c, set)
		w, _ := open(t, c)
		nobody := ""
		s := seat{SeatID: gocql.MustRandomUUID(), Price: 1, Guest: &nobody}
		if _, err := w.Write(t.Context(), "build", set.Insert(s)); err != nil {
			t.Fatal(err)
		}
		rounds := 0
		after, err := writer.Modify(t.Context(), w, "reserve", set, s, func(s seat) (seat, error) {
			if rounds++; rounds == 1 { // a conflict, so that the row is frozen twice
				if _, err := writer.Modify(t.Context(), w, "move", set, s, func(s seat) (seat, error) { s.Price++; return s, nil }); err != nil {
					t.Error(err)
				}
			}
			*s.Guest = "A"
			return s, nil
		})
		now, unread := writer.Load(t.Context(), w, "show", set, s)
		if err != nil || unread != nil || rounds != 2 || now.Price != 2 || *now.Guest != "A" || *after.Guest != "A" {
			t.Errorf("after %d rounds %+v, %v, %v", rounds, now, err, unread)
		}
	})
}
