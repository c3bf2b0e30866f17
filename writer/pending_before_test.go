package writer_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/cassandratest"
)

// What processes of before have left in the column pending is carried out by the next write of the entity. The rows are those that
// commit a234703 leaves where users_by_city cannot be written; an entry has a version of its format, and names and values of columns.
// A key that was given up stays with the entity until somebody wants it.
func TestPendingOfBefore(t *testing.T) {
	t.Parallel()
	const (
		first, second = "877355a0-bfde-11d3-8c28-b0199d6fdb24", "ab36da20-bfde-11d3-bc2a-e1e50522fffe"
		former        = "0x010005656d61696c000361407800046369747900" + "04726f6d65" // email a@x, city rome
		id            = "8a3c2e10-c6a1-11f0-8de9-0242ac120002"
	)
	const at1, at2 int64 = 946684860001200, 946684920002400
	base := func(email, city, name, version, pending string, at int64) string {
		return fmt.Sprintf("INSERT INTO users (user_id, email, city, name, version, pending) VALUES (%s, %s, %s, %s, %s, {%s: %s}) USING TIMESTAMP %d",
			id, email, city, name, version, version, pending, at)
	}
	claim := func(email string, token string) string {
		return fmt.Sprintf("INSERT INTO users_by_email (email, user_id, claim) VALUES ('%s', %s, %s) USING TIMESTAMP %d", email, id, token, at1)
	}
	const (
		rome   = "INSERT INTO users_by_city (city, user_id, email, name, version) VALUES ('rome', " + id + ", 'a@x', 'ann', " + first + ") USING TIMESTAMP 946684860001200"
		tokenA = "877355aa-bfde-11d3-a036-3d67ca190395"
		tokenB = "ab36e9c0-bfde-11d3-b9e9-23c4b07b59c5"
	)
	key := user{UserID: gocql.UUID{0x8a, 0x3c, 0x2e, 0x10, 0xc6, 0xa1, 0x11, 0xf0, 0x8d, 0xe9, 0x02, 0x42, 0xac, 0x12, 0x00, 0x02}}
	rename := func(t *testing.T, s *service) error { t.Helper(); return s.rename(t.Context(), key, "eve") }
	for name, test := range map[string]struct {
		rows   []string
		next   func(*testing.T, *service) error
		cities []string // of users_by_city and of users_by_email, afterwards
		emails []string
	}{
		"insert": {[]string{base("'a@x'", "'rome'", "'ann'", first, "0x", at1), claim("a@x", tokenA)}, rename, []string{"rome eve"}, []string{"a@x"}},
		"moved": {
			[]string{base("'a@x'", "'oslo'", "'ann'", second, former, at2), claim("a@x", tokenA), rome}, rename, []string{"oslo eve"}, []string{"a@x"},
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
