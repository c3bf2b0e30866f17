package cassandratest

import "slices"

// Journal returns every request so far that all matchers match, in the order in which the nodes received them. Without matchers
// it returns all requests, heartbeats included. Matchers that no request can match, such as two kinds, are an error of the test;
// outside of a test, Journal panics. For requests of either of two kinds call it for each, or use [Where].
func (c *Cluster) Journal(matchers ...Matcher) []Request {
	if err := c.contradiction("call of Journal", matchers); err != nil {
		if c.tb != nil {
			c.tb.Helper()
		}
		c.fail(err)
		return nil
	}
	c.mu.Lock()
	all := make([]Request, len(c.journal))
	for i, r := range c.journal {
		all[i] = *r
		all[i].Steps = slices.Clone(r.Steps)
	}
	c.mu.Unlock() // a matcher may call the cluster
	seen := 0
	return slices.DeleteFunc(all, func(r Request) bool {
		if !matches(matchers, &r) {
			return true
		}
		seen++
		return !nth(matchers, seen)
	})
}

// note adds what was done with a request.
func (c *Cluster) note(r *Request, step string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	r.Steps = append(r.Steps, step)
}

// Watch makes the cluster call applied each time that it has applied a write, or has begun to, whatever the client is told.
// applied is called for one request at a time. It may call the cluster, but not Close, and must not wait.
func (c *Cluster) Watch(applied func(Request)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.watch = append(c.watch, applied)
}
