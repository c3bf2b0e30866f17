package main

import (
	"slices"
	"strings"
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

// Every page begins with its text.
func TestPagesHaveTexts(t *testing.T) {
	t.Parallel()
	for name, p := range pages {
		heats := make([]*heat, len(p.sections))
		for i := range heats {
			heats[i] = &heat{rounds: 1, results: [][]turn.Result{make([]turn.Result, 2)}}
		}
		text, err := p.report(&turn.Place{Hosts: 3, Replicas: 3}, heats, heats)
		if err != nil || !strings.HasPrefix(text, "# ") || !strings.Contains(text, "\n\n3 Cassandra nodes and the client share") ||
			strings.Contains(text, "1 blocks without nodes") != p.alone {
			t.Errorf("%s: %v\n%s", name, err, text)
		}
	}
}
