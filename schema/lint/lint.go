package lint

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/denorm-go/denorm/internal/each"
	"github.com/denorm-go/denorm/internal/guess"
	"github.com/denorm-go/denorm/internal/printable"
	"github.com/denorm-go/denorm/schema"
)

// Rule is one rule of lint.
type Rule struct {
	Code     string // stable
	Name     string // stable too
	Severity Severity
	check    any    // see checks
	Doc      string // one sentence: what is wrong
}

// Rules returns all rules, by code. The slice is the caller's.
func Rules() []Rule { return slices.Clone(rules) }

// Check applies all rules to a schema. Findings are in the order of the schema's tables, and for one table by code;
// suppressed ones are included. A nil schema is a finding too, with code DN000.
func Check(s *schema.Schema) []Finding {
	if s == nil {
		return []Finding{{
			Code: "DN000", Rule: "no-schema", Severity: Error, Reason: "the schema is nil, so nothing is reviewed",
			Fix: "pass what schema.Declare, schema.Parse or schema.Read gives",
		}}
	}
	s = guess.InKeyspaces(s)
	r := newReview(s)
	for _, r.rule = range slices.Backward(rules) { // the first rule needs to know what the others have found
		r.told = make(map[any]bool)
		r.check()
	}
	place := make(map[schema.ID]int)
	for i, t := range s.Tables {
		place[t.ID] = i + 1
	}
	slices.SortStableFunc(r.found, func(a, b Finding) int {
		return cmp.Or(place[a.Table]-place[b.Table], strings.Compare(a.Code, b.Code))
	})
	return saidOnce(r.found)
}

// newReview takes down what the rules ask of a schema.
func newReview(s *schema.Schema) *review {
	r := &review{
		schema: s, used: make(map[int]bool), byID: make(map[schema.ID]*schema.Table), ignores: make(map[[2]string][]int),
		sent: make(map[*schema.Table][]sent), first: make(map[asked]*schema.Query), bases: make(map[*schema.Table]*schema.Table),
		names: make(map[string][]string), called: make(map[string]schema.ID), unread: make(map[schema.ID]bool),
		columns: make(map[*schema.Table]map[string]bool), indexesOf: make(map[schema.ID][]*schema.Index), accepts: make(map[*schema.Table]map[string]string),
		set: make(map[[3]any]bool),
	}
	for i, ignore := range s.Ignores {
		at := [2]string{ignore.Code, ignore.Table.Name}
		r.ignores[at] = append(r.ignores[at], i)
	}
	r.index()
	for _, t := range slices.Backward(r.tables()) { // of two of one name, the first counts
		r.byID[t.ID] = t
	}
	for _, v := range s.Views { // queries of them are reviewed as those of tables
		if _, table := r.byID[v.ID]; table {
			continue
		}
		if r.byID[v.ID] = nil; len(v.Columns) > 0 {
			t := &schema.Table{ID: v.ID, Columns: v.Columns, Options: v.Options, At: v.At}
			r.byID[v.ID], r.bases[t] = t, r.byID[schema.ID{Keyspace: v.Keyspace, Name: v.Base}]
		}
	}
	for i := range s.Queries {
		q := &s.Queries[i]
		if t, _ := r.table(q.Table); t != nil {
			x := sent{q, t}
			r.statements, r.sent[t] = append(r.statements, x), append(r.sent[t], x)
			if r.values(x); r.query(t, q.Verb) == nil {
				r.first[asked{t, q.Verb}] = q
			}
		}
	}
	r.batches = batchesOf(r.statements)
	r.entities = r.families()
	for i := range r.entities {
		r.entities[i].together = slices.ContainsFunc(r.batches, r.entities[i].within)
	}
	return r
}

