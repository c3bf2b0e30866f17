// Package cluster brings a real Cassandra cluster up for tests and for a developer's own use, and gives tests their
// sessions and keyspaces on it.
//
// # Where the cluster comes from
//
// The first of these that is there:
//
//  1. CASSANDRA_HOSTS, a comma separated list of host[:port]: a cluster of your own, never started or stopped here.
//  2. docker compose, if an engine answers: the services of docker-compose.yml at the root of the repository.
//  3. Local JVM processes from Cassandra's Maven jars, on 127.0.0.1 or 127.0.0.1..3. It needs a JDK (11 or 17) and
//     Maven for the one download; as root on a Debian-like machine both are installed.
//
// CASSANDRA_VERSION=4.1, 5.0 or 6 picks the version: 4.1.10, 5.0.9, which is the default, or 6.0-alpha2 with Accord
// enabled, which runs as local processes alone. Jars are pinned: jars-VERSION.sha256 has the SHA-256 of each, which is
// compared after the download and before nodes are started. Images of docker compose are pinned by the tag. A test
// compares the settings of docker-compose.yml with those of local nodes.
//
// DENORM_MODE=jvm or DENORM_MODE=compose picks one of the last two. Where none of them is to be had the error is
// [ErrNothingToRun].
//
// # Who stops it
//
// A [Harness] counts users by shared locks on a file, which the kernel gives back even if a user is killed. The last
// user stops the cluster unless it was asked to stay ([Harness.Up]). If the last user is killed before it can, a guard,
// a small process that waits for the same lock, does it. All state is under one directory per user ([Home]), which
// nobody else may enter, so that several clones of the repository share jars and cluster.
//
// # In tests
//
// [Hosts], [Session] and [Keyspace] are all that most tests need. [Nodes] hands out the nodes for fault tests, which
// may pause, kill and start them again.
//
// The package works on Linux and macOS.
package cluster
