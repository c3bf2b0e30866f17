// Package ports has services on tables that they had before the library: a shop, the list of executions of a workflow
// engine, and a chat. Their tables are compared by plain CQL.
package ports
