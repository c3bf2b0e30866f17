package cluster

import (
	"net/url"
	"path/filepath"
)

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

// jvmArgs returns the arguments of java for a node in dir. Without a JMX port, as nobody asks for one and it would be one
// more to be held by somebody else.
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
		// Cassandra's own property for tests: the tables of the schema are not written to disk after each change, a dozen files each time.
		args = append(args, "-Dcassandra.test.flush_local_schema_changes=false")
	}
	if s.release().accord {
		// A mode of tables that lets the readers of transactions read what is written without them, for a test that compares the two.
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
