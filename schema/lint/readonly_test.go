package lint_test

import (
	"testing"

	"github.com/denorm-go/denorm/schema"
	"github.com/denorm-go/denorm/schema/lint"
	"github.com/denorm-go/denorm/tables"
)

// A list that a set only reads is found if a statement of the service writes it.
func TestListOfReadOnly(t *testing.T) {
	t.Parallel()
	type playlist struct {
		ID    string
		Songs []string
		Name  string
	}
	set := tables.Must(tables.New[playlist]("playlist", tables.Table{Name: "playlists", PartKey: []string{"id"}}, tables.ReadOnly("songs")))
	declared := schema.Must(schema.Declare(schema.Sets(set)))
	for statement, want := range map[string]int{"": 0, "UPDATE playlists SET songs = songs + ? WHERE id = ?": 1, "UPDATE playlists SET name = ? WHERE id = ?": 0} {
		s := *declared
		if statement != "" {
			s = *schema.Add(declared, schema.Must(schema.Parse("q.cql", statement)))
		}
		found := 0
		for _, f := range lint.Check(&s) {
			if f.Code == "DN302" || f.Code == "DN301" {
				found++
			}
		}
		if found != want {
			t.Errorf("%q: found %d", statement, found)
		}
	}
}
