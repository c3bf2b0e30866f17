// Package outage has tests of what callers notice when a node of three falls silent or dies under a steady load:
// latency by the second, alongside what a service would have otherwise. They stop nodes, so they need the build tag
// faults.
package outage
