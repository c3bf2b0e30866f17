package lint_test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/denorm-go/denorm/internal/testutil/golden"
	"github.com/denorm-go/denorm/schema/lint"
)

// ruleOf are the rules for what the reviewers of testdata/reviewed call it; those that are missing have no rule.
var ruleOf = map[string][]string{
	"low-cardinality-partition": {"DN101"},
	"hot-partition":             {"DN102"},
	"time-only-partition":       {"DN103"},
	"unbounded-partition":       {"DN104"},
	"missing-unique-column":     {"DN201"},
	"key-by-clock":              {"DN202"},
	"incomplete-query-table":    {"DN203"},
	"imprecise-key":             {"DN205"},
	"collection-not-frozen":     {"DN301"},
	"list-not-frozen":           {"DN302"},
	"counters-mixed":            {"DN303"},
	"index-high-cardinality":    {"DN401"},
	"materialized-view":         {"DN402"},
	"partition-key-not-used":    {"DN501"},
	"query-not-served":          {"DN502"},
	"clustering-order":          {"DN503"},
	"allow-filtering":           {"DN504", "DN501"},
	"large-in":                  {"DN505"},
	"unknown-table":             {"DN506"},
	"unknown-column":            {"DN507"},
	"statement-rejected":        {"DN509"},
	"batch-lacks-table":         {"DN510"},
	"logged-batch-gc-grace":     {"DN601"},
	"ttl-differs":               {"DN602"},
	"conditional-and-plain":     {"DN603"},
	"time-series-compaction":    {"DN604"},
	"replication-differs":       {"DN605"},
	"option-without-class":      {"DN606"},
	"simple-strategy":           {"DN607"},
	"replication-one":           {"DN607"},
	"durable-writes":            {"DN607"},
	"deletes-without-grace":     {"DN608"},
	"deletes-in-windows":        {"DN609"},
}

// expectation is what a reviewer expects of a table.
type expectation struct{ tag, table string }

func expected(t *testing.T, file string) (out []expectation) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	said := false
	for line := range strings.Lines(string(text)) {
		if want, ok := strings.CutPrefix(line, "-- expect: "); ok {
			said = true
			tag, table, _ := strings.Cut(strings.TrimSpace(want), " ")
			if tag != "nothing" {
				out = append(out, expectation{tag, table})
			}
		}
	}
	if !said {
		t.Errorf("%s expects neither something nor nothing", file)
	}
	return out
}

// TestReviewed compares the rules with what people found in 130 schemas who had not seen the rules: what they found and no rule does is missed, and
// what a rule finds above the level of a note and they did not is false. The golden file says both of each file.
func TestReviewed(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/reviewed/*.cql")
	if err != nil || len(files) < 130 {
		t.Fatalf("%d schemas, %v", len(files), err)
	}
	var (
		b                       strings.Builder
		found, missed, mistaken = make(map[string]int), make(map[string]int), make(map[string]int)
		all                     [3]int
	)
	for _, file := range files {
		var open []lint.Finding
		for _, f := range lint.Check(load(t, file)) {
			if f.Suppressed == "" {
				open = append(open, f)
			}
		}
		same := func(f lint.Finding, e expectation) bool {
			name := strings.Trim(e.table, `"`)
			return slices.Contains(ruleOf[e.tag], f.Code) && (name == f.Table.String() || name == f.Table.Name || strings.EqualFold(name, f.Table.Name))
		}
		var lines []string
		explained := make([]bool, len(open))
		for _, e := range expected(t, file) {
			hit := false
			for i, f := range open {
				if same(f, e) {
					hit, explained[i] = true, true
				}
			}
			if hit {
				found[e.tag]++
				all[0]++
				continue
			}
			missed[e.tag]++
			all[1]++
			lines = append(lines, "\tmissed: "+e.tag+" "+e.table)
		}
		for i, f := range open {
			if !explained[i] && f.Severity > lint.Note {
				mistaken[f.Code]++
				all[2]++
				lines = append(lines, "\tfalse: "+f.String())
			}
		}
		if len(lines) > 0 {
			b.WriteString(filepath.Base(file) + "\n" + strings.Join(lines, "\n") + "\n")
		}
	}
	fmt.Fprintf(&b, "\n%d found, %d missed, %d false: precision %.2f, recall %.2f\n\n", all[0], all[1], all[2],
		float64(all[0])/float64(all[0]+all[2]), float64(all[0])/float64(all[0]+all[1]))
	for _, tag := range slices.Sorted(maps.Keys(ruleOf)) {
		n := 0
		for _, code := range ruleOf[tag] {
			n += mistaken[code]
		}
		fmt.Fprintf(&b, "%s: %d found, %d missed, %d false\n", tag, found[tag], missed[tag], n)
	}
	var without []string
	for tag, n := range missed {
		if ruleOf[tag] == nil {
			without = append(without, fmt.Sprintf("%s: no rule, %d missed", tag, n))
		}
	}
	slices.Sort(without)
	b.WriteString(strings.Join(without, "\n") + "\n")
	golden.Check(t, "reviewed.golden", b.String())
}
