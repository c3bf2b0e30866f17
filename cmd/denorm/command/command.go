// Package command has the commands of denorm, to be mounted in your own binary, which knows the declared sets:
//
//	root.AddCommand(command.New(command.Declared(shop.Schema)))
//
// The binary has to set the exit code: os.Exit(command.ExitCode(root.Execute())).
package command

import (
	"errors"
	"io"
	"runtime/debug"
	"slices"

	"github.com/spf13/cobra"

	"github.com/denorm-go/denorm/internal/printable"
	"github.com/denorm-go/denorm/reconcile"
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

// Declared gives the commands the schema that the service declares. Without files and hosts, they work on that schema.
// With hosts, they review the live tables with the declared entities, queries and suppressions. verify, repair,
// backfill and adopt work on the declared sets.
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
	root.AddCommand(newInit(&c), newLint(&c), newDiagram(&c), newEstimate(&c), newDDL(&c), newApply(&c), newVerify(&c), newRepair(&c), newBackfill(&c), newAdopt(&c),
		newRuns(&c), newPause(&c), newResume(&c), newRate(&c), newStop(&c))
	for _, sub := range root.Commands() {
		quiet(sub)
	}
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return shownError{err} })
	return root
}

// found is the error of a run without that of drift, which is an exit code if there is nothing else.
func found(err error) error {
	if onlyDrift(err) {
		return errFound
	}
	return err
}

// onlyDrift says whether an error is of what was found, and so is each one that is joined in it: any other one is why
// the run ended early.
func onlyDrift(err error) bool {
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		found := errors.Is(err, reconcile.ErrDrift) || errors.Is(err, reconcile.ErrUnsafe)
		return found && (errors.Unwrap(err) == nil || onlyDrift(errors.Unwrap(err)))
	}
	return !slices.ContainsFunc(joined.Unwrap(), func(e error) bool { return !onlyDrift(e) })
}

// quiet keeps cobra from writing, in a binary of one's own, the usage after each error, an error that only stands for
// an exit code, and what a terminal obeys.
func quiet(c *cobra.Command) {
	run := c.RunE
	c.SilenceUsage = true
	c.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return shownError{err} })
	c.RunE = func(c *cobra.Command, args []string) error {
		err := run(c, args)
		c.SilenceErrors = errors.Is(err, errFound)
		if err == nil {
			return nil
		}
		return shownError{err}
	}
}

// shownError is an error with names of a live schema, of a file, or of what a server said.
type shownError struct{ error }

func (e shownError) Error() string { return printable.Lines(e.error.Error()) }
func (e shownError) Unwrap() error { return e.error }

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

// ExitCode returns the exit code for the error that a command returned.
func ExitCode(err error) int {
	switch {
	case err == nil:
		return ExitFine
	case errors.Is(err, errFound):
		return ExitFound
	}
	return ExitError
}
