// Package coordinator carries out prepared statements on the replicas of an in-process cluster, as a Cassandra node
// does for its clients: consistency levels, hints, the batchlog, lightweight transactions, counters, read repair.
//
// Messages between the nodes take no time: what a statement does to the nodes that are up happens in one step, and a
// [Reply] says how long its answer takes. What a node is not there for, it gets later, by a hint, when it thaws, or
// never. There is one datacenter, and nobody decides anything by the time that a message needs.
package coordinator
