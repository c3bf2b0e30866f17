package writer_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/denorm-go/denorm/cassandratest"
	"github.com/denorm-go/denorm/schema"
	"github.com/denorm-go/denorm/tables"
	"github.com/denorm-go/denorm/writer"
	"github.com/gocql/gocql"
)

type visitor struct {
	VisitorID gocql.UUID
	Name      string
	City      string
	Version   gocql.UUID
}

// visitorToday is a visitor with a column more.
type visitorToday struct {
	VisitorID gocql.UUID
	Name      string
	City      string
	Note      *string
	Version   gocql.UUID
}

func visitors[M any]() *tables.Set[M] {
	return tables.Must(tables.New[M]("visitor",
		tables.Table{Name: "visitors", PartKey: []string{"visitor_id"}},
		tables.Table{Name: "visitors_by_city", PartKey: []string{"city"}, SortKey: []string{"visitor_id"}},
		tables.Versioned("version"),
	))
}

type pass struct {
	PassID string
	Holder string
	Ends   *time.Time
	Stamp  int64
}

type passToday struct {
	PassID string
	Holder string
	Ends   *time.Time
	Stamp  int64
	Note   *string
}

func passes[P any]() *tables.Set[P] {
	return tables.Must(tables.New[P]("pass",
		tables.Table{Name: "passes", PartKey: []string{"pass_id"}},
		tables.Table{
			Name: "passes_by_holder", PartKey: []string{"holder"}, SortKey: []string{"pass_id"},
			Columns: []string{"ends", "stamp"},
		},
		tables.ExpiresAt("ends"), tables.Stamp("stamp"),
	))
}

// A column comes in two releases, as package tables says: while processes of before run, it is absent. They and those
// of today then finish and delete what the others have written.
func TestColumnInTwoReleases(t *testing.T) {
	t.Parallel()
	cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
		former, today := visitors[visitor](), visitors[visitorToday]()
		c.Create(schema.Must(schema.Declare(schema.Sets(today, passes[passToday]()))).In(map[string]string{"": "shop"}).
			Statements()...)
		before, after := (&service{Cluster: c}).client(t), (&service{Cluster: c}).client(t)
		note := "x"
		one := visitorToday{VisitorID: gocql.MustRandomUUID(), Name: "a", City: "oslo"}
		leaveHalf(t, after, today.Insert(one))
		rename(t, before, former, visitor{VisitorID: one.VisitorID})
		after.agree(t, 1, "")
		remove(t, before, former, visitor{VisitorID: one.VisitorID})
		after.agree(t, 0, "")
		if _, err := writer.Load(t.Context(), after.w, "load", today, one); !errors.Is(err, writer.ErrNotFound) {
			t.Errorf("a deleted entity: %v", err)
		}
		if _, err := after.w.Write(t.Context(), "signUp", today.Insert(one)); err != nil {
			t.Fatal(err)
		}
		// The second release, next to the first one.
		row, err := writer.Load(t.Context(), after.w, "load", today, one)
		if err != nil {
			t.Fatal(err)
		}
		noted := row
		noted.Note = &note
		leaveHalf(t, after, today.Update(row, noted))
		rename(t, before, today, one)
		after.agree(t, 1, note)
		remove(t, before, today, one)
		after.agree(t, 0, "")
		if _, err := writer.Load(t.Context(), after.w, "load", today, one); !errors.Is(err, writer.ErrNotFound) {
			t.Errorf("a deleted entity: %v", err)
		}
	})
}

// A release without a column resumes what the former release has stored, where that has no value in the column.
func TestStoredErrorOfARemovedColumn(t *testing.T) {
	t.Parallel()
	text := "x"
	for name, note := range map[string]*string{"no value": nil, "a value": &text} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
				former := passes[passToday]()
				create(c, former)
				s := (&service{Cluster: c}).client(t)
				away := c.When(cassandratest.Table("passes")).Do(unavailable)
				_, err := s.w.Write(t.Context(), "issue", former.Insert(passToday{PassID: "1", Holder: "h", Note: note}))
				away.End()
				_, err = s.w.With(writer.Resumes(passes[pass]())).Resume(t.Context(), delivered(t, failedWrite(t, err)))
				if errors.Is(err, writer.ErrInvalid) != (note != nil) || note == nil && err != nil {
					t.Errorf("%v", err)
				}
			})
		})
	}
}

