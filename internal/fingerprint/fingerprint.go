package fingerprint

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Fingerprint is what must be declared alike. The zero value is that of a table about which nothing has to be.
type Fingerprint struct {
	Rules   []Rule   // the key columns that may change
	Buckets []Bucket // the derived key columns
	Sets    []Names  // what concerns the set as a whole

	unknown []string // first words of clauses of a later version of the library
}

// Rule says how a key column may change: within Values, or as SingleWriter if there are none.
type Rule struct {
	Column string
	Values []string // made by [Text] or [Other]
}

// Bucket is the functions of a derived column.
type Bucket struct {
	Column    string
	Functions []Function
}

// Function is one function of a [Bucket].
type Function struct {
	Text string // such as hash(4,ts), without spaces
	// From and By are when the function begins to be used, by the time in which column. They are empty for the first function,
	// and for all of those that are in use side by side.
	From, By string
}

// Names is a clause about the set: what it is, and the columns or tables that it names.
type Names struct {
	Kind  Kind
	Names []string
}

// Kind says what a clause is about.
type Kind string

// The kinds of clauses, which are their first words.
const (
	oneOf        Kind = "one-of"
	singleWriter Kind = "single-writer"
	bucket       Kind = "bucket"

	Rotate      Kind = "rotate"
	Versioned   Kind = "versioned"
	Compare     Kind = "compare"
	Mark        Kind = "mark"
	LocalSerial Kind = "local-serial"
	// Transactional tables are written in transactions of Cassandra 6.
	Transactional Kind = "transactional"
	Unique        Kind = "unique"
	Owners        Kind = "owners" // of a Unique table: the base table

	// These can be added while processes without them are at work.
	Stamp        Kind = "stamp"
	ExpiresAt    Kind = "expires-at"
	SweepInserts Kind = "sweep-inserts"
)

// setKinds are those of [Names], in the order in which they are written and compared.
var setKinds = []Kind{Rotate, Versioned, Compare, Mark, LocalSerial, Transactional, Unique, Owners, Stamp, ExpiresAt, SweepInserts}

// without says what comes of a process that does not declare what others do, where it may be added later. Tables of earlier versions of
// the library do not have it in their fingerprints.
var without = map[Kind]string{
	Stamp:        "its writes could hide from the others', which are ordered by the stamp",
	ExpiresAt:    "the rows that it writes would not expire",
	SweepInserts: "its inserts of entities that exist would leave their rows under other keys",
}

// called is what a kind is called in a message.
var called = map[Kind]string{
	oneOf: "OneOf", singleWriter: "SingleWriter", Rotate: "Rotate", Versioned: "Versioned", Compare: "Compare", Mark: "Mark",
	LocalSerial: "LocalSerial", Transactional: "Transactional", Unique: "Unique table", Owners: "Unique table",
	Stamp: "Stamp", ExpiresAt: "ExpiresAt", SweepInserts: "SweepInserts",
}

const (
	prefix  = "[denorm:"
	version = "1"
	// maxSize bounds what is read. A declaration sweeps at most 64 rows, so its domains take a fraction of it.
	maxSize = 1 << 16
)

// String is the text, in its brackets.
func (f Fingerprint) String() string {
	clauses := make([]string, 0, len(f.Rules)+len(f.Buckets)+len(f.Sets))
	add := func(kind Kind, words ...string) {
		clauses = append(clauses, strings.Join(append([]string{string(kind)}, words...), " "))
	}
	for _, r := range f.Rules {
		if len(r.Values) == 0 {
			add(singleWriter, r.Column)
		} else {
			add(oneOf, append([]string{r.Column}, r.Values...)...)
		}
	}
	for _, b := range f.Buckets {
		words := []string{b.Column}
		for i, fn := range b.Functions {
			switch {
			case fn.From != "":
				words = append(words, "from", fn.From, "by", fn.By)
			case i > 0:
				words = append(words, "or")
			}
			words = append(words, fn.Text)
		}
		add(bucket, words...)
	}
	for _, kind := range setKinds {
		for _, s := range f.Sets {
			if s.Kind == kind {
				add(kind, s.Names...)
			}
		}
	}
	out := prefix + version
	if len(clauses) > 0 {
		out += " " + strings.Join(clauses, "; ")
	}
	return out + "]"
}

// maxText is how much of a text value is written. A longer one is told from others by its hash.
const maxText = 40

// Text writes a text value of a domain. Nothing in it ends a quoted text, a clause, or a comment of CQL.
func Text(s string) string {
	hash := ""
	if len(s) > maxText {
		sum := sha256.Sum256([]byte(s))
		s, hash = s[:maxText], fmt.Sprintf("~%x", sum[:8])
	}
	return strings.NewReplacer("[", `\x5b`, "*", `\x2a`).Replace(strconv.QuoteToASCII(s)) + hash
}

// Other writes an encoded value of a domain that is neither text nor a number.
func Other(data []byte) string {
	const long = 2 * maxText
	if len(data) > long {
		sum := sha256.Sum256(data)
		return fmt.Sprintf("0x%x~%x", data[:long], sum[:8])
	}
	return fmt.Sprintf("0x%x", data)
}

// Split takes the comment of a table apart: what the service says, and the fingerprint with its brackets. Without one, or
// where what is there cannot be one, the comment stays as it is.
func Split(comment string) (own, text string) {
	i := strings.LastIndex(comment, prefix)
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

// Rotation is the time bucket function by which the tables rotate, as a declaration prints it, and empty where they do not.
func (f Fingerprint) Rotation() string {
	names, _ := f.names(Rotate)
	return short(strings.ReplaceAll(strings.Join(names, " "), ",", ", "))
}

// Expires says whether the fingerprint with this text is of a set with ExpiresAt.
func Expires(text string) bool { return has(text, ExpiresAt) }

// Transacts says whether the fingerprint with this text is of a Transactional set.
func Transacts(text string) bool { return has(text, Transactional) }

func has(text string, kind Kind) bool {
	f, err := Parse(text)
	_, there := f.names(kind)
	return err == nil && there
}

// names gives those of a kind, and whether there is such a clause.
func (f Fingerprint) names(kind Kind) ([]string, bool) {
	i := slices.IndexFunc(f.Sets, func(n Names) bool { return n.Kind == kind })
	if i < 0 {
		return nil, false
	}
	return f.Sets[i].Names, true
}
