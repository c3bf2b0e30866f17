package lint_test

import (
	"slices"
	"testing"
	"time"

	"github.com/denorm-go/denorm/schema"
	"github.com/denorm-go/denorm/schema/lint"
	"github.com/denorm-go/denorm/tables"
)

// A query of one of several tables that rotate is reviewed as one of the declared table.
func TestQueriesOfTablesThatRotate(t *testing.T) {
	t.Parallel()
	type event struct {
		ID   string
		At   time.Time
		Kind string
	}
	set := tables.Must(tables.New[event]("event",
		tables.Table{Name: "events", PartKey: []string{"id"}, SortKey: []string{"at"}, Rotate: tables.Month("at")}))
	declared := schema.Must(schema.Declare(schema.Sets(set), schema.CQL("SELECT * FROM events_2026_11 WHERE kind = ? ALLOW FILTERING;")))
	found := lint.Check(declared)
	if !slices.ContainsFunc(found, func(f lint.Finding) bool { return f.Code == "DN504" && f.Table.Name == "events" && f.Query != "" }) {
		t.Errorf("the query is not reviewed: %v", found)
	}
}
