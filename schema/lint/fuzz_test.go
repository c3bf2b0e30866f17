package lint_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/denorm-go/denorm/schema"
	"github.com/denorm-go/denorm/schema/lint"
)

// FuzzReview: whatever a file says, its review ends, and each finding says what is wrong and what to do.
func FuzzReview(f *testing.F) {
	for _, folder := range []string{"testdata/reviewed", "testdata/corpus"} {
		files, err := filepath.Glob(filepath.Join(folder, "*.cql"))
		if err != nil || len(files) == 0 {
			f.Fatalf("%s: %v, %v", folder, files, err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(string(text))
		}
	}
	f.Fuzz(func(t *testing.T, text string) {
		s, err := schema.Review(schema.Source{File: "fuzz", Text: text})
		if err != nil {
			return
		}
		for _, finding := range lint.Check(s) {
			if finding.Code == "" || finding.Reason == "" || finding.Fix == "" {
				t.Errorf("%q: %+v", text, finding)
			}
		}
	})
}
