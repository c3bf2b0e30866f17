// Package ports has services on tables that they had before the library: a shop, and the list of executions of a
// workflow engine. Their tables are compared by plain CQL.
package ports
