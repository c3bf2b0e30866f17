package writer_test

import (
	"errors"
	"fmt"
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

// A row that has expired before it is written is an error, and what is in the tables stays: the writes of such a row
// would remove it and say nil. It can be deleted, and be given a later expiry.
func TestRowThatHasExpiredIsRefused(t *testing.T) {
	cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
		create(c, visits)
		w, reads := open(t, c)
		<-time.After(time.Hour) // virtual time begins with the first timestamp that At takes
		now := time.Now()
		lives := visit{gocql.MustRandomUUID(), "joe", "Joe", "home", map[string]int32{"tea": 1}, now.Add(time.Hour)}
		if _, err := w.Write(t.Context(), "login", visits.Insert(lives)); err != nil {
			t.Fatal(err)
		}
		stored := rows(t, reads, "visits", "id, login, name, page, cart, ends")
		for name, ends := range map[string]time.Time{
			"a second ago": now.Add(-time.Second), "now": now.Truncate(time.Millisecond), "at the epoch": time.UnixMilli(0),
		} {
			expired := lives
			expired.Page, expired.Ends = "cart", ends
			fresh := expired
			fresh.ID = gocql.MustRandomUUID()
			for verb, change := range map[string]tables.Change{
				"insert": visits.Insert(fresh), "update": visits.Update(lives, expired), "upsert": visits.Upsert(expired),
				"patch": visits.Patch(expired, tables.Column("page")), "patch of elements": visits.Patch(expired,
					tables.Elements("cart")),
			} {
				for _, w := range []*writer.Writer{w, w.With(writer.At(now.Add(-time.Minute).UnixMicro()))} {
					result, err := w.Write(t.Context(), "visit", change)
					wantExpired(t, verb+" of a row that ended "+name, err)
					if result != (writer.Result{}) {
						t.Errorf("%+v", result)
					}
				}
			}
			_, err := w.Internal().Explain("visit", visits.Insert(fresh))
			wantExpired(t, "explain", err)
		}
		if got := rows(t, reads, "visits", "id, login, name, page, cart, ends"); !slices.Equal(got, stored) {
			t.Errorf("%v, want %v", got, stored)
		}
		if n := len(rows(t, reads, "visits_by_login", "id")); n != 1 {
			t.Errorf("%d rows by login", n)
		}
	})
}

func wantExpired(t *testing.T, what string, err error) {
	t.Helper()
	var e *writer.Error
	if !errors.Is(err, writer.ErrInvalid) || !errors.As(err, &e) || !e.NotApplied() || e.Resumable() ||
		!strings.Contains(err.Error(), "has expired already") {
		t.Errorf("%s: %v", what, err)
	}
}

// Whoever modifies a row into one that has expired is told the same. What has expired can still be deleted, and brought
// back.
func TestRowThatHasExpiredIsDeletedOrExtended(t *testing.T) {
	cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
		create(c, visits)
		w, reads := open(t, c)
		seen := visit{ID: gocql.MustRandomUUID(), Login: "joe", Ends: time.Now().Add(5 * time.Second)}
		if _, err := w.Write(t.Context(), "login", visits.Insert(seen)); err != nil {
			t.Fatal(err)
		}
		_, err := writer.Modify(t.Context(), w, "logout", visits, seen, func(v visit) (visit, error) {
			v.Ends = time.Now().Add(-time.Second)
			return v, nil
		})
		wantExpired(t, "modify", err)
		<-time.After(6 * time.Second)
		longer := seen
		longer.Ends = time.Now().Add(time.Hour)
		if _, err := w.Write(t.Context(), "extend", visits.Update(seen, longer)); err != nil {
			t.Error(err)
		}
		if n := len(rows(t, reads, "visits", "id")); n != 1 {
			t.Errorf("%d rows", n)
		}
		if _, err := w.Write(t.Context(), "logout", visits.Delete(seen)); err != nil {
			t.Error(err)
		}
		if n := len(rows(t, reads, "visits", "id")); n != 0 {
			t.Errorf("%d rows", n)
		}
	})
}

