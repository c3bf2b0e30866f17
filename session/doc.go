// Package session opens the sessions that a service needs: one session of gocql that writes and one that reads. Both
// are set up for packages writer and reader.
//
//	cluster := gocql.NewCluster("10.0.0.1", "10.0.0.2")
//	cluster.Keyspace = "shop"
//	s, err := session.Open(cluster, session.LocalDC("dc1"))
//	defer s.Close()
//	w, err := writer.New(s)
//	r, err := reader.New(s)
//
// There are two because of a bug in gocql 1.7. When a large response stalls, gocql can take the rest of it for the
// answers to other requests on the same connection. A write that was never answered would then be reported as
// acknowledged (fixed in no release of gocql 1; see scylladb/gocql pull request 593). So no session of gocql may both
// read and write; [New] and [Open] ensure that.
//
// What writers and readers share is set here: the budget of retries ([Budget]) and the keyspaces of declared tables
// ([Keyspaces], [StrictKeyspaces]). For a service with one keyspace per tenant:
//
//	tenant := s.With(session.Keyspaces(map[string]string{"": "tenant_7"}))
//	w.With(writer.Session(tenant))
//	r.With(reader.Session(tenant))
//
// Writers and readers report to a [Tracer], set by [Trace].
//
// # Your own sessions
//
// [New] takes open sessions. [Configure] sets up the configuration of each for writers and readers. [Connect] opens a
// session, with errors that name the host and what is wrong with it. With gocqlx:
//
//	writes, err := gocqlx.WrapSession(session.Connect(session.Configure(cluster, "dc1")))
//	reads, err := gocqlx.WrapSession(session.Connect(session.Configure(cluster, "dc1")))
//	s, err := session.New(writes.Session, reads.Session)
//
// docs/gocqlx.md has more on gocqlx.
package session
