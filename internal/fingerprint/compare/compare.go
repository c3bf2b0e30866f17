package compare

import (
	"errors"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/denorm-go/denorm/internal/cql"
	"github.com/denorm-go/denorm/internal/fingerprint"
)

// Finding is one disagreement of a declaration with a table.
type Finding struct {
	Column string // empty if the table as a whole is meant
	Reason string
	// Note says that nothing is wrong: older and newer processes may both be at work, or the table is older than its
	// fingerprint.
	Note bool
	// Write is the fingerprint that the table should have, empty where none is to be written. Otherwise Do says what to
	// do.
	Write, Do string
	// Begun says that Write has a function that is in use by now: whether it may be written somebody has to find out
	// first.
	Begun bool
}

const (
	doAgree = "declare what the processes that write the table declare; if the table's fingerprint is what is wrong, stop " +
		"them all, move the rows that are affected, and remove [denorm:...] from the comment of the table"
	doUpdate = "update the library"
	doWait   = "deploy the declaration that has it to this process, before it is used"
)

// Check compares the fingerprint of a declaration with the one that a live table has, "" for none. now is for functions
// that begin to be used at some time.
func Check(declared, live string, now time.Time) []Finding {
	if declared == "" || declared == live {
		return nil
	}
	d, err := Parse(declared)
	if err != nil { // of a file that was written by hand, or by another version
		return []Finding{{
			Reason: "the declaration's own fingerprint is of another version or none", Note: true,
			Do: doUpdate,
		}}
	}
	if live == "" {
		return []Finding{{
			Reason: "its comment has no fingerprint of the declaration, so a process that declares the table otherwise goes " +
				"unnoticed",
			Note: true, Write: declared,
		}}
	}
	l, err := Parse(live)
	var version *versionError
	switch {
	case errors.As(err, &version):
		return []Finding{{Reason: err.Error(), Note: true, Do: doUpdate}}
	case err != nil:
		return []Finding{{Reason: err.Error(), Note: true, Write: declared}}
	}
	c := comparison{declared: d, live: l, merged: d, now: now}
	c.merged.Rules = paired(&c, d.Rules, l.Rules, "a column that does not change", c.rule)
	c.merged.Buckets = paired(&c, d.Buckets, l.Buckets, "a column of its own", func(d, l Bucket) Bucket {
		return Bucket{d.Column, c.functions(d, l)}
	})
	c.sets()
	found := c.found()
	for i := range found {
		found[i].Column, found[i].Reason = short(found[i].Column), short(found[i].Reason)
	}
	return found
}

// short leaves out the middle of a long text: a comment has no limit but its size.
func short(text string) string {
	const head, tail = 1000, 200
	if len(text) <= head+tail {
		return text
	}
	return text[:head] + " ... " + text[len(text)-tail:]
}

// comparison is one call of [Check].
type comparison struct {
	declared, live Fingerprint
	merged         Fingerprint // with what either has
	now            time.Time
	wrong          []Finding
	ahead, behind  []string // what only the declaration has, and what only the table has
	first          bool     // ahead has a function with a time, which has to be in the table first
	late           bool     // and it has begun
}

func (c *comparison) contradict(column, reason string) {
	c.wrong = append(c.wrong, Finding{Column: column, Reason: reason, Do: doAgree})
}

// found is what there is to tell.
func (c *comparison) found() []Finding {
	if len(c.wrong) > 0 {
		return c.wrong
	}
	var notes []Finding
	if len(c.live.unknown) > 0 {
		notes = append(notes, Finding{
			Reason: "the fingerprint in its comment says of " + some(c.live.unknown) +
				" what this version of the library does not know",
			Note: true, Do: doUpdate,
		})
	}
	if len(c.behind) > 0 {
		notes = append(notes, Finding{Reason: strings.Join(c.behind, "; "), Note: true, Do: doWait})
	}
	if len(c.ahead) > 0 {
		n := Finding{Reason: strings.Join(c.ahead, "; "), Note: !c.first, Write: c.merged.String(), Begun: c.late}
		if len(c.live.unknown) > 0 {
			n.Write, n.Do, n.Begun = "", doUpdate, false
		}
		notes = append(notes, n)
	}
	return notes
}

// paired gives what both sides say of a column, put together, and contradicts what only one of them has: for the other
// one it is plain.
func paired[T interface{ column() (name, called string) }](c *comparison, declared, live []T, plain string,
	both func(d, l T) T,
) []T {
	find := func(list []T, column string) int {
		return slices.IndexFunc(list, func(o T) bool { name, _ := o.column(); return name == column })
	}
	var merged []T
	for _, d := range declared {
		column, called := d.column()
		if i := find(live, column); i >= 0 {
			merged = append(merged, both(d, live[i]))
		} else {
			c.contradict(column, "this process declares "+called+", the table was made for "+plain)
		}
	}
	for _, l := range live {
		if column, called := l.column(); find(declared, column) < 0 {
			c.contradict(column, "this process declares "+plain+", the table was made for "+called)
		}
	}
	return merged
}

func (c *comparison) rule(d, l Rule) Rule {
	if (len(d.Values) == 0) != (len(l.Values) == 0) {
		c.contradict(d.Column, "this process declares "+d.called()+", the table was made for "+l.called())
		return d
	}
	more, less := minus(d.Values, l.Values), minus(l.Values, d.Values)
	switch {
	case len(more) > 0 && len(less) > 0:
		c.contradict(d.Column, "this process declares a OneOf that has "+some(more)+" and lacks "+some(less)+
			", which the table was made for: each side would leave rows under the other's values")
	case len(more) > 0:
		c.ahead = append(c.ahead, "OneOf of "+d.Column+" has got "+some(more))
	case len(less) > 0:
		c.behind = append(c.behind, "OneOf of "+d.Column+" has "+some(less)+
			" in the table's fingerprint and not in this process")
	}
	d.Values = append(slices.Clone(l.Values), more...)
	return d
}

