package schema_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/cassandratest"
	"github.com/denorm-go/denorm/schema"
	"github.com/denorm-go/denorm/session"
	"github.com/denorm-go/denorm/tables"
)

type rental struct {
	ID, Place string
	Days      int32
	Until     time.Time
	Version   gocql.UUID
}

func rentals(options ...tables.Option) *tables.Set[rental] {
	return tables.Must(tables.New[rental]("rental",
		append([]tables.Option{tables.Table{Name: "rentals", Keyspace: "mall", PartKey: []string{"id"}}}, options...)...))
}

// Validate looks at some rows of each base table. What a change through the set would damage is an error, and what an
// adoption puts right a note.
func TestValidateLooksAtRows(t *testing.T) {
	t.Parallel()
	byPlace := tables.Table{Name: "rentals_by_place", Keyspace: "mall", PartKey: []string{"place"}, SortKey: []string{"id"}}
	for name, test := range map[string]struct {
		set   tables.Described
		using string
		then  string
		at    func(time.Time) int64
		error string
		note  string
	}{
		"rows that stay": {set: rentals()},
		"rows that end": {
			set: rentals(), using: " AND TTL 7200",
			error: "60 of 60 rows that were looked at end by a TTL, which a change would lose: declare tables.ExpiresAt(\"expires_at\")" +
				"\n\t\tfix: ALTER TABLE mall.rentals ADD expires_at timestamp;",
		},
		"rows that end and do not say when": {
			set: rentals(tables.ExpiresAt("until")), using: " AND TTL 7200",
			note: "which a change would lose\n\t\tno statement fixes it: adopt the set, which fills until",
		},
		"rows that end in a set with Versioned": {
			set: rentals(byPlace, tables.Versioned("version")), using: " AND TTL 7200",
			error: "write them without TTL, or delete them: the set has conditions",
		},
		"rows that end in a set with Compare": {
			set: rentals(tables.Compare("days")), using: " AND TTL 7200",
			error: "write them without TTL, or delete them: the set has conditions",
		},
		"columns that end": {
			set: rentals(), then: "UPDATE mall.rentals USING TTL 7200 SET days = 3 WHERE id = ?",
			error: "60 of 60 rows that were looked at have a TTL on some columns, which a change would lose, and no expiry fits" +
				"\n\t\tno statement fixes it: write their columns alike, all with a TTL or none",
		},
		"columns that end in a set with ExpiresAt": {
			set: rentals(tables.ExpiresAt("until")), then: "UPDATE mall.rentals USING TTL 7200 SET days = 3 WHERE id = ?",
			error: "and no expiry fits\n\t\tno statement fixes it: write their columns alike",
		},
		"columns that end in a set with Compare": {
			set: rentals(tables.Compare("days")), then: "UPDATE mall.rentals USING TTL 7200 SET days = 3 WHERE id = ?",
			error: "write them without TTL, or delete them: the set has conditions",
		},
		"milliseconds": {set: rentals(), at: time.Time.UnixMilli, note: "60 of 60 rows that were looked at have write times in milliseconds"},
		"nanoseconds":  {set: rentals(), at: time.Time.UnixNano, error: "no later write wins against them: copy the rows into a new table"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
				s := mall(t, c, test.set)
				at := time.Time.UnixMicro
				if test.at != nil {
					at = test.at
				}
				for n := range 60 {
					if err := s.Writes().Query("INSERT INTO mall.rentals (id, place, days) VALUES (?, '1', 2) USING TIMESTAMP ?"+test.using, fmt.Sprint(n),
						at(time.Now())).DefaultTimestamp(false).Exec(); err != nil {
						t.Fatal(err)
					}
					if test.then == "" {
						continue
					}
					if err := s.Writes().Query(test.then, fmt.Sprint(n)).Exec(); err != nil {
						t.Fatal(err)
					}
				}
				err := schema.Validate(t.Context(), s, schema.Sets(test.set))
				if (err != nil) != (test.error != "") || err != nil && !strings.Contains(err.Error(), test.error) {
					t.Error(err)
				}
				if notes := rowNotes(t, s, test.set); test.note != "" && !strings.Contains(notes, test.note) {
					t.Error(notes)
				}
			})
		})
	}
}

