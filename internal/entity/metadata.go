package entity

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/denorm-go/denorm/internal/cql"
	"github.com/denorm-go/denorm/internal/statement"
)

// Metadata is a declared table as gocqlx describes one: name and fields are those of its table.Metadata, in the same order.
type Metadata struct {
	Name                      string
	Columns, PartKey, SortKey []string
}

// Metadata is that of tables.Set.
func (s *Set) Metadata(name string) (Metadata, error) {
	if s == nil {
		return Metadata{}, errors.New("tables: the set is nil: use one that New has returned")
	}
	var named []*table
	var names, all []string
	for _, t := range slices.Concat(s.tables, s.unique) {
		full := statement.Qualified(t.keyspace, t.name)
		if name == t.name || name == full {
			named = append(named, t)
		}
		names, all = append(names, t.name), append(all, full)
	}
	fail := func(format string, args ...any) (Metadata, error) {
		return Metadata{}, fmt.Errorf("tables: set %q: table %q %s", s.entity, name, fmt.Sprintf(format, args...))
	}
	switch {
	case len(named) == 0:
		return fail("is not declared%s; the tables are %s", cql.Meant(name, names), strings.Join(all, ", "))
	case len(named) > 1:
		return fail("is declared in several keyspaces: name it with one, as in %s", statement.Qualified(named[0].keyspace, named[0].name))
	}
	t := named[0]
	if t.rotation != nil {
		return fail("rotates, so there are many tables of which each has a bucket in its name: read them with package reader")
	}
	return Metadata{
		Name: statement.Qualified(t.keyspace, t.name), Columns: slices.Clone(t.fieldNames),
		PartKey: slices.Clone(t.keyNames[:t.part]), SortKey: slices.Clone(t.keyNames[t.part:]),
	}, nil
}
