// Package merge models how a Cassandra replica merges the writes of a table: what a row looks like after any writes, in
// whatever order and however often each arrived. It is what the property tests hold planned mutations against.
//
// The rules are those of Cassandra 5.0, by class of org.apache.cassandra.db:
//
//   - rows.Cells.resolveRegular, for two cells of one column: see [Resolve].
//   - LivenessInfo.supersedes, for two row markers: see [Liveness.Supersedes].
//   - rows.Rows.merge and DeletionTime.deletes, for a row tombstone: see [Row].
//
// A write never reads, and what it leaves is the maximum, under a total order, of what was there and what it brings:
// one for the row tombstone, one for the marker, one for each cell. A maximum does not depend on order and taking it
// twice changes nothing, so the model is independent of order and idempotent by construction, as the replica is.
//
// Left out, because nothing here needs it: partition and range tombstones, counters, static columns, purging after
// gc_grace_seconds, and cells of non-frozen collections, whose overwrite is a range tombstone one microsecond below the
// new cells. The model has one cell a column, so at distinct timestamps a collection that is always written as a whole
// behaves like any other value; at a tie Cassandra would keep the elements of both.
package merge
