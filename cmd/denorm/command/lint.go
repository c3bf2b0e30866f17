package command

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/denorm-go/denorm/internal/each"
	"github.com/denorm-go/denorm/schema/lint"
)

func newLint(config *config) *cobra.Command {
	s := &source{config: config, review: true, tells: true}
	var format, failOn string
	var ignore []string
	c := &cobra.Command{
		Use:   "lint [file.cql | folder ...]",
		Short: "Look for what makes tables fail as they grow",
		Long: `Look for what makes tables fail as they grow, in CQL files or in a live cluster (--hosts).

Files are read one after the other, as migrations are: each may change what those before it have created. In a folder and
the folders in it, denorm reads the .cql files, but not .down.cql, in natural order (V9 before V10). Links in it are errors. Queries are reviewed against the tables, and those of unknown tables and columns are found.
Alongside a cluster, files hold the queries of the service and notes, and say what a live table cannot:
  -- denorm:entity order orders_by_id orders_by_user
  -- denorm:volume orders_by_user rows=2000/year
  -- denorm:ignore DN101 orders_by_status a few orders a day

Exit codes: 0 nothing as bad as --fail-on, 1 something is, 2 it could not be done.`,
		RunE: func(c *cobra.Command, files []string) error {
			write, ok := lintFormats[format]
			if !ok {
				return fmt.Errorf("unknown --format %q: text, json or sarif", format)
			}
			if err := known(ignore); err != nil {
				return err
			}
			limit, ok := severities[failOn]
			if !ok {
				return fmt.Errorf("unknown --fail-on %q: error, warning, note or never", failOn)
			}
			schema, err := s.tables(c.Context(), files)
			if err != nil {
				return err
			}
			found := slices.DeleteFunc(lint.Check(schema), func(f lint.Finding) bool { return slices.Contains(ignore, f.Code) })
			if err := write(c.OutOrStdout(), found); err != nil {
				return err
			}
			if lint.Worst(found) >= limit {
				return errFound
			}
			return nil
		},
	}
	s.flags(c)
	f := c.Flags()
	f.StringVar(&format, "format", "text", "text, json or sarif")
	f.StringVar(&failOn, "fail-on", "error", "the severity to exit with 1 for: error, warning, note or never")
	f.StringSliceVar(&ignore, "ignore", nil, "codes of rules to leave out; a note in a file can do so for one table, with a reason")
	f.BoolVar(&s.sizes, "sizes", true, "review the sizes of partitions that a cluster reports, too")
	return c
}

// known rejects a code that no rule has: it would leave nothing out.
func known(codes []string) error {
	rules := each.Of(lint.Rules(), func(r lint.Rule) string { return r.Code })
	for _, code := range codes {
		if !slices.Contains(rules, code) {
			return fmt.Errorf("--ignore: no lint rule has the code %q; the rules are %s", code, strings.Join(rules, ", "))
		}
	}
	return nil
}

var severities = map[string]lint.Severity{
	"error": lint.Error, "warning": lint.Warning, "note": lint.Note, "never": lint.Error + 1,
}

var lintFormats = map[string]func(io.Writer, []lint.Finding) error{
	"text": writeFindings, "json": writeJSON, "sarif": writeSARIF,
}
