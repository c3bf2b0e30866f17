package writer_test

import (
	"errors"
	"testing"

	"github.com/denorm-go/denorm/cassandratest"
	"github.com/denorm-go/denorm/tables"
	"github.com/denorm-go/denorm/writer"
	"github.com/gocql/gocql"
)

// member has fields that share memory with their copies, in keys and beside them.
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

// seat is reserved by a Compare of a column that shares memory with copies of the row.
type seat struct {
	SeatID gocql.UUID
	Guest  *string
	Price  int32
}

// A compared column that is changed in place is compared with what was read, anew after each conflict.
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
