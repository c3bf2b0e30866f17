package cql

import (
	"math"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"
)

// Token is a word, a literal or a sign of the text.
type Token struct {
	Kind       TokenKind
	Literal    TermKind // of a literal
	Start, End int32    // in the text
	Text       string   // as it is meant: words in lower case, quoted ones without quotes; literals as in [Term]
}

// TokenKind is what kind of token a [Token] is.
type TokenKind uint8

// The kinds of tokens.
const (
	End TokenKind = iota
	Word
	Quoted
	Sign
	Constant
	Broken // what is no token, with why as its text; of a script only
)

// lexer cuts a text into tokens.
type lexer struct {
	text     string
	at       int
	plain    int       // no template begins before
	script   bool      // as that of a parser
	comments []Comment // of a script
	err      error
}

// rooms have space for tokens, which are needed until a statement is read.
var rooms = sync.Pool{New: func() any { return &[]Token{} }}

// giveBack takes a room back, unless it is large.
func giveBack(room *[]Token) {
	clear(*room) // or it would keep texts
	if *room = (*room)[:0]; cap(*room) <= 1<<16 {
		rooms.Put(room)
	}
}

// scan puts the tokens of a text into room; the last is its end.
func (l *lexer) scan(room *[]Token) error {
	if len(l.text) > math.MaxInt32 {
		return &InvalidError{Text: "the statement is too long"}
	}
	for {
		t := l.next()
		if l.err != nil {
			return l.err
		}
		*room = append(*room, t)
		if t.Kind == End {
			return nil
		}
	}
}

// constant takes a literal of n bytes.
func (l *lexer) constant(kind TermKind, n int, text string) Token {
	t := l.cut(Constant, n, text)
	t.Literal = kind
	return t
}

// cut takes a token of n bytes.
func (l *lexer) cut(kind TokenKind, n int, text string) Token {
	t := Token{Kind: kind, Start: int32(l.at), End: int32(l.at + n), Text: text}
	l.at += n
	return t
}

// fail fails with Cassandra's message. In a script n bytes are a broken token, with the message of one: the statement that has it cannot be read.
func (l *lexer) fail(n int, message, plain string) Token {
	if l.script {
		return l.cut(Broken, n, plain)
	}
	l.err = errorAt(l.text, l.at, message)
	return Token{}
}

// comment passes over a comment of n bytes, which begins and ends with so many of its marks.
func (l *lexer) comment(n, begin, end int) {
	if l.script {
		l.comments = append(l.comments, Comment{Text: l.text[l.at+begin : l.at+n-end], Block: end > 0, At: l.at})
	}
	l.at += n
}

// next passes over spaces and comments, and cuts off one token.
func (l *lexer) next() Token {
	for l.at < len(l.text) {
		rest := l.text[l.at:]
		switch {
		case strings.IndexByte(" \t\n\r", rest[0]) >= 0:
			l.at++
		case strings.HasPrefix(rest, "--"), strings.HasPrefix(rest, "//"):
			n := strings.IndexAny(rest, "\r\n")
			if n < 0 {
				if !l.script { // as Cassandra has it
					return l.fail(0, "mismatched character '<EOF>' expecting the end of the line", "")
				}
				n = len(rest)
			}
			l.comment(n, 2, 0)
		case strings.HasPrefix(rest, "/*"):
			n := strings.Index(rest[2:], "*/")
			if n < 0 {
				return l.fail(len(rest), "mismatched character '<EOF>' expecting '*'", "a comment without end")
			}
			l.comment(n+4, 2, 2)
		default:
			return l.token(rest)
		}
	}
	return l.cut(End, 0, "")
}

// forms are those of literals, each for what has none of those before it. In durations of ISO 8601 P and the designators are in
// upper case, and no letter follows.
var forms = []struct {
	kind TermKind
	form *regexp.Regexp
}{
	{UUID, regexp.MustCompile(`^[[:xdigit:]]{8}(-[[:xdigit:]]{4}){3}-[[:xdigit:]]{12}`)},
	{Duration, regexp.MustCompile(`^-?P(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d|\d+W\b|` +
		`\B(\d+Y)?(\d+M)?(\d+D)?(T\B(\d+H)?(\d+M)?(\d+S)?)?\b)`)},
	{Blob, regexp.MustCompile(`^0[xX][[:xdigit:]]*`)},
	{Duration, regexp.MustCompile(`^-?(\d+([mM][sSoO]?|[uUµμΜnN][sS]|[yYwWdDhHsS]))+`)},
	{Float, regexp.MustCompile(`^-(?i:nan|infinity)\b`)},
	{Float, regexp.MustCompile(`^-?\d+(\.\d*([eE][+-]?\d+)?|[eE][+-]?\d+)`)},
	{Integer, regexp.MustCompile(`^-?\d+`)},
}

