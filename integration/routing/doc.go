// Package routing holds tests on real nodes: which host a request goes to, and what a silent one costs.
package routing
