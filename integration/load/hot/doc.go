// Package hot is a load of many writers that change the status of few orders, each from a before-image that others have
// overtaken, and now and then create one. It is where tables that are kept by hand come apart, with and without faults.
// Every write is noted in a history, which the tables are checked against when all is over.
package hot
