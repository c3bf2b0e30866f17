package tracing_test

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// docs/ref/telemetry.md has the name of every instrument and attribute of the library's own, and no other.
func TestDocs(t *testing.T) {
	t.Parallel()
	names := func(file, pattern string) map[string]bool {
		t.Helper()
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		found := make(map[string]bool)
		for _, m := range regexp.MustCompile(pattern).FindAllStringSubmatch(string(text), -1) {
			found[m[1]] = true
		}
		return found
	}
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	recorded := make(map[string]bool)
	for _, file := range files {
		if !strings.HasSuffix(file, "_test.go") {
			maps.Copy(recorded, names(file, `"(denorm\.[a-z_.]+)"`))
		}
	}
	documented := names("../docs/ref/telemetry.md", `\b(denorm\.[a-z_.]*[a-z])`)
	if len(recorded) < 30 {
		t.Fatalf("%d names are recorded", len(recorded))
	}
	for _, name := range slices.Sorted(maps.Keys(recorded)) {
		if !documented[name] {
			t.Errorf("docs/ref/telemetry.md has no %s", name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(documented)) {
		if !recorded[name] {
			t.Errorf("nothing records %s", name)
		}
	}
}
