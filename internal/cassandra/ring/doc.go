// Package ring says where partitions are in a cluster: their tokens, by Cassandra's Murmur3Partitioner, and their
// replicas.
package ring
