// Package upgrade has the test of a cluster whose nodes go from Cassandra 4.1 to 5.0 one after the other: make upgrade.
package upgrade
