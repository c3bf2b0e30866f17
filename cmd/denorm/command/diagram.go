package command

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/denorm-go/denorm/cmd/denorm/internal/diagram"
	"github.com/denorm-go/denorm/schema"
)

func newDiagram(config *config) *cobra.Command {
	s := &source{config: config, review: true}
	var format string
	c := &cobra.Command{
		Use:   "diagram [file.cql | folder ...]",
		Short: "Draw tables, their keys, queries, indexes and views, and what moves rows",
		RunE: func(c *cobra.Command, files []string) error {
			draw, ok := map[string]func(*schema.Schema) string{"mermaid": diagram.Mermaid, "svg": diagram.SVG}[format]
			if !ok {
				return fmt.Errorf("unknown --format %q: mermaid or svg", format)
			}
			found, err := s.tables(c.Context(), files)
			if err != nil {
				return err
			}
			return s.config.writeText(c, draw(found))
		},
	}
	s.flags(c)
	c.Flags().StringVar(&format, "format", "mermaid", "mermaid or svg")
	return c
}
