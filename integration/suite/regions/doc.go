// Package regions has the tests on a cluster of two datacentres, dc1 and dc2, of three nodes each: make regions.
package regions
