// Package anyschema makes up schemas that Cassandra takes, and single changes of them, for property tests.
package anyschema
