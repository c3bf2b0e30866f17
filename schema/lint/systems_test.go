package lint_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/denorm-go/denorm/examples/executions"
	"github.com/denorm-go/denorm/examples/hourlylogs"
	"github.com/denorm-go/denorm/examples/pageviews"
	"github.com/denorm-go/denorm/examples/supermarket"
	"github.com/denorm-go/denorm/internal/testutil/golden"
	"github.com/denorm-go/denorm/schema"
	"github.com/denorm-go/denorm/schema/lint"
)

func load(t *testing.T, file string) *schema.Schema {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	s, err := schema.Review(schema.Source{File: filepath.Base(file), Text: string(text)})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestSystems: errors on exactly the tables and the query whose flaw is known, and the warnings of the golden file.
func TestSystems(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../testdata/systems/*.cql")
	if err != nil || len(files) != 17 {
		t.Fatalf("%d systems, %v", len(files), err)
	}
	var wrong []string
	var b strings.Builder
	for _, file := range files {
		for _, f := range lint.Check(load(t, file)) {
			if f.Severity == lint.Error && f.Suppressed == "" {
				wrong = append(wrong, fmt.Sprintf("%s %s %s", filepath.Base(file), f.Table, f.Code))
			}
			fmt.Fprintf(&b, "%s:%d: %s\n", f.At.File, f.At.Line, f)
		}
	}
	flaws := []string{
		"s01_orders.cql orders_by_status DN101",                               // one partition a status
		"s02_hourly_logs.cql logs_bad DN102",                                  // all logs of a day
		"s16_order_delivery.cql order_delivery.orders_by_customer DN502",      // a query wants the newest first, and order_id comes first
		"s16_order_delivery.cql order_delivery.orders_by_delivery_date DN201", // no order id in the key
	}
	if !slices.Equal(wrong, flaws) {
		t.Errorf("errors\n%s\nwant\n%s", strings.Join(wrong, "\n"), strings.Join(flaws, "\n"))
	}
	golden.Check(t, "systems.golden", b.String())
}

// Tables that share the ID of their entity need no more of the base key in theirs. Without it, or where no ID is
// declared, that is found.
func TestTablesWithID(t *testing.T) {
	t.Parallel()
	const columns = " (domain uuid, ended timestamp, run_id uuid, kind text, PRIMARY KEY "
	const runs = "CREATE TABLE runs" + columns + "(domain, ended, run_id));\n"
	lacksID := func(f lint.Finding) bool { return f.Code == "DN201" }
	by := func(key string) string { return "CREATE TABLE runs_by_kind" + columns + "(kind, " + key + "));\n" }
	for text, want := range map[string]bool{
		runs + by("run_id") + "-- denorm:entity run runs runs_by_kind id=run_id": false,
		runs + by("run_id") + "-- denorm:entity run runs runs_by_kind":           true,
		runs + by("ended") + "-- denorm:entity run runs runs_by_kind id=run_id":  true,
	} {
		s := schema.Must(schema.Parse("runs", text))
		if found := slices.ContainsFunc(lint.Check(s), lacksID); found != want {
			t.Errorf("found %t, of\n%s", found, text)
		}
	}
	if found := lint.Check(executions.Schema); slices.ContainsFunc(found, lacksID) {
		t.Errorf("%v", found)
	}
}

// The flawed forms that examples show are found.
func TestFlawedExamples(t *testing.T) {
	t.Parallel()
	for _, flawed := range []struct{ text, want string }{
		{hourlylogs.Flawed, "DN102 logs_bad"},
		{pageviews.Flawed, "DN606 page_views"},
		{"-- denorm:entity order orders_by_id orders_by_delivery_date\nCREATE TABLE orders_by_id (order_id uuid PRIMARY KEY);\n" + supermarket.Flawed, "DN201 orders_by_delivery_date"},
	} {
		s, err := schema.Review(schema.Source{File: "flawed", Text: flawed.text})
		if err != nil {
			t.Fatal(err)
		}
		var found []string
		for _, f := range lint.Check(s) {
			if f.Severity == lint.Error {
				found = append(found, f.Code+" "+f.Table.Name)
			}
		}
		if len(found) != 1 || found[0] != flawed.want {
			t.Errorf("%v, want %s", found, flawed.want)
		}
	}
}
