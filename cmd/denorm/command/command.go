// Package command has the commands of denorm, to be mounted in a binary of one's own, where the declared sets are known:
//
//	root.AddCommand(command.New(command.Declared(shop.Schema)))
//
// What they exit with is for the binary to do: os.Exit(command.ExitCode(root.Execute())).
package command

import (
	"errors"
	"io"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/denorm-go/denorm/schema"
	"github.com/denorm-go/denorm/session"
)

// Option is an argument of [New].
type Option func(*config)

type config struct {
	declared *schema.Schema
	terminal func(io.Writer) bool
	session  []session.Option // of tests
}

// Declared makes the commands know what the service declares: without files and hosts they are about that, and with
// hosts they review the live tables with the declared entities, queries and suppressions. verify, repair, backfill and
// adopt work on the declared sets.
func Declared(s *schema.Schema) Option { return func(c *config) { c.declared = s } }

// New makes the command denorm with its subcommands.
func New(options ...Option) *cobra.Command {
	c := config{terminal: isTerminal}
	for _, o := range options {
		o(&c)
	}
	root := &cobra.Command{
		Use:           "denorm",
		Short:         "Review, draw, size and write the schema of Cassandra tables, compare, repair and backfill their rows",
		Version:       version(),
		SilenceUsage:  true,
		SilenceErrors: true,
		Args: func(c *cobra.Command, args []string) error { // an unknown command is an error in a binary of one's own, too
			c.SilenceErrors = !c.HasParent()
			return cobra.NoArgs(c, args)
		},
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	root.AddCommand(newLint(&c), newDiagram(&c), newEstimate(&c), newDDL(&c), newVerify(&c), newRepair(&c), newBackfill(&c), newAdopt(&c),
		newRuns(&c), newPause(&c), newResume(&c), newRate(&c), newStop(&c))
	for _, c := range root.Commands() {
		quiet(c)
	}
	return root
}

// quiet keeps cobra from writing, in a binary of one's own, the usage after each error, and an error that only stands for an exit code.
func quiet(c *cobra.Command) {
	run := c.RunE
	c.SilenceUsage = true
	c.RunE = func(c *cobra.Command, args []string) error {
		err := run(c, args)
		c.SilenceErrors = errors.Is(err, errFound)
		return err
	}
}

// version is that of this module, also in the binary of another one.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "(unknown)"
	}
	for _, dep := range info.Deps {
		if dep.Path == module {
			return dep.Version
		}
	}
	return info.Main.Version
}

// The exit codes.
const (
	ExitFine  = 0
	ExitFound = 1 // findings, or differences
	ExitError = 2 // it could not be done, or not all of it
)

// errFound is returned when a command found something. What, it has said already, so it has no text.
var errFound = errors.New("")

// ExitCode is the code to exit with for what a command returned.
func ExitCode(err error) int {
	switch {
	case err == nil:
		return ExitFine
	case errors.Is(err, errFound):
		return ExitFound
	}
	return ExitError
}
