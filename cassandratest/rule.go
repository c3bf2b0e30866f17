package cassandratest

import (
	"slices"
	"strings"
)

// Matcher says which requests a rule is for.
type Matcher interface{ matches(*Request) bool }

func (k Kind) matches(r *Request) bool { return r.Kind == k }

type where func(Request) bool

func (w where) matches(r *Request) bool { return w(*r) }

// Where matches requests of which is says so. It must not call the cluster.
func Where(is func(Request) bool) Matcher { return where(is) }

type onTable []string

func (t onTable) matches(r *Request) bool { return slices.ContainsFunc(t, r.On) }

// Table matches requests with a statement for one of the tables, named with or without keyspace.
func Table(names ...string) Matcher { return onTable(names) }

// Text matches requests with a statement that contains part.
func Text(part string) Matcher {
	return Where(func(r Request) bool {
		return slices.ContainsFunc(r.Statements, func(s Statement) bool { return strings.Contains(s.Text, part) })
	})
}

// On matches requests to one of the nodes.
func On(nodes ...int) Matcher {
	return Where(func(r Request) bool { return slices.Contains(nodes, r.Node) })
}

type ordinal []int

func (ordinal) matches(*Request) bool { return true }

// Nth matches of the requests that all other matchers match only these, counted from 1 and from when the rule was made.
func Nth(numbers ...int) Matcher { return ordinal(numbers) }

// nth says whether the matchers let the n-th request pass.
func nth(matchers []Matcher, n int) bool {
	return !slices.ContainsFunc(matchers, func(m Matcher) bool {
		o, ok := m.(ordinal)
		return ok && !slices.Contains(o, n)
	})
}

func matches(matchers []Matcher, r *Request) bool {
	return !slices.ContainsFunc(matchers, func(m Matcher) bool { return !m.matches(r) })
}

// Rule says what is done with some requests.
type Rule struct {
	cluster  *Cluster
	matchers []Matcher
	any      bool // a kind or a table of the system is asked for, so requests that are no EXECUTE, BATCH or QUERY of a test's tables may be meant
	steps    func(Request) []Step
	seen     int // requests that match, but for Nth
	handled  int
}

// Condition is a rule without steps yet.
type Condition struct{ rule *Rule }

// When begins a rule for the requests that all matchers match. Without a kind (as Prepare or Options), or a table of the
// system (as system_schema.tables), it is for EXECUTE, BATCH and QUERY of other tables only. Of several rules for one
// request the first that was made is taken, but all of them count it.
func (s *Cluster) When(matchers ...Matcher) Condition {
	r := &Rule{cluster: s, matchers: matchers}
	for _, m := range matchers {
		switch m := m.(type) {
		case Kind:
			r.any = true
		case onTable:
			r.any = r.any || slices.ContainsFunc(m, isSystem)
		}
	}
	return Condition{r}
}

// Do ends the rule with what to do, one step after the other. If these neither answer nor drop nor cut, the request is
// then applied, unless it has been, and answered.
func (c Condition) Do(steps ...Step) *Rule { return c.Choose(func(Request) []Step { return steps }) }

// Choose is Do with steps that are chosen for each request. choose is called for one request at a time, in the order of
// the journal, and must not call the cluster.
func (c Condition) Choose(choose func(Request) []Step) *Rule {
	r := c.rule
	r.steps = choose
	r.cluster.mu.Lock()
	defer r.cluster.mu.Unlock()
	r.cluster.rules = append(r.cluster.rules, r)
	return r
}

// Handled is how many requests the rule was taken for.
func (r *Rule) Handled() int {
	r.cluster.mu.Lock()
	defer r.cluster.mu.Unlock()
	return r.handled
}

// End ends the rule: no further request is handled by it.
func (r *Rule) End() {
	s := r.cluster
	s.mu.Lock()
	defer s.mu.Unlock()
	s.rules = slices.DeleteFunc(s.rules, func(other *Rule) bool { return other == r })
}

// Heal ends all rules and restores all nodes.
func (s *Cluster) Heal() {
	s.mu.Lock()
	s.rules = nil
	s.mu.Unlock()
	for _, n := range s.nodes {
		n.Restore()
	}
}

func (r *Rule) takes(q *Request) bool {
	if !r.any && (q.Kind != Execute && q.Kind != Batch && q.Kind != Query || q.System() || q.isUse()) {
		return false
	}
	if !matches(r.matchers, q) {
		return false
	}
	r.seen++
	return nth(r.matchers, r.seen)
}

// script gives the steps for a request.
func (s *Cluster) script(q *Request) []Step {
	s.mu.Lock()
	defer s.mu.Unlock()
	var taken *Rule
	for _, r := range s.rules {
		if r.takes(q) && taken == nil {
			taken = r
		}
	}
	if taken == nil {
		return nil
	}
	taken.handled++
	return taken.steps(*q)
}
