package schema

import (
	"maps"
	"strings"

	"github.com/denorm-go/denorm/internal/cql"
	"github.com/denorm-go/denorm/internal/cql/ast"
	"github.com/denorm-go/denorm/internal/each"
)

// createIndex gives an index without a name the one that the server would give it after what the text has created
// before. A second index on the same is an error, as it is to the server: what CQL returns could not be executed.
func (p *parser) createIndex(s *ast.CreateIndex, at int) error {
	table := p.there("TABLE", s.Table)
	i := Index{
		ID: ID{table.Keyspace, s.Index}, Table: table.Name, Target: targetText(s.Targets), Class: indexClass(s.Using), Options: s.Options,
		At: p.position(at), unnamed: s.Index == "",
	}
	if i.unnamed {
		i.Name = p.out.indexName(&i)
	}
	there, same := named(p.out.Indexes, i.ID) != nil, p.out.indexLike(&i)
	switch {
	case (s.IfNotExists || p.rerun) && (there || same != nil):
		return nil
	case there:
		return p.once(there, at, "index", i.ID)
	case same != nil:
		return p.fail(at, "index %s is on the same as index %s, and Cassandra rejects the second: leave one of them out", i.ID, same.ID)
	}
	p.out.Indexes = append(p.out.Indexes, i)
	return nil
}

// indexName is the name that the server gives to an index without one.
func (s *Schema) indexName(i *Index) string {
	var taken map[string]bool
	return ast.IndexName(i.Table, i.Column(), func(name string) bool {
		if taken == nil { // the names that come after this one begin with it
			taken = make(map[string]bool)
			for at := range s.Indexes {
				if o := &s.Indexes[at]; o.Keyspace == i.Keyspace && strings.HasPrefix(o.Name, name) {
					taken[o.Name] = true
				}
			}
		}
		return taken[name]
	})
}

// indexLike is an index on the same, whatever its name is; nil for none.
func (s *Schema) indexLike(i *Index) *Index {
	return find(s.Indexes, func(o *Index) bool { return o.Keyspace == i.Keyspace && o.same(i) })
}

// same says whether two indexes of a keyspace differ in nothing but their names. An index on a collection as it is is
// one on its values.
func (i *Index) same(o *Index) bool {
	target := func(i *Index) string {
		if strings.HasPrefix(i.Target, "values(") {
			if function, column := indexTarget(i.Target); function == "values" {
				return cql.Quote(column)
			}
		}
		return i.Target
	}
	return i.Table == o.Table && i.Class == o.Class && target(i) == target(o) && maps.Equal(i.Options, o.Options)
}

// addIndex adds an index, unless it is there. One that was created without a name gets the one that it would have in
// this schema.
func (s *Schema) addIndex(i Index) {
	if i.unnamed {
		if s.indexLike(&i) != nil {
			return
		}
		i.Name = s.indexName(&i)
	}
	if named(s.Indexes, i.ID) == nil {
		s.Indexes = append(s.Indexes, i)
	}
}

// indexClass is the name of an index implementation; the one of CREATE INDEX is empty.
func indexClass(using string) string {
	switch strings.ToLower(using[strings.LastIndex(using, ".")+1:]) {
	case "legacy_local_table":
		return ""
	case "storageattachedindex", "sai":
		return "sai"
	}
	return using
}

// indexOptions are the options of an index that the server has, without those that it adds: it stores no defaults.
func indexOptions(live map[string]string) map[string]string {
	out := maps.Clone(live)
	delete(out, "target")
	delete(out, "class_name")
	return out
}

// indexFunctions say what of a collection an index is on.
var indexFunctions = []string{"keys", "values", "entries", "full"}

// targetText is what an index is on, as CQL.
func targetText(targets []ast.IndexTarget) string {
	return strings.Join(each.Of(targets, ast.IndexTarget.String), ", ")
}

// indexTargets are the columns of a target: commas between quotes are of a name.
func indexTargets(target string) []string {
	quoted := false
	return strings.FieldsFunc(target, func(r rune) bool {
		quoted = quoted != (r == '"')
		return r == ',' && !quoted
	})
}

// indexTarget takes a target apart; function is empty for an index on the column as it is. Both are empty for several
// columns.
func indexTarget(target string) (function, column string) {
	if len(indexTargets(target)) > 1 {
		return "", ""
	}
	for _, f := range indexFunctions {
		if inner, ok := strings.CutPrefix(target, f+"("); ok && strings.HasSuffix(inner, ")") {
			function, target = f, strings.TrimSuffix(inner, ")")
			break
		}
	}
	if name := ast.Unquote(target); strings.HasPrefix(target, `"`) && name != "" {
		return function, name
	}
	return function, target
}

// Column returns the name of the column that the index is on. It returns nothing for a custom index on no column, or on
// several.
func (i *Index) Column() string {
	_, column := indexTarget(i.Target)
	return column
}
