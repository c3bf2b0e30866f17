package compare

import (
	"slices"
	"strings"

	"github.com/denorm-go/denorm/internal/fingerprint"
	"github.com/denorm-go/denorm/internal/layout"
)

// Fingerprint is what must be declared alike. The zero value is for a table about which nothing has to be.
type Fingerprint struct {
	Rules   []Rule               // the key columns that may change
	Buckets []Bucket             // the derived key columns
	Sets    []fingerprint.Clause // what concerns the set as a whole, with the columns or tables that it names

	unknown []string // first words of clauses of a later version of the library
}

// Rule says how a key column may change: within Values, or as SingleWriter if there are none.
type Rule struct {
	Column string
	Values []string // made by [fingerprint.Text] or [fingerprint.Other]
}

// Bucket is the functions of a derived column.
type Bucket struct {
	Column    string
	Functions []Function
}

// Function is one function of a [Bucket].
type Function struct {
	Text string // such as hash(4,ts), without spaces
	// From and By are when the function begins to be used, by the time in which column. They are empty for the first
	// function, and for all of those that are in use side by side.
	From, By string
}

// without says what comes of a process that does not declare what others do, where it may be added later. Tables of
// earlier versions of the library do not have it in their fingerprints.
var without = map[fingerprint.Kind]string{
	fingerprint.ID:           "it writes changes of one ID at the same time, or in one write",
	fingerprint.Stamp:        "its writes could hide from the others', which are ordered by the stamp",
	fingerprint.ExpiresAt:    "the rows that it writes would not expire",
	fingerprint.SweepInserts: "its inserts of entities that exist would leave their rows under other keys",
}

// called is what a kind is called in a message.
var called = map[fingerprint.Kind]string{
	fingerprint.OneOf: "OneOf", fingerprint.SingleWriter: "SingleWriter", fingerprint.Rotate: "Rotate",
	fingerprint.Versioned: "Versioned", fingerprint.Compare: "Compare", fingerprint.Mark: "Mark",
	fingerprint.LocalSerial: "LocalSerial", fingerprint.Transactional: "Transactional", fingerprint.Unique: "Unique table",
	fingerprint.Owners: "Unique table",
	fingerprint.ID:     "ID",
	fingerprint.Stamp:  "Stamp", fingerprint.ExpiresAt: "ExpiresAt", fingerprint.SweepInserts: "SweepInserts",
}

// maxSize bounds what is read. A declaration sweeps at most 64 rows, so its domains take a fraction of it.
const maxSize = 1 << 16

// String is the text, in its brackets.
func (f Fingerprint) String() string {
	clauses := slices.Clone(f.Sets)
	add := func(kind fingerprint.Kind, words ...string) {
		clauses = append(clauses, fingerprint.Clause{Kind: kind, Words: words})
	}
	for _, r := range f.Rules {
		if len(r.Values) == 0 {
			add(fingerprint.SingleWriter, r.Column)
		} else {
			add(fingerprint.OneOf, append([]string{r.Column}, r.Values...)...)
		}
	}
	for _, b := range f.Buckets {
		words := []string{b.Column}
		for i, fn := range b.Functions {
			switch {
			case fn.From != "":
				words = append(words, fingerprint.From(fn.From, fn.By)...)
			case i > 0:
				words = append(words, fingerprint.Or)
			}
			words = append(words, fn.Text)
		}
		add(fingerprint.Bucket, words...)
	}
	return fingerprint.Of(clauses)
}

// Split takes the comment of a table apart: what the service says, and the fingerprint with its brackets. Without one,
// or where what is there cannot be one, the comment stays as it is.
func Split(comment string) (own, text string) {
	i := strings.LastIndex(comment, fingerprint.Prefix)
	if i < 0 || i > 0 && comment[i-1] != ' ' || len(comment)-i > maxSize || !strings.HasSuffix(comment, "]") {
		return comment, ""
	}
	text = comment[i:]
	if strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r > '~' }) {
		return comment, ""
	}
	return strings.TrimSuffix(comment[:i], " "), text
}

// Join puts a comment together.
func Join(own, text string) string {
	if own == "" || text == "" {
		return own + text
	}
	return own + " " + text
}

// Rotation is the time bucket function by which the tables rotate, as a declaration prints it, and empty where they do
// not.
func (f Fingerprint) Rotation() string {
	names, _ := f.names(fingerprint.Rotate)
	return short(strings.ReplaceAll(strings.Join(names, " "), ",", ", "))
}

// Expires says whether the fingerprint with this text is of a set with ExpiresAt.
func Expires(text string) bool { return has(text, fingerprint.ExpiresAt) }

// Transacts says whether the fingerprint with this text is of a Transactional set.
func Transacts(text string) bool { return has(text, fingerprint.Transactional) }

func has(text string, kind fingerprint.Kind) bool {
	f, err := Parse(text)
	_, there := f.names(kind)
	return err == nil && there
}

// names gives those of a kind, and whether there is such a clause.
func (f Fingerprint) names(kind fingerprint.Kind) ([]string, bool) {
	i := slices.IndexFunc(f.Sets, func(c fingerprint.Clause) bool { return c.Kind == kind })
	if i < 0 {
		return nil, false
	}
	return f.Sets[i].Words, true
}

// Kept says what is wrong where a live table has a column of the library's own, by name and CQL type, that the set does
// not declare. It is empty for any other column.
func Kept(column, cqlType string) string {
	switch (layout.Kept{Name: column, Type: cqlType}) {
	case layout.Recent: // the others may be a service's own
		return "is kept by a Versioned set, and this set is not: its plain writes would undo what transactions have decided. " +
			"Declare Versioned, as the processes do that write the table"
	case layout.Token:
		return "is kept in a table of unique keys, and this set declares it a plain one: its writes would give a key away " +
			"that has " +
			"an owner. Declare the table Unique, as the processes do that write it"
	}
	return ""
}
