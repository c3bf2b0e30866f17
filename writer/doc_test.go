package writer

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Each row of the guarantees table names the tests that prove it, so they have to exist, and every mode has its rows.
func TestDocNamesTests(t *testing.T) {
	t.Parallel()
	doc, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	var tests strings.Builder
	for _, pattern := range []string{"*_test.go", "../tables/*_test.go", "../integration/*/*/*_test.go", "../integration/*/*_test.go", "../internal/versioned/*_test.go"} {
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
	for _, name := range regexp.MustCompile(`\bTest[A-Z]\w*`).FindAllString(string(doc), -1) {
		if !strings.Contains(tests.String(), "func "+name+"(t ") {
			t.Errorf("doc.go names %s, and there is no such test", name)
		}
	}
	for mode := range guarantees {
		name := strings.ReplaceAll(mode.String(), "-", "")
		if !strings.Contains(strings.ToLower(string(doc)), "["+name+"]") {
			t.Errorf("doc.go says nothing of %v", mode)
		}
	}
}
