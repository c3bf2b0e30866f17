package reconcile_test

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/cassandratest"
	"github.com/denorm-go/denorm/internal/entity"
	"github.com/denorm-go/denorm/reconcile"
	"github.com/denorm-go/denorm/session"
	"github.com/denorm-go/denorm/tables"
	"github.com/denorm-go/denorm/writer"
)

type user struct {
	ID          int
	Name, Email string
	Phone       *string
	Version     gocql.UUID
}

var users = tables.Must(tables.New[user]("user",
	tables.Table{Name: "users", PartKey: []string{"id"}},
	tables.Table{Name: "users_by_name", PartKey: []string{"name"}, SortKey: []string{"id"}},
	tables.Table{Name: "users_by_email", PartKey: []string{"email"}, Unique: true},
	tables.Table{Name: "users_by_phone", PartKey: []string{"phone"}, Unique: true},
	tables.Versioned("version"),
))

// A report names the tables of the set that were not compared.
func TestNotCompared(t *testing.T) {
	t.Parallel()
	cassandratest.Test(t, 1, func(t *testing.T, c *cassandratest.Cluster) {
		_, _, r := openSet(t, c, users)
		for _, tt := range []struct{ only, want []string }{
			{nil, nil},
			{[]string{"users_by_name"}, []string{"shop.users_by_email", "shop.users_by_phone"}},
			{[]string{"users_by_email"}, []string{"shop.users_by_name", "shop.users_by_phone"}},
		} {
			var options []reconcile.Option
			if tt.only != nil {
				options = append(options, reconcile.Tables(tt.only...))
			}
			report, err := r.Verify(t.Context(), users, options...)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(report.NotCompared, tt.want) {
				t.Errorf("Tables(%v): not compared: %v, want %v", tt.only, report.NotCompared, tt.want)
			}
			for _, name := range tt.want {
				if text := report.String(); !regexp.MustCompile(name + " +not compared").MatchString(text) {
					t.Errorf("%s is not in\n%s", name, text)
				}
			}
		}
	})
}

// usersWorld is a service of users.
type usersWorld struct {
	t *testing.T
	s *session.Session
	w *writer.Writer
	r *reconcile.Reconciler
}

func (x usersWorld) exec(statement string, values ...any) {
	x.t.Helper()
	if err := x.s.Writes().Query(statement, values...).SerialConsistency(gocql.Serial).DefaultTimestamp(false).Exec(); err != nil {
		x.t.Fatal(err)
	}
}

func (x usersWorld) insert(id int, email string) {
	x.t.Helper()
	if _, err := x.w.Write(x.t.Context(), "insert", users.Insert(user{ID: id, Name: "ada", Email: email})); err != nil {
		x.t.Fatal(err)
	}
}

func (x usersWorld) move(id int, email string) {
	x.t.Helper()
	_, err := writer.Modify(x.t.Context(), x.w, "move", users, user{ID: id}, func(u user) (user, error) {
		u.Email = email
		return u, nil
	})
	if err != nil {
		x.t.Fatal(err)
	}
}

// claim makes a claim by hand, of 10 minutes ago unless it is to be a recent one.
func (x usersWorld) claim(email string, id int) {
	x.exec("INSERT INTO users_by_email (email, id, claim) VALUES (?, ?, ?) IF NOT EXISTS", email, id, entity.Version(time.Now().Add(-10*time.Minute).UnixMicro(), uint64(id)))
}

func (x usersWorld) free(email string) {
	x.exec("DELETE FROM users_by_email WHERE email = ? IF EXISTS", email)
}

// owner is who has claimed an address, 0 if nobody has.
func (x usersWorld) owner(email string) (id int) {
	x.t.Helper()
	err := x.s.Reads().Query("SELECT id FROM users_by_email WHERE email = ?", email).Consistency(gocql.Consistency(gocql.Serial)).Scan(&id)
	if err != nil && !errors.Is(err, gocql.ErrNotFound) {
		x.t.Fatal(err)
	}
	return id
}

func foundClaims(report *reconcile.Report) []string {
	var found []string
	for f := range report.Findings() {
		text := fmt.Sprintf("%s %s of %s, %s", f.Class, f.Key(), f.Entity(), f.Certainty)
		if f.Other() != "" {
			text += ", and of " + f.Other()
		}
		if f.Outcome != reconcile.Found {
			text += ": " + f.Outcome.String()
		}
		found = append(found, text)
	}
	slices.Sort(found)
	return found
}

var methods = map[string][]reconcile.Option{"digest": nil, "lookup": {reconcile.Lookup()}}

