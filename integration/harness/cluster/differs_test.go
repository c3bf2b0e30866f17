package cluster

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// The documentation has the list.
func TestDifferencesAreDocumented(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../../docs/design/tests.md")
	if err != nil {
		t.Fatal(err)
	}
	want := "| on | difference from 5.0 | comparisons |\n| --- | --- | --- |\n"
	for _, d := range differences {
		want += fmt.Sprintf("| %s | %s | %s |\n", d.version, d.why, d.comparisons())
	}
	if !strings.Contains(string(page), want) {
		t.Errorf("docs/design/tests.md lacks\n%s", want)
	}
}

func TestDiffers(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		version, test, about string
		want                 bool
	}{
		{"4.1.10", "TestLiterals", "int [1]", true},
		{"4.1.10", "TestLiterals", "int 1", false},
		{"4.1.10", "TestRefusals", "int [1]", false},
		{"5.0.9", "TestLiterals", "int [1]", false},
		{"6.0-alpha2", "TestDifferential", "anything", true},
	} {
		if got := Differs(c.version, c.test, c.about); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
}
