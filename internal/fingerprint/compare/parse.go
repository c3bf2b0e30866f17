package compare

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/denorm-go/denorm/internal/fingerprint"
)

// versionError says that a fingerprint is of a version that this one does not know.
type versionError struct{ version string }

func (e *versionError) Error() string {
	return "the fingerprint in its comment is of version " + e.version + ", which this version of the library cannot read"
}

// errMalformed is returned for text that no version 1 has written.
var errMalformed = errors.New("the fingerprint in its comment cannot be read")

var (
	versionPattern = regexp.MustCompile(`^[0-9]{1,6}$`)
	namePattern    = regexp.MustCompile(`^[a-z][a-z0-9_]*$`)
	valuePattern   = regexp.MustCompile(
		`^("([^"\\]|\\.)*"(~[0-9a-f]{16})?|0x[0-9a-f]*(~[0-9a-f]{16})?|-?[0-9]{1,20}|true|false)$`)
	functionPattern = regexp.MustCompile(`^[a-z]{1,16}\([a-z0-9_,.]+\)$`)
	timePattern     = regexp.MustCompile(`^[-0-9T:.Z]{1,40}$`)
	kindPattern     = regexp.MustCompile(`^[a-z-]{1,32}$`)
)

// Parse reads a text as [Split] gives it.
func Parse(text string) (Fingerprint, error) {
	var f Fingerprint
	body, ok := strings.CutPrefix(text, fingerprint.Prefix)
	if !ok || len(text) > maxSize || !strings.HasSuffix(body, "]") {
		return f, errMalformed
	}
	number, body, _ := strings.Cut(body[:len(body)-1], " ")
	if !versionPattern.MatchString(number) {
		return f, errMalformed
	}
	if number != fingerprint.Version {
		return f, &versionError{number}
	}
	clauses, err := split(body)
	if err != nil {
		return f, err
	}
	for _, words := range clauses {
		if err := f.add(words); err != nil {
			return Fingerprint{}, err
		}
	}
	return f, nil
}

// nameless are the kinds of clauses about a set that name nothing.
var nameless = []fingerprint.Kind{fingerprint.LocalSerial, fingerprint.Transactional, fingerprint.SweepInserts}

// split cuts a text into clauses, and these into words.
func split(body string) ([][]string, error) {
	var clauses [][]string
	var words []string
	for body != "" {
		switch body[0] {
		case ' ':
			body = body[1:]
			continue
		case ';':
			if len(words) == 0 {
				return nil, errMalformed
			}
			clauses, words, body = append(clauses, words), nil, body[1:]
			continue
		}
		size := 0
		if body[0] == '"' {
			quoted, err := strconv.QuotedPrefix(body)
			if err != nil {
				return nil, errMalformed
			}
			size = len(quoted)
		}
		if end := strings.IndexAny(body[size:], " ;"); end >= 0 {
			size += end
		} else {
			size = len(body)
		}
		words, body = append(words, body[:size]), body[size:]
	}
	if len(words) > 0 {
		clauses = append(clauses, words)
	}
	return clauses, nil
}

// add reads one clause, which has words. None is there twice.
func (f *Fingerprint) add(words []string) error {
	kind, args := fingerprint.Kind(words[0]), words[1:]
	column, rest := "", args
	if len(args) > 0 && namePattern.MatchString(args[0]) {
		column, rest = args[0], args[1:]
	}
	switch kind {
	case fingerprint.OneOf, fingerprint.SingleWriter:
		r := Rule{Column: column, Values: rest}
		if column == "" || (kind == fingerprint.OneOf) != (len(r.Values) > 0) || !all(r.Values, valuePattern) ||
			slices.ContainsFunc(f.Rules, func(o Rule) bool { return o.Column == column }) {
			return errMalformed
		}
		f.Rules = append(f.Rules, r)
	case fingerprint.Bucket:
		b := Bucket{Column: column}
		if column == "" || slices.ContainsFunc(f.Buckets, func(o Bucket) bool { return o.Column == column }) ||
			!b.functions(rest) {
			return errMalformed
		}
		f.Buckets = append(f.Buckets, b)
	default:
		if !slices.Contains(fingerprint.SetKinds, kind) {
			if !kindPattern.MatchString(words[0]) {
				return errMalformed
			}
			f.unknown = append(f.unknown, words[0])
			return nil
		}
		pattern := namePattern
		if kind == fingerprint.Rotate {
			pattern = functionPattern
		}
		if _, twice := f.names(kind); twice || !all(args, pattern) || slices.Contains(nameless, kind) != (len(args) == 0) {
			return errMalformed
		}
		f.Sets = append(f.Sets, fingerprint.Clause{Kind: kind, Words: args})
	}
	return nil
}

func all(words []string, pattern *regexp.Regexp) bool {
	return !slices.ContainsFunc(words, func(w string) bool { return !pattern.MatchString(w) })
}

// functions reads the functions of a bucket: either each later one has a time, or none has.
func (b *Bucket) functions(words []string) bool {
	for len(words) > 0 {
		var fn Function
		switch first := len(b.Functions) == 0; {
		case first:
		case words[0] == "or" && len(words) > 1:
			words = words[1:]
		case words[0] == "from" && len(words) > 4 && words[2] == "by":
			fn.From, fn.By, words = words[1], words[3], words[4:]
			if !timePattern.MatchString(fn.From) || !namePattern.MatchString(fn.By) {
				return false
			}
		default:
			return false
		}
		fn.Text, words = words[0], words[1:]
		if !functionPattern.MatchString(fn.Text) || len(b.Functions) > 1 && (fn.From == "") != (b.Functions[1].From == "") {
			return false
		}
		b.Functions = append(b.Functions, fn)
	}
	return len(b.Functions) > 0
}

func (r Rule) column() (name, called string) { return r.Column, r.called() }

func (b Bucket) column() (name, called string) { return b.Column, b.called() }

// called is the rule for a message.
func (r Rule) called() string {
	if len(r.Values) == 0 {
		return called[fingerprint.SingleWriter]
	}
	return called[fingerprint.OneOf] + "(" + some(r.Values) + ")"
}

// some lists words, but not very many.
func some(words []string) string {
	const most = 12
	if len(words) > most {
		return strings.Join(words[:most], ", ") + fmt.Sprintf(" and %d more", len(words)-most)
	}
	return strings.Join(words, ", ")
}

// called is the functions for a message.
func (b Bucket) called() string {
	var out strings.Builder
	for i, fn := range b.Functions {
		switch {
		case fn.From != "":
			out.WriteString(", from " + fn.From + " of " + fn.By + " on ")
		case i > 0:
			out.WriteString(" or ")
		}
		out.WriteString(strings.ReplaceAll(fn.Text, ",", ", "))
	}
	if n := len(b.Functions); n > 1 && b.Functions[1].From == "" {
		out.WriteString(", the last of which writes")
	}
	return out.String()
}
