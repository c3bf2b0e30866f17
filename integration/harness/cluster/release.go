package cluster

import (
	"embed"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// VersionEnv names the environment variable with the version of Cassandra: 4.1, 5.0 or 6. The default is 5.0.
const VersionEnv = "CASSANDRA_VERSION"

// release is a version that nodes can be of.
type release struct {
	version string
	heap    string // of a node; empty for that of jvmArgs
	accord  bool   // it has transactions over partitions, which are turned on
}

// releases begin with the one that tests run on if none is named.
var releases = []release{
	{version: "5.0.9"},
	{version: "4.1.10"},
	{version: "6.0-alpha2", heap: "768M", accord: true},
}

// jarSums are the SHA-256 of the jars of each version, as sha256sum *.jar writes them in the directory of jars. Those
// here are of jars whose SHA-1 was that of Maven Central.
//
//go:embed jars-*.sha256
var jarSums embed.FS

// wantedRelease is the one that the environment names.
func wantedRelease() (release, error) { return findRelease(os.Getenv(VersionEnv)) }

// findRelease finds a release by the beginning of its version.
func findRelease(wanted string) (release, error) {
	var names []string
	for _, r := range releases {
		if wanted == "" || r.version == wanted || strings.HasPrefix(r.version, wanted+".") {
			return r, nil
		}
		names = append(names, r.version)
	}
	return release{}, fmt.Errorf("%s=%s: nodes are of %s; set %s for a cluster of another version", VersionEnv, wanted,
		strings.Join(names, ", "), ExternalEnv)
}

// release is the one of the running nodes, or, during an upgrade, of the nodes that start.
func (s *state) release() release {
	if i := slices.IndexFunc(releases, func(r release) bool { return r.version == s.Version }); i >= 0 {
		return releases[i]
	}
	return releases[0]
}

// sums are those of its jars.
func (r release) sums() string {
	data, _ := jarSums.ReadFile("jars-" + r.version + ".sha256") // a test has them all
	return string(data)
}

func (r release) jarDir(home string) string { return filepath.Join(home, "cassandra-"+r.version) }
