// Package planted tests tests: it runs them with a bug in the library, which they have to find.
package planted

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Find runs go test with these arguments in the package of the test that calls it, with a bug in that build alone: in
// place of the text, which the file has once, there is another. It returns what was printed. If that succeeds, t fails.
func Find(t *testing.T, file, text, wrong string, args ...string) []byte {
	t.Helper()
	path, err := filepath.Abs(filepath.FromSlash(file))
	if err != nil {
		t.Fatal(err)
	}
	source, err := os.ReadFile(path) //nolint:gosec // the test names it
	if err != nil {
		t.Fatal(err)
	}
	if strings.Count(string(source), text) != 1 {
		t.Fatalf("%s does not have once: %s", file, text)
	}
	output, err := Overlay(t, path, strings.Replace(string(source), text, wrong, 1),
		append([]string{"test", "-count=1", "-timeout", "1h"}, args...)...)
	if err == nil {
		t.Fatalf("it is not found:\n%s", output)
	}
	return output
}

// Overlay runs the go command, for which the file at path has this content, and returns what it printed.
func Overlay(t *testing.T, path, content string, args ...string) ([]byte, error) {
	t.Helper()
	dir := t.TempDir()
	file, overlay := filepath.Join(dir, "planted.go"), filepath.Join(dir, "overlay.json")
	replace, err := json.Marshal(map[string]map[string]string{"Replace": {path: file}})
	if err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string]string{file: content, overlay: string(replace)} {
		if err := os.WriteFile(name, []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	all := append([]string{args[0], "-overlay", overlay}, args[1:]...)
	return exec.CommandContext(t.Context(), "go", all...).CombinedOutput() //nolint:gosec // the test names them
}
