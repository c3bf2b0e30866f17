// Package lint reviews tables: declared ones, CQL text, or a live keyspace. Most outages of services on Cassandra begin
// with a table that looked right while it was small. The rules check what a reviewer would look for.
//
//	for _, f := range lint.Check(Shop) {
//		fmt.Println(f)
//	}
//	if lint.Worst(findings) == lint.Error { ... }
//
// The command denorm does the same from the command line: denorm lint shop.cql, or denorm lint --hosts 10.0.0.1
// --keyspace shop.
//
// # Rules
//
// [Rules] returns the rules, and docs/ref/lint.md in the repository has for each of them a schema that is wrong and one
// that is right. Codes are stable. The first digit says what a rule is about:
//
//   - DN1: partitions: few values, hot, by time alone, unbounded, too large
//   - DN2: primary keys: rows that overwrite each other, keys unique by clock time only, times as text, collections.
//     Query tables that lack columns or have them in another type
//   - DN3: columns: collections that are not frozen, counters next to other columns, money in binary floating point
//   - DN4: secondary indexes and materialized views
//   - DN5: statements: those that a table does not serve or Cassandra rejects, ALLOW FILTERING, large IN, batches, queues
//   - DN6: options: gc_grace_seconds, TTLs that differ, compaction, caches, replication
//
// An [Error] loses rows, is rejected by the server, or takes nodes down as the table grows. A [Warning] works while the
// table is small, or costs more than it seems. A [Note] is good to know.
//
// # What a rule cannot know
//
// Some rules depend on what the columns mean and how many rows there will be. If nothing states it, they guess by names
// and types: a column called status has few values, one called day is a time. It is better to state it:
//
//   - how many values a column has: tables.OneOf and bucket functions state it for sets; in CQL, -- denorm:domain orders.status 4
//   - how many rows a table gets: schema.Expect; in CQL, -- denorm:volume orders_by_user rows=2000/year
//   - which tables hold one entity: schema.Sets; in CQL, -- denorm:entity order orders_by_id orders_by_user
//   - which queries are sent: schema.CQL, or the statements in the CQL file; they are reviewed with the tables
//
// # Accepting a finding
//
// schema.Accept accepts the findings of one rule in one table, with a reason; in CQL, -- denorm:ignore DN101
// orders_by_status few orders a day. An accepted finding is still in the result, with the reason in Suppressed, and
// does not count for [Worst]. A suppression that suppresses nothing is itself a finding (DN001).
package lint
