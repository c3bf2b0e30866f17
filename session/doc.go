// Package session opens what a service needs of a cluster: one session of gocql that writes and one that reads, both set up for package
// writer and package reader.
//
//	cluster := gocql.NewCluster("10.0.0.1", "10.0.0.2")
//	cluster.Keyspace = "shop"
//	s, err := session.Open(cluster, session.LocalDC("dc1"))
//	defer s.Close()
//	w, err := writer.New(s)
//	r, err := reader.New(s)
//
// There are two because of a fault of gocql 1.7: when a large response stalls, it can take the rest of it for the answers to other
// requests on the same connection, and a write that was never answered would be reported as acknowledged (fixed in no release of
// gocql 1; see scylladb/gocql pull request 593). So no session of gocql may both read and write; [New] and [Open] see to that.
//
// What the two share is set here: the budget of retries ([Budget]) and the keyspaces of declared tables ([Keyspaces],
// [StrictKeyspaces]). For a service with a keyspace a tenant:
//
//	tenant := s.With(session.Keyspaces(map[string]string{"": "tenant_7"}))
//	w.With(writer.Session(tenant))
//	r.With(reader.Session(tenant))
//
// Both report to a [Tracer], by writer.Trace and reader.Trace.
//
// # Sessions of one's own
//
// [New] takes sessions that are open already. [Configure] sets up the configuration of each as a writer and a reader need it, and
// [Connect] opens one with errors that name the host and what is wrong with it. With gocqlx:
//
//	writes, err := gocqlx.WrapSession(session.Connect(session.Configure(cluster, "dc1")))
//	reads, err := gocqlx.WrapSession(session.Connect(session.Configure(cluster, "dc1")))
//	s, err := session.New(writes.Session, reads.Session)
//
// docs/gocqlx.md has what else the two have in common.
package session