// leaveHalf makes a change that does not reach the query table.
func leaveHalf(tb testing.TB, s *service, change tables.Change) {
	tb.Helper()
	away := s.When(cassandratest.Table("visitors_by_city")).Do(unavailable)
	defer away.End()
	_, err := s.w.Write(tb.Context(), "change", change)
	_ = failedWrite(tb, err)
}

func rename[M any](tb testing.TB, s *service, set *tables.Set[M], key M) {
	tb.Helper()
	if _, err := writer.Modify(tb.Context(), s.w, "rename", set, key, func(m M) (M, error) {
		switch row := any(&m).(type) {
		case *visitor:
			row.Name = "b"
		case *visitorToday:
			row.Name = "b"
		}
		return m, nil
	}); err != nil {
		tb.Fatal(err)
	}
}

func remove[M any](tb testing.TB, s *service, set *tables.Set[M], key M) {
	tb.Helper()
	row, err := writer.Load(tb.Context(), s.w, "load", set, key)
	if err != nil {
		tb.Fatal(err)
	}
	if _, err := s.w.Write(tb.Context(), "remove", set.Delete(row)); err != nil {
		tb.Fatal(err)
	}
}

// agree says whether both tables have so many rows, with this note.
func (s *service) agree(tb testing.TB, rows int, note string) {
	tb.Helper()
	for _, table := range []string{"visitors", "visitors_by_city"} {
		got, err := s.reads.Query("SELECT name, note FROM " + table).Consistency(gocql.Quorum).Iter().SliceMap()
		if err != nil {
			tb.Fatal(err)
		}
		n := 0
		for _, row := range got {
			if row["name"] != "" || row["note"] != "" {
				n++
				if row["name"] != "b" || row["note"] != note {
					tb.Errorf("%s: %v", table, row)
				}
			}
		}
		if n != rows {
			tb.Errorf("%s: %d rows, want %d", table, n, rows)
		}
	}
}

// So an expiry that a process of before sets ends the entity in all tables.
func TestExpiryInTwoReleases(t *testing.T) {
	t.Parallel()
	cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
		former, today := passes[pass](), passes[passToday]()
		c.Create(schema.Must(schema.Declare(schema.Sets(today))).In(map[string]string{"": "shop"}).Statements()...)
		s := (&service{Cluster: c}).client(t)
		if _, err := s.w.Write(t.Context(), "issue", today.Insert(passToday{PassID: "p", Holder: "h"})); err != nil {
			t.Fatal(err)
		}
		ends := time.Now().Add(time.Minute)
		if _, err := writer.Modify(t.Context(), s.w, "end", former, pass{PassID: "p"}, func(p pass) (pass, error) {
			p.Ends = &ends
			return p, nil
		}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * time.Minute)
		if _, err := writer.Load(t.Context(), s.w, "load", today, passToday{PassID: "p"}); !errors.Is(err,
			writer.ErrNotFound) {
			t.Errorf("ended, and there: %v", err)
		}
		if n := s.count(t, "SELECT count(*) FROM passes_by_holder"); n != 0 {
			t.Errorf("%d rows by holder", n)
		}
	})
}

type place struct {
	Street string `cql:"street"`
	City   string `cql:"city"`
}

// placeToday is a place after ALTER TYPE place ADD country text.
type placeToday struct {
	Street  string  `cql:"street"`
	City    string  `cql:"city"`
	Country *string `cql:"country"`
}

type shop[P any] struct {
	ShopID  gocql.UUID
	Chain   string
	Place   P
	Version gocql.UUID
}

func shops[P any]() *tables.Set[shop[P]] {
	return tables.Must(tables.New[shop[P]]("shop",
		tables.UserType[P]("place"),
		tables.Table{Name: "shops", PartKey: []string{"shop_id"}},
		tables.Table{Name: "shops_by_place", PartKey: []string{"chain"}, SortKey: []string{"place", "shop_id"}},
		tables.Table{Name: "places", PartKey: []string{"chain"}, SortKey: []string{"place"}, Unique: true},
		tables.Versioned("version"),
	))
}

