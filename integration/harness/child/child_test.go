package child_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/denorm-go/denorm/integration/harness/child"
)

func TestMain(m *testing.M) {
	var told string
	child.Main(m, &told, func(ctx context.Context) error {
		if told == "fail" {
			return errors.New("told to fail")
		}
		<-ctx.Done()
		return nil
	})
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
