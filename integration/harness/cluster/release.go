package cluster

import (
	_ "embed" // the sums of the jars
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// VersionEnv names the environment variable with the version of Cassandra: 5.0, the default, or 6 for local nodes, and the tag of the
// image with docker compose.
const VersionEnv = "CASSANDRA_VERSION"

// release is a version that local nodes can be of.
type release struct {
	version string
	// sums are the SHA-256 of its jars, as sha256sum *.jar writes them in the directory of jars. Those here are of jars whose SHA-1 was that
	// of Maven Central.
	sums   string
	heap   string // of a node; empty for that of jvmArgs
	accord bool   // it has transactions over partitions, which are turned on
}

var (
	//go:embed jars.sha256
	jarSums string
	//go:embed jars-6.sha256
	jarSums6 string

	// stable is the version of tests, and in pom.xml.
	stable = release{version: "5.0.6", sums: jarSums}
	// alpha is that of tests of what comes.
	alpha    = release{version: "6.0-alpha2", sums: jarSums6, heap: "768M", accord: true}
	releases = []release{stable, alpha}
)

// wantedRelease is the one that the environment names, by the beginning of its version.
func wantedRelease() (release, error) {
	wanted := os.Getenv(VersionEnv)
	for _, r := range releases {
		if wanted == "" || r.version == wanted || strings.HasPrefix(r.version, wanted+".") {
			return r, nil
		}
	}
	return release{}, fmt.Errorf("%s=%s: local nodes are of %s or %s; others run with %s=%s", VersionEnv, wanted, stable.version, alpha.version, ModeEnv, Compose)
}

// release is that of the nodes of a local cluster.
func (s *state) release() release {
	if i := slices.IndexFunc(releases, func(r release) bool { return r.version == s.Version }); i >= 0 {
		return releases[i]
	}
	return stable
}

// pom is the file from which Maven knows what to download.
func (r release) pom() []byte { return []byte(strings.Replace(pom, stable.version, r.version, 1)) }

func (r release) jarDir(home string) string { return filepath.Join(home, "cassandra-"+r.version) }