// Unique keys that are not claimed for the row which has them are found and claimed for it, unless another row has them
// too; claims that no row holds are counted.
func TestUniqueKeys(t *testing.T) {
	t.Parallel()
	for name, method := range methods {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
				s, w, r := openSet(t, c, users, append(method, handed)...)
				x := usersWorld{t, s, w, r}
				for id := range 10 {
					x.insert(1+id, fmt.Sprint("u", 1+id))
				}
				x.free("u1") // it is lost
				x.free("u2") // it is that of an entity that does not exist
				x.claim("u2", 99)
				x.free("u3") // it is that of another entity, which does not have the key
				x.claim("u3", 4)
				x.free("u5") // of two rows with one key, one has the claim
				x.move(6, "u5")
				x.claim("left", 7) // no row holds it
				x.claim("gone", 98)
				<-time.After(10 * time.Minute)
				x.exec("INSERT INTO users_by_email (email, id, claim) VALUES ('young', 97, now()) IF NOT EXISTS")
				report, err := r.Verify(t.Context(), users)
				want := []string{
					"shared email = 'u5' of id = 5, proven, and of id = 6",
					"unclaimed email = 'u1' of id = 1, proven", "unclaimed email = 'u2' of id = 2, proven", "unclaimed email = 'u3' of id = 3, proven",
				}
				if got := foundClaims(report); !slices.Equal(got, want) || !errors.Is(err, reconcile.ErrDrift) {
					t.Errorf("%v: found\n%s\nwant\n%s", err, strings.Join(got, "\n"), strings.Join(want, "\n"))
				}
				if n := report.Tables[2].Unheld; n != 4 { // 2 that are foreign, and 2 that nobody wants; another one is young
					t.Errorf("%d claims that no row holds\n%v", n, report)
				}
				if report, err = r.Repair(t.Context(), users, reconcile.DryRun()); len(foundClaims(report)) != 4 {
					t.Errorf("%v\n%v", err, report)
				}
				report, err = r.Repair(t.Context(), users)
				for i := range want[1:] {
					want[1+i] += ": repaired"
				}
				if got := foundClaims(report); !slices.Equal(got, want) || !errors.Is(err, reconcile.ErrDrift) {
					t.Errorf("%v: a repair says\n%s\nwant\n%s", err, strings.Join(got, "\n"), strings.Join(want, "\n"))
				}
				for email, id := range map[string]int{"u1": 1, "u2": 2, "u3": 3, "u4": 4, "u5": 6, "left": 7, "gone": 98} {
					if got := x.owner(email); got != id {
						t.Errorf("%s is claimed for %d, want %d", email, got, id)
					}
				}
				if _, err := w.Write(t.Context(), "insert", users.Insert(user{ID: 50, Name: "eve", Email: "u1"})); !errors.Is(err, writer.ErrTaken) {
					t.Errorf("the key of another user is claimed: %v", err)
				}
				x.move(5, "u5b")
				if report, err := r.Verify(t.Context(), users); err != nil {
					t.Errorf("after the repair: %v\n%v", err, report)
				}
				x.free("u8") // two rows with one key, for neither of which it is claimed
				x.move(9, "u8")
				x.free("u8")
				<-time.After(10 * time.Minute)
				report, _ = r.Verify(t.Context(), users)
				want = []string{"shared email = 'u8' of id = 8, proven, and of id = 9", "shared email = 'u8' of id = 9, proven, and of id = 8"}
				if got := foundClaims(report); !slices.Equal(got, want) {
					t.Errorf("found %q, want %q", got, want)
				}
				if report, err = r.Repair(t.Context(), users); !errors.Is(err, reconcile.ErrDrift) {
					t.Errorf("%v\n%v", err, report)
				}
				owner := x.owner("u8") // either
				want = []string{fmt.Sprintf("shared email = 'u8' of id = %d, proven, and of id = %d", 17-owner, owner)}
				report, _ = r.Verify(t.Context(), users)
				if got := foundClaims(report); !slices.Equal(got, want) {
					t.Errorf("after the repair %q, want %q", got, want)
				}
			})
		})
	}
}

// Reads at SERIAL take longer than others, and that is no sign of a cluster with too much to do: a run that makes many
// has as many in flight as another.
func TestReadsAtSerialKeepThePace(t *testing.T) {
	t.Parallel()
	cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
		s, w, r := openSet(t, c, users)
		x := usersWorld{t, s, w, r}
		for id := range 200 {
			x.insert(1+id, fmt.Sprint("u", 1+id))
			x.free(fmt.Sprint("u", 1+id))
		}
		<-time.After(10 * time.Minute)
		at := func(serial bool) cassandratest.Matcher {
			return cassandratest.Where(func(r cassandratest.Request) bool {
				return isRead(r) && (r.Consistency == gocql.Consistency(gocql.Serial)) == serial
			})
		}
		c.When(at(false)).Do(cassandratest.Delay(5 * time.Millisecond))
		c.When(at(true)).Do(cassandratest.Delay(25 * time.Millisecond))
		inFlight := 0
		report, err := r.Verify(t.Context(), users, reconcile.OnProgress(func(p reconcile.Progress) { inFlight = p.InFlight }))
		if n := len(foundClaims(report)); n != 200 || !errors.Is(err, reconcile.ErrDrift) {
			t.Errorf("%d findings, %v", n, err)
		}
		if inFlight < 35 {
			t.Errorf("%d requests in flight at the end", inFlight)
		}
	})
}

