package cluster

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Each node is told its datacentre: the fourth to the sixth are in another one. A node alongside them is in the first.
func TestNodesAreToldTheirDatacentre(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]string{
		1: "dc=dc1\nrack=rack1\n", 3: "dc=dc1\nrack=rack3\n", 4: "dc=dc2\nrack=rack4\n", 6: "dc=dc2\nrack=rack6\n", 11: "dc=dc1\nrack=rack11\n",
	} {
		dir := t.TempDir()
		if err := writeFiles(dir, n, nil); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(filepath.Join(dir, "conf", "cassandra-rackdc.properties")); err != nil || string(got) != want {
			t.Errorf("node %d: %q, %v", n, got, err)
		}
	}
}

// A cluster of two datacentres will not do where one is wanted, though it has more nodes.
func TestDatacentresOfTheClusterThatIsUp(t *testing.T) {
	t.Setenv(HomeEnv, t.TempDir())
	for name, test := range map[string]struct {
		up, wanted int
		fits       bool
	}{
		"the same":      {6, 6, true},
		"one is wanted": {6, 3, false},
		"two wanted":    {3, 6, false},
		"fewer nodes":   {3, 1, true},
	} {
		h := fakeHarness(t.TempDir())
		err := h.unfit(t.Context(), &state{Mode: Local, Nodes: test.up, Hosts: loopbacks(test.up), Ready: true}, test.wanted)
		if (err == nil) != test.fits || err != nil && !strings.Contains(err.Error(), "are wanted") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