// Resume does not restart a default_time_to_live: a row that is put late ends with the base row, and is not put at all
// after that. Maps and sets that a patch has written end as other columns do.
func TestResumeInTablesWithADefaultTTL(t *testing.T) {
	t.Parallel()
	type thing struct {
		ID, Kind, Name string
		Tags           []string
	}
	set := tables.Must(tables.New[thing]("thing",
		tables.Table{Name: "things", PartKey: []string{"id"}},
		tables.Table{
			Name: "things_by_kind", PartKey: []string{"kind"}, SortKey: []string{"id"},
			Columns: []string{"name", "tags"},
		},
		tables.Table{Name: "things_keys", PartKey: []string{"kind"}, SortKey: []string{"id"}, Columns: []string{}},
		tables.Type("tags", "set<text>"),
	))
	patch := set.Patch(thing{ID: "a", Kind: "k", Name: "n", Tags: []string{"x"}}, tables.Column("name"),
		tables.Elements("tags"))
	for name, change := range map[string]tables.Change{
		"insert": set.Insert(thing{ID: "a", Kind: "k", Name: "n", Tags: []string{"x"}}), "patch": patch,
	} {
		for _, late := range []time.Duration{30 * time.Minute, 61 * time.Minute} {
			t.Run(fmt.Sprint(name, late), func(t *testing.T) {
				t.Parallel()
				cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
					create(c, set)
					all := []string{"things", "things_by_kind", "things_keys"}
					for _, table := range all {
						c.Create("ALTER TABLE shop." + table + " WITH default_time_to_live = 3600")
					}
					w, reads := open(t, c)
					rows := func() (out [3]int) {
						for i, table := range all {
							if err := reads.Query("SELECT count(*) FROM " + table).Consistency(gocql.Quorum).Scan(&out[i]); err != nil {
								t.Fatal(err)
							}
						}
						return out
					}
					began := time.Now()
					lost, too := c.When(cassandratest.Table("things_by_kind")).Do(cassandratest.Drop),
						c.When(cassandratest.Table("things_keys")).Do(cassandratest.Drop)
					_, err := w.Write(t.Context(), "create", change)
					var failed *writer.Error
					if !errors.As(err, &failed) {
						t.Fatal(err)
					}
					lost.End()
					too.End()
					<-time.After(time.Until(began.Add(late)))
					if _, err := w.Resume(t.Context(), failed); err != nil {
						t.Fatal(err)
					}
					want := [3]int{1, 1, 1}
					if late > time.Hour {
						want = [3]int{}
					}
					if got := rows(); got != want {
						t.Errorf("after %v: %v rows, want %v", late, got, want)
					}
					<-time.After(time.Until(began.Add(61 * time.Minute)))
					if got := rows(); got != [3]int{} {
						t.Errorf("the base row has ended, and the tables have %v rows", got)
					}
				})
			})
		}
	}
}

// A default_time_to_live would take keys of a Unique table from their owners, and rows from one table while others of
// their entity stay.
func TestValidateOfDefaultTTL(t *testing.T) {
	t.Parallel()
	cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
		s := start(t, c)
		check := func(set tables.Described, want string) {
			t.Helper()
			got := ""
			if err := schema.Validate(t.Context(), s.both, schema.Sets(set)); err != nil {
				got = err.Error()
			}
			if want != "" {
				want = "schema: 1 difference(s) between declared and live\n\t" + want + ";"
			}
			if got != want {
				t.Errorf("%s\nwant %s", got, want)
			}
		}
		ttl := func(table, seconds string) {
			t.Helper()
			if err := s.reads.Query("ALTER TABLE " + table + " WITH default_time_to_live = " + seconds).Exec(); err != nil {
				t.Fatal(err)
			}
		}
		for _, table := range []string{"users", "users_by_city", "users_by_email"} {
			check(users, "")
			ttl(table, "3600")
			check(users, "shop."+table+": default_time_to_live is 3600: rows vanish, and a condition or a unique key with "+
				"them\n\t\tfix: "+
				"ALTER TABLE shop."+table+" WITH default_time_to_live = 0")
			ttl(table, "0")
		}
		ttl("slots", "60")
		check(slots, "")
		ttl("tickets_by_id", "60")
		check(tickets, "shop.tickets_by_user: default_time_to_live is 0, and the base table has 60: an entity's rows "+
			"vanish from one table and stay in the other\n\t\tfix: "+
			"ALTER TABLE shop.tickets_by_user WITH default_time_to_live = 60")
		ttl("tickets_by_user", "60")
		check(tickets, "")
		ttl("tickets_by_user", "30")
		check(tickets, "shop.tickets_by_user: default_time_to_live is 30, and the base table has 60: an entity's rows "+
			"vanish from one table and stay in the "+
			"other\n\t\tfix: ALTER TABLE shop.tickets_by_user WITH default_time_to_live = 60")
	})
}

type visit struct {
	ID    gocql.UUID
	Login string
	Name  string
	Page  string
	Cart  map[string]int32
	Ends  time.Time
}

var visits = tables.Must(tables.New[visit]("visit",
	tables.Table{Name: "visits", PartKey: []string{"id"}},
	tables.Table{Name: "visits_by_login", PartKey: []string{"login"}, SortKey: []string{"id"}},
	tables.ExpiresAt("ends"),
))

