package schema_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/denorm-go/denorm/internal/cql/ast"
	"github.com/denorm-go/denorm/internal/printable"
	"github.com/denorm-go/denorm/internal/testutil/anyschema"
	"github.com/denorm-go/denorm/schema"
)

// hostilePairs gives schemas to compare, in which names and texts are those of someone who means harm.
func hostilePairs(t *testing.T, check func(declared, live *schema.Schema)) {
	t.Helper()
	for seed := range uint64(150) {
		r := rand.New(rand.NewPCG(seed, 1))
		s := anyschema.Generate(r, "ks")
		s.Keyspaces = []schema.Keyspace{{Name: "ks", Replication: schema.Replication(map[string]int{"dc1": 3})}}
		mutations := anyschema.Mutations(r, s)
		one, other := anyschema.Hostile(r, "ks", s), anyschema.Hostile(r, "ks", mutations[r.IntN(len(mutations))].Schema)
		check(s, one)
		check(one, s)
		check(one, other)
	}
}

// Without its comments a migration is nothing but the statements it means, for whoever reads it, and each of these is
// one statement of its kind.
func TestMigrationOfHostileNamesIsNothingButItsStatements(t *testing.T) {
	t.Parallel()
	statements, comments := 0, 0
	hostilePairs(t, func(declared, live *schema.Schema) {
		found := schema.Compare(declared, live)
		var want []string
		var hidden []schema.Difference
		for _, d := range found {
			if d.Fix == "" || d.Destroys || d.Extra || strings.Contains(d.Fix, "/*") || strings.Contains(d.Fix, "*/") {
				hidden = append(hidden, d)
				comments++
				continue
			}
			parts := schema.SplitStatements(d.Fix, "\n\r")
			if len(parts) > 1 && (len(parts) > 2 || !strings.HasPrefix(d.Fix, "DROP INDEX ")) {
				t.Fatalf("more than one statement: %q", d.Fix)
			}
			for _, p := range parts {
				if _, err := ast.Parse(p); err != nil && !strings.Contains(err.Error(), ast.Unsupported) {
					t.Fatalf("%v in %q", err, p)
				}
			}
			want = append(want, parts...)
			statements += len(parts)
		}
		text := schema.Migration(found)
		for _, ends := range schema.LineEnds {
			for who, text := range map[string]string{"Cassandra": text, "cqlsh": schema.CqlshLines(text)} {
				if got := schema.SplitStatements(text, ends); !slices.Equal(got, want) {
					t.Fatalf("%s, with %q for ends of lines, executes\n%q\nmeant\n%q\nin\n%q", who, ends, got, want, text)
				}
			}
		}
		for _, line := range strings.Split(schema.Migration(hidden), "\n") {
			if line != "" && !strings.HasPrefix(line, "-- ") || printable.Line(line) != line {
				t.Fatalf("no comment, or one that cannot be printed: %q", line)
			}
		}
		if parsed, err := schema.Parse("migration", text); err == nil && len(parsed.Ignores) > 0 {
			t.Fatalf("%q accepts findings: %+v", text, parsed.Ignores)
		}
	})
	if statements < 500 || comments < 500 {
		t.Errorf("only %d statements and %d comments", statements, comments)
	}
}

// The CQL of a schema is its CREATE statements, whatever its names and texts, and is read back without a difference.
func TestCQLOfHostileNamesIsNothingButItsStatements(t *testing.T) {
	t.Parallel()
	marked := 0
	hostilePairs(t, func(_, live *schema.Schema) {
		text, want := live.CQL(), live.Statements()
		if got := schema.SplitStatements(text, "\n\r"); !slices.Equal(got, want) {
			t.Fatalf("executed:\n%q\nmeant:\n%q", got, want)
		}
		for _, s := range want {
			if parts := schema.SplitStatements(s, "\n\r"); len(parts) != 1 || !strings.HasPrefix(s, "CREATE ") {
				t.Fatalf("more than one statement: %q", s)
			}
		}
		marks := strings.Contains(strings.Join(want, "\n"), "/*") || strings.Contains(strings.Join(want, "\n"), "*/")
		if said := strings.HasPrefix(text, "-- Not for cqlsh: "); said != marks {
			t.Fatalf("that cqlsh misreads it: said %t, so %t: %q", said, marks, text)
		} else if said {
			marked++
		}
		again, err := schema.Parse("again", text)
		if err != nil {
			t.Fatalf("%v in\n%s", err, text)
		}
		if found := schema.Compare(live, again); len(found) > 0 {
			t.Fatalf("%s\n%q", &schema.DifferenceError{Differences: found}, text)
		}
	})
	if marked < 20 {
		t.Errorf("only %d schemas have marks of comments in them", marked)
	}
}