// check looks with the rule at hand at each thing that it is about.
func (r *review) check() {
	switch check := r.rule.check.(type) {
	case func(*review): // the schema as a whole
		check(r)
	case func(*review, *schema.Table):
		for _, t := range r.tables() {
			check(r, t)
		}
	case func(*review, *schema.Table, map[role]int):
		for t, n := range r.clustered {
			check(r, t, n)
		}
	case func(*review, *family, *schema.Table):
		for e, t := range r.members {
			check(r, e, t)
		}
	case func(*review, *schema.Index, *schema.Table):
		for x, t := range r.indexes {
			check(r, x, t)
		}
	case func(*review, *schema.Query, *schema.Table):
		for q, t := range r.queries {
			check(r, q, t)
		}
	case func(*review, sent):
		for _, x := range r.statements {
			check(r, x)
		}
	case func(*review, batch):
		for _, b := range r.batches {
			check(r, b)
		}
	default:
		panic(fmt.Sprintf("lint: rule %s checks %T", r.rule.Code, check))
	}
}

// once says whether the rule at hand tells something for the first time of a table, or whatever else it tells of once.
func (r *review) once(of any) bool {
	told := r.told[of]
	r.told[of] = true
	return !told
}

// Worst returns the highest severity among the findings that are not suppressed, 0 if there are none.
func Worst(findings []Finding) Severity {
	var worst Severity
	for _, f := range findings {
		if f.Suppressed == "" {
			worst = max(worst, f.Severity)
		}
	}
	return worst
}

// review is one run of the rules.
type review struct {
	schema   *schema.Schema
	byID     map[schema.ID]*schema.Table
	bases    map[*schema.Table]*schema.Table // of views, nil if the schema does not have it
	entities []family
	// The queries whose table is known, all and by table, and the writes of them that are in batches or transactions.
	statements []sent
	sent       map[*schema.Table][]sent
	first      map[asked]*schema.Query // for [review.query]
	set        map[[3]any]bool         // by [review.values]
	batches    []batch
	names      map[string][]string               // of tables and views, by keyspace
	called     map[string]schema.ID              // the first table or view of each name
	unread     map[schema.ID]bool                // what statements create that were not understood, in lower case; without a keyspace in any
	columns    map[*schema.Table]map[string]bool // of tables, by name, as [review.columnsOf] needs them
	rotating   []*schema.Table                   // perhaps
	rule       Rule                              // at hand
	told       map[any]bool                      // by the rule at hand, see [review.once]
	found      []Finding
	used       map[int]bool                        // of schema.Ignores
	ignores    map[[2]string][]int                 // of them, by code and name
	accepts    map[*schema.Table]map[string]string // what comments of tables accept, by code
	indexesOf  map[schema.ID][]*schema.Index
	compared   int // names with unknown ones
}

// finding reports one of the rule at hand.
func (r *review) finding(t *schema.Table, fix, reason string, args ...any) *Finding {
	r.found = append(r.found, Finding{
		Code: r.rule.Code, Rule: r.rule.Name, Severity: r.rule.Severity, Table: t.ID, Reason: fmt.Sprintf(reason, args...), Fix: fix,
		At: t.At, Suppressed: r.accepted(t),
	})
	return &r.found[len(r.found)-1]
}

// accepted gives the reason for which the rule at hand is accepted for a table, from the schema or from a comment of
// the table, which is all that a live one can carry.
func (r *review) accepted(t *schema.Table) string {
	reason := ""
	for _, name := range []string{cmp.Or(t.Name, t.Keyspace), ""} { // a finding of a keyspace has no name
		for _, i := range r.ignores[[2]string{r.rule.Code, name}] {
			if ignore := r.schema.Ignores[i]; name == "" || t.Name == "" || ignore.Table == t.ID {
				r.used[i] = true
				reason = ignore.Reason
			}
		}
	}
	if r.accepts[t] == nil {
		r.accepts[t] = make(map[string]string)
		for _, said := range strings.Split(t.Comment(), "denorm:ignore ")[1:] {
			code, why, _ := strings.Cut(said, " ")
			r.accepts[t][code], _, _ = strings.Cut(why, ";")
		}
	}
	if said, ok := r.accepts[t][r.rule.Code]; ok {
		reason = said
	}
	return strings.TrimSpace(reason)
}

