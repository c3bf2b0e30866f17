package writer

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Each row of the guarantees' tables names the tests that prove it, so they have to exist, and every mode has a section
// with rows.
func TestDocNamesTests(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../docs/ref/guarantees.md")
	if err != nil {
		t.Fatal(err)
	}
	var tests strings.Builder
	for _, pattern := range []string{
		"*_test.go", "bulk/*_test.go", "explain/*_test.go", "../tables/*_test.go", "../integration/*/*/*_test.go",
		"../integration/*/*_test.go", "../internal/decide/versioned/*_test.go",
		"../internal/fanout/*_test.go", "../internal/repair/*_test.go", "../reconcile/*_test.go", "../schema/*_test.go",
	} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			tests.Write(text)
		}
	}
	name := regexp.MustCompile(`\bTest[A-Z]\w*`)
	for _, name := range name.FindAllString(string(text), -1) {
		if !strings.Contains(tests.String(), "func "+name+"(t ") {
			t.Errorf("docs/ref/guarantees.md names %s, and there is no such test", name)
		}
	}
	sections := make(map[string]string) // by heading
	for section := range strings.SplitSeq(string(text), "\n## ") {
		heading, rows, _ := strings.Cut(section, "\n")
		sections[heading] = rows
		for line := range strings.Lines(rows) {
			row := strings.HasPrefix(line, "| ") && !strings.Contains(line, " --- ") && !strings.Contains(line, "| proved by |")
			if row && strings.HasSuffix(line, " |\n") && !name.MatchString(line) && !strings.HasPrefix(line, "| load ") {
				t.Errorf("docs/ref/guarantees.md, %s: no test proves %s", heading, line)
			}
		}
	}
	for mode := Single; mode <= Transaction; mode++ {
		found := false
		for heading, rows := range sections {
			found = found || strings.Contains(heading, "`"+mode.String()+"`") && name.MatchString(rows)
		}
		if !found {
			t.Errorf("docs/ref/guarantees.md has no section of %v that names a test", mode)
		}
	}
}