// A row that other code has written with a TTL, and that has no expiry, cannot be modified: it would stay in all
// tables. Rows that never end can, and so can those that the table's default_time_to_live ends.
func TestModifyKeepsTheEndOfARow(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		columns, values, using string
		ttl                    int
		rejected               bool
	}{
		"a TTL":                               {"page", "'home'", "USING TTL 3600", 0, true},
		"a TTL of one column":                 {"name", "'Joe'", "USING TTL 3600", 0, true},
		"none":                                {"page", "'home'", "", 0, false},
		"a TTL and an expiry":                 {"ends", "'2099-01-01'", "USING TTL 3600", 0, false},
		"default_time_to_live":                {"page", "'home'", "", 7200, false},
		"a TTL and default_time_to_live":      {"page", "'home'", "USING TTL 3600", 7200, false},
		"a collection alone, which is unseen": {"cart", "{'tea': 1}", "USING TTL 3600", 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
				create(c, visits)
				c.Create(fmt.Sprintf("ALTER TABLE shop.visits WITH default_time_to_live = %d", test.ttl))
				both := connect(t, c)
				w, id := openOn(t, both), gocql.MustRandomUUID()
				if err := both.Writes().Query("INSERT INTO shop.visits (id, login, "+test.columns+") VALUES (?, 'joe', "+
					test.values+") "+test.using, id).
					Exec(); err != nil {
					t.Fatal(err)
				}
				if test.columns != "page" { // and the login has no TTL
					if err := both.Writes().Query("UPDATE shop.visits SET login = 'joe' WHERE id = ?", id).Exec(); err != nil {
						t.Fatal(err)
					}
				}
				loaded, err := writer.Load(t.Context(), w, "look", visits, visit{ID: id})
				if err != nil || loaded.Login != "joe" {
					t.Errorf("%+v, %v", loaded, err)
				}
				stored, changed := rows(t, both.Reads(), "visits", "*"), false
				_, err = writer.Modify(t.Context(), w, "look", visits, visit{ID: id}, func(v visit) (visit, error) {
					changed, v.Page, v.Ends = true, "cart", time.Time{}
					return v, nil
				})
				if !changed || (err != nil) != test.rejected {
					t.Error(err)
				}
				if !test.rejected {
					return
				}
				var e *writer.Error
				if !errors.Is(err, writer.ErrInvalid) || !errors.As(err, &e) || !e.NotApplied() ||
					!strings.Contains(err.Error(), "adopt the set first") {
					t.Error(err)
				}
				if after := rows(t, both.Reads(), "visits", "*"); !slices.Equal(after, stored) {
					t.Errorf("%v, was %v", after, stored)
				}
				if _, err = writer.Modify(t.Context(), w, "look", visits, visit{ID: id}, func(v visit) (visit, error) {
					v.Ends = time.Now().Add(time.Hour)
					return v, nil
				}); err != nil {
					t.Errorf("with an expiry: %v", err)
				}
			})
		})
	}
}

// A Patch that one table gets before its expiry and the other after it ends the same in both: what it has written is
// gone, and what others have written stays.
func TestPatchAcrossItsExpiry(t *testing.T) {
	cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
		create(c, visits)
		w, reads := open(t, c)
		start := time.Now()
		seen := visit{gocql.MustRandomUUID(), "joe", "Joe", "home", map[string]int32{"tea": 1}, start.Add(4 * time.Second)}
		if _, err := w.Write(t.Context(), "login", visits.Insert(seen)); err != nil {
			t.Fatal(err)
		}
		longer := seen
		longer.Ends = start.Add(time.Hour)
		if _, err := w.Write(t.Context(), "extend", visits.Update(seen, longer)); err != nil {
			t.Fatal(err)
		}
		// Another request has read the row before that, and reaches one table late.
		away := c.When(cassandratest.Table("visits_by_login")).
			Do(cassandratest.Fail(cassandratest.Unavailable(gocql.LocalQuorum, 2, 1)))
		seen.Page, seen.Cart = "cart", map[string]int32{"cup": 2}
		_, err := w.Write(t.Context(), "visit", visits.Patch(seen, tables.Column("page"), tables.Elements("cart")))
		var failed *writer.Error
		if !errors.As(err, &failed) {
			t.Fatal(err)
		}
		away.End()
		<-time.After(6 * time.Second)
		stored, err := failed.MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		again := new(writer.Error)
		if err := again.UnmarshalBinary(stored); err != nil {
			t.Fatal(err)
		}
		if _, err = w.Resume(t.Context(), again); err != nil {
			t.Fatal(err)
		}
		const columns = "id, login, name, page, cart, ends"
		want := []string{fmt.Sprintf("map[cart:map[tea:1] ends:%v id:%v login:joe name:Joe page:]", time.Time{}, seen.ID)}
		for _, table := range []string{"visits", "visits_by_login"} {
			if got := rows(t, reads, table, columns); !slices.Equal(got, want) {
				t.Errorf("%s holds %v, want %v", table, got, want)
			}
		}
	})
}
