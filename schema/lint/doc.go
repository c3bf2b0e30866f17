// Package lint reviews tables: declared ones, CQL text, or those of a live keyspace. Most outages of services on
// Cassandra begin with a table that looked right while it was small; the rules are what a reviewer would look for.
//
// What a rule cannot know it takes from names and types: a column called status has few values, one called day is a time.
// A schema can say better, with notes in its CQL (see schema.Parse) or with the declarations of package schema, and a
// finding that is accepted is suppressed there with a reason. The queries of a schema are reviewed with it.
package lint
