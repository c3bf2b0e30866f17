package cluster

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestDatacentresOfAFlag(t *testing.T) {
	t.Parallel()
	var d Datacentres
	if err := d.Set("dc1:3,eu-west_2:1"); err != nil || !slices.Equal(d, Datacentres{"dc1", "dc1", "dc1", "eu-west_2"}) || d.String() != "dc1:3,eu-west_2:1" {
		t.Errorf("%v, %v", d, err)
	}
	for _, text := range []string{"", "dc1", "dc1:0", "dc1:x", ":3", "dc1:2,dc1:1", "DC 1:3", "dc1:7,dc2:6", "dc1:3,"} {
		if err := d.Set(text); err == nil || !strings.Contains(err.Error(), "such as dc1:3,dc2:3") {
			t.Errorf("%q: %v, %v", text, d, err)
		}
	}
	if d.String() != "dc1:3,eu-west_2:1" {
		t.Errorf("after wrong flags: %s", &d)
	}
}

// Each node is told its datacentre, and that is dc1 where none was chosen.
func TestNodesAreToldTheirDatacentre(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]string{1: "dc=east\nrack=rack1\n", 2: "dc=west\nrack=rack2\n", 3: "dc=dc1\nrack=rack3\n"} {
		dir := t.TempDir()
		if err := writeFiles(dir, n, Datacentres{"east", "west"}.of(n), nil); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(filepath.Join(dir, "conf", "cassandra-rackdc.properties")); err != nil || string(got) != want {
			t.Errorf("node %d: %q, %v", n, got, err)
		}
	}
}

// A cluster of other datacentres will not do, be it too many.
func TestDatacentresOfTheClusterThatIsUp(t *testing.T) {
	t.Setenv(HomeEnv, t.TempDir())
	two := Datacentres{"dc1", "dc2"}
	for name, test := range map[string]struct {
		up, wanted Datacentres
		fits       bool
	}{
		"the same":      {two, two, true},
		"one is wanted": {two, nil, false},
		"two wanted":    {nil, two, false},
		"other ones":    {two, Datacentres{"dc1", "dc3"}, false},
	} {
		h := fakeHarness(t.TempDir())
		h.Datacentres = test.wanted
		err := h.unfit(t.Context(), &state{Mode: Local, Nodes: 2, Hosts: loopbacks(2), Ready: true, Datacentres: test.up}, 1)
		if (err == nil) != test.fits || err != nil && !strings.Contains(err.Error(), "datacentres") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
