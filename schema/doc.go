// Package schema holds the tables of a service as data: declared in Go with package tables, written as CQL, or read
// from a cluster. It writes the CQL that creates them, compares the declared with the live tables, and creates missing
// tables in development and tests. Its subpackages lint, estimate, diagram and rotation work on the same data.
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
// triggers, roles and permissions are passed over, as DESCRIBE prints some of these. Unread has the first three, and
// options that Cassandra rejects, which are left out. TRUNCATE changes nothing; [Review] tells of it. Anything else is
// an error that names its line. So is nesting deeper than 100 levels, and views of SELECT * with more than 100,000
// columns in all.
//
// # In development and in production
//
// [Ensure] creates keyspaces, types and tables that are missing, waits until all nodes agree on the schema, and then
// validates it. It is safe when many processes start at once. It never alters or drops anything. In production, people
// change schemas. [Migration] returns a text to start from, made of the differences between the declared and the live
// schema. Statements that lose data are commented out in it. [Steps] says which statements of such a text the cluster
// lacks, and [Apply] runs them.
//
// Call [Validate] at the start of a service. Its error, a [*DifferenceError], lists every [Difference] that hurts
// something declared, with the statement that fixes it, or why none can. What the cluster has beyond the declaration
// (Extra) and what is only worth knowing (Note) is not an error; [Differences] returns these too. Both also take the
// arguments of Declare: Validate(ctx, s, Sets(Orders)).
//
// [Validate] fails on missing tables, other keys, columns, types or clustering order, and other declared options. It
// also fails on
//
//   - a gc_grace_seconds of 0 in sets of several tables;
//   - a default_time_to_live that the tables of a set do not share, or that a Versioned set has;
//   - another fingerprint, or a column that only a Versioned set or a table of unique keys has;
//   - a guardrail of the node that is asked, if it rejects every write, or the default level of writes or reads;
//   - one of at most 100 rows of each base table, if a change would make it stay although it has a TTL.
//     It does so too if no change could win against the write time of a row. A Note says what it could not read, and which columns are null whose fields are
//     not pointers.
//
// A live column that is not declared is not an error: writes leave it alone. Ensure and Validate do not create the
// keyspace of the cluster's configuration. If it does not exist, and tables name no keyspace, open the session without
// it. Give it session.Keyspaces(map[string]string{"": "shop"}), and declare a [Keyspace] without a Name.
//
// # During a rolling deployment
//
// Atomic, a column and a query table are not compared, so that they can be added while older processes write. A query
// table that a process does not declare gets nothing from that process. Read a new table when all processes declare it
// and reconcile.Backfill has ended; until then it is Hidden.
//
//   - A Since that was added is an error until the fingerprint has it. Run the statement that the error names before
//     the first process that declares the Since starts, and before the time of the Since. From that time on Validate
//     fails in a process that does not declare it.
//   - A list of values that has grown is a note: older and newer processes both pass.
//   - A Stamp, ExpiresAt or SweepInserts that was added is a note until it is in the fingerprint. Run the statement
//     when all processes declare it.
//
// # Fingerprints
//
// Processes that write the same table have to agree on more than its columns: which key columns may change, bucket
// functions, conditions, unique keys. Ensure and Schema.CQL append this fingerprint to the comment of each table of a
// set, as text that begins with [denorm:1. Validate compares it with the declaration of the process, so that a process
// that computes Hash(7) where the others compute Hash(4) does not start. A table without a fingerprint is a note, with
// the statement that adds it.
//
// # What is expected of a table
//
// [Expect], or a denorm:volume note in CQL, states how many rows a table gets, in how many partitions, and for how
// long. Package estimate computes with it, and the rules of package lint use it instead of guesses. [Accept], or a
// denorm:ignore note, accepts a finding of lint for a reason.
//
// # Keyspaces
//
// A table declared without a keyspace is in the session's keyspace. session.Keyspaces maps declared keyspaces to
// physical ones, including the one with the empty name. Ensure, Validate and Read use the keyspaces of the session that
// they are given, so that one declaration serves every tenant.
package schema
