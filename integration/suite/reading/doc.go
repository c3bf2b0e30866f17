// Package reading holds tests of package reader that need real nodes: what they leave behind, and what it does when one
// stops.
package reading
