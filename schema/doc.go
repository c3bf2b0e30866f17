// Package schema holds the tables of a service as data: declared in Go with package tables, written as CQL, or read from a cluster.
// It writes the CQL that creates them, compares the declared with the live tables, and creates missing tables in development and
// tests. Its subpackages lint, estimate, diagram and rotation work on the same data.
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
// and CQL text for everything else ([CQL]). [Parse] reads CQL text, for example the output of DESCRIBE, with notes in its comments.
// [Read] reads the keyspaces of a cluster. [Add] combines several schemas. Each returns a [Schema], plain data that can be inspected
// and printed: [Schema.CQL] returns the text of CREATE statements, and Parse reads it back.
//
// # In development and in production
//
// [Ensure] creates keyspaces, types and tables that are missing, waits until all nodes agree on the schema, and then validates it.
// It is safe when many processes start at once. It never alters or drops anything.
// In production, people change schemas: [Migration] returns a text to start from, made of the differences between the declared and
// the live schema, in which statements that lose data are commented out. [Steps] says which statements of such a text the cluster
// lacks, and [Apply] runs them.
//
// Call [Validate] at the start of a service. Its error, a [*DifferenceError], lists every [Difference] that hurts something
// declared, with the statement that fixes it, or why none can. What the cluster has beyond the declaration (Extra) and what is only
// worth knowing (Note) is not an error; [Differences] returns these too. Both also take the arguments of Declare: Validate(ctx, s, Sets(Orders)).
//
// # Fingerprints
//
// Processes that write the same table have to agree on more than its columns: which key columns may change, bucket functions,
// conditions, unique keys. Ensure and Schema.CQL append this fingerprint to the comment of each table of a set, as text that begins
// with [denorm:1. Validate compares it with the declaration of the process, so that a process that computes Hash(7)
// where the others compute Hash(4) does not start. A table without a fingerprint is a note, with the statement that adds it.
//
// # What is expected of a table
//
// [Expect], or a denorm:volume note in CQL, states how many rows a table gets, in how many partitions, and for how long.
// Package estimate computes with it, and the rules of package lint use it instead of guesses. [Accept], or a denorm:ignore
// note, accepts a finding of lint for a reason.
//
// # Keyspaces
//
// A table declared without a keyspace is in the session's keyspace. session.Keyspaces maps declared keyspaces to physical ones,
// including the one with the empty name. Ensure, Validate and Read use the keyspaces of the session that they are given, so that one
// declaration serves every tenant.
package schema