// A unique key of a type that has got a field keeps its owner, and a row that moves leaves none behind.
func TestKeyOfATypeThatHasGrown(t *testing.T) {
	t.Parallel()
	cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
		old, today := shops[place](), shops[placeToday]()
		c.Create(schema.Must(schema.Declare(schema.Sets(old))).In(map[string]string{"": "shop"}).Statements()...)
		s := (&service{Cluster: c}).client(t)
		one := shop[place]{ShopID: gocql.MustRandomUUID(), Chain: "c", Place: place{"high", "oslo"}}
		if _, err := s.w.Write(t.Context(), "open", old.Insert(one)); err != nil {
			t.Fatal(err)
		}
		c.Create("ALTER TYPE shop.place ADD country text")
		s = s.client(t)
		if err := s.w.Warm(t.Context(), today); err != nil {
			t.Fatal(err)
		}
		time.Sleep(11 * time.Second) // ClaimGrace
		two := shop[placeToday]{ShopID: gocql.MustRandomUUID(), Chain: "c", Place: placeToday{"high", "oslo", nil}}
		if _, err := s.w.Write(t.Context(), "open", today.Insert(two)); !errors.Is(err, writer.ErrTaken) {
			t.Errorf("a second owner: %v", err)
		}
		move := func(street string) {
			if _, err := writer.Modify(t.Context(), s.w, "move", today, shop[placeToday]{ShopID: one.ShopID},
				func(s shop[placeToday]) (shop[placeToday], error) {
					s.Place.Street = street
					return s, nil
				}); err != nil {
				t.Fatal(err)
			}
		}
		move("low")
		move("high")
		for _, table := range []string{"shops", "shops_by_place", "places"} {
			if n := s.count(t, "SELECT count(*) FROM "+table); n != 1 {
				t.Errorf("%s has %d rows", table, n)
			}
		}
	})
}

type branch[P any] struct {
	Chain   string
	Place   P
	Phone   string
	Version gocql.UUID
}

func branches[P any]() *tables.Set[branch[P]] {
	return tables.Must(tables.New[branch[P]]("branch",
		tables.UserType[P]("place"),
		tables.Table{Name: "branches", PartKey: []string{"chain"}, SortKey: []string{"place"}},
		tables.Table{Name: "branches_by_phone", PartKey: []string{"phone"}, Unique: true},
		tables.Versioned("version"),
	))
}

// An owner whose own key is of such a type gives its unique keys up.
func TestOwnerOfATypeThatHasGrown(t *testing.T) {
	t.Parallel()
	cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
		old, today := branches[place](), branches[placeToday]()
		c.Create(schema.Must(schema.Declare(schema.Sets(old))).In(map[string]string{"": "shop"}).Statements()...)
		s := (&service{Cluster: c}).client(t)
		if _, err := s.w.Write(t.Context(), "open",
			old.Insert(branch[place]{Chain: "c", Place: place{"high", "oslo"}, Phone: "1"})); err != nil {
			t.Fatal(err)
		}
		c.Create("ALTER TYPE shop.place ADD country text")
		s = s.client(t)
		if _, err := writer.Modify(t.Context(), s.w, "call", today,
			branch[placeToday]{Chain: "c", Place: placeToday{"high", "oslo", nil}},
			func(b branch[placeToday]) (branch[placeToday], error) {
				b.Phone = "2"
				return b, nil
			}); err != nil {
			t.Fatal(err)
		}
		if n := s.count(t, "SELECT count(*) FROM branches_by_phone"); n != 1 {
			t.Errorf("%d phones of one branch", n)
		}
	})
}

type card[P any] struct {
	ID      string
	Name    string
	Place   P
	Version gocql.UUID
}

func cards[P any]() *tables.Set[card[P]] {
	return tables.Must(tables.New[card[P]]("card",
		tables.UserType[P]("place"),
		tables.Table{Name: "cards", PartKey: []string{"id"}},
		tables.Table{Name: "cards_by_name", PartKey: []string{"name"}, SortKey: []string{"id"}},
		tables.Versioned("version"),
	))
}

