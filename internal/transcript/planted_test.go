//go:build !race

package transcript_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// planted are bugs, each by a line that is replaced.
var planted = []struct{ name, file, line, wrong string }{
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
		"an UPDATE leaves a row marker", "query/modify.go",
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
		"p.Static = p.Static.pruned(p.Deletion)\n\t}\n\trows :=", "p.Static = p.Static.pruned(p.deletion(nil, compare))\n\t}\n\trows :=",
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

// Every wrong rule is found by the recorded answers of a real cluster. It is in the build of this test alone.
func TestPlanted(t *testing.T) {
	found := regexp.MustCompile(`round \d+, statement (\d+): (.*)`)
	for _, bug := range planted {
		t.Run(bug.name, func(t *testing.T) {
			path, err := filepath.Abs(filepath.Join("..", filepath.FromSlash(bug.file)))
			if err != nil {
				t.Fatal(err)
			}
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if strings.Count(string(text), bug.line) != 1 {
				t.Fatalf("%s does not have once: %s", bug.file, bug.line)
			}
			wrong := filepath.Join(t.TempDir(), "wrong.go")
			if err := os.WriteFile(wrong, []byte(strings.Replace(string(text), bug.line, bug.wrong, 1)), 0o600); err != nil {
				t.Fatal(err)
			}
			overlay := filepath.Join(t.TempDir(), "overlay.json")
			content, err := json.Marshal(map[string]any{"Replace": map[string]string{path: wrong}})
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(overlay, content, 0o600); err != nil {
				t.Fatal(err)
			}
			output, err := exec.CommandContext(t.Context(), "go", "test", "-overlay", overlay, "-count=1", "-run", "^TestReplay$", ".").CombinedOutput()
			difference := found.FindSubmatch(output)
			if err == nil || difference == nil {
				t.Fatalf("it is not found: %v\n%s", err, output)
			}
			t.Logf("statement %s: %s", difference[1], difference[2])
		})
	}
}
