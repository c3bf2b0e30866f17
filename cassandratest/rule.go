package cassandratest

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/denorm-go/denorm/internal/cassandra/catalog"
)

// Matcher decides which requests a rule matches.
type Matcher interface{ matches(*Request) bool }

func (k Kind) matches(r *Request) bool { return r.Kind == k }

type where func(Request) bool

func (w where) matches(r *Request) bool { return w(*r) }

// Where matches requests for which is returns true. is may call the cluster, but not Close, and must not wait.
func Where(is func(Request) bool) Matcher { return where(is) }

type onTable []string

func (t onTable) matches(r *Request) bool { return slices.ContainsFunc(t, r.On) }

// Table matches requests with a statement for one of the tables, named with or without keyspace. The tables must exist
// when the rule is made. A name without keyspace means a system table only if no other table has that name. Rows of one
// partition key in several tables are sent in one request, so a rule for one table also applies to the others.
func Table(names ...string) Matcher { return onTable(names) }

// Text matches requests with a statement that contains part, ignoring case.
func Text(part string) Matcher {
	part = strings.ToLower(part)
	return Where(func(r Request) bool {
		return slices.ContainsFunc(r.Statements, func(s Statement) bool {
			return strings.Contains(strings.ToLower(s.Text), part)
		})
	})
}

type onNode []int

func (n onNode) matches(r *Request) bool { return slices.Contains(n, r.Node) }

// On matches requests to any of the nodes, which are counted from 1.
func On(nodes ...int) Matcher { return onNode(nodes) }

type ordinal []int

func (ordinal) matches(*Request) bool { return true }

// Nth matches only the requests with the given numbers among those that all other matchers match, counted from 1 since
// the rule was made.
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

// Rule says what is done with the requests that match it.
type Rule struct {
	cluster  *Cluster
	matchers []Matcher
	any      bool // a kind or a table of the system is asked for: more than EXECUTE, BATCH and QUERY of a test's tables is meant
	steps    func(Request) []Step
	seen     int // requests that match, but for Nth
	handled  int
}

// Condition is a rule that has no steps yet.
type Condition struct{ rule *Rule }

// When begins a rule for the requests that all matchers match: for either of two kinds, make two rules. Unless a
// matcher is a [Kind] or names a system table (such as system_schema.tables), the rule matches only EXECUTE, BATCH and
// QUERY of other tables. These are all that a service reads and writes, and what its test needs, as in When() or
// When([Table]("orders_by_user")).
//
// With a kind, the rule matches all requests of that kind, including those for system tables. So When([Execute])
// matches what the driver reads about the schema. It misses writes that are sent as a BATCH: several rows of a
// partition, and logged batches.
//
// If several rules match a request, the one made first handles it, but all of them count it for [Nth]. [Rule.Handled]
// tells a test whether its rule has handled anything.
func (c *Cluster) When(matchers ...Matcher) Condition {
	return Condition{&Rule{cluster: c, matchers: matchers}}
}

// contradiction says why no request could match all matchers of what, a rule or a call of Journal.
func (c *Cluster) contradiction(what string, matchers []Matcher) error {
	var kinds []Kind
	var on, nth []int // nil for all
	var table bool
	for i, m := range matchers {
		switch m := m.(type) {
		case nil:
			return fmt.Errorf("a %s whose matcher %d is nil: leave it out", what, i+1)
		case where:
			if m == nil {
				return fmt.Errorf("a %s with Where of a nil function: give one, or leave it out", what)
			}
		case Kind:
			if kinds = append(kinds, m); m != kinds[0] {
				return fmt.Errorf("a %[1]s with the kinds %[2]v and %[3]v, and a request has one: make a %[1]s for each",
					what, kinds[0], m)
			}
		case onTable:
			if table = true; len(m) == 0 {
				return fmt.Errorf("a %s with Table of no name: name one or more, or leave it out", what)
			}
		case onNode:
			if err := c.lacks(what+" with On", m); err != nil {
				return err
			}
			if on = common(on, m); len(on) == 0 {
				return fmt.Errorf("a %s with several On that have no node in common: name the nodes in one On", what)
			}
		case ordinal:
			if len(m) == 0 || slices.Min(m) < 1 {
				return fmt.Errorf("a %s with Nth of requests %v: name one or more, counted from 1", what, []int(m))
			}
			if nth = common(nth, m); len(nth) == 0 {
				return fmt.Errorf("a %s with several Nth that have no request in common: name the requests in one Nth", what)
			}
		}
	}
	if table && slices.Contains(kinds, Startup) {
		return fmt.Errorf("a %s with Startup and Table, and the first request is of no table: leave one of them out", what)
	}
	return nil
}