// A process that runs while a type gets a field goes on, and what it has stored is resumed. From when another one sets
// the field, it does not take it away.
func TestTypeGrowsUnderAProcess(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, c *cassandratest.Cluster, again func(*writer.Error) *writer.Error) {
		t.Helper()
		old, today := cards[place](), cards[placeToday]()
		c.Create(schema.Must(schema.Declare(schema.Sets(old))).In(map[string]string{"": "shop"}).Statements()...)
		s := (&service{Cluster: c}).client(t)
		away := c.When(cassandratest.Table("cards_by_name")).Do(unavailable)
		_, err := s.w.Write(t.Context(), "create",
			old.Insert(card[place]{ID: "a", Name: "ann", Place: place{"high", "oslo"}}))
		away.End()
		failed := failedWrite(t, err)
		c.Create("ALTER TYPE shop.place ADD country text")
		newer := s.client(t)
		if _, err := newer.w.Resume(t.Context(), again(failed)); err != nil {
			t.Fatal(err)
		}
		rename := func(s *service, name string) error {
			_, err := writer.Modify(t.Context(), s.w, "rename", old, card[place]{ID: "a"},
				func(c card[place]) (card[place], error) {
					c.Name = name
					return c, nil
				})
			return err
		}
		for _, client := range []*service{s, newer} {
			if err := rename(client, "bob"); err != nil {
				t.Fatal(err)
			}
		}
		norway := "no"
		if _, err := writer.Modify(t.Context(), newer.w, "move", today, card[placeToday]{ID: "a"},
			func(c card[placeToday]) (card[placeToday], error) {
				c.Place.Country = &norway
				return c, nil
			}); err != nil {
			t.Fatal(err)
		}
		for _, client := range []*service{s, newer} {
			if err := rename(client, "cid"); err == nil || !failedWrite(t, err).NotApplied() ||
				!strings.Contains(err.Error(), "a field that is not declared") {
				t.Errorf("a write that would take the field away: %v", err)
			}
		}
		got, err := writer.Load(t.Context(), newer.w, "load", today, card[placeToday]{ID: "a"})
		if err != nil || got.Name != "bob" || got.Place.Country == nil {
			t.Errorf("%+v, %v", got, err)
		}
	})
}

// What processes of before have left in the column pending is carried out by the next write of the entity. The rows are
// those that the first release leaves where users_by_city cannot be written: pending has a version of its format, that
// of the row, and names and values. A key that was given up stays with the entity until somebody wants it.
func TestPendingOfBefore(t *testing.T) {
	t.Parallel()
	const (
		first, second = "877355a0-bfde-11d3-8c28-b0199d6fdb24", "ab36da20-bfde-11d3-bc2a-e1e50522fffe"
		former        = "010005656d61696c000361407800046369747900" + "04726f6d65" // email a@x, city rome
		id            = "8a3c2e10-c6a1-11f0-8de9-0242ac120002"
	)
	const at1, at2 int64 = 946684860001200, 946684920002400
	base := func(email, city, name, version, keys string, at int64) string {
		return fmt.Sprintf("INSERT INTO users (user_id, email, city, name, version, pending) VALUES (%s, %s, %s, %s, %s, "+
			"0x01%s%s) USING TIMESTAMP %d",
			id, email, city, name, version, strings.ReplaceAll(version, "-", ""), keys, at)
	}
	claim := func(email string, token string) string {
		return fmt.Sprintf("INSERT INTO users_by_email (email, user_id, claim) VALUES ('%s', %s, %s) USING TIMESTAMP %d",
			email, id, token, at1)
	}
	const (
		rome = "INSERT INTO users_by_city (city, user_id, email, name, version) VALUES ('rome', " + id +
			", 'a@x', 'ann', " + first + ") USING TIMESTAMP 946684860001200"
		tokenA = "877355aa-bfde-11d3-a036-3d67ca190395"
		tokenB = "ab36e9c0-bfde-11d3-b9e9-23c4b07b59c5"
	)
	key := user{UserID: gocql.UUID{
		0x8a, 0x3c, 0x2e, 0x10, 0xc6, 0xa1, 0x11, 0xf0, 0x8d, 0xe9, 0x02, 0x42, 0xac, 0x12,
		0x00, 0x02,
	}}
	rename := func(t *testing.T, s *service) error { t.Helper(); return s.rename(t.Context(), key, "eve") }
	for name, test := range map[string]struct {
		rows   []string
		next   func(*testing.T, *service) error
		cities []string // of users_by_city and of users_by_email, afterwards
		emails []string
	}{
		"insert": {
			[]string{base("'a@x'", "'rome'", "'ann'", first, "", at1), claim("a@x", tokenA)},
			rename,
			[]string{"rome eve"},
			[]string{"a@x"},
		},
		"moved": {
			[]string{base("'a@x'", "'oslo'", "'ann'", second, former, at2), claim("a@x", tokenA), rome},
			rename,
			[]string{"oslo eve"},
			[]string{"a@x"},
		},
		"unique key changed": {
			[]string{base("'b@x'", "'rome'", "'ann'", second, former, at2), claim("a@x", tokenA), claim("b@x", tokenB), rome},
			rename,
			[]string{"rome eve"},
			[]string{"a@x", "b@x"},
		},
		"deleted": {
			[]string{base("null", "null", "null", second, former, at2), claim("a@x", tokenA), rome},
			func(t *testing.T, s *service) error {
				t.Helper()
				s.signUp(t, user{UserID: key.UserID, Email: "c@x", City: "pisa", Name: "eve"})
				return nil
			},
			[]string{"pisa eve"},
			[]string{"a@x", "c@x"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
				s := start(t, c)
				<-time.After(time.Hour) // no row is ahead of the clock, and no claim is one that its writer may still be busy with
				for _, row := range test.rows {
					if err := s.reads.Query(row).Exec(); err != nil {
						t.Fatal(row, err)
					}
				}
				if err := test.next(t, s); err != nil {
					t.Fatal(err)
				}
				if got := s.texts(t, "SELECT city, name FROM users_by_city"); !slices.Equal(got, test.cities) {
					t.Errorf("users_by_city: %q, want %q", got, test.cities)
				}
				if got := s.texts(t, "SELECT email FROM users_by_email"); !slices.Equal(got, test.emails) {
					t.Errorf("users_by_email: %q, want %q", got, test.emails)
				}
				if n := s.count(t, "SELECT count(*) FROM users"); n != 1 {
					t.Errorf("%d users", n)
				}
			})
		})
	}
}

