package layout

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/denorm-go/denorm/internal/cql"
	"github.com/denorm-go/denorm/internal/statement"
)

// Metadata is a declared table as gocqlx describes one: name and fields are those of its table.Metadata, in the same
// order. The face returns it as an unnamed struct, which Go converts, so that nothing imports gocqlx, whose versions
// have different import paths.
type Metadata struct {
	Name                      string
	Columns, PartKey, SortKey []string
}

// Metadata is that of tables.Set.
func (s *Set) Metadata(name string) (Metadata, error) {
	if s == nil {
		return Metadata{}, errors.New("tables: the set is nil: use one that New has returned")
	}
	var named []*Table
	var names, all []string
	for _, t := range slices.Concat(s.Tables, s.Unique) {
		full := statement.Qualified(t.Keyspace, t.Name)
		if name == t.Name || name == full {
			named = append(named, t)
		}
		names, all = append(names, t.Name), append(all, full)
	}
	fail := func(format string, args ...any) (Metadata, error) {
		return Metadata{}, fmt.Errorf("tables: set %q: table %q %s", s.Name, name, fmt.Sprintf(format, args...))
	}
	switch {
	case len(named) == 0:
		return fail("is not declared%s; the tables are %s", cql.Meant(name, names), strings.Join(all, ", "))
	case len(named) > 1:
		return fail("is declared in several keyspaces: name it with one, as in %s",
			statement.Qualified(named[0].Keyspace, named[0].Name))
	}
	t := named[0]
	if t.Rotation != nil {
		return fail("rotates, so there are many tables of which each has a bucket in its name: read them with package reader")
	}
	return Metadata{
		Name: statement.Qualified(t.Keyspace, t.Name), Columns: slices.Clone(t.FieldNames),
		PartKey: slices.Clone(t.KeyNames[:t.Part]), SortKey: slices.Clone(t.KeyNames[t.Part:]),
	}, nil
}
