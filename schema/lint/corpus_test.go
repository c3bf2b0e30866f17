package lint_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/denorm-go/denorm/internal/testutil/golden"
	"github.com/denorm-go/denorm/schema"
	"github.com/denorm-go/denorm/schema/lint"
)

// wanted reads the "-- want CODE table" lines of a file, some with the severity behind them.
func wanted(t *testing.T, file string) []string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, line := range strings.Split(string(text), "\n") {
		if want, ok := strings.CutPrefix(line, "-- want "); ok {
			out = append(out, want)
		}
	}
	slices.Sort(out)
	return out
}

// TestCorpus: each rule has a schema in which it must fire and a similar one in which it must not. Nothing else may be
// found in either but what the file says.
func TestCorpus(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/corpus/*.cql")
	if err != nil || len(files) < 40 {
		t.Fatalf("%d schemas, %v", len(files), err)
	}
	for _, rule := range lint.Rules() {
		for _, kind := range []string{"fires", "near"} {
			file := filepath.Join("testdata/corpus", rule.Code+"_"+kind+".cql")
			want := wanted(t, file)
			fires := slices.ContainsFunc(want, func(w string) bool { return strings.HasPrefix(w, rule.Code+" ") })
			if fires != (kind == "fires") {
				t.Errorf("%s: the file does not say so", file)
			}
			severe := make(map[string]int) // the wants that say so
			for i, w := range want {
				if words := strings.Fields(w); len(words) == 3 {
					want[i] = words[0] + " " + words[1]
					severe[w]++
				}
			}
			var got []string
			for _, f := range lint.Check(load(t, file)) {
				if f.Suppressed == "" {
					got = append(got, f.Code+" "+f.Table.String())
					severe[f.Code+" "+f.Table.String()+" "+f.Severity.String()]--
				}
				if f.Reason == "" || f.Fix == "" || f.At.Line == 0 || f.Severity == 0 {
					t.Errorf("%s: incomplete: %+v", file, f)
				}
			}
			for w, n := range severe {
				if n > 0 {
					t.Errorf("%s: no %s", file, w)
				}
			}
			slices.Sort(got)
			slices.Sort(want)
			if !slices.Equal(got, want) {
				t.Errorf("%s: found\n\t%s\nwant\n\t%s", file, strings.Join(got, "\n\t"), strings.Join(want, "\n\t"))
			}
			files = slices.DeleteFunc(files, func(f string) bool { return f == file })
		}
	}
	if len(files) > 0 {
		t.Errorf("no rule looks at %v", files)
	}
}

// The codes are stable: people suppress by them.
func TestRules(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	for i, r := range lint.Rules() {
		if i > 0 && r.Code <= lint.Rules()[i-1].Code {
			t.Errorf("%s is out of order", r.Code)
		}
		b.WriteString(r.Code + " " + r.Severity.String() + " " + r.Name + "\n\t" + r.Doc + "\n")
	}
	golden.Check(t, "rules.golden", b.String())
}

func TestSuppressed(t *testing.T) {
	t.Parallel()
	const table = `CREATE TABLE jobs (state text, id uuid, PRIMARY KEY (state, id))`
	for name, text := range map[string]string{
		"by table":   "-- denorm:ignore DN101 jobs a dozen a day\n" + table,
		"everywhere": "-- denorm:ignore DN101 * a dozen a day\n" + table,
		"by comment": table + " WITH comment = 'what is to be done; denorm:ignore DN101 a dozen a day; see the wiki'",
	} {
		s, err := schema.Parse("test", text)
		if err != nil {
			t.Fatal(err)
		}
		found := lint.Check(s)
		if len(found) != 1 || found[0].Suppressed != "a dozen a day" || lint.Worst(found) != 0 {
			t.Errorf("%s: %+v", name, found)
		}
	}
	s, err := schema.Parse("test", "-- denorm:ignore DN101 other a dozen a day\n-- denorm:ignore DN104 jobs no\n"+table)
	if err != nil {
		t.Fatal(err)
	}
	if found := lint.Check(s); lint.Worst(found) != lint.Error || len(found) != 3 {
		t.Errorf("suppressed what was not meant: %+v", found)
	} else if want := "nothing of DN101 is found in it: the schema does not have the table"; found[0].Reason != want {
		t.Errorf("%q, want %q", found[0].Reason, want)
	}
}

// A code that is no rule's would suppress nothing, and the finding would stay. The error lists the rules, of which
// package schema has a list of its own.
func TestOnlyRulesAreAccepted(t *testing.T) {
	t.Parallel()
	accept := func(code string) error {
		_, err := schema.Declare(schema.Accept(code, "", "for a test"))
		return err
	}
	var codes []string
	for _, r := range lint.Rules() {
		codes = append(codes, r.Code)
		if err := accept(r.Code); err != nil {
			t.Error(err)
		}
	}
	rules := "; the rules are " + strings.Join(codes, ", ")
	if err := accept("DN999"); err == nil || err.Error() != `schema: Accept: no lint rule has the code "DN999"`+rules {
		t.Errorf("Accept: %v", err)
	}
	_, err := schema.Parse("test", "CREATE TABLE t (k int PRIMARY KEY);\n-- denorm:ignore dn101 t few\n")
	if err == nil || err.Error() != `test: line 2: denorm:ignore: no lint rule has the code "dn101"`+rules {
		t.Errorf("Parse: %v", err)
	}
}
