package command_test

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/denorm-go/denorm/cmd/denorm/command"
)

// A service mounts the commands in its own binary, which knows the declared sets.
func ExampleNew() {
	root := &cobra.Command{Use: "orderservice"}
	root.AddCommand(command.New()) // command.New(command.Declared(Shop)) for verify, repair, adopt and backfill
	root.SetArgs([]string{"denorm", "diagram", "no-such-file.cql"})
	root.SilenceErrors, root.SilenceUsage = true, true
	fmt.Println(command.ExitCode(root.Execute()))
	// Output: 2
}
