package explain

import (
	"fmt"
	"slices"
	"strings"

	"github.com/denorm-go/denorm/internal/layout"
	"github.com/denorm-go/denorm/tables"
)

// apart says which tables of the sets have partitions of their own although their partition keys differ only in a
// keyspace, an order or a bucket function: rows of one keyspace with equal partition keys are one request. Package lint
// says what other keys the queries would allow.
func apart(changes []tables.Change, physical func(string) string) (all []string) {
	seen := make(map[string]bool)
	for _, c := range changes {
		if seen[c.Entity()] {
			continue
		}
		seen[c.Entity()] = true
		set := c.Internal().Set
		list := set.Tables
		if set.Conditional() { // the base table has a transaction
			list = list[1:]
		}
		for i, b := range list {
			for _, a := range list[:i] {
				if why := partitionOf(set, a, physical).apart(partitionOf(set, b, physical)); why != "" {
					all = append(all, fmt.Sprintf("%s and %s have partitions of their own: %s", a.Name, b.Name, why))
				}
			}
		}
	}
	return all
}

// tablePartition is what decides whether rows of two tables of a set share a partition.
type tablePartition struct {
	keyspace string
	columns  []*layout.Column
}

func partitionOf(s *layout.Set, t *layout.Table, physical func(string) string) tablePartition {
	p := tablePartition{keyspace: physical(t.Keyspace)}
	for _, i := range t.Key[:t.Part] {
		p.columns = append(p.columns, &s.Columns[i])
	}
	return p
}

// apart is the one difference between two partition keys, empty if there is none or several.
func (p tablePartition) apart(o tablePartition) string {
	mine, others := p.values(), o.values()
	same := slices.Equal(mine, others)
	switch {
	case same && p.keyspace == o.keyspace:
		return "" // one request
	case same:
		return fmt.Sprintf("their partition keys are the same, their keyspaces are not (%s and %s)", p.keyspace, o.keyspace)
	case p.keyspace != o.keyspace || len(mine) != len(others):
		return ""
	case slices.Equal(slices.Sorted(slices.Values(mine)), slices.Sorted(slices.Values(others))):
		return fmt.Sprintf("their partition keys have the same columns in another order, (%s) and (%s)",
			strings.Join(mine, ", "), strings.Join(others, ", "))
	}
	var differ []string
	for i, a := range p.columns {
		switch b := o.columns[i]; {
		case mine[i] == others[i]:
		case a.Derived == nil || b.Derived == nil || !slices.Equal(a.Derived.Latest().Sources, b.Derived.Latest().Sources):
			return ""
		default:
			differ = append(differ, mine[i]+" and "+others[i])
		}
	}
	return "their partition keys differ in the bucket function alone, " + strings.Join(differ, ", ")
}

// values says what the partition key is made of: what is spelt alike has the same bytes in all rows of an entity.
func (p tablePartition) values() []string {
	out := make([]string, len(p.columns))
	for i, c := range p.columns {
		out[i] = c.Name
		if c.Derived != nil {
			out[i] = c.Derived.Latest().String() + " as " + c.CQL.String()
		}
	}
	return out
}
