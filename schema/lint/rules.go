package lint

import (
	"math"

	"github.com/denorm-go/denorm/schema/estimate"
)

// rules are all of them, by code. The first needs to know what the others have found.
var rules = []Rule{
	{
		"DN001", "unused-ignore", Note, unused,
		"A suppression that suppresses nothing hides what comes later.",
	},
	{
		"DN101", "low-cardinality-partition", Error, lowCardinality,
		"A partition key with few values puts all rows into few partitions: they grow without end, on few nodes.",
	},
	{
		"DN102", "hot-partition", Error, hotPartition,
		"A partition key that is only a time, with rows in the order of their arrival: all that is written at a moment goes to one partition.",
	},
	{
		"DN103", "time-only-partition", Warning, timeOnly,
		"A partition key of a time and nothing that spreads: all rows of that time are in one partition, on one set of replicas.",
	},
	{
		"DN104", "unbounded-partition", Warning, unbounded,
		"Rows arrive in a partition forever: no bucket of time in its key, and no TTL.",
	},
	{
		"DN105", "partition-rows", Warning, size("rows", estimate.GoodRows, math.Inf(1)),
		"More than 100,000 rows in a partition, by the stated volume: reads and repairs of it become slow.",
	},
	{
		"DN106", "partition-bytes", Warning, size("bytes", estimate.GoodBytes, estimate.BadBytes),
		"More than 10 MB in a partition, by the stated volume.",
	},
	{
		"DN107", "partition-too-large", Error, size("bytes", estimate.BadBytes, math.Inf(1)),
		"More than 100 MB in a partition, by the stated volume: compaction, repair and reads of it strain the nodes that have it.",
	},
	{
		"DN108", "partition-cells", Error, size("cells", estimate.MaxCells, math.Inf(1)),
		"Two billion cells in a partition, by the stated volume: Cassandra cannot hold more.",
	},
	{
		"DN201", "missing-unique-column", Error, missingUnique,
		"The key lacks what tells entities apart: two of them share a row, and one overwrites the other.",
	},
	{
		"DN202", "key-by-clock", Warning, keyByClock,
		"Only a time of a millisecond tells the rows of a partition apart: two events of one moment become one.",
	},
	{
		"DN203", "incomplete-query-table", Warning, incomplete,
		"A query table without some columns of the entity: a query that needs them reads a second table.",
	},
	{
		"DN204", "separate-requests", Note, separate,
		"Two tables of an entity that could have one partition key, as the queries show: a write of both would then be one request, of which a " +
			"replica applies all or nothing. Nothing is said unless the partitions stay bounded (a volume says so, or there is a row each), and " +
			"unless no other rule finds more in the tables as they would be.",
	},
	{
		"DN205", "imprecise-key", Warning, impreciseKey,
		"A partition key of a double or float: a value that was computed in another way is another partition.",
	},
	{
		"DN301", "collection-not-frozen", Warning,
		notFrozen(false, "unless single elements are changed without reading, and then never write it as a whole"),
		"A set, map or user-defined type that is not frozen: overwriting it as a whole leaves a range tombstone each time.",
	},
	{
		"DN302", "list-not-frozen", Error, notFrozen(true, "or a set, or a clustering column"),
		"A list that is not frozen: a write that is repeated doubles its elements, and a change by index reads first.",
	},
	{
		"DN303", "counters-mixed", Error, counters,
		"Counters in one table, or one write, with other columns: an increment must not be repeated, and the rest must be.",
	},
	{
		"DN401", "index-high-cardinality", Error, indexes,
		"A secondary index on a column with many values: each lookup asks every node for a row or two.",
	},
	{
		"DN402", "materialized-view", Warning, views,
		"A materialized view: experimental, off by default since Cassandra 4, and nothing repairs a view that differs from its base.",
	},
	{
		"DN501", "partition-key-not-used", Error, partitionUnused,
		"A query that does not name its partition: it reads the whole table, or is rejected.",
	},
	{
		"DN502", "query-not-served", Error, notServed,
		"A query that the order of the table's key does not serve: Cassandra rejects it.",
	},
	{
		"DN503", "clustering-order", Warning, backwards,
		"A query that wants the rows the other way round than the table keeps them: it reads backwards.",
	},
	{
		"DN504", "allow-filtering", Error, filtering,
		"ALLOW FILTERING outside of one partition: the query reads everything and throws most of it away.",
	},
	{
		"DN505", "large-in", Warning, largeIn,
		"An IN with many partitions, or with a list of unknown length: one coordinator reads them all and answers when the slowest has.",
	},
	{
		"DN506", "unknown-table", Error, unknownTable,
		"A query of a table that the schema does not have: Cassandra rejects it. It is a note where the schema has nothing of the keyspace; " +
			"no other rule looks at the query. A denorm: note that names such a table is a warning, as it does nothing.",
	},
	{
		"DN507", "unknown-column", Error, unknownColumn,
		"A query that names a column which its table does not have: Cassandra rejects it. A denorm: note of one is a warning, as it does nothing.",
	},
	{
		"DN508", "statement-not-read", Warning, unread,
		"A statement that is not understood, such as one that changes what the file does not create: no rule looks at it.",
	},
	{
		codeRejected, "statement-rejected", Error, rejected,
		"A statement that Cassandra rejects when it is prepared: an INSERT without a column of the key, a literal of another type, an UPDATE of a " +
			"key column. Nothing is said where another rule says why.",
	},
	{
		"DN510", "batch-lacks-table", Warning, partOfEntity,
		"A batch that only inserts, or only deletes, an entity in some of its tables, and not in others.",
	},
	{
		"DN601", "logged-batch-gc-grace", Error, gcGrace,
		"gc_grace_seconds = 0 in a table that is written in logged batches: the batchlog drops them, with what the other tables need. Or less " +
			"than three hours where rows move: a replica that was down for that long brings a row back under its former key.",
	},
	{
		"DN602", "ttl-differs", Warning, ttlDiffers,
		"Tables of one entity with different TTLs: rows end in one and stay in another.",
	},
	{
		"DN603", "conditional-and-plain", Error, conditional,
		"Conditional writes and plain or timestamped ones on one table: their timestamps come from different clocks, and either can be lost.",
	},
	{
		"DN604", "time-series-compaction", Warning, timeSeries,
		"A time series without TimeWindowCompactionStrategy: expired rows are rewritten again and again instead of dropped by the file.",
	},
	{
		"DN605", "replication-differs", Warning, replication,
		"Tables of one entity in keyspaces of different replication: a quorum of one says nothing of the other.",
	},
	{
		"DN606", "option-without-class", Error, optionClass,
		"Options of compaction or compression without the class that they are of: Cassandra rejects the statement.",
	},
	{
		"DN607", "keyspace-at-risk", Warning, keyspaceAtRisk,
		"SimpleStrategy, one replica, or durable_writes = false: right for a test, and in production rows are lost with a node.",
	},
	{
		"DN608", "deletes-without-grace", Error, deletes(false),
		"gc_grace_seconds = 0 in a table of which rows are deleted: a replica that was down brings them back.",
	},
	{
		"DN609", "deletes-in-windows", Warning, deletes(true),
		"DELETE in a table with TimeWindowCompactionStrategy: the tombstone and its row are in different windows, and stay on disk.",
	},
}