// minus gives the words of a that are not in b.
func minus(a, b []string) []string {
	return slices.DeleteFunc(slices.Clone(a), func(s string) bool { return slices.Contains(b, s) })
}

func (c *comparison) functions(d, l Bucket) []Function {
	contradict := func(reason string) []Function {
		c.contradict(d.Column, "this process uses "+d.called()+", the table was made for "+l.called()+": "+reason)
		return d.Functions
	}
	if !timed(d) && !timed(l) && len(d.Functions)+len(l.Functions) > 2 {
		return c.sideBySide(d, l, contradict)
	}
	n := min(len(d.Functions), len(l.Functions))
	switch {
	case !slices.Equal(d.Functions[:n], l.Functions[:n]):
		return contradict("rows that one of them writes are not found by the other; a new function is a Since behind the " +
			"old one")
	case len(d.Functions) > n:
		reason := d.differs(l) + ": "
		if c.begun(d.Functions[n]) {
			c.late = true
			reason += "the Since has begun, and rows that a process without it has written of since then are not found; give " +
				"it a time in " +
				"the future, or put it into the fingerprint if there are no such rows"
		} else {
			reason += "put the Since into the fingerprint before a process with it starts"
		}
		c.ahead, c.first = append(c.ahead, reason), true
		return d.Functions
	case len(l.Functions) == n:
		return d.Functions
	}
	if c.begun(l.Functions[n]) {
		return contradict("the function that this process lacks is in use already")
	}
	c.behind = append(c.behind, d.differs(l))
	return l.Functions
}

// differs says how a bucket differs from that of the table.
func (b Bucket) differs(live Bucket) string {
	return "bucket " + b.Column + " is " + live.called() + " in the table's fingerprint and " + b.called() +
		" in this process"
}

// begun says whether a function is in use by now. A time that no declaration writes does not pass for one to come.
func (c *comparison) begun(f Function) bool {
	from, err := time.Parse(time.RFC3339, f.From)
	return err != nil || !from.After(c.now)
}

func timed(b Bucket) bool { return len(b.Functions) > 1 && b.Functions[1].From != "" }

// sideBySide compares functions without a time. Every process has to know the one by which each other one writes, the
// last.
func (c *comparison) sideBySide(d, l Bucket, contradict func(string) []Function) []Function {
	writes := func(b Bucket) Function { return b.Functions[len(b.Functions)-1] }
	extra := slices.DeleteFunc(slices.Clone(l.Functions), func(f Function) bool { return slices.Contains(d.Functions, f) })
	all := slices.Concat(extra, d.Functions)
	switch {
	case !slices.Contains(l.Functions, writes(d)) || !slices.Contains(d.Functions, writes(l)):
		return contradict("one of them writes by a function that the other one does not know; deploy the list everywhere " +
			"with " +
			"the new function first, and then with it last")
	case len(all) > len(l.Functions) || len(extra) == 0 && writes(d) != writes(l):
		c.ahead = append(c.ahead, "bucket "+d.Column+" has got "+d.called())
	case len(extra) > 0:
		c.behind = append(c.behind, d.differs(l))
	}
	return all
}

// sets compares what has to be the same, or may be there later.
func (c *comparison) sets() {
	for _, kind := range fingerprint.SetKinds {
		d, declared := c.declared.names(kind)
		l, live := c.live.names(kind)
		loss, later := without[kind]
		switch {
		case declared == live && slices.Equal(d, l):
		case kind == fingerprint.Owners && !live: // of an earlier version of the library
			c.ahead = append(c.ahead, "the table's fingerprint does not say in which table the owners are")
		case later && !live:
			c.ahead = append(c.ahead, clause(kind, d, true)+" is not in the fingerprint yet, and processes without it start: "+
				"put it there when all of them declare it")
		default:
			reason := "this process declares " + clause(kind, d, declared) + ", the table was made for " + clause(kind, l, live)
			if later && !declared {
				reason += ": " + loss
			}
			c.contradict("", reason)
		}
	}
}

// clause is a clause of the set for a message.
func clause(kind fingerprint.Kind, names []string, there bool) string {
	switch {
	case !there:
		return "no " + called[kind]
	case len(names) == 0:
		return called[kind]
	case kind == fingerprint.Owners:
		return "a Unique table with owners in " + some(names)
	}
	return called[kind] + "(" + some(names) + ")"
}

// Statement is the CQL that gives a table the comment of its service and a fingerprint. It is empty where the comment
// has what is not put into a text that somebody is to run: characters that cannot be printed, and /* or */, which cqlsh
// takes for a comment of its own, inside of quotes too. Then do says what to do.
func Statement(table, own, text string) (statement, do string) {
	do = "put " + text + " behind its comment, which has "
	switch {
	case strings.ContainsFunc(own, func(r rune) bool { return !unicode.IsPrint(r) && r != '\n' && r != '\t' }):
		return "", do + "characters that cannot be printed"
	case strings.Contains(own, "/*") || strings.Contains(own, "*/"):
		return "", do + "/* or */: cqlsh would hide what is between them and run the rest, so do it with another client"
	}
	return "ALTER TABLE " + table + " WITH comment = " + cql.Literal(Join(own, text)), ""
}
