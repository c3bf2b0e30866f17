// Package types has a column of every CQL type that can be declared, for the tests that write and read them back.
package types
