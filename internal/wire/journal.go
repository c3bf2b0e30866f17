package wire

import "slices"

// Journal is every request so far that all matchers match, in the order in which the nodes got them. Without matchers it
// is all of them, heartbeats included.
func (s *Server) Journal(matchers ...Matcher) []Request {
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
func (s *Server) note(r *Request, step string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r.Steps = append(r.Steps, step)
}
