package reconcile_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/cassandratest"
	"github.com/denorm-go/denorm/reconcile"
	"github.com/denorm-go/denorm/session"
	"github.com/denorm-go/denorm/tables"
)

type stay struct {
	StayID   int
	StartsAt time.Time
	Note     string
	Stamp    int64
	Version  gocql.UUID
}

// dayStay has the day in the base table, too.
type dayStay struct {
	stay
	Day int
}

func stays[T any](options ...tables.Option) tables.Described {
	return tables.Must(tables.New[T]("stay", append(options,
		tables.Table{Name: "stays", PartKey: []string{"stay_id"}},
		tables.Table{Name: "stays_by_day", PartKey: []string{"day"}, SortKey: []string{"starts_at", "stay_id"}},
		tables.Type("day", "int"))...))
}

// days are what stays_by_day has.
func days(t *testing.T, s *session.Session) (out []string) {
	t.Helper()
	iter := s.Reads().Query("SELECT day, stay_id FROM stays_by_day").Iter()
	for day, id := 0, 0; iter.Scan(&day, &id); {
		out = append(out, fmt.Sprint(day, " ", id))
	}
	if err := iter.Close(); err != nil {
		t.Fatal(err)
	}
	slices.Sort(out)
	return out
}

// The table has days as yyyymmdd, and they are declared as days since 1970, or as a column that base rows do not have:
// a run that would remove all rows ends before it changes the first, unless MaxRemovals is given. Few rows may be
// drift, and are removed.
func TestWrongDeclarationOfAKeyColumn(t *testing.T) {
	t.Parallel()
	day := tables.Derive("day", tables.Day("starts_at"))
	single := tables.SingleWriter("starts_at")
	ofItsOwn := stays[dayStay](single, tables.SingleWriter("day"), tables.Stamp("stamp"))
	stamped, versioned := stays[stay](day, single, tables.Stamp("stamp")), stays[stay](day, tables.Versioned("version"))
	dryRun := []reconcile.Option{reconcile.DryRun()}
	for name, tt := range map[string]struct {
		set         tables.Described
		repair      bool
		rows, agree int // that are in the table; of these with the declared day
		options     []reconcile.Option
		want        error
	}{
		"another value":                    {set: stamped, rows: 40, want: reconcile.ErrTooMuch},
		"the service has written rows":     {set: stamped, rows: 40, agree: 3, want: reconcile.ErrTooMuch},
		"a dry run":                        {set: stamped, rows: 40, options: dryRun, want: reconcile.ErrTooMuch},
		"a column that base rows lack":     {set: ofItsOwn, rows: 40, want: reconcile.ErrTooMuch},
		"repair":                           {set: stays[stay](day, single), repair: true, rows: 40, want: reconcile.ErrTooMuch},
		"versioned":                        {set: versioned, rows: 40, want: reconcile.ErrTooMuch},
		"versioned, a dry run":             {set: versioned, rows: 40, options: dryRun, want: reconcile.ErrTooMuch},
		"as many as a small table has":     {set: stamped, rows: 5, want: reconcile.ErrTooMuch},
		"few":                              {set: stamped, rows: 4},
		"many, and as many that are right": {set: stamped, rows: 40, agree: 20},
		"MaxRemovals":                      {set: stamped, rows: 40, options: []reconcile.Option{reconcile.MaxRemovals(40)}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
				s, _, r := openSet(t, c, tt.set, reconcile.Settle(30*time.Second), handed)
				for id := range tt.rows {
					at := time.Date(2026, 11, 1+id%20, 12, 0, 0, 0, time.UTC)
					day := 20261101 + id%20
					if id < tt.agree {
						day = int(at.Unix() / (24 * 60 * 60))
					}
					for statement, values := range map[string][]any{
						"INSERT INTO stays (stay_id, starts_at, note) VALUES (?, ?, 'n')":                {id, at},
						"INSERT INTO stays_by_day (day, stay_id, starts_at, note) VALUES (?, ?, ?, 'n')": {day, id, at},
					} {
						if err := s.Writes().Query(statement, values...).Exec(); err != nil {
							t.Fatal(err)
						}
					}
				}
				before := days(t, s)
				<-time.After(time.Hour)
				run, options := r.Adopt, append(slices.Clone(tt.options), reconcile.Writers(time.Now()))
				if tt.repair {
					run, options = r.Repair, tt.options
				}
				report, err := run(t.Context(), tt.set, options...)
				if !errors.Is(err, tt.want) {
					t.Fatalf("%v\n%v", err, report)
				}
				after := days(t, s)
				switch {
				case tt.want == nil && (len(after) != tt.rows || tt.agree == 0 && slices.Contains(after, before[0])):
					t.Errorf("%v", after)
				case tt.want != nil && (!slices.Equal(after, before) || !strings.Contains(err.Error(), "nothing in shop.stays_by_day is changed")):
					t.Errorf("%d of %d rows are left: %v\n%v", len(after), len(before), err, report)
				}
			})
		})
	}
}
