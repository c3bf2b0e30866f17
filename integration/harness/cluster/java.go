package cluster

import (
	"context"
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

var javaVersionLine = regexp.MustCompile(`(?m)^\S+ version "(\d+)(?:\.(\d+))?`)

// parseJavaVersion reads the output of java -version, whatever lines other settings put before it.
func parseJavaVersion(out string) (int, error) {
	match := javaVersionLine.FindStringSubmatch(out)
	if match == nil {
		return 0, fmt.Errorf("no version in %q", shorten(out, 200))
	}
	if match[1] == "1" && match[2] != "" { // up to Java 8: 1.8.0_392
		return strconv.Atoi(match[2])
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

// exported and opened are the packages of the JDK that Cassandra reaches into, as its own start script lists them.
var (
	exported = []string{
		"java.base/jdk.internal.misc", "java.base/jdk.internal.ref", "java.base/sun.nio.ch", "java.base/java.lang.ref",
		"java.management.rmi/com.sun.jmx.remote.internal.rmi", "java.rmi/sun.rmi.registry", "java.rmi/sun.rmi.server",
		"java.rmi/sun.rmi.transport.tcp", "java.sql/java.sql", "jdk.unsupported/sun.misc",
		"jdk.compiler/com.sun.tools.javac.file", "jdk.attach/sun.tools.attach",
	}
	opened = []string{
		"java.base/java.lang", "java.base/java.lang.module", "java.base/java.lang.reflect", "java.base/java.io",
		"java.base/java.nio", "java.base/java.util", "java.base/java.util.concurrent",
		"java.base/java.util.concurrent.atomic", "java.base/jdk.internal.loader", "java.base/jdk.internal.ref",
		"java.base/jdk.internal.reflect", "java.base/jdk.internal.math", "java.base/jdk.internal.module",
		"java.base/jdk.internal.util.jar", "java.base/sun.nio.ch", "jdk.management/com.sun.management.internal",
		"jdk.compiler/com.sun.tools.javac", "java.rmi/sun.rmi.transport.tcp",
		// Cassandra 4.1 is written for a JDK 11, which warns where 17 rejects. What it measures reaches these.
		"java.base/java.math", "java.base/java.net", "java.base/java.nio.charset", "java.base/java.time", "java.base/sun.nio.cs",
	}
)

// jvmArgs returns the arguments of java for a node in dir. Without a JMX port, as nobody asks for one and it would be
// one more to be held by somebody else.
func jvmArgs(home, dir string, lib jars, properties ...string) []string {
	args := []string{
		homeMark + home,
		// Small and quick to start; the first compiler is enough for tests.
		"-Xms512M", "-Xmx512M", "-Xss512k", "-XX:MaxDirectMemorySize=256M",
		"-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1",
		"-XX:+ExitOnOutOfMemoryError", "-XX:ErrorFile=" + filepath.Join(dir, "log", "crash.log"),
		"-Djava.io.tmpdir=" + filepath.Join(dir, "tmp"), "-Djava.net.preferIPv4Stack=true",
	}
	for _, name := range exported {
		args = append(args, "--add-exports", name+"=ALL-UNNAMED")
	}
	for _, name := range opened {
		args = append(args, "--add-opens", name+"=ALL-UNNAMED")
	}
	args = append(args, properties...)
	conf := filepath.Join(dir, "conf")
	return append(args,
		"-Djdk.attach.allowAttachSelf=true",
		"-Dio.netty.tryReflectionSetAccessible=true",
		"-javaagent:"+lib.agent,
		"-Dcassandra.config="+fileURL(filepath.Join(conf, "cassandra.yaml")),
		"-Dlogback.configurationFile="+fileURL(filepath.Join(conf, "logback.xml")),
		"-Dcassandra.logdir="+filepath.Join(dir, "log"),
		"-Dcassandra.storagedir="+filepath.Join(dir, "data"),
		"-Dcassandra-foreground=yes",
		// Measured at each start otherwise, which takes a third of it.
		"-Dcassandra.memtable.row_overhead_size=180",
		// Nodes of one machine that start together need not wait for each other's news.
		"-Dcassandra.ring_delay_ms=1000",
		"-Dcassandra.skip_wait_for_gossip_to_settle=0",
		"-Dcassandra.consistent.rangemovement=false",
		// Follows from ring_delay_ms otherwise: a node that takes longer than a second to join would be forgotten again.
		"-Dcassandra.gossip_quarantine_delay_ms=60000",
		// Seconds between two looks at the sizes of tables, for tests that compare them; five minutes otherwise.
		"-Dcassandra.size_recorder_interval=10",
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
