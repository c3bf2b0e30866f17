// Package newtable adds a query table to the running order service by the steps of docs/adding-a-table.md, with real processes,
// while clients write and hold each answer against what they know.
//
// process.go is an instance of the service, as it is at each step; ledger.go is what the clients know, and what an answer may
// therefore say; client.go is the clients.
package newtable
