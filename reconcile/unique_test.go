package reconcile_test

import (
	"regexp"
	"slices"
	"testing"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/cassandratest"
	"github.com/denorm-go/denorm/reconcile"
	"github.com/denorm-go/denorm/tables"
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
			{nil, []string{"shop.users_by_email", "shop.users_by_phone"}},
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