// unused reports suppressions that matched nothing.
func unused(r *review) {
	for i, ignore := range r.schema.Ignores {
		if !r.used[i] {
			where, fix := "there any more", "remove the suppression"
			if _, known := r.table(ignore.Table); !known && ignore.Table.Name != "" {
				where = "in it: the schema does not have the table" + r.meant(ignore.Table)
				fix = "correct the name of the table, with its keyspace, or remove the suppression"
			}
			r.found = append(r.found, Finding{
				Code: r.rule.Code, Rule: r.rule.Name, Severity: r.rule.Severity, Table: ignore.Table, At: ignore.At,
				Reason: fmt.Sprintf("nothing of %s is found %s", ignore.Code, where), Fix: fix,
			})
		}
	}
}

// tables gives the tables of the schema.
func (r *review) tables() []*schema.Table {
	out := make([]*schema.Table, len(r.schema.Tables))
	for i := range r.schema.Tables {
		out[i] = &r.schema.Tables[i]
	}
	return out
}

// queries gives the queries whose table is known, with it.
func (r *review) queries(yield func(*schema.Query, *schema.Table) bool) {
	for _, x := range r.statements {
		if !yield(x.Query, x.table) {
			return
		}
	}
}

// asks says whether a query of a table is of a kind.
func (r *review) asks(t *schema.Table, is func(*schema.Query) bool) bool {
	return slices.ContainsFunc(r.sent[t], func(x sent) bool { return is(x.Query) })
}

// asked is what queries of a table have one verb.
type asked struct {
	table *schema.Table
	verb  string
}

// query gives the first query of a table with a verb, or nil.
func (r *review) query(t *schema.Table, verb string) *schema.Query { return r.first[asked{t, verb}] }

// conditional says whether a query changes the table by a transaction.
func (r *review) conditional(t *schema.Table) bool {
	return r.asks(t, func(q *schema.Query) bool { return q.Conditional || q.Transaction && q.Verb != "SELECT" })
}

// maxQuery is how many bytes of a query a finding has.
const maxQuery = 10_000

// of says where a finding that a query shows comes from, and returns the finding.
func (f *Finding) of(q *schema.Query) *Finding {
	f.Query = q.Text[:min(len(q.Text), maxQuery)]
	return f.at(q.At)
}

// when gives the finding another severity if something is so, and returns the finding.
func (f *Finding) when(so bool, severity Severity) *Finding {
	if so {
		f.Severity = severity
	}
	return f
}

// as gives the finding another severity, and returns the finding.
func (f *Finding) as(severity Severity) *Finding { return f.when(true, severity) }

// at says where a finding comes from, if that is known, and returns the finding.
func (f *Finding) at(p schema.Position) *Finding {
	if p.Line > 0 {
		f.At = p
	}
	return f
}

func names(columns []schema.Column) []string {
	return each.Of(columns, func(c schema.Column) string { return c.Name })
}

// key is the columns of a table's partition key for a message.
func key(t *schema.Table) string { return strings.Join(names(t.Of(schema.PartitionKey)), ", ") }

// Severity says how bad a finding is.
type Severity uint8

// The severities.
const (
	Note    Severity = iota + 1 // good to know
	Warning                     // works while it is small, or costs more than it seems
	Error                       // loses rows, is rejected, or takes a cluster down as it grows
)

// severities are their names.
var severities = []string{Note: "note", Warning: "warning", Error: "error"}

func (s Severity) String() string { return printable.Enum("Severity", s, severities) }

// MarshalText returns [Severity.String].
func (s Severity) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// Finding is what a rule found in a table.
type Finding struct {
	Code     string // of the rule; its meaning never changes
	Rule     string // its name
	Severity Severity
	Table    schema.ID
	Column   string `json:",omitempty"`
	Query    string `json:",omitempty"` // the query that shows it
	Reason   string // a sentence without its full stop, like Fix
	Fix      string
	// Suppressed is the reason for which the finding was accepted; it is empty if it was not.
	Suppressed string `json:",omitempty"`
	At         schema.Position
}

// String returns the finding on one line; unprintable characters are written as escapes.
func (f Finding) String() string {
	return printable.Line(fmt.Sprintf("%s %s %s: %s", f.Severity, f.Code, f.Table, f.Reason))
}
