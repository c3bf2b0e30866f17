// Package warnings holds a test on real nodes of what they log of the library's requests.
package warnings
