package command

import (
	"bytes"
	"os"
	"testing"
)

func TestColouring(t *testing.T) {
	terminal, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = terminal.Close() }()
	file, err := os.CreateTemp(t.TempDir(), "out")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	want := func(when string, want bool, flag string, out interface{ Write([]byte) (int, error) }) {
		t.Helper()
		if got, err := colouring(flag, out); err != nil || bool(got) != want {
			t.Errorf("%s: %v, %v", when, got, err)
		}
	}
	t.Setenv("NO_COLOR", "") // to have it put back
	if err := os.Unsetenv("NO_COLOR"); err != nil {
		t.Fatal(err)
	}
	want("a terminal", true, "auto", terminal)
	want("a file", false, "auto", file)
	want("something else", false, "auto", &bytes.Buffer{})
	want("never", false, "never", terminal)
	want("always", true, "always", file)
	t.Setenv("NO_COLOR", "1")
	want("NO_COLOR", false, "auto", terminal)
}
