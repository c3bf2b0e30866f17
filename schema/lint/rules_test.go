package lint

import (
	"testing"
)

// Each rule has a text and a check, and a known severity.
func TestRulesAreWhole(t *testing.T) {
	t.Parallel()
	if len(rules) != len(checks) {
		t.Errorf("%d rules, %d checks", len(rules), len(checks))
	}
	for _, r := range rules {
		if r.check == nil || r.Name == "" || r.Doc == "" || r.Severity < Note || r.Severity > Error {
			t.Errorf("%+v", r)
		}
	}
}
