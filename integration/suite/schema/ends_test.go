package schema_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/integration/harness/cluster"
	"github.com/denorm-go/denorm/internal/testutil/testsession"
	"github.com/denorm-go/denorm/reconcile"
	"github.com/denorm-go/denorm/schema"
	"github.com/denorm-go/denorm/session"
	"github.com/denorm-go/denorm/tables"
	"github.com/denorm-go/denorm/writer"
)

// A seat of a train, which other code reserves USING TTL in tables of its own.
type (
	seat struct {
		ID, Train string
		Price     int32
		Tags      []string
		Stamp     int64
	}
	endingSeat struct {
		ID, Train string
		Price     int32
		Tags      []string
		Stamp     int64
		ExpiresAt time.Time
	}
)

// seatOptions declare the tables in a keyspace.
func seatOptions(keyspace string, more ...tables.Option) []tables.Option {
	return append([]tables.Option{
		tables.Table{Name: "seats", Keyspace: keyspace, PartKey: []string{"id"}},
		tables.Table{Name: "seats_by_train", Keyspace: keyspace, PartKey: []string{"train"}, SortKey: []string{"id"}},
		tables.Type("tags", "set<text>"), tables.Stamp("stamp"), tables.OneOf("train", "ice", "tgv"), tables.UnstampedRows(),
	}, more...)
}

// seatTables are the tables as the other code has made them, with the column of the stamp.
var seatTables = []string{
	"CREATE TABLE seats (id text PRIMARY KEY, train text, price int, tags set<text>, stamp bigint)",
	"CREATE TABLE seats_by_train (train text, id text, price int, tags set<text>, stamp bigint, PRIMARY KEY (train, id))",
}

// trains are the tables of a test, written by hand and by the library.
type trains struct {
	*testing.T
	*session.Session

	keyspace string
	began    time.Time
}

func openTrains(t *testing.T, statements ...string) *trains {
	t.Helper()
	cluster.Need(t, 3)
	keyspace := cluster.Keyspace(t, 3, statements...)
	return &trains{t, testsession.New(t, cluster.Session(t, keyspace, patient), cluster.Session(t, keyspace, patient)), keyspace, time.Now()}
}

func (s *trains) exec(statement string, values ...any) {
	s.Helper()
	if err := s.Writes().Query(statement, values...).DefaultTimestamp(false).Consistency(gocql.All).Exec(); err != nil {
		s.Fatal(statement, err)
	}
}

// reserve writes a seat by hand, to each table with a TTL of its own.
func (s *trains) reserve(id string, ttls ...int) {
	s.Helper()
	for i, table := range []string{"seats", "seats_by_train"} {
		s.exec(fmt.Sprintf("INSERT INTO %s (id, train, price, tags) VALUES (?, 'ice', 1, {'window'}) USING TTL %d", table, ttls[i]), id)
	}
}

// ends are when rows end, by TTL and by their expiry, in minutes since the test began; "-" for never.
func (s *trains) ends(table string) string {
	s.Helper()
	var out []string
	iter := s.Reads().Query("SELECT id, TTL(price), expires_at FROM " + table).Consistency(gocql.All).Iter()
	in := func(at time.Time) string { return fmt.Sprint(at.Sub(s.began).Round(5 * time.Minute).Minutes()) }
	for id, ttl, until := "", (*int32)(nil), (*time.Time)(nil); iter.Scan(&id, &ttl, &until); ttl, until = nil, nil {
		text := []string{"-", "-"}
		if ttl != nil {
			text[0] = in(time.Now().Add(time.Duration(*ttl) * time.Second))
		}
		if until != nil {
			text[1] = in(*until)
		}
		out = append(out, id+" "+strings.Join(text, " "))
	}
	if err := iter.Close(); err != nil {
		s.Fatal(err)
	}
	slices.Sort(out)
	return strings.Join(out, ", ")
}

// reconciler waits for a second where the default is a minute and a half.
func (s *trains) reconciler() *reconcile.Reconciler {
	s.Helper()
	r, err := reconcile.New(s.Session, reconcile.Settle(2*time.Second))
	if err != nil {
		s.Fatal(err)
	}
	return r
}

