package cluster

import (
	"context"
	"crypto/sha256"
	"embed"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
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

//go:embed pom.xml
var pom []byte

// ErrJars is returned when the jars are not those that are pinned.
var ErrJars = errors.New("jars that are not the pinned ones")

// errNoMaven is returned when the jars are still to be downloaded and there is no Maven.
var errNoMaven = errors.New("no Maven to download Cassandra's jars")

// jars is the directory of Cassandra's jars.
type jars struct {
	dir   string
	agent string // the jar that measures objects for the memtables, Cassandra does not start without it
}

// findJars returns the jars if they were downloaded before.
func (r release) findJars(home string) (jars, bool) {
	dir := r.jarDir(home)
	agents, _ := filepath.Glob(filepath.Join(dir, "jamm-*.jar"))
	if len(agents) != 1 {
		return jars{}, false
	}
	if _, err := os.Stat(filepath.Join(dir, "cassandra-all-"+r.version+".jar")); err != nil {
		return jars{}, false
	}
	return jars{dir: dir, agent: agents[0]}, true
}

// verifyJars compares the jars in a directory with the pinned ones: nothing else may be run.
func verifyJars(dir, sums string) error {
	pinned := make(map[string]string)
	for line := range strings.Lines(sums) {
		sum, name, _ := strings.Cut(strings.TrimSpace(line), "  ")
		pinned[name] = sum
	}
	found, err := filepath.Glob(filepath.Join(dir, "*.jar"))
	if err != nil {
		return fmt.Errorf("verify jars: %w", err)
	}
	var wrong []string
	for _, path := range found {
		name := filepath.Base(path)
		jar, err := os.ReadFile(path)
		sum := fmt.Sprintf("%x", sha256.Sum256(jar))
		switch want, ok := pinned[name]; {
		case err != nil:
			return fmt.Errorf("verify jars: %w", err)
		case !ok:
			wrong = append(wrong, name+" is not pinned")
		case sum != want:
			wrong = append(wrong, fmt.Sprintf("%s has SHA-256 %s, pinned is %s", name, sum, want))
		}
		delete(pinned, name)
	}
	for _, name := range slices.Sorted(maps.Keys(pinned)) {
		wrong = append(wrong, name+" is missing")
	}
	if len(wrong) == 0 {
		return nil
	}
	return fmt.Errorf("%w, so they are not run: %s has %d, the first: %s; remove it and try again: if the same comes of it, the repository "+
		"that Maven asks gives other jars than Maven Central did", ErrJars, dir, len(wrong), wrong[0])
}

func findMaven() (string, error) {
	mvn, err := exec.LookPath("mvn")
	if err != nil {
		return "", fmt.Errorf("%w: sudo apt-get install maven, or brew install maven", errNoMaven)
	}
	return mvn, nil
}

// downloadJars lets Maven copy Cassandra's jars. They appear in their place only when all are there and are the pinned
// ones, so an interrupted download leaves nothing that looks complete.
func (r release) downloadJars(ctx context.Context, home string, jdk java, log *progress) (jars, error) {
	mvn, err := findMaven()
	if err != nil {
		return jars{}, err
	}
	leftovers, _ := filepath.Glob(filepath.Join(home, "download-*"))
	for _, dir := range leftovers {
		_ = os.RemoveAll(dir)
	}
	temp, err := os.MkdirTemp(home, "download-*")
	if err != nil {
		return jars{}, fmt.Errorf("download jars: %w", err)
	}
	defer os.RemoveAll(temp) //nolint:errcheck // the next download removes what is left
	if err := os.WriteFile(filepath.Join(temp, "pom.xml"), pom, 0o600); err != nil {
		return jars{}, fmt.Errorf("download jars: %w", err)
	}

	done := log.step("downloading Cassandra %s (some 70 MB of jars, once) with Maven", r.version)
	cmd := command(ctx, mvn, "-B", "-q", "-C", "-Dstyle.color=never", "-f", filepath.Join(temp, "pom.xml"),
		// By its full name, or a machine without network is told that there is no such plug-in.
		"org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies",
		"-Dcassandra="+r.version, "-DincludeScope=runtime", "-DoutputDirectory="+filepath.Join(temp, "lib"))
	cmd.Env = append(os.Environ(), "JAVA_HOME="+jdk.home())
	if _, err := Run(ctx, cmd); err != nil {
		return jars{}, fmt.Errorf("downloading Cassandra with Maven: %w\n"+
			"if this machine needs a proxy or a mirror, it belongs into ~/.m2/settings.xml", err)
	}
	if err := verifyJars(filepath.Join(temp, "lib"), r.sums()); err != nil {
		return jars{}, err
	}
	if err := os.RemoveAll(r.jarDir(home)); err != nil {
		return jars{}, fmt.Errorf("download jars: %w", err)
	}
	if err := os.Rename(filepath.Join(temp, "lib"), r.jarDir(home)); err != nil {
		return jars{}, fmt.Errorf("download jars: %w", err)
	}
	found, ok := r.findJars(home)
	if !ok {
		return jars{}, fmt.Errorf("maven ended well but %s lacks Cassandra's jars: rm -r %[1]s, then try again", r.jarDir(home))
	}
	done("downloaded")
	return found, nil
}

// tools are what local nodes run with.
type tools struct {
	release
	jdk     java
	jars    jars
	missing []string // packages that can be installed
}

// findTools fails if something is missing that cannot be installed.
func (r release) findTools(ctx context.Context, home string) (tools, error) {
	t := tools{release: r}
	var noJava, noMaven error
	if t.jdk, noJava = findJava(ctx); noJava != nil {
		t.missing = append(t.missing, "openjdk-17-jdk-headless")
	}
	var found bool
	if t.jars, found = r.findJars(home); !found {
		if _, noMaven = findMaven(); noMaven != nil {
			t.missing = append(t.missing, "maven")
		}
	}
	if len(t.missing) > 0 && !aptUsable() {
		return t, errors.Join(noJava, noMaven)
	}
	return t, nil
}

// prepareLocal finds a JDK and the jars of the release that is wanted, and gets what is missing where it may.
func prepareLocal(ctx context.Context, home string, log *progress) (tools, error) {
	r, err := wantedRelease()
	if err != nil {
		return tools{}, err
	}
	return r.prepare(ctx, home, log)
}

func (r release) prepare(ctx context.Context, home string, log *progress) (tools, error) {
	t, err := r.findTools(ctx, home)
	if err != nil {
		return t, err
	}
	if len(t.missing) > 0 {
		if err := aptInstall(ctx, log, t.missing...); err != nil {
			return t, err
		}
		if t.jdk, err = findJava(ctx); err != nil {
			return t, err
		}
	}
	if t.jars != (jars{}) {
		return t, verifyJars(t.jars.dir, r.sums())
	}
	t.jars, err = r.downloadJars(ctx, home, t.jdk, log)
	return t, err
}
