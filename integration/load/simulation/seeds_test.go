package simulation_test

import (
	"bufio"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/denorm-go/denorm/integration/load/simulation"
)

// Worlds of seeds that have found something once find nothing.
func TestSeeds(t *testing.T) {
	t.Parallel()
	file, err := os.Open("testdata/seeds.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	for lines := bufio.NewScanner(file); lines.Scan(); {
		if strings.HasPrefix(lines.Text(), "#") {
			continue
		}
		var w simulation.World
		if _, err := fmt.Sscan(lines.Text(), &w.Seed, &w.Writes); err != nil {
			t.Fatalf("%q: %v", lines.Text(), err)
		}
		t.Run(fmt.Sprint(w.Seed), func(t *testing.T) {
			t.Parallel()
			run(t, w)
		})
	}
}
