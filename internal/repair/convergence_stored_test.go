package repair_test

import (
	"math/rand/v2"
	"testing"

	"github.com/denorm-go/denorm/internal/entity"
	"github.com/denorm-go/denorm/tables"
)

// What a set writes is never rejected as what it could not have written.
func TestStoredMutationsAreDeclared(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	count := 0
	for _, f := range lawFamilies() {
		for range 50 {
			kind := []tables.Kind{tables.Insert, tables.Update, tables.Delete, tables.Upsert}[r.IntN(4)]
			rendered, err := f.change(kind, 0, r.IntN(lawPool), r.IntN(lawPool)).Internal().Render(lawEpoch*1_000_000, nil)
			if err != nil {
				continue
			}
			for _, m := range rendered.Mutations {
				if found, fault := entity.Declares(f.set.Internal(), storedAndRead(t, &m), func(name string) string {
					return name
				}); !found || fault != "" {
					t.Errorf("%s: %s: %t, %s", f.name, m, found, fault)
				}
				count++
			}
		}
	}
	if count < 100 {
		t.Errorf("%d mutations", count)
	}
}
