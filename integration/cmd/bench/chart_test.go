package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The charts of docs/why/costs.md are of the figures in docs/figures.
func TestCharts(t *testing.T) {
	t.Parallel()
	const figures = "../../../docs/figures"
	for _, c := range charts {
		page, err := os.ReadFile(filepath.Join(figures, c.page))
		if err != nil {
			t.Fatal(err)
		}
		want, err := c.draw(string(page))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(filepath.Join(figures, c.file)); err != nil || string(got) != want {
			t.Errorf("%s is not of the figures in %s: %v; in integration/ go run ./cmd/bench charts -out ../docs/figures", c.file, c.page, err)
		}
	}
}

// Without a folder the pages would be looked for in the working directory.
func TestChartsNeedAFolder(t *testing.T) {
	t.Parallel()
	if err := run(t.Context(), []string{"charts"}); err == nil || !strings.Contains(err.Error(), "-out") {
		t.Error(err)
	}
}