// values are the words that are literals, some after a minus, with their texts.
var values = map[string]Token{
	"true": {Literal: Boolean, Text: "true"}, "false": {Literal: Boolean, Text: "false"},
	"nan": {Literal: Float, Text: "NaN"}, "-nan": {Literal: Float, Text: "NaN"},
	"infinity": {Literal: Float, Text: "Infinity"}, "-infinity": {Literal: Float, Text: "-Infinity"},
}

// template matches a name with what a tool fills in: ${keyspace}, or {{ .Keyspace }}.
var template = regexp.MustCompile(`^\w*((\$\{[\w.:-]+\}|\{\{-?[ \t]*[.$]?[A-Za-z_][\w.]*[ \t]*-?\}\})\w*)+`)

// templated says whether a template may come: the expression costs more. Each character is looked at once.
func (l *lexer) templated(rest string) bool {
	if l.at < l.plain {
		return false
	}
	after := strings.TrimLeft(rest, "_0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz")
	l.plain = l.at + len(rest) - len(after)
	return strings.HasPrefix(after, "${") || strings.HasPrefix(after, "{{")
}

// token cuts off one token, with which the rest of the text begins.
func (l *lexer) token(rest string) Token {
	c := rest[0]
	if l.script && l.templated(rest) {
		if n := len(template.FindString(rest)); n > 0 {
			return l.cut(Quoted, n, rest[:n])
		}
	}
	if digit(c) || c == '-' || c == 'P' || len(rest) > 8 && rest[8] == '-' {
		for _, f := range forms {
			text := f.form.FindString(rest)
			n := len(text)
			if n == 0 || rest[n-1] == '.' && strings.HasPrefix(rest[n:], ".") { // 1..2 is a slice
				continue
			}
			if f.kind == Blob {
				text = text[2:]
			} else if v, ok := values[strings.ToLower(text)]; ok {
				text = v.Text
			}
			return l.constant(f.kind, n, text)
		}
	}
	switch {
	case letter(c):
		n := 1
		for n < len(rest) && (letter(rest[n]) || digit(rest[n]) || rest[n] == '_') {
			n++
		}
		text := strings.ToLower(rest[:n])
		if v, ok := values[text]; ok {
			return l.constant(v.Literal, n, v.Text)
		}
		return l.cut(Word, n, text)
	case c == '\'' || c == '"':
		return l.quoted(rest, c)
	case strings.HasPrefix(rest, "$$"):
		text, _, ok := strings.Cut(rest[2:], "$$")
		if !ok {
			return l.fail(len(rest), "mismatched character '<EOF>' expecting '$'", "text without end")
		}
		return l.constant(String, len(text)+4, text)
	}
	for _, s := range signs {
		if strings.HasPrefix(rest, s) {
			return l.cut(Sign, len(s), s)
		}
	}
	r, n := utf8.DecodeRuneInString(rest)
	unexpected := strconv.QuoteRune(r)
	return l.fail(n, "no viable alternative at character "+unexpected, "unexpected "+unexpected)
}

// signs are those of which others are the beginning first.
var signs = strings.Fields("( ) , ? = ; : [ ] { } * / % -= += <= >= != .. - + < > .")

// quoted cuts off a string or a name in quotes; a quote in it is doubled.
func (l *lexer) quoted(rest string, quote byte) Token {
	n := 1
	for {
		i := strings.IndexByte(rest[n:], quote)
		if i < 0 {
			q := rune(quote)
			return l.fail(len(rest), "mismatched character '<EOF>' expecting "+strconv.QuoteRune(q), string(q)+" without its end")
		}
		if n += i + 1; n == len(rest) || rest[n] != quote {
			break
		}
		n++
	}
	q := string(quote)
	text := strings.ReplaceAll(rest[1:n-1], q+q, q)
	if quote == '"' {
		return l.cut(Quoted, n, text)
	}
	return l.constant(String, n, text)
}

func digit(c byte) bool { return '0' <= c && c <= '9' }

func letter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

// Comment is a comment of a [Script].
type Comment struct {
	Text  string // between its marks
	Block bool   // within /* */
	At    int    // in the text
}

// TermKind is the kind of a value.
type TermKind uint8

// The kinds of values.
const (
	Mark TermKind = iota // ? or :name
	Null
	String   // 'text' or $$text$$
	Integer  // -12
	Float    // 1.5e3, NaN, Infinity
	Boolean  // true
	UUID     // 123e4567-e89b-12d3-a456-426614174000
	Blob     // 0xff
	Duration // 1h30m
	List     // [1, 2]
	Set      // {1, 2}; also {} which may be an empty map
	Map      // {1: 2}
	Tuple    // (1, 2)
	User     // {field: 1}
	Call     // now()
	Cast     // (text) 'x' or, in a selection, CAST(x AS text), where Text is the type
	// Reference is let.column in a [Transaction], Text is the name of the LET, and Fields has the column; none in let IS NULL.
	Reference

	// These are in selections only.
	Column     // c, c[key], c.field
	ColumnCall // writetime(c), maxwritetime(c), ttl(c)
	All        // the * of count(*), also for count(1) and the like
	Arithmetic // a + b - c, of a [Script] only
)
