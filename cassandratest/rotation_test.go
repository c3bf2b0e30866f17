package cassandratest_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/denorm-go/denorm/cassandratest"
	"github.com/denorm-go/denorm/reader"
	"github.com/denorm-go/denorm/schema"
	"github.com/denorm-go/denorm/schema/rotation"
	"github.com/denorm-go/denorm/session"
	"github.com/denorm-go/denorm/tables"
	"github.com/denorm-go/denorm/writer"
	"github.com/gocql/gocql"
)

// record stands in a table a month.
type record struct {
	RecordID gocql.UUID
	Actor    string
	At       time.Time
}

var (
	records = tables.Must(tables.New[record]("record",
		tables.Table{Name: "audit", PartKey: []string{"record_id"}, SortKey: []string{"at"}, Rotate: tables.Month("at")}))
	auditOptions = schema.With("audit", schema.Options{GCGrace: time.Hour, Comment: "who did what"})
	auditSchema  = schema.Must(schema.Declare(schema.Sets(records), auditOptions))
)

// rotating runs a test on a keyspace without tables, at the beginning of 2000.
func rotating(t *testing.T, test func(t *testing.T, s *session.Session, w *writer.Writer, r *reader.Reader)) {
	t.Helper()
	t.Parallel()
	cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
		c.Create("CREATE KEYSPACE log WITH replication = {'class': 'NetworkTopologyStrategy', 'dc1': 3}")
		s := connect(t, c, "log")
		w, err := writer.New(s, writer.WithClock(writer.NewClock(time.Now)))
		if err != nil {
			t.Fatal(err)
		}
		r, err := reader.New(s)
		if err != nil {
			t.Fatal(err)
		}
		test(t, s, w, r)
	})
}

// Ensure creates the table of the present period, with its options, and package rotation those before and after it.
func TestPeriodsAreCreated(t *testing.T) {
	rotating(t, func(t *testing.T, s *session.Session, w *writer.Writer, _ *reader.Reader) {
		t.Helper()
		if err := schema.Ensure(t.Context(), s, auditSchema); err != nil {
			t.Fatal(err)
		}
		live, err := schema.Read(t.Context(), s, "log")
		if err != nil {
			t.Fatal(err)
		}
		january := live.Table(schema.ID{Keyspace: "log", Name: "audit_2000_01"})
		if january == nil || january.GCGrace() != time.Hour || january.Comment() != "who did what" || january.Fingerprint == "" {
			t.Fatalf("Ensure made\n%s", live.CQL())
		}
		if _, err := w.Write(t.Context(), "log", records.Insert(record{gocql.MustRandomUUID(), "ann", virtual})); err != nil {
			t.Error(err)
		}
		months, err := rotation.New(s, "", records, "audit", auditOptions)
		if err != nil {
			t.Fatal(err)
		}
		plan, err := months.Plan(t.Context(), virtual, rotation.Window{Ahead: 31 * 24 * time.Hour, Back: 24 * time.Hour})
		if err != nil || strings.Join(plan.Create, " ") != "audit_1999_12 audit_2000_02" {
			t.Fatalf("%v, %v", plan, err)
		}
		if err := plan.Apply(t.Context()); err != nil {
			t.Fatal(err)
		}
		found, err := schema.Differences(t.Context(), s, auditSchema)
		if err != nil || len(found) > 0 {
			t.Errorf("the tables are not as declared: %v, %v", found, err)
		}
		found2, err := schema.Differences(t.Context(), s, schema.Sets(records))
		found2 = slices.DeleteFunc(found2, func(d schema.Difference) bool { return d.Extra }) // options
		if err != nil || len(found2) > 0 {
			t.Errorf("the tables are not as declared: %v, %v", found2, err)
		}
	})
}

