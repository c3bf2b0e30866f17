package fingerprint

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/denorm-go/denorm/internal/each"
)

// Clause is a part of the text: what it is about, and the words behind that.
type Clause struct {
	Kind  Kind
	Words []string
}

// Kind says what a clause is about.
type Kind string

// The kinds of clauses, which are their first words.
const (
	OneOf        Kind = "one-of"
	SingleWriter Kind = "single-writer"
	Bucket       Kind = "bucket"

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
	ID           Kind = "id"
	Stamp        Kind = "stamp"
	ExpiresAt    Kind = "expires-at"
	SweepInserts Kind = "sweep-inserts"
)

// SetKinds are those about a set as a whole, in the order in which they are written and compared.
var SetKinds = []Kind{
	Rotate, Versioned, Compare, Mark, LocalSerial, Transactional, Unique, Owners, ID, Stamp, ExpiresAt, SweepInserts,
}

// Prefix begins the text, and Version follows it.
const (
	Prefix  = "[denorm:"
	Version = "1"
)

// rank is the place of a kind in the text: the columns that may change come first, in their order, and then those with
// buckets.
func rank(k Kind) int {
	if k == OneOf || k == SingleWriter {
		return -2
	}
	return slices.Index(SetKinds, k) // -1 for Bucket
}

// Of is the text of clauses, in its brackets.
func Of(clauses []Clause) string {
	clauses = slices.SortedStableFunc(slices.Values(clauses), func(a, b Clause) int { return rank(a.Kind) - rank(b.Kind) })
	texts := each.Of(clauses, func(c Clause) string {
		return strings.Join(append([]string{string(c.Kind)}, c.Words...), " ")
	})
	out := Prefix + Version
	if len(texts) > 0 {
		out += " " + strings.Join(texts, "; ")
	}
	return out + "]"
}

// From is the words of a bucket function that is used from a time on, by the time in a column.
func From(time, column string) []string { return []string{"from", time, "by", column} }

// Or is the word before a bucket function that is in use beside the one before it.
const Or = "or"

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
