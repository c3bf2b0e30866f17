package writer

import (
	"fmt"
	"slices"
	"strings"

	"github.com/denorm-go/denorm/internal/layout"
	"github.com/denorm-go/denorm/tables"
)

// apart says which tables of the sets have partitions of their own although their partition keys differ only in a keyspace, an order or a bucket
// function: rows of one keyspace with equal partition keys are one request. Package lint says what other keys the queries would allow.
func (w *Writer) apart(changes []tables.Change) (all []string) {
	seen := make(map[string]bool)
	for _, c := range changes {
		if seen[c.Entity()] {
			continue
		}
		seen[c.Entity()] = true
		d := c.Internal().Set.Describe()
		list := d.Tables
		if d.Conditional { // the base table has a transaction
			list = list[1:]
		}
		for i := range list {
			for k := range list[:i] {
				if a, b := &list[k], &list[i]; !a.Unique && !b.Unique {
					if why := partitionOfTable(a, w.physical).apart(partitionOfTable(b, w.physical)); why != "" {
						all = append(all, fmt.Sprintf("%s and %s have partitions of their own: %s", a.Name, b.Name, why))
					}
				}
			}
		}
	}
	return all
}

// tablePartition is what decides whether rows of two tables of a set share a partition.
type tablePartition struct {
	keyspace string
	columns  []layout.ColumnDescription
}

func partitionOfTable(t *layout.TableDescription, physical func(string) string) tablePartition {
	p := tablePartition{keyspace: physical(t.Keyspace)}
	for _, c := range t.Columns {
		if c.Kind == "partition_key" {
			p.columns = append(p.columns, c)
		}
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
		case a.Derived == "" || b.Derived == "" || sourcesOf(a) != sourcesOf(b):
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
		if c.Derived != "" {
			out[i] = c.Derived + " as " + c.Type
		}
	}
	return out
}

// sourcesOf are the columns that a bucket function is of: what is in its brackets after its numbers, as in hash(4, user_id) and day(ts).
func sourcesOf(c layout.ColumnDescription) string {
	_, in, _ := strings.Cut(strings.TrimSuffix(c.Derived, ")"), "(")
	if number, rest, ok := strings.Cut(in, ", "); ok && number != "" && (number[0] >= '0' && number[0] <= '9') {
		return rest
	}
	return in
}
