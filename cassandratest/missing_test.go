package cassandratest_test

import (
	"testing"

	"github.com/denorm-go/denorm/reader"
	"github.com/denorm-go/denorm/schema"
	"github.com/denorm-go/denorm/tables"
	"github.com/denorm-go/denorm/writer"
	"github.com/gocql/gocql"
)

// A keyspace that does not exist is one difference, however many tables are declared in it.
func TestNoKeyspace(t *testing.T) {
	set := tables.Must(tables.New[record]("record",
		tables.Table{Name: "audit", PartKey: []string{"record_id"}},
		tables.Table{Name: "audit_by_actor", PartKey: []string{"actor"}, SortKey: []string{"record_id"}}))
	nowhere := map[string]string{"": "nowhere"}
	rotating(t, func(t *testing.T, session *gocql.Session, w *writer.Writer, _ *reader.Reader) {
		t.Helper()
		want := "denorm: 1 difference(s) between declared and live tables\n\tkeyspace nowhere: does not exist"
		if err := w.With(writer.Keyspaces(nowhere)).Check(t.Context(), set); err == nil || err.Error() != want {
			t.Errorf("Check: %v\nwant %s", err, want)
		}
		declared := schema.Must(schema.Declare(schema.Sets(set))).In(nowhere)
		want = "schema: 1 difference(s) between declared and live\n\tkeyspace nowhere: does not exist\n\t\tno statement mends it: " +
			"its replication is not declared: create it, or declare it with schema.Keyspaces"
		if err := schema.Validate(t.Context(), session, declared); err == nil || err.Error() != want {
			t.Errorf("Validate: %v\nwant %s", err, want)
		}
	})
}
