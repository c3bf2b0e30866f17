package command

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/denorm-go/denorm/cmd/denorm/internal/initialize"
	"github.com/denorm-go/denorm/internal/printable"
	"github.com/denorm-go/denorm/schema"
)

func newInit(config *config) *cobra.Command {
	s := &source{config: config, review: true, tells: true}
	var out, format string
	var rows int
	c := &cobra.Command{
		Use:   "init [file.cql | folder ...]",
		Short: "Guess the entities of a keyspace, and write their declaration",
		Long: `Guess which tables of a live cluster (--hosts), or of CQL files, are of one entity, and write their declaration in Go.

It prints a report. With --out it also writes, into a folder of a Go module: sets.go, which declares the sets; migrate.cql with the columns that
are missing; denorm/main.go, which has the commands for the sets; ADOPT.md with the next steps. What is a guess has a comment. Run again, it
changes nothing, and leaves files alone that were edited.

Statements of the service in .cql files, with ? for values, one a line and each with a semicolon, are compared with the tables. Of a cluster it
also reads a sample of rows of each base table. The report and sets.go name the values of a key column that has at most eight.

Exit codes: 0 done, 2 it could not be done.`,
		RunE: func(c *cobra.Command, files []string) error {
			switch {
			case format != "text" && format != "json":
				return fmt.Errorf("unknown --format %q: text or json", format)
			case rows < 0 || rows > 100_000:
				return errors.New("--sample must be 0 to 100000")
			case len(s.hosts) == 0 && c.Flags().Changed("sample"):
				return errors.New("--sample needs --hosts")
			}
			if out != "" { // before rows are read
				if err := initialize.Check(out); err != nil {
					return err
				}
			}
			found, err := s.tables(c.Context(), files)
			if err != nil {
				return err
			}
			plan := initialize.New(found, nil)
			if len(s.hosts) > 0 && rows > 0 {
				if plan, err = s.sampled(c, plan, found, rows); err != nil {
					return err
				}
			}
			var wrote []initialize.File
			if out != "" {
				if wrote, err = plan.Write(out, s.hosts); err != nil {
					return err
				}
			}
			return writePlan(c.OutOrStdout(), plan, wrote, format)
		},
	}
	s.flags(c)
	f := c.Flags()
	f.StringVar(&out, "out", "", "folder for the files, in a Go module (default: print the report only)")
	f.StringVar(&format, "format", "text", "text or json")
	f.IntVar(&rows, "sample", 1000, "rows to read of each base table of a cluster, at most; 0 reads none")
	return c
}

// sampled is the plan after a look at rows.
func (s *source) sampled(c *cobra.Command, plan *initialize.Plan, found *schema.Schema, rows int) (*initialize.Plan, error) {
	from, err := s.connect()
	if err != nil {
		return nil, err
	}
	defer from.Close()
	terminal := s.config.terminal(c.ErrOrStderr())
	samples, err := plan.Samples(c.Context(), from, rows, func(text string) {
		if terminal {
			fmt.Fprint(c.ErrOrStderr(), "\r", text, "\x1b[K") //nolint:errcheck // nobody may be looking
		}
	})
	if err != nil {
		return nil, err
	}
	return initialize.New(found, samples), nil
}

// writePlan writes the report.
func writePlan(out io.Writer, plan *initialize.Plan, wrote []initialize.File, format string) error {
	if format == "json" {
		return writeIndented(out, struct {
			Entities    []*initialize.Entity `json:"entities"`
			Alone       []initialize.Left    `json:"alone"`
			NotDeclared []initialize.Left    `json:"notDeclared"`
			Statements  []finding            `json:"statements"`
			Files       []initialize.File    `json:"files,omitempty"`
		}{plan.Entities, plan.Alone, plan.Left, findingsJSON(plan.Findings), wrote})
	}
	var b strings.Builder
	b.WriteString(plan.String())
	if len(plan.Findings) > 0 {
		b.WriteString("\nstatements\n")
		if err := writeFindings(&b, plan.Findings); err != nil {
			return err
		}
	}
	for _, f := range wrote {
		fmt.Fprintf(&b, "%s: %s\n", printable.Line(f.Name), f.State)
	}
	_, err := io.WriteString(out, b.String())
	return err
}
