package main

import (
	"slices"
	"testing"

	"github.com/denorm-go/denorm/integration/cmd/bench/turn"
)

// Every section names contenders that exist.
func TestSectionsHaveContenders(t *testing.T) {
	t.Parallel()
	for name, p := range pages {
		for _, s := range p.sections {
			for _, wanted := range append([]string{s.base}, s.names...) {
				if !slices.ContainsFunc(p.contenders, func(c turn.Contender) bool { return c.Name == wanted }) {
					t.Errorf("%s, %s: no contender is named %q", name, s.title, wanted)
				}
			}
		}
	}
}
