package lint

import (
	"math"

	"github.com/denorm-go/denorm/internal/estimate"
)

// rules are all of them, by code. The first needs to know what the others have found.
var rules = []Rule{
	{
		"DN001", "unused-ignore", Note, unused,
		"A suppression that suppresses nothing hides what comes later.",
	},
	{
		"DN101", "low-cardinality-partition", Error, lowCardinality,
		"A partition key with few values puts all rows into few partitions: they grow without end, on few nodes. A key that all INSERTs set to one " +
			"constant is a warning.",
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
		"Rows arrive in a partition forever, or the pieces of a blob of any size: no bucket in its key, and no TTL.",
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
		"The key lacks what tells entities apart: two of them share a row, and one overwrites the other. It is a warning where " +
			"the key has the name of a person or a thing, and not its id.",
	},
	{
		"DN202", "key-by-clock", Warning, keyByClock,
		"Only a time of a millisecond tells the rows of a partition apart: two events of one moment become one. It is a note where " +
			"the author is in the key as well.",
	},
	{
		"DN203", "incomplete-query-table", Warning, incomplete,
		"A query table without some columns of the entity: a query that needs them reads a second table. It is a note where the " +
			"entity is guessed from names.",
	},
	{
		"DN204", "separate-requests", Note, separate,
		"Two tables of an entity that could have one partition key, as the queries show: a write of both would then be one request, of which a " +
			"replica applies all or nothing. Nothing is said unless the partitions stay bounded (a volume says so, or there is a row each), and " +
			"unless no other rule finds more in the tables as they would be.",
	},
	{
		"DN205", "imprecise-key", Warning, impreciseKey,
		"A double or float in the primary key: a value that was computed in another way is another row.",
	},
	{
		"DN206", "redundant-clustering-column", Warning, redundant,
		"A clustering column behind the id of the row: rows are not in its order, and a query by it is rejected.",
	},
	{
		"DN207", "column-of-two-types", Error, twoTypes,
		"A column that has one type in a table of an entity and another type in its other tables: what is written or compared differs. It is a " +
			"warning where the entity is guessed from names, and of an id in tables of several entities.",
	},
	{
		"DN208", "collection-in-key", Warning, collectionInKey,
		"A list, set or map in the primary key: a row is found only by all of its elements.",
	},
	{
		"DN209", "time-as-text", Warning, timeAsText,
		"A time in the primary key that is kept as text: rows are in the order of its characters, and no function of times takes it. Outside of the key " +
			"it is a note.",
	},
	{
		"DN210", "unique-by-plain-insert", Note, takenOver,
		"A table that finds an id or a password by a name that is to be unique, and is inserted without IF NOT EXISTS: of two at once both succeed, and one is lost.",
	},
	{
		"DN211", "stale-copy", Note, staleCopies,
		"A name or the like that is copied from the table of the thing, and is not in any UPDATE: after a change the copy stays as it was.",
	},

	{
		"DN301", "collection-not-frozen", Warning,
		notFrozen(false, "unless single elements are changed without reading, and then never write it as a whole"),
		"A set, map or user-defined type that is not frozen: overwriting it as a whole leaves a range tombstone each time. It is " +
			"a note where only INSERTs do so, and where a set of people grows by elements.",
	},
	{
		"DN302", "list-not-frozen", Error, notFrozen(true, "or a set, or a clustering column"),
		"A list that is not frozen: a write that is repeated doubles its elements, and a change by index reads first. It is a warning where no statement " +
			"says how it is written, and DN301 where it is only replaced.",
	},
	{
		"DN303", "counters-mixed", Error, counters,
		"Counters in one table, or one write, with other columns: an increment must not be repeated, and the rest must be.",
	},
	{
		"DN304", "imprecise-amount", Warning, impreciseAmount,
		"An amount of money in a float or double, which does not hold most amounts exactly.",
	},
	{
		"DN305", "counter-lifetime", Error, counterLifetime,
		"A table of counters with a TTL, which Cassandra rejects. Counters that are deleted are a warning: one that is counted again after that " +
			"may not count.",
	},

	{
		"DN401", "index-high-cardinality", Error, manyValuesIndexed,
		"A secondary index on a column with many values: each lookup asks every node for a row or two.",
	},
	{
		"DN402", "materialized-view", Warning, views,
		"A materialized view: experimental, off by default since Cassandra 4, and nothing repairs a view that differs from its base.",
	},
	{
		"DN403", "index-few-values", Warning, fewValues,
		"An index on a column of few values: the rows of one value are a large part of the table.",
	},
	{
		"DN404", "index-without-partition", Warning, indexAlone,
		"A query by an index that names no partition: it asks node after node, and gets slower with each that is added.",
	},
	{
		"DN405", "sasi-index", Warning, sasiIndexes,
		"A SASI index: experimental, disabled by default since Cassandra 4.0, and replaced by storage-attached indexes.",
	},
	{
		"DN406", "index-of-map-values", Warning, mapValues,
		"An index on the values of a map: a row has as many entries in it as the map has values, and a query finds a value under any key.",
	},
	{
		"DN407", "leading-wildcard", Warning, leadingWildcard,
		"LIKE with % at the beginning: every node reads its part of the index from the beginning to the end.",
	},

	{
		codeUnused, "partition-key-not-used", Error, partitionUnused,
		"A query that does not name its partition: it reads the whole table, or is rejected.",
	},
	{
		"DN502", "query-not-served", Error, notServed,
		"A query that the order of the table's key does not serve: Cassandra rejects it.",
	},
	{
		"DN503", "clustering-order", Warning, backwards,
		"A query that wants the rows the other way round than the table keeps them: it reads backwards. A descending order of random UUIDs is a note.",
	},
	{
		"DN504", "allow-filtering", Error, filtering,
		"ALLOW FILTERING: the query reads everything and throws most of it away. Within one partition it is a warning.",
	},
	{
		"DN505", "large-in", Warning, largeIn,
		"An IN with many partitions, or with a list of unknown length: one coordinator reads them all and answers when the slowest has.",
	},
	{
		"DN506", "unknown-table", Error, unknownTable,
		"A query, an index or a materialized view of a table that the schema does not have: Cassandra rejects it. A query that names no keyspace is of " +
			"the only table of that name. It is a note where the schema has " +
			"nothing of the keyspace; no other rule looks at the query. A denorm: note that names such a table is a warning, as it does nothing.",
	},
	{
		"DN507", "unknown-column", Error, unknownColumn,
		"A query that names a column which its table does not have: Cassandra rejects it. A denorm: note of one is a warning, as it does nothing.",
	},
	{
		"DN508", "statement-not-read", Warning, unread,
		"A statement that is not understood, such as one that changes what the file does not create: no rule looks at it. It is an error where a known " +
			"statement is not written as CQL is, and where a denorm: note is wrong, which then says nothing. A DROP IF EXISTS of what the " +
			"file creates is a warning, as a second run deletes all rows; TRUNCATE is a note.",
	},
	{
		codeRejected, "statement-rejected", Error, rejected,
		"A statement that Cassandra rejects when it is prepared: an INSERT without a column of the key, a literal of another type, an UPDATE of a " +
			"key column. Nothing is said where another rule says why.",
	},
	{
		"DN510", "batch-lacks-table", Warning, partOfEntity,
		"A batch or a transaction that only inserts, or only deletes, an entity in some of its tables, and not in others. Tables that " +
			"have the same and are inserted by separate statements are a note.",
	},
	{
		"DN511", "batch-rejected", Error, batchesRejected,
		"A batch with a condition over several partitions, or with counters in a logged batch: Cassandra rejects it. A condition that is " +
			"in the batch twice, with bound values, is a note.",
	},
	{
		"DN512", "unlogged-batch-over-partitions", Warning, looseBatches(false),
		"An unlogged batch over several partitions: one coordinator does the work of all, and some of it is done after an error.",
	},
	{
		"DN513", "logged-batch-of-many-rows", Warning, looseBatches(true),
		"A logged batch of many rows that have nothing to do with each other: it is no faster, and makes each write several times dearer. " +
			"A statement that is in the batch twice stands for many. It is a note where the rows may be of one partition, and " +
			"for a batch of four tables.",
	},
	{
		"DN514", "literal-null", Warning, literalNull,
		"A null in the text of an INSERT, or of an UPDATE of other columns: it leaves a tombstone each time.",
	},
	{
		"DN515", "hot-row", Warning, hotRow,
		"A number in a row that the text of the statement names, counted by lightweight transactions: all clients compete for one partition.",
	},
	{
		"DN516", "queue", Warning, queues,
		"A table used as a queue: each read goes through the tombstones of what was taken before. It is a note where only the name of the " +
			"table says so.",
	},
	{
		codeTransaction, "transaction-rejected", Error, transactionsRejected,
		"A transaction that Cassandra 6 rejects, as 6.0-alpha2 does: a table of counters, or one whose transactional_mode is off, USING TIMESTAMP or " +
			"TTL, IF of a single statement, a LET that may be several rows, a SELECT without its partition, with ORDER BY, GROUP BY or an aggregate, a key " +
			"taken from a LET. It is a note where a table does not say its transactional_mode, as the server then decides.",
	},
	{
		"DN518", "transactions-and-timestamps", Warning, transactionsAndTimestamps,
		"USING TIMESTAMP in a plain write of a table of transactions: a time ahead of the servers' clocks hides all transactions until then.",
	},
	{
		"DN519", "whole-partition-read", Note, wholePartition,
		"A query of a whole partition, without LIMIT or a range, of a table whose partitions grow forever: it gets slower with each row.",
	},
	{
		"DN520", "update-after-delete", Note, broughtBack,
		"A plain UPDATE of a table whose rows are deleted: one that comes after the DELETE makes a row with nothing but its own columns.",
	},
	{
		"DN521", "lost-update", Note, lostUpdate,
		"A number that is counted, or a mark that something is used, set by a plain UPDATE: of two clients that have read the same, one overwrites " +
			"the other.",
	},
	{
		"DN522", "not-repeatable", Note, notRepeatable,
		"An increment of a counter, or a key made by now() or uuid(): a write that a driver repeats after a timeout does its work twice.",
	},
	{
		"DN523", "delete-and-insert", Note, deleteWins,
		"A batch that deletes a row and inserts one in a table: if both have one key, the row is gone, as the DELETE wins at one timestamp.",
	},

	{
		"DN601", "logged-batch-gc-grace", Error, gcGrace,
		"gc_grace_seconds = 0 in a table that is written in logged batches: the batchlog drops them, with what the other tables need. Or less " +
			"than three hours where rows move: a replica that was down for that long brings a row back under its former key.",
	},
	{
		"DN602", "ttl-differs", Warning, ttlDiffers,
		"Tables of one entity with different TTLs: rows end in one and stay in another. Or statements of one table, of which some have a TTL: cells " +
			"of a row end one by one.",
	},
	{
		"DN603", "conditional-and-plain", Error, conditional,
		"Conditional writes and plain or timestamped ones on one table: their timestamps come from different clocks, and either can be lost.",
	},
	{
		"DN604", "time-series-compaction", Warning, timeSeries,
		"A time series that expires, without TimeWindowCompactionStrategy: expired rows are rewritten again and again instead of dropped by the file.",
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
		"gc_grace_seconds of less than three hours in a table of which rows are deleted: a replica that was down brings them back.",
	},
	{
		"DN609", "deletes-in-windows", Warning, deletes(true),
		"DELETE in a table with TimeWindowCompactionStrategy: the tombstone and its row are in different windows, and stay on disk.",
	},
	{
		"DN610", "time-windows", Warning, timeWindows,
		"TimeWindowCompactionStrategy for rows that do not expire, or with more than 100 windows.",
	},
	{
		"DN611", "date-tiered-compaction", Warning, dateTieredCompaction,
		"DateTieredCompactionStrategy: deprecated since Cassandra 3.8, and removed in 5.0.",
	},
	{
		"DN612", "costly-options", Warning, costlyOptions,
		"A cache of whole partitions, or no bloom filter where rows are read by their keys.",
	},
	{
		"DN613", "deletes-with-ttl", Note, deletesWithTTL,
		"DELETE in a table whose rows expire: each leaves a tombstone, as well as the row when it expires.",
	},
	{
		"DN614", "many-tables", Warning, manyTables,
		"More than 150 tables: each takes memory on every node, and changes of the schema get slower with their number.",
	},
	{
		"DN615", "many-columns", Warning, manyColumns,
		"A table with more than 100 columns: each is a cell of its own, with its time, in each row that has it.",
	},
	{
		"DN616", "unused-table", Note, unusedTables,
		"A table that no statement uses or reads, or an index that no query uses, where the statements read three tables or more, and half of all.",
	},
}