// A row of a table of unique keys that names no entity, as other code has made it, is named as what it is, and nothing
// else is left out for it.
func TestClaimOfNobody(t *testing.T) {
	t.Parallel()
	for name, method := range methods {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
				s, w, r := openSet(t, c, users, append(method, handed)...)
				x := usersWorld{t, s, w, r}
				for id := range 3 {
					x.insert(1+id, fmt.Sprint("u", 1+id))
				}
				x.exec("INSERT INTO users_by_email (email) VALUES ('reserved')")
				x.free("u2")
				x.free("u3")
				x.exec("INSERT INTO users_by_email (email) VALUES ('u3')")
				<-time.After(10 * time.Minute)
				report, err := r.Verify(t.Context(), users)
				if !errors.Is(err, reconcile.ErrIncomplete) || !strings.Contains(err.Error(), "a row of shop.users_by_email names no entity") ||
					strings.Contains(err.Error(), "bucket") {
					t.Errorf("%v\n%v", err, report)
				}
				if got, want := foundClaims(report), []string{"unclaimed email = 'u2' of id = 2, proven"}; !slices.Equal(got, want) {
					t.Errorf("found %q, want %q", got, want)
				}
				x.exec("DELETE FROM users_by_email WHERE email = 'reserved'")
				x.exec("DELETE FROM users_by_email WHERE email = 'u3'")
				if report, err = r.Repair(t.Context(), users); len(foundClaims(report)) != 2 || report.Err() != nil && !errors.Is(err, reconcile.ErrDrift) {
					t.Errorf("%v\n%v", err, report)
				}
			})
		})
	}
}

// Adopt claims the unique keys of the rows that it gives a version. Rows that share one get a version, too, or they
// could not be changed.
func TestAdoptClaimsUniqueKeys(t *testing.T) {
	t.Parallel()
	cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
		s, w, r := openSet(t, c, users)
		x := usersWorld{t, s, w, r}
		at := time.Now().UnixMicro()
		for id := 1; id <= 20; id++ {
			x.exec("INSERT INTO users (id, name, email) VALUES (?, 'ada', ?) USING TIMESTAMP ?", id, fmt.Sprint("mine", id), at)
			if id%2 == 0 { // by hand, so without a token
				x.exec("INSERT INTO users_by_email (email, id) VALUES (?, ?) USING TIMESTAMP ?", fmt.Sprint("mine", id), id, at)
			}
		}
		for id := 21; id <= 22; id++ {
			x.exec("INSERT INTO users (id, name, email, phone) VALUES (?, 'eve', 'ours', ?) USING TIMESTAMP ?", id, fmt.Sprint(id), at)
		}
		x.exec("INSERT INTO users (id, name, email) VALUES (23, 'eve', 'nobody') USING TIMESTAMP ?", at)
		x.exec("INSERT INTO users_by_email (email) VALUES ('nobody') USING TIMESTAMP ?", at) // it names no user
		<-time.After(time.Minute)
		report, err := r.Adopt(t.Context(), users, reconcile.Writers(time.Now()))
		if !errors.Is(err, reconcile.ErrDrift) || report.Stamped != 23 {
			t.Errorf("%v\n%v", err, report)
		}
		put := 0
		for f := range report.Findings() {
			switch {
			case f.Class == reconcile.Missing && f.Outcome == reconcile.Repaired && f.Table == "shop.users_by_name":
				put++
			case f.Class != reconcile.Shared && f.Class != reconcile.Unclaimed || f.Entity() != "id = 21" && f.Entity() != "id = 22":
				t.Error(f)
			}
		}
		if put != 23 {
			t.Errorf("%d rows of users_by_name were missing", put)
		}
		for id := 1; id <= 20; id++ {
			if got := x.owner(fmt.Sprint("mine", id)); got != id {
				t.Errorf("the address of %d is claimed for %d", id, got)
			}
		}
		for id := 21; id <= 22; id++ { // with the address that both have
			x.move(id, "ours")
		}
		x.move(21, "yours")
		x.move(1, "other")
		if _, err := w.Write(t.Context(), "insert", users.Insert(user{ID: 30, Name: "ada", Email: "mine2"})); !errors.Is(err, writer.ErrTaken) {
			t.Error(err)
		}
		x.move(23, "hers")
		x.exec("DELETE FROM users_by_email WHERE email = 'nobody' IF EXISTS")
		if report, err := r.Repair(t.Context(), users); err != nil || x.owner("ours") != 22 || x.owner("hers") != 23 {
			t.Errorf("%v\n%v", err, report)
		}
		if report, err := r.Verify(t.Context(), users); err != nil {
			t.Errorf("%v\n%v", err, report)
		}
	})
}
