// Package routing holds tests on real nodes of which host a request goes to.
package routing
