// Package hosts says which host a request goes to: a replica of its partition, another one at each attempt, and not one
// that has fallen silent.
//
// gocql leaves all three open. Its token-aware policy knows the replicas of the session's own keyspace only, and of a
// keyspace on nodes with several tokens it may count one node twice. It does not know that two requests are attempts of
// one write. And a node that no longer answers, but whose connections stay open, keeps its share of all requests for a
// minute and a half.
//
// [Policy] wraps a policy of gocql. It learns of attempts through the context of their requests, an [Attempt], and of
// answers that no request waits for any more through an observer of frame headers, [Policy.Observe].
package hosts
