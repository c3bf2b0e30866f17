//go:build race

package cassandratest

// racing says whether the race detector is on.
const racing = true
