package diagram_test

import (
	"strings"
	"testing"

	"github.com/denorm-go/denorm/cmd/denorm/internal/diagram"
	"github.com/denorm-go/denorm/schema"
	"github.com/denorm-go/denorm/tables"
)

// The picture says which column is only read.
func TestReadOnlyIsShown(t *testing.T) {
	t.Parallel()
	type playlist struct {
		ID    string
		Songs []string
	}
	set := tables.Must(tables.New[playlist]("playlist", tables.Table{Name: "playlists", PartKey: []string{"id"}}, tables.ReadOnly("songs")))
	s := schema.Must(schema.Declare(schema.Sets(set)))
	if svg := diagram.SVG(s); strings.Count(svg, "read-only") != 1 {
		t.Error(svg)
	}
}
