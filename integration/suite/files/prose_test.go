package files

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// reader says whether a text is for those who use the library: they look for tests in docs/ref/guarantees.md.
func reader(path string) bool {
	file := strings.TrimPrefix(path, root+"/")
	return filepath.Base(file) == "README.md" || strings.HasPrefix(file, "docs/") && !strings.HasPrefix(file, "docs/design/") &&
		!strings.HasPrefix(file, "docs/figures/") && file != "docs/ref/guarantees.md" && file != "docs/ref/lint.md"
}

// Whoever reads of a test can find it, and no link leads nowhere.
func TestProseNamesWhatThereIs(t *testing.T) {
	t.Parallel()
	tests, texts := make(map[string]bool), []string(nil)
	function := regexp.MustCompile(`(?m)^func ((?:Test|Benchmark)[A-Z]\w*)\(`)
	method := regexp.MustCompile(`(?m)^func \(\w+ \w+Tests\) ([A-Z]\w*)\(t \*testing\.T\) \{`)
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && (entry.Name() == ".git" || entry.Name() == "bin" || entry.Name() == "testdata"):
			return filepath.SkipDir
		case strings.HasSuffix(path, ".md"):
			texts = append(texts, path)
		case filepath.Dir(path) == filepath.Join(root, "internal/testutil/suite"): // accounts_more.go has tests of system accounts
			source, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			system, _, _ := strings.Cut(strings.TrimSuffix(entry.Name(), ".go"), "_")
			for _, found := range method.FindAllSubmatch(source, -1) {
				tests["TestSystems/"+system+"/"+string(found[1])] = true
			}
		case strings.HasSuffix(path, "_test.go"):
			source, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			for _, found := range function.FindAllSubmatch(source, -1) {
				tests[string(found[1])] = true
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(texts) < 5 || len(tests) < 500 {
		t.Fatalf("%d texts, %d tests: not all were found", len(texts), len(tests))
	}
	name := regexp.MustCompile("`((?:Test|Benchmark)[A-Z][\\w/]*)`")
	link := regexp.MustCompile(`\]\(([^)\s]+)\)`)
	for _, path := range texts {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, found := range name.FindAllSubmatch(text, -1) {
			if !tests[string(found[1])] {
				t.Errorf("%s names %s, and there is no such test", path, found[1])
			}
			if reader(path) {
				t.Errorf("%s names the test %s: docs/ref/guarantees.md does that", path, found[1])
			}
		}
		for _, found := range link.FindAllSubmatch(text, -1) {
			target, heading, _ := strings.Cut(string(found[1]), "#")
			if strings.Contains(target, "://") {
				continue
			}
			file := filepath.Join(filepath.Dir(path), target)
			if target == "" {
				file = path
			}
			if _, err := os.Stat(file); err != nil {
				t.Errorf("%s links to %s: %v", path, target, err)
			}
			if heading != "" && !hasHeading(t, file, heading) {
				t.Errorf("%s links to %s#%s, and there is no such heading", path, target, heading)
			}
		}
	}
}

// hasHeading says whether a text has a heading with the anchor that GitHub makes of it.
func hasHeading(t *testing.T, path, anchor string) bool {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		return false
	}
	drop := regexp.MustCompile(`[^\w\- ]`)
	for line := range strings.Lines(string(text)) {
		title := strings.TrimSpace(strings.TrimLeft(line, "#"))
		if strings.HasPrefix(line, "#") && strings.ReplaceAll(drop.ReplaceAllString(strings.ToLower(title), ""), " ", "-") == anchor {
			return true
		}
	}
	return false
}

// Rows without a head are drawn as text, on GitHub too. A list right below a text is drawn as a part of it by make
// site.
func TestTablesAndListsAreDrawn(t *testing.T) {
	t.Parallel()
	item, rule := regexp.MustCompile(`^([-*]|\d+\.) `), regexp.MustCompile(`^[|: -]+$`)
	for path, text := range pages(t, "*.md", "docs/*.md", "docs/*/*.md") {
		above, rows := "", 0
		for _, line := range append(lines(fenced.ReplaceAllString(text, "")), "") {
			switch {
			case strings.HasPrefix(line, "|"):
				if rows++; rows == 2 && !rule.MatchString(line) {
					t.Errorf("%s has no head of a table above %q", path, line)
				}
			case rows == 1:
				t.Errorf("%s has a row of no table: %q", path, above)
				rows = 0
			default:
				rows = 0
			}
			if item.MatchString(line) && above != "" && !item.MatchString(above) && !strings.HasPrefix(above, " ") {
				t.Errorf("%s has no empty line above %q", path, line)
			}
			above = line
		}
	}
}
