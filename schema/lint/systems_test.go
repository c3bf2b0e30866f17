package lint_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

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
	s, err := schema.Parse(filepath.Base(file), string(text))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestSystems: errors on exactly the tables whose flaw is known, and the warnings of the golden file.
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
		"s11_page_views.cql page_views_bad DN606",                             // the option has no class
		"s16_order_delivery.cql order_delivery.orders_by_delivery_date DN201", // no order id in the key
	}
	if !slices.Equal(wrong, flaws) {
		t.Errorf("errors\n%s\nwant\n%s", strings.Join(wrong, "\n"), strings.Join(flaws, "\n"))
	}
	golden.Check(t, "systems.golden", b.String())
}
