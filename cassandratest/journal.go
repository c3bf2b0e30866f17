package cassandratest

import "slices"

// Journal is every request so far that all matchers match, in the order in which the nodes got them. Without matchers it
// is all of them, heartbeats included. Matchers that no request can match, such as two kinds, are an error
// of the test, and outside of one a panic: for requests of either kind call it for each, or use [Where].
func (s *Cluster) Journal(matchers ...Matcher) []Request {
	if err := s.contradiction("call of Journal", matchers); err != nil {
		if s.tb != nil {
			s.tb.Helper()
		}
		s.fail(err)
		return nil
	}
	s.mu.Lock()
	all := make([]Request, len(s.journal))
	for i, r := range s.journal {
		all[i] = *r
		all[i].Steps = slices.Clone(r.Steps)
	}
	s.mu.Unlock() // a matcher may call the cluster
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
func (s *Cluster) note(r *Request, step string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r.Steps = append(r.Steps, step)
}

// Watch makes the cluster call a function each time that it has carried out a write, or has begun to: what the client is told is
// another matter. It is called for one request at a time. It may call the cluster, but not
// Close, and must not wait.
func (s *Cluster) Watch(applied func(Request)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.watch = append(s.watch, applied)
}