// A set that declares another period than that for which its tables were made drops none of them: weeks that rows of
// the last six days stand in would count as days.
func TestPeriodsOfAnotherDeclaration(t *testing.T) {
	by := func(period tables.Bucket) tables.Described {
		return tables.Must(tables.New[record]("record",
			tables.Table{Name: "audit", PartKey: []string{"record_id"}, SortKey: []string{"at"}, Rotate: period}))
	}
	rotating(t, func(t *testing.T, s *session.Session, _ *writer.Writer, _ *reader.Reader) {
		t.Helper()
		const day = 24 * time.Hour
		of := func(period tables.Bucket) *rotation.Tables {
			found, err := rotation.New(s, "", by(period), "audit", auditOptions)
			if err != nil {
				t.Fatal(err)
			}
			return found
		}
		weeks, err := of(tables.Every(7*day, "at")).Plan(t.Context(), virtual, rotation.Window{})
		if err != nil || strings.Join(weeks.Create, " ") != "audit_1999_12_30" {
			t.Fatalf("%v, %v", weeks, err)
		}
		if err := weeks.Apply(t.Context()); err != nil {
			t.Fatal(err)
		}
		inUse, kept := virtual.Add(4*day), rotation.Window{Retain: 3 * day}
		for _, period := range []tables.Bucket{tables.Day("at"), tables.Month("at"), tables.Hour("at")} {
			plan, err := of(period).Plan(t.Context(), inUse, kept)
			want := "rotation: table log.audit_1999_12_30 was made for every(168h0m0s, at), and the set declares " + period.String() + ": "
			if err == nil || !strings.HasPrefix(err.Error(), want) || len(plan.Statements()) > 0 {
				t.Errorf("%v, %v, want %s", plan, err, want)
			}
		}
		if plan, err := of(tables.Every(7*day, "at")).Plan(t.Context(), inUse, kept); err != nil || len(plan.Statements()) > 0 {
			t.Errorf("the set of the tables: %v, %v", plan, err)
		}
	})
}

// Who forgot to create the tables is told what does.
func TestNoTableOfThePeriod(t *testing.T) {
	const advice = " (its tables rotate: package rotation creates them ahead, and past ones as far as Window.Back; " +
		"schema.Ensure creates the one of the present)"
	id := gocql.MustRandomUUID()
	at := time.Date(1999, 10, 5, 0, 0, 0, 0, time.UTC)
	atomic := tables.Must(tables.New[record]("record",
		tables.Table{Name: "audit", PartKey: []string{"record_id"}, SortKey: []string{"at"}, Rotate: tables.Month("at")},
		tables.Table{Name: "audit_by_actor", PartKey: []string{"actor"}, SortKey: []string{"at", "record_id"}},
		tables.Atomic()))
	calls := map[string]struct {
		call func(ctx context.Context, w *writer.Writer, r *reader.Reader) error
		want string
	}{
		"write": {func(ctx context.Context, w *writer.Writer, _ *reader.Reader) error {
			_, err := w.Write(ctx, "log", records.Insert(record{id, "ann", at}))
			return err
		}, "denorm: log: single: audit_1999_10 not applied: table audit_1999_10 does not exist in keyspace log" + advice},
		"logged batch": {func(ctx context.Context, w *writer.Writer, _ *reader.Reader) error {
			_, err := w.Write(ctx, "log", atomic.Insert(record{id, "ann", at}))
			return err
		}, "denorm: log: logged-batch: applied to 0 of 2 tables; audit_1999_10 not applied, not sent: schema of log.audit_1999_10 not read: " +
			"the cluster has no such table" + advice + "; audit_by_actor not applied, not sent, for the same reason"},
		"modify": {func(ctx context.Context, w *writer.Writer, _ *reader.Reader) error {
			_, err := writer.Modify(ctx, w, "log", records, record{id, "ann", at}, func(r record) (record, error) { return r, nil })
			return err
		}, "denorm: log: read of audit: table audit_1999_10 does not exist in keyspace log" + advice},
		"read": {func(ctx context.Context, _ *writer.Writer, r *reader.Reader) error {
			q := reader.From(records, "audit").Eq("record_id", id).GtOrEq("at", at).Lt("at", at.Add(time.Hour))
			_, _, err := reader.List(ctx, r, "log", q)
			return err
		}, "denorm: log: table log.audit_1999_10: partition 1 of 1 not read: table audit_1999_10 does not exist" + advice +
			"; create it, or let the range begin later"},
	}
	rotating(t, func(t *testing.T, s *session.Session, w *writer.Writer, r *reader.Reader) {
		t.Helper()
		for name, c := range calls {
			err := c.call(t.Context(), w, r)
			var server gocql.RequestError
			if err == nil || err.Error() != c.want {
				t.Errorf("%s: %v\nwant %s", name, err, c.want)
			}
			if name != "logged batch" && (!errors.As(err, &server) || server.Code() != gocql.ErrCodeInvalid) {
				t.Errorf("%s: the server's error is not in %v", name, err)
			}
		}
		err := schema.Validate(t.Context(), s, auditSchema)
		if err == nil || !strings.Contains(err.Error(), "\n\tlog.audit_2000_01: does not exist"+advice+"\n\t\tfix: CREATE TABLE log.audit_2000_01 (") {
			t.Errorf("Validate: %v", err)
		}
	})
}
