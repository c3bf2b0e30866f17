package ast

import (
	"math"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/denorm-go/denorm/internal/cql"
)

// token is one of a statement.
type token struct {
	cql.Token
	Literal TermKind // of a literal; its text is that of a [Term]
}

// lexer cuts a text into tokens.
type lexer struct {
	cql.Lexer
	Comments []Comment
	plain    int  // no template begins before
	script   bool // as in a parser
}

// Comment is a comment of a text.
type Comment struct {
	Text  string // between its marks
	Block bool   // within /* */
	At    int    // in the text
}

// rest passes over spaces and comments, and gives what follows. A comment without its end is a token.
func (l *lexer) rest() string {
	for {
		rest := l.Rest()
		comment := Comment{At: l.At}
		switch {
		case strings.HasPrefix(rest, "--"), strings.HasPrefix(rest, "//"):
			end := len(rest)
			if n := strings.IndexAny(rest, "\r\n"); n >= 0 {
				end = n
			}
			comment.Text = rest[2:end]
			l.At += end
		case strings.HasPrefix(rest, "/*") && strings.Contains(rest[2:], "*/"):
			comment.Text, _, _ = strings.Cut(rest[2:], "*/")
			comment.Block = true
			l.At += len(comment.Text) + 4
		default:
			return rest
		}
		l.Comments = append(l.Comments, comment)
	}
}

// scan gives the tokens of a text; the last is its end. What is no token is an error, but in a script a token: the
// statement that has it cannot be read.
func (l *lexer) scan() (tokens []token, err error) {
	if len(l.Text) > math.MaxInt32 {
		return nil, &InvalidError{Text: "the statement is too long"}
	}
	tokens = make([]token, 0, len(l.Text)/4+1)
	for {
		t := l.token(l.rest())
		if t.Kind == cql.Broken && !l.script {
			return nil, errorAt(l.Text, int(t.Start), broken(l.Text[t.Start:]))
		}
		tokens = append(tokens, t)
		if t.Kind == cql.End {
			return tokens, l.ended()
		}
	}
}

// broken is Cassandra's message for a text that begins with no token.
func broken(rest string) string {
	r, _ := utf8.DecodeRuneInString(rest)
	switch {
	case r == '/':
		return "mismatched character '<EOF>' expecting '*'"
	case r == '\'', r == '"', strings.HasPrefix(rest, "$$"):
		return "mismatched character '<EOF>' expecting " + strconv.QuoteRune(r)
	}
	return "no viable alternative at character " + strconv.QuoteRune(r)
}

// ended wants a line break behind a comment in the last line, as Cassandra has it.
func (l *lexer) ended() error {
	if n := len(l.Comments); n > 0 && !l.script && !l.Comments[n-1].Block {
		if at := l.Comments[n-1].At; !strings.ContainsAny(l.Text[at:], "\r\n") {
			return errorAt(l.Text, at, "mismatched character '<EOF>' expecting the end of the line")
		}
	}
	return nil
}

// constant takes a literal of n bytes.
func (l *lexer) constant(kind TermKind, n int, text string) token {
	return token{l.Cut(cql.Constant, n, text), kind}
}

// forms are those of literals, each for what has none of those before it. In durations of ISO 8601 P and the
// designators are in upper case, and no letter follows.
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
}

// values are the words that are literals, some after a minus, with their texts.
var values = map[string]Term{
	"true": {Kind: Boolean, Text: "true"}, "false": {Kind: Boolean, Text: "false"},
	"nan": {Kind: Float, Text: "NaN"}, "-nan": {Kind: Float, Text: "NaN"},
	"infinity": {Kind: Float, Text: "Infinity"}, "-infinity": {Kind: Float, Text: "-Infinity"},
}

// template matches a name with what a tool fills in: ${keyspace}, $KEYSPACE$, or {{ .Keyspace }}.
var template = regexp.MustCompile(`^\w*((\$\{[\w.:-]+\}|\$[A-Za-z]\w*\$|\{\{-?[ \t]*[.$]?[A-Za-z_][\w.]*[ \t]*-?\}\})\w*)+`)

// templated says whether a template may come: the expression costs more. Each character is looked at once.
func (l *lexer) templated(rest string) bool {
	if l.At < l.plain {
		return false
	}
	after := strings.TrimLeft(rest, "_0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz")
	l.plain = l.At + len(rest) - len(after)
	return strings.HasPrefix(after, "$") && !strings.HasPrefix(after, "$$") || strings.HasPrefix(after, "{{")
}

// token cuts off one token, with which the rest of the text begins.
func (l *lexer) token(rest string) token {
	if rest == "" {
		return token{Token: l.Token(rest)}
	}
	c := rest[0]
	if l.script && l.templated(rest) {
		if n := len(template.FindString(rest)); n > 0 {
			return token{Token: l.Cut(cql.Quoted, n, rest[:n])}
		}
	}
	if cql.Digit(c) || c == '-' || c == 'P' || len(rest) > 8 && rest[8] == '-' {
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
	if strings.HasPrefix(rest, "$$") {
		text, _, ok := strings.Cut(rest[2:], "$$")
		if !ok {
			return token{Token: l.Cut(cql.Broken, len(rest), "text without end")}
		}
		return token{l.Cut(cql.String, len(text)+4, text), String}
	}
	if strings.HasPrefix(rest, "/*") {
		return token{Token: l.Cut(cql.Broken, len(rest), "a comment without end")}
	}
	t := token{Token: l.Token(rest)}
	switch t.Kind {
	case cql.String:
		t.Literal = String
	case cql.Integer:
		t.Literal = Integer
	case cql.Word:
		if v, ok := values[t.Text]; ok {
			t.Kind, t.Literal, t.Text = cql.Constant, v.Kind, v.Text
		}
	default:
	}
	return t
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
	// Reference is let.column in a [Transaction], Text is the name of the LET, and Fields has the column; none in let IS
	// NULL.
	Reference

	// These are in selections only.
	Column     // c, c[key], c.field
	ColumnCall // writetime(c), maxwritetime(c), ttl(c)
	All        // the * of count(*), also for count(1) and the like
	Arithmetic // a + b - c, of a [Script] only
)
