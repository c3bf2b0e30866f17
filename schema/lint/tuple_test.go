package lint_test

import (
	"testing"

	"github.com/denorm-go/denorm/schema"
	"github.com/denorm-go/denorm/schema/lint"
)

// Cassandra takes a tuple as text, with colons between its parts (TupleTypeTest), so that is no error.
func TestTupleAsText(t *testing.T) {
	t.Parallel()
	s, err := schema.Parse("f", `CREATE TABLE k.t (k int PRIMARY KEY, t frozen<tuple<int, text>>);
INSERT INTO k.t (k, t) VALUES (0, '0:x');`)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range lint.Check(s) {
		if f.Severity == lint.Error {
			t.Error(f)
		}
	}
}
