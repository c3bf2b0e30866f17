// Package security tests what a service sees of credentials, certificates and permissions, on a real node that demands
// all of them.
package security

import (
	"context"
	"fmt"
	"os"
	"testing"

	"github.com/denorm-go/denorm/integration/harness/cluster"
)

func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == cluster.GuardCommand {
		if err := guard(); err != nil {
			fmt.Fprintln(os.Stderr, "guard:", err)
			os.Exit(1)
		}
		return
	}
	code, err := run(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// guard stops the node of a run that was killed.
func guard() error {
	harness, err := cluster.New(os.Stderr)
	if err != nil {
		return err
	}
	return harness.Guard(context.Background())
}

// run runs the tests with the node.
func run(m *testing.M) (code int, err error) {
	ctx := context.Background()
	lease, err := node.start(ctx)
	if err != nil {
		return 0, err
	}
	defer func() {
		if failed := lease.Close(ctx); err == nil {
			err = failed
		}
	}()
	return m.Run(), nil
}