// texts are the rows that a query finds, in order of their text.
func (s *service) texts(tb testing.TB, query string) []string {
	tb.Helper()
	iter := s.reads.Query(query).Consistency(gocql.Quorum).Iter()
	var out []string
	for {
		row := make(map[string]any)
		if !iter.MapScan(row) {
			break
		}
		text := ""
		for _, c := range iter.Columns() {
			text += fmt.Sprint(row[c.Name], " ")
		}
		out = append(out, text[:len(text)-1])
	}
	if err := iter.Close(); err != nil {
		tb.Fatal(err)
	}
	slices.Sort(out)
	return out
}

// Stored errors of this version of the format are resumed by every later change of the code, or it has another version.
// The files were made in the first minute of a cluster in virtual time.
func TestStoredErrorsStayReadable(t *testing.T) {
	t.Parallel()
	sets := writer.Resumes(visits, users, slots)
	for name, want := range map[string]map[string]int{
		"put":       {"visits_by_login": 1},
		"merge":     {"visits_by_login": 1},
		"remove":    {"visits": 0, "visits_by_login": 0},
		"versioned": {"users": 1, "users_by_city": 1, "users_by_email": 1},
		"compared":  {"slots": 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
				s := start(t, c)
				create(c, visits)
				data, err := os.ReadFile(filepath.Join("testdata", "stored", name+".bin"))
				if err != nil {
					t.Fatal(err)
				}
				failed := new(writer.Error)
				if err := failed.UnmarshalBinary(data); err != nil {
					t.Fatal(err)
				}
				<-time.After(time.Minute) // no write is ahead of the clock
				for _, w := range []*writer.Writer{s.w.With(sets), s.w} {
					if _, err := w.Resume(t.Context(), failed); err != nil {
						t.Fatal(err)
					}
				}
				for table, n := range want {
					if got := s.count(t, "SELECT count(*) FROM "+table); got != n {
						t.Errorf("%d rows in %s, want %d", got, table, n)
					}
				}
			})
		})
	}
}

