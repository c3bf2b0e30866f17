package cluster

import (
	"strings"
	"testing"
)

func TestParseCgroup(t *testing.T) {
	t.Parallel()
	if got, ok := parseCgroup("1000\n", "700\n", "anon 400\ninactive_file 200\nactive_file 100\n"); got != 500 || !ok {
		t.Errorf("%d, %t; want 500", got, ok)
	}
	if _, ok := parseCgroup("max\n", "700\n", ""); ok {
		t.Error("no limit is no knowledge")
	}
}

func TestTooLittleMemory(t *testing.T) {
	t.Parallel()
	if err := compareMemory(3, 1<<30, true); err == nil || !strings.Contains(err.Error(), "2700 MB of memory, 1024 MB are free") {
		t.Errorf("%v", err)
	}
	if err := compareMemory(1, 1<<30, true); err != nil {
		t.Error(err)
	}
	if err := compareMemory(3, 0, false); err != nil {
		t.Errorf("where the kernel does not tell: %v", err)
	}
}
