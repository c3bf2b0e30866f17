// Package schema holds the tables of a service as data: declared in Go with package tables, written as CQL, or read
// from a cluster. It writes the CQL that creates them, compares the declared with the live tables, and creates missing
// tables in development and tests. Its subpackages lint and rotation work on the same data.
//
// A declaration is made once, next to the sets:
//
//	var Shop = schema.Must(schema.Declare(
//		schema.Sets(Orders, Baskets),
//		schema.With("orders_by_user", schema.Options{Comment: "the page of a user's orders", TTL: 90 * schema.Day}),
//		schema.CQL(`SELECT * FROM orders_by_user WHERE user_id = ?`), // a query of the service, for the review
//	))
//
//	err := schema.Ensure(ctx, s, Shop)   // development and tests: create what is missing
//	err = schema.Validate(ctx, s, Shop)  // start-up: one error with all differences, each with the statement that fixes it
//
// # Where a schema comes from
//
// [Declare] takes the tables of sets ([Sets]), their options ([With]), keyspaces with their replication ([Keyspaces]),
// and CQL text for everything else ([CQL]). [Parse] reads CQL text, for example the output of DESCRIBE, with notes in
// its comments. [Read] reads the keyspaces of a cluster. [Add] combines several schemas. Each returns a [Schema], plain
// data that can be inspected and printed: [Schema.CQL] returns the text of CREATE statements, and Parse reads it back.
//
// The text of Parse may have queries, also in batches and transactions, which describe how the tables are used. The
// tables that notes name need not be in it. Notes inside /* */ are an error. Statements on functions, aggregates,
// triggers, roles and permissions are passed over. Unread lists functions, aggregates, triggers, and table options that
// Cassandra rejects. TRUNCATE changes nothing; [Review] lists it in Unread. Any other statement is an error that names
// its line.
//
// # In development and in production
//
// [Ensure] creates keyspaces, types and tables that are missing, waits until all nodes agree on the schema, and then
// validates it. It is safe when many processes start at once. It never alters or drops anything. In production, people
// change schemas. [Migration] returns a text to start from: the statements that fix the differences, with those that
// lose data commented out. [Steps] says which statements of such a text the cluster lacks, and [Apply] runs them.
//
// Call [Validate] at the start of a service. Its error, a [*DifferenceError], lists every [Difference] that hurts
// something declared, with the statement that fixes it, or why none can. What the cluster has beyond the declaration
// (Extra) and what is only worth knowing (Note) is not an error; [Differences] returns these too. Validate and
// Differences also take the arguments of Declare: Validate(ctx, s, Sets(Orders)).
//
// [Validate] fails on missing tables and columns, and on other keys, types, clustering orders and declared options. It
// also fails on
//
//   - a gc_grace_seconds of 0 in sets of several tables;
//   - another default_time_to_live than declared. If a set declares none, its tables must share one; with Versioned and
//     several tables it must be 0;
//   - another fingerprint, or a column that only a Versioned set or a table of unique keys has;
//   - a guardrail of the node that is asked, if it rejects every write, or the default level of writes or reads;
//   - a row, of up to 100 read from each base table, that cannot be changed safely. Its TTL would be lost, no change
//     beats its write time, or tables.Derive gives another key.
//
// A live column that is not declared is not an error: writes leave it alone. Ensure does not create the Keyspace of the
// gocql.ClusterConfig. If it does not exist, and tables name no keyspace, open the session without it. Give it
// session.Keyspaces(map[string]string{"": "shop"}), and declare a [Keyspace] without a Name.
//
// # During a rolling deployment
//
// The fingerprint has no Atomic, columns or query tables (except Unique ones), so add them while older processes write.
// A query table that a process does not declare gets nothing from that process. Read a new table when all processes
// declare it and reconcile.Backfill has ended; until then it is Hidden.
//
//   - A Since that was added is an error until it is in the fingerprint. Run the statement that the error names before
//     the first process that declares the Since starts, and before the time of the Since. From that time on Validate
//     fails in a process that does not declare it.
//   - A list of values that has grown is a note: older and newer processes both pass.
//   - An added ID, Stamp, ExpiresAt or SweepInserts is a note until it is in the fingerprint. Run the statement when
//     all processes declare it.
//
// # Fingerprints
//
// Processes that write the same table have to agree on more than its columns: which key columns may change, bucket
// functions, conditions, unique keys. Ensure and Schema.CQL append this fingerprint to the comment of each table of a
// set, as text that begins with [denorm:1. Validate compares it with the declaration of the process, so that a process
// that computes Hash(7) where the others compute Hash(4) does not start. For a table without a fingerprint there is a
// Note with the statement that adds it.
//
// # What is expected of a table
//
// [Expect], or a denorm:volume note in CQL, states how many rows a partition of a table gets, and how large they are
// ([Volume]). The command denorm estimate computes with it, and the rules of package lint use it instead of guesses.
// [Accept], or a denorm:ignore note, accepts a finding of lint for a reason.
//
// # Keyspaces
//
// A table declared without a keyspace is in the session's keyspace. session.Keyspaces maps declared keyspaces, also the
// empty name, to physical ones. Ensure and Validate use the keyspaces of their session, so that one declaration serves
// every tenant.
package schema