// Rows by hand that end: Validate and Verify say what to declare, Adopt fills their expiry, and each kind of change
// keeps it, in all tables.
func TestRowsThatEnd(t *testing.T) {
	t.Parallel()
	s := openTrains(t, seatTables...)
	r, ctx := s.reconciler(), t.Context()
	for _, id := range []string{"deleted", "left", "modified", "moved", "updated"} {
		s.reserve(id, 10800, 10800)
	}
	s.reserve("base first", 9000, 18000)
	s.reserve("query alone", 0, 10800)
	s.reserve("stays", 0, 0)
	plain := tables.Must(tables.New[seat]("seat", seatOptions(s.keyspace)...))
	err := schema.Validate(ctx, s.Session, schema.Sets(plain))
	var differ *schema.DifferenceError
	if !errors.As(err, &differ) || len(differ.Differences) != 1 || !strings.Contains(err.Error(), "6 of 8 rows that were looked at end by a TTL") {
		t.Fatal(err)
	}
	report, err := r.Verify(ctx, plain)
	if !errors.Is(err, reconcile.ErrUnsafe) || report.Tables[0].Ending != 6 || report.Tables[1].Ending != 7 {
		t.Errorf("%v\n%v", err, report)
	}
	cluster.ChangeSchema(t, s.keyspace, differ.Differences[0].Fix, "ALTER TABLE seats_by_train ADD expires_at timestamp")
	ending := tables.Must(tables.New[endingSeat]("seat", seatOptions(s.keyspace, tables.ExpiresAt("expires_at"))...))
	if err := schema.Validate(ctx, s.Session, schema.Sets(ending)); err != nil {
		t.Error(err)
	}
	w := newWriter(t, s.Session)
	modify := func(id string, change func(*endingSeat)) error {
		_, err := writer.Modify(ctx, w, "change", ending, endingSeat{ID: id}, func(o endingSeat) (endingSeat, error) {
			change(&o)
			return o, nil
		})
		return err
	}
	dearer := func(o *endingSeat) { o.Price++ }
	if err := modify("modified", dearer); !errors.Is(err, writer.ErrInvalid) || !strings.Contains(err.Error(), "adopt the set first") {
		t.Error(err)
	}
	if err := modify("stays", dearer); err != nil {
		t.Error(err)
	}
	if report, err = r.Adopt(ctx, ending, reconcile.Writers(time.Now())); err != nil || report.Stamped == 0 {
		t.Fatalf("%v\n%v", err, report)
	}
	if report, err = r.Verify(ctx, ending); err != nil {
		t.Errorf("%v\n%v", err, report)
	}
	check := func(want string) {
		t.Helper()
		for _, table := range []string{"seats", "seats_by_train"} {
			if got := s.ends(table); got != want {
				t.Errorf("%s has %s, want %s", table, got, want)
			}
		}
	}
	const rest = "modified 180 180, moved 180 180, query alone - -, stays - -, updated 180 180"
	check("base first 150 150, deleted 180 180, left 180 180, " + rest)
	for id, change := range map[string]func(*endingSeat){
		"modified": dearer, "moved": func(o *endingSeat) { o.Train = "tgv" }, "base first": func(o *endingSeat) { o.ExpiresAt = s.began.Add(4 * time.Hour) },
	} {
		if err := modify(id, change); err != nil {
			t.Error(id, err)
		}
	}
	load := func(id string) endingSeat {
		row, err := writer.Load(ctx, w, "load", ending, endingSeat{ID: id})
		if err != nil {
			t.Fatal(err)
		}
		return row
	}
	before := load("updated")
	after := before
	after.Price++
	if _, err := w.Write(ctx, "changes", ending.Update(before, after), ending.Delete(load("deleted"))); err != nil {
		t.Error(err)
	}
	check("base first 240 240, left 180 180, " + rest)
	if report, err = r.Verify(ctx, ending); err != nil {
		t.Errorf("%v\n%v", err, report)
	}
}

// Rows that default_time_to_live ends are as they should be; what ends earlier or later is found.
func TestRowsThatEndByDefault(t *testing.T) {
	t.Parallel()
	s := openTrains(t, seatTables...)
	cluster.ChangeSchema(t, s.keyspace, "ALTER TABLE seats WITH default_time_to_live = 36000", "ALTER TABLE seats_by_train WITH default_time_to_live = 36000")
	plain := tables.Must(tables.New[seat]("seat", seatOptions(s.keyspace)...))
	w := newWriter(t, s.Session)
	if _, err := w.Write(t.Context(), "create", plain.Insert(seat{ID: "by default", Train: "ice", Tags: []string{"aisle"}})); err != nil {
		t.Fatal(err)
	}
	s.reserve("as the default", 36000, 36000)
	r := s.reconciler()
	if report, err := r.Verify(t.Context(), plain); errors.Is(err, reconcile.ErrUnsafe) || report.Tables[1].Rows != 2 {
		t.Errorf("%v\n%v", err, report)
	}
	s.reserve("shorter", 7200, 7200)
	s.reserve("longer", 86400, 86400)
	if report, err := r.Verify(t.Context(), plain); !errors.Is(err, reconcile.ErrUnsafe) || report.Tables[0].Ending != 2 || report.Tables[1].Ending != 2 {
		t.Errorf("%v\n%v", err, report)
	}
}

