package schema_test

import (
	"flag"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/denorm-go/denorm/integration/harness/cluster"
	"github.com/denorm-go/denorm/internal/testutil/anyschema"
	"github.com/denorm-go/denorm/schema"
	"github.com/denorm-go/denorm/session"
)

// cases is how many schemas are made up. Each statement that changes a schema takes three nodes some tenths of a
// second, so make test tries few of them; package schema tries hundreds without a cluster.
var cases = flag.Int("cases", 2, "how many schemas to make up")

// Schemas are made up, created, and read back without a difference. Then they are changed in one place at a time,
// behind the declaration's back: each change is found, and where a statement is said to fix it, it does.
func TestGenerated(t *testing.T) {
	t.Parallel()
	on := open(t)
	tried, fixed := 0, 0
	kinds := make(map[string]bool)
	version := cluster.Version(t)
	lacks := func(cql string) bool { // says whether the version lacks what the CQL has
		return slices.ContainsFunc([]string{"vector<", "UnifiedCompactionStrategy", "'sai'"}, func(about string) bool {
			return strings.Contains(cql, about) && cluster.Differs(version, t.Name(), about)
		})
	}
	made := 0
	for seed := uint64(0); made < *cases; seed++ {
		if lacks(anyschema.Generate(rand.New(rand.NewPCG(seed, 1)), "ks").CQL()) {
			continue
		}
		made++
		keyspace := cluster.Keyspace(t, 3)
		r := rand.New(rand.NewPCG(seed, 1))
		declared := anyschema.Generate(r, keyspace)
		empty, err := schema.Read(t.Context(), on, keyspace)
		if err != nil {
			t.Fatal(err)
		}
		declared.Keyspaces = empty.Keyspaces
		create(t, on, declared)
		wantNone(t, on, declared, "after Ensure")
		mutations := anyschema.Mutations(r, declared)
		slices.SortStableFunc(mutations, func(a, b anyschema.Mutation) int { return last(a) - last(b) })
		for _, m := range mutations {
			if kinds[m.Name] && last(m) == 0 || lacks(strings.Join(m.Statements, "\n")) {
				continue // tried with an earlier schema, or not to be tried on this version
			}
			kinds[m.Name] = true
			tried++
			cluster.ChangeSchema(t, "", m.Statements...)
			found := differences(t, on, declared)
			if len(found) == 0 {
				t.Fatalf("seed %d: %s is not found, in\n%s", seed, m.Name, declared.CQL())
			}
			if slices.ContainsFunc(found, func(d schema.Difference) bool { return d.Fix == "" }) {
				restore(t, on, declared, m)
				continue
			}
			for _, d := range found {
				cluster.ChangeSchema(t, "", d.Fix)
			}
			fixed++
			wantNone(t, on, declared, "after "+m.Name+" and what is said to fix it")
		}
	}
	t.Logf("%d schemas, %d changes of %d kinds, all found; %d fixed by the statements that the differences give", made, tried,
		len(kinds), fixed)
	if len(kinds) < 24 || fixed < 10 {
		t.Errorf("too little was tried: %v", kinds)
	}
}

// last is 1 for the change that cannot be undone.
func last(m anyschema.Mutation) int {
	if m.Name == "add a field" {
		return 1
	}
	return 0
}

// restore makes the changed tables again.
func restore(t *testing.T, on *session.Session, declared *schema.Schema, m anyschema.Mutation) {
	t.Helper()
	if last(m) == 1 {
		return // nothing comes after it
	}
	for _, table := range declared.Tables {
		one := &schema.Schema{Tables: []schema.Table{table}}
		if found := schema.Compare(one, &schema.Schema{Tables: []schema.Table{*m.Schema.Table(table.ID)}}); len(found) > 0 {
			cluster.ChangeSchema(t, "", append([]string{"DROP TABLE " + table.String()}, one.Statements()...)...)
		}
	}
	wantNone(t, on, declared, "after "+m.Name+" and making the table again")
}
