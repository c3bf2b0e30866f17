package schema_test

import (
	"math/rand/v2"
	"testing"

	"github.com/denorm-go/denorm/internal/testutil/anyschema"
	"github.com/denorm-go/denorm/schema"
)

// TestGenerated: any schema is written and read back without a difference, and any single change of it is found. The
// same against a real cluster is in integration/suite/schema.
func TestGenerated(t *testing.T) {
	t.Parallel()
	mutations := make(map[string]int)
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 0))
		s := anyschema.Generate(r, "ks")
		s.Keyspaces = []schema.Keyspace{{Name: "ks", Replication: schema.Replication(map[string]int{"dc1": 3})}}
		again := parse(t, s.CQL())
		if found := schema.Compare(s, again); len(found) > 0 {
			t.Fatalf("seed %d: %s\n%s", seed, &schema.DifferenceError{Differences: found}, s.CQL())
		}
		for _, m := range anyschema.Mutations(r, s) {
			mutations[m.Name]++
			found := schema.Compare(s, m.Schema)
			if len(found) == 0 {
				t.Fatalf("seed %d: %s is not found\n%s", seed, m.Name, s.CQL())
			}
			for _, d := range found {
				if (d.Fix == "") == (d.Impossible == "") {
					t.Fatalf("seed %d: %s: neither a statement nor why there is none: %+v", seed, m.Name, d)
				}
			}
		}
	}
	if len(mutations) < 25 {
		t.Errorf("only %d kinds of changes: %v", len(mutations), mutations)
	}
	t.Log(mutations)
}
