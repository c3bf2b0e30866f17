package cassandratest

import "slices"

// Journal is every request so far that all matchers match, in the order in which the nodes got them. Without matchers it
// is all of them, heartbeats included.
func (s *Cluster) Journal(matchers ...Matcher) []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []Request
	seen := 0
	for _, r := range s.journal {
		if !matches(matchers, r) {
			continue
		}
		if seen++; nth(matchers, seen) {
			next := *r
			next.Steps = slices.Clone(r.Steps)
			out = append(out, next)
		}
	}
	return out
}

// note adds what was done with a request.
func (s *Cluster) note(r *Request, step string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r.Steps = append(r.Steps, step)
}

// keep adds a request to the journal.
func (s *Cluster) keep(r *Request) {
	s.journal = append(s.journal, r)
	if s.limit > 0 && len(s.journal) > 2*s.limit {
		s.journal = slices.Delete(s.journal, 0, len(s.journal)-s.limit)
	}
}

// Limit makes the journal hold no more than about the last so many requests. Without it, or with 0, it holds all.
func (s *Cluster) Limit(requests int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.limit = requests
}

// Watch makes the cluster call a function each time that it has carried out a write, or has begun to: what the client is told is
// another matter. It is called for one request at a time, and must not call the cluster.
func (s *Cluster) Watch(applied func(Request)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.watch = append(s.watch, applied)
}