// A row that was there before its set became Versioned has no version. An insert of its entity is a conflict all the
// same, also one that comes out of storage: it would write over the row, and leave what the row has in the query tables
// behind.
func TestInsertOverARowWithoutVersionIsAConflict(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, c *cassandratest.Cluster, again func(*writer.Error) *writer.Error) {
		t.Helper()
		s := start(t, c)
		id := gocql.MustRandomUUID()
		away := c.When(cassandratest.Table("users")).Do(unavailable)
		_, err := s.w.Write(t.Context(), "signUp", users.Insert(user{UserID: id, Email: "new@x", City: "oslo", Name: "new"}))
		away.End()
		failed := failedWrite(t, err)
		for _, table := range []string{"users", "users_by_city"} {
			if err := s.reads.Query("INSERT INTO "+table+" (user_id, email, city, name) VALUES (?, 'old@x', 'rome', 'old')", id).
				Exec(); err != nil {
				t.Fatal(err)
			}
		}
		_, err = s.w.Resume(t.Context(), again(failed))
		if !errors.Is(err, writer.ErrConflict) {
			t.Errorf("resumed: %v", err)
		}
		_, err = s.w.Write(t.Context(), "signUp", users.Insert(user{UserID: id, Email: "new@x", City: "oslo", Name: "new"}))
		if now, ok := writer.Current[user](err); !errors.Is(err, writer.ErrConflict) || !failedWrite(t, err).NotApplied() ||
			!ok || now.Name != "old" {
			t.Errorf("%v, with %+v", err, now)
		}
		if n := s.count(t, "SELECT count(*) FROM users_by_city"); n != 1 {
			t.Errorf("%d rows of one user", n)
		}
	})
}

// So has one in which the first columns are null, be it that they were never known, or that they were added for the
// library.
func TestInsertOverARowWithOneColumnIsAConflict(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, c *cassandratest.Cluster, again func(*writer.Error) *writer.Error) {
		t.Helper()
		s := start(t, c)
		for _, column := range []string{"email", "city", "name"} {
			id := gocql.MustRandomUUID()
			away := c.When(cassandratest.Table("users")).Do(unavailable)
			_, err := s.w.Write(t.Context(), "signUp", users.Insert(user{UserID: id, Email: column, City: "oslo", Name: "new"}))
			away.End()
			failed := failedWrite(t, err)
			if err := s.reads.Query("INSERT INTO users (user_id, "+column+") VALUES (?, 'old')", id).Exec(); err != nil {
				t.Fatal(err)
			}
			if _, err = s.w.Resume(t.Context(), again(failed)); !errors.Is(err, writer.ErrConflict) {
				t.Errorf("%s, resumed: %v", column, err)
			}
			_, err = s.w.Write(t.Context(), "signUp", users.Insert(user{UserID: id, Email: column, City: "oslo", Name: "new"}))
			if now, ok := writer.Current[user](err); !errors.Is(err, writer.ErrConflict) || !ok ||
				now.Email+now.City+now.Name != "old" {
				t.Errorf("%s: %v, with %+v", column, err, now)
			}
		}
	})
}

// The answer to an insert that is rejected holds all columns of the row, those too that the set does not declare and
// gocql has no Go type for.
func TestConflictWithARowOfUnknownTypes(t *testing.T) {
	t.Parallel()
	cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
		s := start(t, c)
		for _, column := range []string{
			"pending text", "done text", "pair tuple<int, text>",
			"odd map<frozen<list<int>>, int>",
		} {
			if err := s.reads.Query("ALTER TABLE slots ADD " + column).Exec(); err != nil {
				t.Fatal(err)
			}
		}
		if err := s.reads.Query("INSERT INTO slots (slot_id, holder, pending, pair, odd) VALUES ('a', 'ann', 'x', (1, " +
			"'x'), {[1]: 2})").Exec(); err != nil {
			t.Fatal(err)
		}
		_, err := s.w.Write(t.Context(), "reserve", slots.Insert(slot{SlotID: "a", Holder: "bob"}))
		if now, ok := writer.Current[slot](err); !errors.Is(err, writer.ErrConflict) || !ok || now.Holder != "ann" {
			t.Errorf("%v, with %+v", err, now)
		}
	})
}

func versionOf(r writer.Result, err error) (gocql.UUID, error) { return r.Version, err }
