//go:build faults

package temporal

import (
	"strings"
	"testing"
)

// What the server has is there after it was killed and started again.
func TestRestart(t *testing.T) {
	s := Serve(t, t.TempDir()+"/temporal.db")
	if _, err := s.Command(t.Context(), "operator", "namespace", "create", "--namespace", "kept"); err != nil {
		t.Fatal(err)
	}
	if err := s.Kill(); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Command(t.Context(), "operator", "namespace", "list"); err == nil {
		t.Error("a server that was killed answers")
	}
	if err := s.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	if out, err := s.Command(t.Context(), "operator", "namespace", "list"); err != nil || !strings.Contains(out, "kept") {
		t.Errorf("%v\n%s", err, out)
	}
}
