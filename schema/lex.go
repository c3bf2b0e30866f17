package schema

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// tokenKind is what a piece of CQL text is.
type tokenKind uint8

const (
	end    tokenKind = iota
	word             // a name or keyword without quotes, in lower case
	name             // a name in double quotes
	text             // a literal in single quotes, or between $$
	number           // also a UUID, a blob, a duration
	sign             // punctuation
	marker           // ? or :name
	note             // what follows "-- denorm:"
)

type token struct {
	kind     tokenKind
	text     string
	line     int // from 1
	from, to int // in the source
}

// opens and closes say whether a token is a bracket.
func (t token) opens() bool {
	return t.kind == sign && (t.text == "(" || t.text == "[" || t.text == "{")
}

func (t token) closes() bool {
	return t.kind == sign && (t.text == ")" || t.text == "]" || t.text == "}")
}

func (t token) is(s string) bool { return t.kind == sign && t.text == s }

// named says whether a token is a name, or may be one.
func (t token) named() bool { return t.kind == word || t.kind == name }

var (
	wordPattern   = regexp.MustCompile(`^[a-zA-Z][a-zA-Z0-9_]*`)
	uuidPattern   = regexp.MustCompile(`^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}`)
	numberPattern = regexp.MustCompile(`^-?[0-9][0-9a-zA-Z.]*([eE][+-]?[0-9]+)?`)
	markerPattern = regexp.MustCompile(`^(\?|:[a-zA-Z][a-zA-Z0-9_]*)`)
	signPattern   = regexp.MustCompile(`^(<=|>=|!=|\+=|-=|[(){}\[\],;.=<>:+*/%-])`)
)

const notePrefix = "denorm:"

// lex cuts CQL text into tokens, without comments, but with the notes in them.
func lex(source string) ([]token, error) {
	var tokens []token
	line := 1
	for at := 0; at < len(source); {
		rest := source[at:]
		start := at
		add := func(kind tokenKind, text string, size int) {
			tokens = append(tokens, token{kind, text, line, start, start + size})
			line += strings.Count(rest[:size], "\n")
			at += size
		}
		switch {
		case strings.ContainsRune(" \t\r\n", rune(rest[0])):
			if rest[0] == '\n' {
				line++
			}
			at++
		case strings.HasPrefix(rest, "--") || strings.HasPrefix(rest, "//"):
			comment, _, _ := strings.Cut(rest, "\n")
			if said, ok := strings.CutPrefix(strings.TrimSpace(comment[2:]), notePrefix); ok {
				add(note, strings.TrimSpace(said), len(comment))
			} else {
				at += len(comment)
			}
		case strings.HasPrefix(rest, "/*"):
			size := strings.Index(rest, "*/")
			if size < 0 {
				return nil, fmt.Errorf("line %d: a comment without end", line)
			}
			if n := noteInside(rest[2:size]); n >= 0 {
				return nil, fmt.Errorf("line %d: a note inside /* */ is not read: write it behind --, as in -- denorm:ignore, or leave denorm: out", line+n)
			}
			line += strings.Count(rest[:size], "\n")
			at += size + 2
		case strings.HasPrefix(rest, "$$"):
			size := strings.Index(rest[2:], "$$")
			if size < 0 {
				return nil, fmt.Errorf("line %d: text without end", line)
			}
			add(text, rest[2:2+size], size+4)
		case rest[0] == '\'' || rest[0] == '"':
			value, size, ok := unquote(rest)
			if !ok {
				return nil, fmt.Errorf("line %d: %c without its end", line, rest[0])
			}
			kind := text
			if rest[0] == '"' {
				kind = name
			}
			add(kind, value, size)
		case uuidPattern.MatchString(rest):
			add(number, uuidPattern.FindString(rest), len(uuidPattern.FindString(rest)))
		case wordPattern.MatchString(rest):
			found := wordPattern.FindString(rest)
			add(word, strings.ToLower(found), len(found))
		case markerPattern.MatchString(rest):
			found := markerPattern.FindString(rest)
			add(marker, found, len(found))
		case numberPattern.MatchString(rest):
			found := numberPattern.FindString(rest)
			add(number, found, len(found))
		case signPattern.MatchString(rest):
			found := signPattern.FindString(rest)
			add(sign, found, len(found))
		default:
			return nil, fmt.Errorf("line %d: unexpected %q", line, rest[:1])
		}
	}
	return append(tokens, token{kind: end, line: line, from: len(source), to: len(source)}), nil
}

// noteInside gives the line of a comment, from 0, that is a note, or -1. What has -- before it is a note that was taken
// out.
func noteInside(comment string) int {
	return slices.IndexFunc(strings.Split(comment, "\n"), func(line string) bool {
		said, ok := strings.CutPrefix(strings.TrimLeft(line, " \t*"), notePrefix)
		kind, _, _ := strings.Cut(strings.TrimSpace(said), " ")
		return ok && slices.Contains([]string{"entity", "ignore", "volume", "domain"}, kind)
	})
}

// spelled is tokens of a source as one line, without the comments between them.
func spelled(source string, tokens []token) string {
	var b strings.Builder
	at := -1 // where the last one ended
	for _, t := range tokens {
		if t.kind == note || t.kind == end {
			continue
		}
		if at >= 0 && t.from > at {
			b.WriteByte(' ')
		}
		b.WriteString(source[t.from:t.to])
		at = t.to
	}
	return b.String()
}

// unquote reads a quoted piece at the start of s; a doubled quote inside stands for one.
func unquote(s string) (value string, size int, ok bool) {
	quote := s[0]
	var b strings.Builder
	for i := 1; i < len(s); i++ {
		switch {
		case s[i] != quote:
			b.WriteByte(s[i])
		case i+1 < len(s) && s[i+1] == quote:
			b.WriteByte(quote)
			i++
		default:
			return b.String(), i + 1, true
		}
	}
	return "", 0, false
}