// mall creates the tables of a set, and opens a session.
func mall(t *testing.T, c *cassandratest.Cluster, set tables.Described) *session.Session {
	t.Helper()
	c.Create(schema.Must(schema.Declare(schema.Sets(set), schema.Keyspaces(schema.Keyspace{
		Name: "mall", Replication: schema.Replication(map[string]int{"dc1": 3}),
	}))).Statements()...)
	s, err := session.Open(c.Config(), session.LocalDC("dc1"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// rowNotes are the notes about rows.
func rowNotes(t *testing.T, s *session.Session, set tables.Described) string {
	t.Helper()
	found, err := schema.Differences(t.Context(), s, schema.Sets(set))
	if err != nil {
		t.Fatal(err)
	}
	var notes []string
	for _, d := range found {
		if d.Note {
			notes = append(notes, d.String())
		}
	}
	return strings.Join(notes, "\n")
}

// Of a column that is null in rows, and whose field is no pointer, a note has the share, whatever its type.
func TestValidateNamesNulls(t *testing.T) {
	t.Parallel()
	type thing struct {
		ID     string
		Number int32
		Yes    bool
		Name   string
		Note   *string
		When   time.Time
		Tags   []string
	}
	set := tables.Must(tables.New[thing]("thing", tables.Type("tags", "set<text>"),
		tables.Table{Name: "things", Keyspace: "mall", PartKey: []string{"id"}}))
	cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
		s := mall(t, c, set)
		for n, columns := range []string{"id", "id", "id, number, yes, name"} {
			if err := s.Writes().Query("INSERT INTO mall.things (" + columns + ") VALUES (" +
				strings.Join([]string{fmt.Sprintf("'%d'", n), "1", "true", "'a'"}[:strings.Count(columns, ",")+1], ", ") + ")").Exec(); err != nil {
				t.Fatal(err)
			}
		}
		if err := schema.Validate(t.Context(), s, schema.Sets(set)); err != nil {
			t.Error(err)
		}
		notes := rowNotes(t, s, set)
		for _, column := range []string{"number", "yes", "name"} {
			if !strings.Contains(notes, "column "+column+": null in 2 of 3 rows that were looked at, and its field is not a pointer") {
				t.Errorf("not of %s: %s", column, notes)
			}
		}
		for _, column := range []string{"note", "when", "tags"} {
			if strings.Contains(notes, "column "+column+":") {
				t.Errorf("of %s: %s", column, notes)
			}
		}
		// No update of such a row writes anything if the column is compared.
		compared := tables.Must(tables.New[thing]("thing", tables.Type("tags", "set<text>"), tables.Compare("number"),
			tables.Table{Name: "things", Keyspace: "mall", PartKey: []string{"id"}}))
		notes = rowNotes(t, s, compared)
		if n := strings.Count(notes, "it is compared, so no change of these rows can hold"); n != 1 {
			t.Errorf("%d notes of the compared column: %s", n, notes)
		}
	})
}

// Nulls are told of in key columns of query tables, too, and in rows by hand, which have no version.
func TestValidateNamesNullsInKeys(t *testing.T) {
	t.Parallel()
	type stay struct {
		ID, Host, Month string
		Day             int64
		Version         gocql.UUID
	}
	set := tables.Must(tables.New[stay]("stay", tables.Versioned("version"),
		tables.Table{Name: "stays", Keyspace: "mall", PartKey: []string{"id"}},
		tables.Table{Name: "stays_by_month", Keyspace: "mall", PartKey: []string{"host", "month"}, SortKey: []string{"day", "id"}}))
	cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
		s := mall(t, c, set)
		if err := s.Writes().Query("INSERT INTO mall.stays (id, host) VALUES ('1', 'a')").Exec(); err != nil {
			t.Fatal(err)
		}
		notes := rowNotes(t, s, set)
		for column, why := range map[string]string{"month": "so no change of these rows is valid", "day": "and its field is not a pointer"} {
			if !strings.Contains(notes, "column "+column+": null in 1 of 1 rows that were looked at, "+why) {
				t.Errorf("not of %s: %s", column, notes)
			}
		}
	})
}

// A role without permission to read rows, or nodes that do not answer, make no difference: a note says that no row
// was looked at. What is sent is little, and one request after the other.
func TestValidateReadsAFewRows(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		error cassandratest.Error
		want  string
	}{
		"all is well":   {},
		"no permission": {cassandratest.Code(gocql.ErrCodeUnauthorized), "the role has no permission to SELECT"},
		"overloaded":    {cassandratest.Code(gocql.ErrCodeOverloaded), "no row, or not all of a sample, was looked at"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
				set := rentals()
				s := mall(t, c, set)
				step := cassandratest.Apply
				if test.want != "" {
					step = cassandratest.Fail(test.error)
				}
				rule := c.When(cassandratest.Table("rentals")).Do(step)
				if err := schema.Validate(t.Context(), s, schema.Sets(set)); err != nil {
					t.Error(err)
				}
				if notes := rowNotes(t, s, set); (test.want == "") != !strings.Contains(notes, "looked at") || !strings.Contains(notes, test.want) {
					t.Error(notes)
				}
				if n, want := rule.Handled(), map[bool]int{true: 8, false: 2}[test.want == ""]; n != want {
					t.Errorf("%d requests in two calls", n)
				}
			})
		})
	}
}
