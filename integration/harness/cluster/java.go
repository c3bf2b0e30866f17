package cluster

import (
	"context"
	_ "embed" // the arguments of java
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// javaVersions are the Java versions Cassandra 5.0 runs on, the better one first.
var javaVersions = []int{17, 11}

// errNoJava is returned when no java was found that Cassandra runs on.
var errNoJava = errors.New("no JDK for Cassandra 5.0")

// java is one JDK.
type java struct {
	path    string // of its java command
	version int    // 17
}

// home returns the directory that JAVA_HOME means.
func (j java) home() string {
	path, err := filepath.EvalSymlinks(j.path)
	if err != nil {
		path = j.path
	}
	return filepath.Dir(filepath.Dir(path))
}

// findJava looks in JAVA_HOME, in the usual directories and in PATH, and asks each java for its version.
func findJava(ctx context.Context) (java, error) {
	var seen []java
	for _, path := range javaCandidates() {
		if version, err := javaVersion(ctx, path); err == nil {
			seen = append(seen, java{path: path, version: version})
		}
	}
	return chooseJava(seen)
}

func chooseJava(seen []java) (java, error) {
	for _, version := range javaVersions {
		if i := slices.IndexFunc(seen, func(j java) bool { return j.version == version }); i >= 0 {
			return seen[i], nil
		}
	}
	others := "none found in JAVA_HOME, /usr/lib/jvm and PATH"
	if len(seen) > 0 {
		var names []string
		for _, j := range seen {
			names = append(names, fmt.Sprintf("%d at %s", j.version, j.path))
		}
		others = "found only " + strings.Join(names, ", ")
	}
	return java{}, fmt.Errorf("%w: it needs 17 or 11, %s: "+
		"sudo apt-get install openjdk-17-jdk-headless, or brew install openjdk@17, or set JAVA_HOME to one", errNoJava, others)
}

func javaCandidates() []string {
	var paths []string
	add := func(path string) {
		info, err := os.Stat(path)
		if err == nil && info.Mode().IsRegular() && !slices.Contains(paths, path) {
			paths = append(paths, path)
		}
	}
	if home := os.Getenv("JAVA_HOME"); home != "" {
		add(filepath.Join(home, "bin", "java"))
	}
	for _, pattern := range []string{
		"/usr/lib/jvm/*/bin/java",
		"/Library/Java/JavaVirtualMachines/*/Contents/Home/bin/java",
		"/opt/homebrew/opt/openjdk@*/bin/java",
		"/usr/local/opt/openjdk@*/bin/java",
	} {
		found, _ := filepath.Glob(pattern)
		for _, path := range found {
			add(path)
		}
	}
	if path, err := exec.LookPath("java"); err == nil {
		add(path)
	}
	return paths
}

func javaVersion(ctx context.Context, path string) (int, error) {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, "-version")
	cmd.Env = javaEnvironment(os.Environ())
	out, err := cmd.CombinedOutput()
	if err != nil {
		return 0, fmt.Errorf("%s -version: %w", path, err)
	}
	return parseJavaVersion(string(out))
}

var javaVersionLine = regexp.MustCompile(`(?m)^\S+ version "(?:1\.)?(\d+)`) // 1.8.0_392 is 8

// parseJavaVersion reads the output of java -version, whatever lines other settings put before it.
func parseJavaVersion(out string) (int, error) {
	match := javaVersionLine.FindStringSubmatch(out)
	if match == nil {
		return 0, fmt.Errorf("no version in %q", shorten(out, 200))
	}
	return strconv.Atoi(match[1])
}

// javaEnvironment returns the part of an environment that a node may see. JAVA_TOOL_OPTIONS and its kin would change
// the heap, add agents that hold ports, or print lines where a version is expected.
func javaEnvironment(environ []string) []string {
	return slices.DeleteFunc(slices.Clone(environ), func(entry string) bool {
		name, _, _ := strings.Cut(entry, "=")
		return !slices.Contains([]string{"PATH", "HOME", "USER", "LOGNAME", "LANG", "TMPDIR"}, name)
	})
}

// homeMark begins a node's command line, so that a leftover node can be recognised by whoever finds its port held.
const homeMark = "-Ddenorm.home="

// jvmOptions are the arguments of java that all nodes have.
//
//go:embed jvm.options
var jvmOptions string

// jvmArgs returns the arguments of java for a node in dir. Without a JMX port, as nobody asks for one and it would be
// one more to be held by somebody else.
func jvmArgs(home, dir string, lib jars, properties ...string) []string {
	args := []string{homeMark + home}
	for line := range strings.Lines(jvmOptions) {
		if !strings.HasPrefix(line, "#") {
			args = append(args, strings.Fields(line)...)
		}
	}
	conf := filepath.Join(dir, "conf")
	return append(append(args, properties...),
		"-XX:ErrorFile="+filepath.Join(dir, "log", "crash.log"),
		"-Djava.io.tmpdir="+filepath.Join(dir, "tmp"),
		"-javaagent:"+lib.agent,
		"-Dcassandra.config="+fileURL(filepath.Join(conf, "cassandra.yaml")),
		"-Dlogback.configurationFile="+fileURL(filepath.Join(conf, "logback.xml")),
		"-Dcassandra.logdir="+filepath.Join(dir, "log"),
		"-Dcassandra.storagedir="+filepath.Join(dir, "data"),
		"-cp", conf+string(filepath.ListSeparator)+filepath.Join(lib.dir, "*"),
		"org.apache.cassandra.service.CassandraDaemon",
	)
}

// properties returns what the nodes of a cluster get on their command lines.
func (s *state) properties() []string {
	var args []string
	if s.Volatile {
		// Cassandra's own property for tests: the tables of the schema are not written to disk after each change, a dozen
		// files each time.
		args = append(args, "-Dcassandra.test.flush_local_schema_changes=false")
	}
	if s.release().accord {
		// A mode of tables that lets the readers of transactions read what is written without them, for a test that compares
		// the two.
		args = append(args, "-Dcassandra.test.accord.allow_test_modes=true")
	}
	if heap := s.release().heap; heap != "" {
		args = append(args, "-Xms"+heap, "-Xmx"+heap)
	}
	if s.Heap != "" { // the last of several counts
		args = append(args, "-Xms"+s.Heap, "-Xmx"+s.Heap, "-XX:-UseSerialGC", "-XX:+UseG1GC", "-XX:TieredStopAtLevel=4")
	}
	return args
}

func fileURL(path string) string { return (&url.URL{Scheme: "file", Path: path}).String() }
