// Package golden compares what a test got with a file that somebody has read and accepted.
package golden

import (
	"flag"
	"os"
	"path/filepath"
	"testing"
)

var update = flag.Bool("update", false, "write the golden files again")

// Check fails the test if got is not what the file holds; name is its path under testdata. With -update the file is
// written first: read the difference before you commit it.
func Check(tb testing.TB, name, got string) {
	tb.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil { //nolint:gosec // part of the repository
			tb.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil { //nolint:gosec // as above
			tb.Fatal(err)
		}
	}
	want, err := os.ReadFile(path) //nolint:gosec // a file of the test
	if err != nil {
		tb.Fatal(err)
	}
	if got != string(want) {
		tb.Errorf("%s differs; go test with -update writes it again. Got\n%s\nwant\n%s", path, got, want)
	}
}