// resolve finds the tables that a rule is for; an error says why the rule could never be taken. It is called with the
// lock.
func (r *Rule) resolve() error {
	if err := r.cluster.contradiction("rule", r.matchers); err != nil {
		return err
	}
	tables := r.cluster.data.Schema.Tables()
	known := func(name string, system bool) bool {
		return slices.ContainsFunc(tables, func(t *catalog.Table) bool { return t.System == system && called(name, t.Keyspace, t.Name) })
	}
	var missing, there []string
	for _, m := range r.matchers {
		switch m := m.(type) {
		case Kind:
			r.any = true
		case onTable:
			for _, name := range m {
				switch {
				case known(name, false):
				case known(name, true):
					r.any = true
				default:
					missing = append(missing, name)
				}
			}
		}
	}
	if missing == nil {
		return nil
	}
	for _, t := range tables {
		if !t.System {
			there = append(there, t.Keyspace+"."+t.Name)
		}
	}
	names := func(list []string) string { return cmp.Or(strings.Join(list, ", "), "none") }
	return fmt.Errorf("a rule for table %s, which does not exist; there is %s", names(missing), names(there))
}

// common are the numbers in both lists; a is nil for all.
func common(a, b []int) []int {
	if a == nil {
		return b
	}
	return slices.DeleteFunc(slices.Clone(a), func(n int) bool { return !slices.Contains(b, n) })
}

// lacks says that there are no such nodes, which what names.
func (c *Cluster) lacks(what string, nodes []int) error {
	if len(nodes) > 0 && slices.Min(nodes) >= 1 && slices.Max(nodes) <= len(c.nodes) {
		return nil
	}
	return fmt.Errorf("a %s of nodes %v: name one or more of the nodes 1 to %d", what, nodes, len(c.nodes))
}

// Do completes the rule with the steps to do, one after the other. If no step answers the request, drops it or cuts the
// connection, the request is then applied, unless it has been, and answered. A rule that can never match is an error of
// the test, and no rule is made. Examples are a table or node that does not exist, and two kinds at once. A step for
// such a node, a misspelt write type, and a time of less than a millisecond are errors, too. Outside of a test, Do
// panics.
func (c Condition) Do(steps ...Step) *Rule {
	if tb := c.rule.cluster.tb; tb != nil {
		tb.Helper()
	}
	return c.end(func(Request) []Step { return steps }, steps)
}

// Choose is like Do, but calls choose for the steps of each request. choose is called for one request at a time, in the
// order of the journal. It may call the cluster, but not Close, and must not wait. The only check of the steps is that
// none is Step{}.
func (c Condition) Choose(choose func(Request) []Step) *Rule {
	if tb := c.rule.cluster.tb; tb != nil {
		tb.Helper()
	}
	return c.end(choose, nil)
}

func (c Condition) end(choose func(Request) []Step, fixed []Step) *Rule {
	r, s := c.rule, c.rule.cluster
	r.steps = choose
	s.mu.Lock()
	err := r.resolve()
	if err == nil && choose == nil {
		err = errors.New("a rule with Choose of a nil function: give one, or Do")
	}
	for i, step := range fixed {
		switch {
		case err != nil:
		case step.do == nil:
			err = noStep(i)
		case step.answers && slices.ContainsFunc(fixed[:i], func(before Step) bool { return before.ends }):
			err = fmt.Errorf("a rule whose step %d, %s, comes after the end of the request: leave it out",
				i+1, step)
		case step.wrong != nil:
			err = step.wrong(s)
		}
	}
	if err == nil {
		s.rules = append(s.rules, r)
	}
	s.mu.Unlock()
	if err != nil {
		if s.tb != nil {
			s.tb.Helper()
		}
		s.fail(err)
	}
	return r
}

func noStep(i int) error {
	return fmt.Errorf("a rule whose step %d is Step{}, which does nothing: give one of the package, or leave it out", i+1)
}

// fail is an error of the test, or a panic outside of one.
func (c *Cluster) fail(err error) {
	if c.tb == nil {
		panic(err)
	}
	c.tb.Helper()
	c.tb.Errorf("cassandratest: %v", err)
}

// Handled returns how many requests the rule has handled.
func (r *Rule) Handled() int { return held(r.cluster, func() int { return r.handled }) }

// End ends the rule: it handles no further request.
func (r *Rule) End() {
	s := r.cluster
	s.hold(func() { s.rules = slices.DeleteFunc(s.rules, func(other *Rule) bool { return other == r }) })
}

// Heal ends all rules and restores all nodes.
func (c *Cluster) Heal() {
	c.hold(func() { c.rules = nil })
	for _, n := range c.nodes {
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
func (c *Cluster) script(q *Request) []Step {
	c.mu.Lock()
	rules, asked := slices.Clone(c.rules), *q
	c.mu.Unlock()
	var taken *Rule
	for _, r := range rules {
		if r.takes(&asked) && taken == nil {
			taken = r
		}
	}
	if taken == nil {
		return nil
	}
	c.hold(func() { taken.handled++ })
	steps := taken.steps(asked)
	if i := slices.IndexFunc(steps, func(step Step) bool { return step.do == nil }); i >= 0 {
		c.fail(noStep(i))
		return nil
	}
	return steps
}
