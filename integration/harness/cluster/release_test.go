package cluster

import (
	"slices"
	"strings"
	"testing"
)

func TestWantedRelease(t *testing.T) {
	for wanted, want := range map[string]string{
		"": "5.0.9", "5": "5.0.9", "5.0": "5.0.9", "5.0.9": "5.0.9", "6": "6.0-alpha2", "6.0-alpha2": "6.0-alpha2", "4.1": "4.1.10", "4": "4.1.10",
		"5.0.7": "", "4.10": "", "50": "",
	} {
		t.Setenv(VersionEnv, wanted)
		r, err := wantedRelease()
		if r.version != want || (err != nil) != (want == "") {
			t.Errorf("%s=%s: %q, %v", VersionEnv, wanted, r.version, err)
		}
		if err != nil && !strings.Contains(err.Error(), ExternalEnv) {
			t.Errorf("it does not say what to do: %v", err)
		}
	}
}

// Nodes of another version are not those that are wanted, and one that is started again is of the version that it was
// of.
func TestReleaseOfNodes(t *testing.T) {
	h := &Harness{home: t.TempDir(), backend: machine{}}
	of := func(version string) *state { return &state{Mode: Local, Nodes: 1, Ready: true, Version: version} }
	for _, c := range []struct {
		nodes, wanted string
		fits          bool
	}{{"6.0-alpha2", "6", true}, {"6.0-alpha2", "", true}, {"6.0-alpha2", "5.0", false}, {"4.1.10", "4.1", true}, {"", "6", false}, {"", "5.0", true}} {
		t.Setenv(VersionEnv, c.wanted)
		err := h.unfit(t.Context(), of(c.nodes), 1)
		if other := err != nil && strings.Contains(err.Error(), "the nodes are of Cassandra"); other == c.fits {
			t.Errorf("nodes of %q, wanted %q: %v", c.nodes, c.wanted, err)
		}
	}
	t.Setenv(VersionEnv, "5.0")
	if args := of("6.0-alpha2").properties(); !slices.Contains(args, "-Xmx768M") {
		t.Error(args)
	}
}
