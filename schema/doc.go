// Package schema knows tables as data: declared in Go with package tables, written as CQL, or read from a cluster. It
// writes the CQL that creates them, compares what is declared with what is live, and creates what is missing in
// development and tests. Packages lint, estimate and diagram below it review, reckon and draw the same data.
//
// A declaration is made once, alongside the sets:
//
//	var Shop = schema.Must(schema.Declare(
//		schema.Sets(Orders, Baskets),
//		schema.With("orders_by_user", schema.Options{Comment: "the page of a user's orders", Compaction: schema.Leveled()}),
//		schema.CQL(`SELECT * FROM orders_by_user WHERE user_id = ?`), // what is asked, for the review
//	))
//
//	err := schema.Ensure(ctx, s, Shop)   // development, tests: create what is missing
//	err = schema.Validate(ctx, s, Shop)  // start-up: one error with all differences, each with what fixes it
//
// Nothing in this package alters or drops anything; see [Migration] for a text to start from.
package schema
