package command

import (
	"github.com/spf13/cobra"

	"github.com/denorm-go/denorm/cmd/denorm/internal/diagram"
)

func newDiagram(config *config) *cobra.Command {
	s := &source{config: config, review: true}
	c := &cobra.Command{
		Use:   "diagram [file.cql | folder ...]",
		Short: "Draw tables, their keys, queries, indexes and views, and what moves rows, as SVG",
		RunE: func(c *cobra.Command, files []string) error {
			found, err := s.tables(c.Context(), files)
			if err != nil {
				return err
			}
			return s.config.writeText(c, diagram.SVG(found))
		},
	}
	s.flags(c)
	return c
}
