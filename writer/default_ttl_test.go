package writer_test

import (
	"testing"

	"github.com/denorm-go/denorm/cassandratest"
	"github.com/denorm-go/denorm/schema"
	"github.com/denorm-go/denorm/tables"
)

// A default_time_to_live would take keys of a Unique table from their owners, and rows from one table while others of their entity stay.
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
			check(users, "shop."+table+": default_time_to_live is 3600: rows vanish, and a condition or a unique key with them\n\t\tfix: "+
				"ALTER TABLE shop."+table+" WITH default_time_to_live = 0")
			ttl(table, "0")
		}
		ttl("slots", "60")
		check(slots, "")
		ttl("tickets_by_id", "60")
		check(tickets, "shop.tickets_by_user: default_time_to_live is 0, that of the base table 60: an entity's rows vanish from one table and stay in the other\n\t\tfix: "+
			"ALTER TABLE shop.tickets_by_user WITH default_time_to_live = 60")
		ttl("tickets_by_user", "60")
		check(tickets, "")
		ttl("tickets_by_user", "30")
		check(tickets, "shop.tickets_by_user: default_time_to_live is 30, that of the base table 60: an entity's rows vanish from one table and stay in the "+
			"other\n\t\tfix: ALTER TABLE shop.tickets_by_user WITH default_time_to_live = 60")
	})
}
