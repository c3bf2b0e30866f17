//go:build planted

package transcript_test

import (
	"regexp"
	"testing"

	"github.com/denorm-go/denorm/internal/testutil/planted"
)

// bugs are rules of Cassandra got wrong.
var bugs = []struct{ name, file, text, wrong string }{
	{
		"the smaller value wins a tie", "merge/cell.go",
		"return either(bytes.Compare(left.Value, right.Value) >= 0, left, right)",
		"return either(bytes.Compare(left.Value, right.Value) <= 0, left, right)",
	},
	{
		"a value wins a tie with a tombstone", "merge/cell.go",
		"right.tombstone() || right.expiring(); l != r {\n\t\treturn either(l,",
		"right.tombstone() || right.expiring(); l != r {\n\t\treturn either(r,",
	},
	{
		"a value wins a tie with one that ends", "merge/cell.go",
		"return c.Value != nil && c.Expires != 0 }", "return false }",
	},
	{
		"what has ended is shown", "merge/cell.go",
		"return c.Value != nil && (c.Expires == 0 || now < c.Expires)", "return c.Value != nil",
	},
	{
		"an UPDATE leaves a row marker", "query/mutation.go",
		"if w.marker && whole {", "if whole {",
	},
	{
		"a row marker survives a tombstone of its timestamp", "replica/row.go",
		"if r.Marker.Timestamp <= deletion {", "if r.Marker.Timestamp < deletion {",
	},
	{
		"a tombstone covers smaller timestamps only", "replica/cell.go",
		"if c.Timestamp <= deletion {", "if c.Timestamp < deletion {",
	},
	{
		"a collection that is overwritten keeps its elements", "replica/cell.go",
		"return c.Path != nil && all.All && all.Column == c.Column && c.Timestamp <= all.Timestamp",
		`return c.Path != nil && all.All && all.Column == ""`,
	},
	{
		"a collection that is overwritten loses what was written at the same time", "query/operation.go",
		"\t\t\tall--\n", "",
	},
	{
		"the static row is swept with a range of rows", "replica/partition.go",
		"p.Static = p.Static.pruned(p.Deletion)\n\t}\n\trows :=",
		"p.Static = p.Static.pruned(p.deletion(nil, compare))\n\t}\n\trows :=",
	},
	{
		"a range takes its bound along", "replica/partition.go",
		"c > 0 || c == 0 && !r.From.Inclusive {", "c > 0 {",
	},
	{
		"a counter adds twice", "coordinator/counter.go",
		"shard.Count += d.Count", "shard.Count += 2 * d.Count",
	},
	{
		"the smaller clock of a counter wins", "replica/cell.go",
		"if b[0].Clock > larger.Clock {", "if b[0].Clock < larger.Clock {",
	},
}

// Every wrong rule is found by the recorded answers of a real cluster.
func TestPlanted(t *testing.T) {
	found := regexp.MustCompile(`round \d+, statement (\d+): (.*)`)
	for _, bug := range bugs {
		t.Run(bug.name, func(t *testing.T) {
			output := planted.Find(t, "../"+bug.file, bug.text, bug.wrong, "-run", "^TestReplay$", ".")
			difference := found.FindSubmatch(output)
			if difference == nil {
				t.Fatalf("it is not found, but something else:\n%s", output)
			}
			t.Logf("statement %s: %s", difference[1], difference[2])
		})
	}
}
