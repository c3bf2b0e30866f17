// Package bulk has a test that writes the lives of many orders with bulk.WriteAll, in processes that are killed, and
// compares the tables with what one run would have left.
package bulk
