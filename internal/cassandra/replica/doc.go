// Package replica is what one node of an in-process Cassandra stores: partitions of rows of cells, with tombstones.
//
// What a statement writes to a partition is itself a small [Partition], and applying it is merging: the result does not
// depend on the order in which mutations arrive, nor on how often each of them does. So a hint, a replay of the
// batchlog, a read repair and a late message are all the same call, [Store.Apply]. The rules for two cells and two row
// markers are those of [github.com/denorm-go/denorm/internal/cassandra/merge]; alongside them, by class of
// org.apache.cassandra.db of Cassandra 5.0:
//
//   - DeletionTime.deletes: a tombstone of a partition, a range, a row or a collection covers what has its timestamp or a
//     smaller one. What is covered is dropped when the two meet, as in rows.Rows.merge.
//   - rows.ComplexColumnData: a collection that is not frozen has a cell for each element, and a tombstone for all elements.
//   - rows.Cells.resolveCounter and context.CounterContext.merge: a counter has a shard for each node that has led an update, of
//     which the larger clock wins; a tombstone always wins against a counter.
//
// Tombstones are kept forever: there is no compaction, and so nothing comes back after gc_grace_seconds.
package replica