// What no statement can ask 4.1 for is not found: the TTL of the elements of a set, and of rows that have nothing but
// a key.
func TestRowsWhoseEndCannotBeRead(t *testing.T) {
	t.Parallel()
	s := openTrains(t, seatTables...)
	plain := tables.Must(tables.New[seat]("seat", seatOptions(s.keyspace)...))
	for _, statement := range []string{
		"INSERT INTO seats (id, tags) VALUES ('elements', {'window'}) USING TTL 7200", "INSERT INTO seats (id) VALUES ('key') USING TTL 7200",
	} {
		s.exec(statement)
	}
	report, err := s.reconciler().Verify(t.Context(), plain)
	if errors.Is(err, reconcile.ErrUnsafe) || report.Tables[0].Ending != 0 || report.Tables[0].Rows != 2 {
		t.Errorf("%v\n%v", err, report)
	}
	if err := schema.Validate(t.Context(), s.Session, schema.Sets(plain)); err != nil {
		t.Error(err)
	}
}

// A set with conditions cannot keep rows that end: Validate says so.
func TestConditionsOverRowsThatEnd(t *testing.T) {
	t.Parallel()
	type ticket struct {
		ID, Owner string
		Version   gocql.UUID
	}
	s := openTrains(t, "CREATE TABLE tickets (id text PRIMARY KEY, owner text, version timeuuid, pending blob, done timeuuid, recent map<tinyint, timeuuid>)",
		"CREATE TABLE tickets_by_owner (owner text, id text, version timeuuid, PRIMARY KEY (owner, id))",
		"CREATE TABLE passes (id text PRIMARY KEY, owner text, version timeuuid)")
	base := func(name string) tables.Table {
		return tables.Table{Name: name, Keyspace: s.keyspace, PartKey: []string{"id"}}
	}
	for _, table := range []string{"tickets", "passes"} {
		s.exec("INSERT INTO " + table + " (id, owner) VALUES ('a', 'ann') USING TTL 7200")
	}
	for name, set := range map[string]tables.Described{
		"Versioned": tables.Must(tables.New[ticket]("ticket", base("tickets"), tables.Versioned("version"),
			tables.Table{Name: "tickets_by_owner", Keyspace: s.keyspace, PartKey: []string{"owner"}, SortKey: []string{"id"}})),
		"Compare": tables.Must(tables.New[ticket]("pass", base("passes"), tables.Compare("owner"), tables.Type("version", "timeuuid"))),
	} {
		if err := schema.Validate(t.Context(), s.Session, schema.Sets(set)); err == nil ||
			!strings.Contains(err.Error(), "1 of 1 rows that were looked at end by a TTL, which a change would lose") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Times by hand in milliseconds are compared by value. No write wins against those in nanoseconds, and all that reads
// them says so.
func TestTimesByHandInOtherUnits(t *testing.T) {
	t.Parallel()
	for unit, of := range map[string]func(time.Time) int64{"milliseconds": time.Time.UnixMilli, "nanoseconds": time.Time.UnixNano} {
		t.Run(unit, func(t *testing.T) {
			t.Parallel()
			s := openTrains(t, seatTables...)
			set := tables.Must(tables.New[seat]("seat", seatOptions(s.keyspace)...))
			for _, row := range []struct {
				id     string
				prices []int
			}{{"agrees", []int{1, 1}}, {"differs", []int{1, 2}}} {
				at := of(time.Now().Add(-time.Hour))
				for i, table := range []string{"seats", "seats_by_train"} {
					s.exec("INSERT INTO "+table+" (id, train, price) VALUES (?, 'ice', ?) USING TIMESTAMP ?", row.id, row.prices[i], at)
				}
			}
			found, err := schema.Differences(t.Context(), s.Session, schema.Sets(set))
			said := slices.ContainsFunc(found, func(d schema.Difference) bool {
				return strings.Contains(d.Reason, "2 of 2 rows that were looked at have write times in "+unit) && d.Note == (unit == "milliseconds")
			})
			if err != nil || !said {
				t.Errorf("%v, %v", found, err)
			}
			r := s.reconciler()
			report, err := r.Repair(t.Context(), set)
			if f := slices.Collect(report.Findings()); err == nil || report.Tables[0].Units[unit] != 2 || len(f) != 1 || f[0].Outcome != reconcile.Found ||
				!strings.Contains(f[0].Reason, unit) {
				t.Errorf("%v\n%v", err, report)
			}
			report, err = r.Adopt(t.Context(), set, reconcile.Writers(time.Now()))
			if unit == "nanoseconds" {
				if !errors.Is(err, reconcile.ErrUnsafe) || report.Stamped != 0 {
					t.Errorf("%v\n%v", err, report)
				}
				return
			}
			if err != nil || report.Stamped == 0 {
				t.Errorf("%v\n%v", err, report)
			}
			if _, err = writer.Modify(t.Context(), newWriter(t, s.Session), "change", set, seat{ID: "differs"}, func(o seat) (seat, error) {
				o.Price += 10
				return o, nil
			}); err != nil {
				t.Error(err)
			}
			for _, query := range []string{"seats WHERE", "seats_by_train WHERE train = 'ice' AND"} {
				var price int
				if err := s.Reads().Query("SELECT price FROM " + query + " id = 'differs'").Consistency(gocql.All).Scan(&price); err != nil || price != 11 {
					t.Errorf("%s: %d, %v", query, price, err)
				}
			}
		})
	}
}
