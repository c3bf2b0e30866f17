// Package reading opens a keyspace to write to and read from, for the tests of package reader and of the example systems
// whose tables have buckets.
package reading
