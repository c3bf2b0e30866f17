package child_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/denorm-go/denorm/integration/harness/child"
)

func TestMain(m *testing.M) {
	var told string
	switch is, err := child.Told(&told); {
	case is && err != nil:
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	case is:
		over := child.Over()
		if told == "fail" {
			fmt.Fprintln(os.Stderr, "told to fail")
			os.Exit(3)
		}
		<-over
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func start(t *testing.T, told string) *child.Child {
	t.Helper()
	c, err := child.Start(told)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestChild(t *testing.T) {
	t.Parallel()
	if err := start(t, "wait").Kill(); err != nil {
		t.Errorf("kill: %v", err)
	}
	if err := start(t, "wait").End(); err != nil {
		t.Errorf("end: %v", err)
	}
	failed := start(t, "fail")
	<-failed.Ended()
	for name, err := range map[string]error{"kill": failed.Kill(), "end": failed.End()} {
		if err == nil || !strings.Contains(err.Error(), "told to fail") {
			t.Errorf("%s of a child that has failed: %v", name, err)
		}
	}
}
