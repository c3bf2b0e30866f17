package cassandratest_test

import (
	"context"
	"testing"

	"github.com/denorm-go/denorm/reader"
	"github.com/denorm-go/denorm/schema"
	"github.com/denorm-go/denorm/session"
	"github.com/denorm-go/denorm/tables"
	"github.com/denorm-go/denorm/writer"
)

// A keyspace that does not exist is one difference, however many tables are declared in it.
func TestNoKeyspace(t *testing.T) {
	set := tables.Must(tables.New[record]("record",
		tables.Table{Name: "audit", PartKey: []string{"record_id"}},
		tables.Table{Name: "audit_by_actor", PartKey: []string{"actor"}, SortKey: []string{"record_id"}}))
	nowhere := map[string]string{"": "nowhere"}
	rotating(t, func(t *testing.T, s *session.Session, _ *writer.Writer, _ *reader.Reader) {
		t.Helper()
		declared := schema.Must(schema.Declare(schema.Sets(set))).In(nowhere)
		want := "schema: 1 difference(s) between declared and live\n\tkeyspace nowhere: does not exist\n\t\tno statement fixes it: " +
			"its replication is not declared: create it, or declare it with schema.Keyspaces"
		if err := schema.Validate(t.Context(), s, declared); err == nil || err.Error() != want {
			t.Errorf("Validate: %v\nwant %s", err, want)
		}
		if err := schema.Validate(t.Context(), s.With(session.Keyspaces(nowhere)), schema.Sets(set)); err == nil || err.Error() != want {
			t.Errorf("by the session: %v\nwant %s", err, want)
		}
	})
}

// A materialized view in the place of a query table is named as such: nobody can write it, nor create a table of its
// name.
func TestViewInPlaceOfTable(t *testing.T) {
	base := tables.Table{Name: "audit", PartKey: []string{"record_id"}}
	set := tables.Must(tables.New[record]("record", base,
		tables.Table{Name: "audit_by_actor", PartKey: []string{"actor"}, SortKey: []string{"record_id"}}))
	rotating(t, func(t *testing.T, s *session.Session, _ *writer.Writer, _ *reader.Reader) {
		t.Helper()
		alone := schema.Must(schema.Declare(schema.Sets(tables.Must(tables.New[record]("record", base)))))
		if err := schema.Ensure(t.Context(), s, alone); err != nil {
			t.Fatal(err)
		}
		if err := s.Reads().Query(`CREATE MATERIALIZED VIEW audit_by_actor AS SELECT * FROM audit
			WHERE actor IS NOT NULL AND record_id IS NOT NULL PRIMARY KEY (actor, record_id)`).Exec(); err != nil {
			t.Fatal(err)
		}
		const (
			reason = "is a materialized view, which cannot be written"
			advice = "declare a table of another name, create it, write the entities again, and read it in place of the view"
		)
		declared := schema.Must(schema.Declare(schema.Sets(set)))
		want := "schema: 1 difference(s) between declared and live\n\tlog.audit_by_actor: " + reason + "\n\t\tno statement fixes it: " + advice
		for name, call := range map[string]func(context.Context, *session.Session, *schema.Schema) error{
			"Validate": func(ctx context.Context, s *session.Session, d *schema.Schema) error {
				return schema.Validate(ctx, s, d)
			},
			"Ensure": schema.Ensure,
		} {
			if err := call(t.Context(), s, declared); err == nil || err.Error() != want {
				t.Errorf("%s: %v\nwant %s", name, err, want)
			}
		}
		found, err := schema.Differences(t.Context(), s, declared)
		want = "-- log.audit_by_actor: " + reason + ".\n-- No statement fixes it: " + advice + ".\n"
		if got := schema.Migration(found); err != nil || got != want {
			t.Errorf("Migration: %s, %v\nwant %s", got, err, want)
		}
	})
}
