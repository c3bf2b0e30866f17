package cql

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// Token is a word, a literal or a sign of a text.
type Token struct {
	Kind       TokenKind
	Start, End int32  // in the text
	Text       string // as it is meant: words in lower case, quoted ones without quotes
}

// TokenKind is what kind of token a [Token] is.
type TokenKind uint8

// The kinds of tokens.
const (
	End TokenKind = iota
	Word
	Quoted
	Sign
	String
	Integer
	Constant // another literal, which package ast reads
	Broken   // what is no token, with why as its text
)

// IsName says whether the token is a name.
func (t Token) IsName() bool {
	return t.Kind == Quoted && t.Text != "" || t.Kind == Word && !reserved[t.Text] && !literals[t.Text]
}

// IsSign says whether the token is this sign.
func (t Token) IsSign(s string) bool { return t.Kind == Sign && t.Text == s }

// maxFound bounds what a message shows of the text.
const maxFound = 60

// Found is what is at the token of a text, for a message; what a string holds is nobody's business.
func (t Token) Found(text string, quote func(string) string) string {
	if t.Kind == String {
		return "a string"
	}
	return quote(text[t.Start:min(t.End, t.Start+maxFound)])
}

// Wanted says in plain words that something else is expected at the token of a text.
func (t Token) Wanted(text, want string) string {
	if t.Kind == End {
		return "want " + want + " before the end of the text"
	}
	return "want " + want + ", not " + t.Found(text, strconv.Quote)
}

// Lexer cuts a text into the tokens that types have. Package ast cuts off what only statements have, and comments.
type Lexer struct {
	Text string
	At   int
}

// Rest passes over spaces, and gives what follows.
func (l *Lexer) Rest() string {
	l.At = len(l.Text) - len(strings.TrimLeft(l.Text[l.At:], " \t\n\r"))
	return l.Text[l.At:]
}

// Cut takes a token of n bytes.
func (l *Lexer) Cut(kind TokenKind, n int, text string) Token {
	t := Token{Kind: kind, Start: int32(l.At), End: int32(l.At + n), Text: text}
	l.At += n
	return t
}

// signs are those of which others are the beginning first.
var signs = strings.Fields("( ) , ? = ; : [ ] { } * / % -= += <= >= != .. - + < > .")

// Token cuts off one token, with which the rest of the text begins.
func (l *Lexer) Token(rest string) Token {
	switch {
	case rest == "":
		return l.Cut(End, 0, "")
	case Letter(rest[0]):
		n := 1
		for n < len(rest) && (Letter(rest[n]) || Digit(rest[n]) || rest[n] == '_') {
			n++
		}
		return l.Cut(Word, n, strings.ToLower(rest[:n]))
	case Digit(rest[0]), rest[0] == '-' && len(rest) > 1 && Digit(rest[1]):
		n := 1
		for n < len(rest) && Digit(rest[n]) {
			n++
		}
		return l.Cut(Integer, n, rest[:n])
	case rest[0] == '\'':
		return l.quoted(String, rest, "'")
	case rest[0] == '"':
		return l.quoted(Quoted, rest, `"`)
	}
	for _, s := range signs {
		if strings.HasPrefix(rest, s) {
			return l.Cut(Sign, len(s), s)
		}
	}
	r, n := utf8.DecodeRuneInString(rest)
	return l.Cut(Broken, n, "unexpected "+strconv.QuoteRune(r))
}

// quoted cuts off a string or a name in quotes; a quote in it is doubled.
func (l *Lexer) quoted(kind TokenKind, rest, quote string) Token {
	for n := 1; ; n++ {
		i := strings.Index(rest[n:], quote)
		if i < 0 {
			return l.Cut(Broken, len(rest), quote+" without its end")
		}
		if n += i + 1; !strings.HasPrefix(rest[n:], quote) {
			return l.Cut(kind, n, strings.ReplaceAll(rest[1:n-1], quote+quote, quote))
		}
	}
}

// Digit says whether a byte is a decimal digit.
func Digit(c byte) bool { return '0' <= c && c <= '9' }

// Letter says whether a byte is a letter.
func Letter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }
