package lint_test

import (
	"fmt"
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
	"low-cardinality-partition": {"DN101"}, "hot-partition": {"DN102", "DN103"}, "time-only-partition": {"DN103", "DN102"},
	"unbounded-partition": {"DN104", "DN101"}, "missing-unique-column": {"DN201"}, "key-by-clock": {"DN202"},
	"incomplete-query-table": {"DN203", "DN507"}, "imprecise-key": {"DN205"}, "redundant-clustering": {"DN206"}, "two-types": {"DN207"},
	"collection-key": {"DN208"}, "time-as-text": {"DN209"}, "collection-not-frozen": {"DN301"}, "list-not-frozen": {"DN302"},
	"counters-mixed": {"DN303"}, "money-as-double": {"DN304"}, "counter-write": {"DN305", "DN509"}, "index-high-cardinality": {"DN401"},
	"materialized-view": {"DN402"}, "index-low-cardinality": {"DN403"}, "index-without-partition": {"DN404", "DN401", "DN403", "DN405"},
	"sasi-index": {"DN405", "DN407"}, "partition-key-not-used": {"DN501", "DN504"}, "query-not-served": {"DN502"},
	"clustering-order": {"DN503", "DN502"}, "allow-filtering": {"DN504"}, "large-in": {"DN505"}, "unknown-table": {"DN506"},
	"unknown-column": {"DN507"}, "statement-rejected": {"DN509"}, "batch-lacks-table": {"DN510"}, "conditional-batch-two-tables": {"DN511"},
	"counter-in-logged-batch": {"DN511", "DN303"}, "unlogged-multi-partition": {"DN512"}, "bulk-logged-batch": {"DN513"}, "literal-null": {"DN514"},
	"hot-row-transaction": {"DN515"}, "queue-table": {"DN516"}, "logged-batch-gc-grace": {"DN601"}, "ttl-differs": {"DN602"},
	"conditional-and-plain": {"DN603"}, "time-series-compaction": {"DN604"}, "replication-differs": {"DN605"}, "option-without-class": {"DN606"},
	"simple-strategy": {"DN607"}, "replication-one": {"DN607"}, "durable-writes": {"DN607"}, "deletes-without-grace": {"DN608"},
	"deletes-in-windows": {"DN609"}, "twcs-without-ttl": {"DN610"}, "twcs-many-windows": {"DN610"}, "dtcs": {"DN611"}, "row-cache": {"DN612"},
	"bloom-filter": {"DN612"}, "ttl-with-delete": {"DN613"},
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

// tally is how often a rule found what reviewers expect, how often it did not, and how often it found what they do not.
type tally struct{ found, missed, mistaken int }

func (t tally) String() string {
	return fmt.Sprintf("%d found, %d missed, %d false", t.found, t.missed, t.mistaken)
}

// meets says whether a finding is what a reviewer expects: of the table, or of another one with this one in its reason.
func (e expectation) meets(f lint.Finding) bool {
	name := strings.Trim(e.table, `"`)
	return slices.Contains(ruleOf[e.tag], f.Code) &&
		(name == f.Table.String() || strings.EqualFold(name, f.Table.Name) || strings.Contains(f.Reason, name))
}

// reviewed compares the rules with the expectations in the schemas of testdata/reviewed. It gives what differs, and the
// tally of each rule, and of all under the empty name. Notes that reviewers do not have are not mistaken.
func reviewed(t *testing.T) (text string, rules map[string]*tally) {
	t.Helper()
	files, err := filepath.Glob("testdata/reviewed/*.cql")
	if err != nil || len(files) < 300 {
		t.Fatalf("%d schemas, %v", len(files), err)
	}
	rules = map[string]*tally{"": {}}
	for _, r := range lint.Rules() {
		rules[r.Code] = new(tally)
	}
	var b strings.Builder
	for _, file := range files {
		var lines []string
		open := lint.Check(load(t, file))
		explained := make([]bool, len(open))
		for _, e := range expected(t, file) {
			if ruleOf[e.tag] == nil {
				t.Errorf("%s: no rule is for %s", file, e.tag)
				continue
			}
			rule := ""
			for i, f := range open {
				if e.meets(f) {
					rule, explained[i] = f.Code, true
				}
			}
			if rule != "" {
				rules[rule].found++
				rules[""].found++
				continue
			}
			rules[ruleOf[e.tag][0]].missed++
			rules[""].missed++
			lines = append(lines, "\tmissed: "+e.tag+" "+e.table)
		}
		for i, f := range open {
			if !explained[i] && f.Severity > lint.Note && f.Suppressed == "" {
				rules[f.Code].mistaken++
				rules[""].mistaken++
				lines = append(lines, "\tfalse: "+f.String())
			}
		}
		if len(lines) > 0 {
			b.WriteString(filepath.Base(file) + "\n" + strings.Join(lines, "\n") + "\n")
		}
	}
	return b.String(), rules
}

// TestReviewed compares the rules with what reviewers found who had not seen them. The golden file says what they found
// and no rule does, and what a rule finds and they did not.
func TestReviewed(t *testing.T) {
	t.Parallel()
	text, rules := reviewed(t)
	all := rules[""]
	precision, recall := float64(all.found)/float64(all.found+all.mistaken), float64(all.found)/float64(all.found+all.missed)
	if precision < 0.95 || recall < 0.9 {
		t.Errorf("precision %.2f, recall %.2f", precision, recall)
	}
	golden.Check(t, "reviewed.golden", fmt.Sprintf("%s\n%v: precision %.2f, recall %.2f\n", text, all, precision, recall))
}
