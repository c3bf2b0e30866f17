package command

import (
	"bytes"
	"os"
	"testing"
)

func TestIsTerminal(t *testing.T) {
	t.Parallel()
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
	if !isTerminal(terminal) || isTerminal(file) || isTerminal(&bytes.Buffer{}) {
		t.Error("a terminal alone is one")
	}
}
