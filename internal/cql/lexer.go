package cql

import (
	"math"
	"strconv"
	"strings"
)

// token is a word, a literal or a sign of the text.
type token struct {
	kind       tokenKind
	start, end int32  // in the text
	text       string // as it is meant: words in lower case, quoted ones without quotes; literals as in [Term]
}

type tokenKind uint8

const (
	end tokenKind = iota
	word
	quoted
	sign
	literalString
	literalInteger
	literalFloat
	literalBoolean
	literalUUID
	literalBlob
	literalDuration
)

// lexer cuts a text into tokens.
type lexer struct {
	text     string
	at       int
	script   bool      // as that of a parser
	comments []Comment // of a script
}

// scan gives the tokens of a text; the last is its end. They are put into room as long as it suffices.
func (l *lexer) scan(room []token) ([]token, error) {
	if len(l.text) > math.MaxInt32 {
		return room, &InvalidError{Text: "the statement is too long"}
	}
	for {
		t, err := l.next()
		if err != nil {
			return room, err
		}
		room = append(room, t)
		if t.kind == end {
			return room, nil
		}
	}
}

// cut takes a token, which ends at an offset.
func (l *lexer) cut(kind tokenKind, to int, text string) (token, error) {
	t := token{kind: kind, start: int32(l.at), end: int32(to), text: text}
	l.at = to
	return t, nil
}

// after is the byte after the one at hand, 0 after the end.
func (l *lexer) after() byte {
	if l.at+1 < len(l.text) {
		return l.text[l.at+1]
	}
	return 0
}

// fail fails with Cassandra's message, or that of a script.
func (l *lexer) fail(message, plain string) (token, error) {
	if l.script {
		message = plain
	}
	return token{}, errorAt(l.text, l.at, message)
}

// comment passes over a comment of n bytes, which begins and ends with so many of its marks.
func (l *lexer) comment(n, begin, end int) {
	if l.script {
		l.comments = append(l.comments, Comment{Text: l.text[l.at+begin : l.at+n-end], Block: end > 0, At: l.at})
	}
	l.at += n
}

// next passes over spaces and comments, and cuts off one token.
func (l *lexer) next() (token, error) {
	for l.at < len(l.text) {
		c, after := l.text[l.at], l.after()
		switch {
		case c == ' ' || c == '\t' || c == '\n' || c == '\r':
			l.at++
		case c == '-' && after == '-' || c == '/' && after == '/':
			n := strings.IndexAny(l.text[l.at:], "\r\n")
			if n < 0 {
				if !l.script { // as Cassandra has it
					return l.fail("mismatched character '<EOF>' expecting the end of the line", "")
				}
				n = len(l.text) - l.at
			}
			l.comment(n, 2, 0)
		case c == '/' && after == '*':
			n := strings.Index(l.text[l.at+2:], "*/")
			if n < 0 {
				return l.fail("mismatched character '<EOF>' expecting '*'", "a comment without end")
			}
			l.comment(n+4, 2, 2)
		default:
			return l.token(c)
		}
	}
	return l.cut(end, l.at, "")
}

// token cuts off one token, which begins with c.
func (l *lexer) token(c byte) (token, error) {
	if hexadecimal(c) {
		if n := uuidLength(l.text[l.at:]); n > 0 {
			return l.cut(literalUUID, l.at+n, l.text[l.at:l.at+n])
		}
	}
	switch {
	case letter(c):
		return l.word()
	case digit(c) || c == '-' && digit(l.after()):
		return l.number()
	case c == '\'' || c == '"':
		return l.quoted(c)
	case c == '$' && l.after() == '$':
		n := strings.Index(l.text[l.at+2:], "$$")
		if n < 0 {
			return l.fail("mismatched character '<EOF>' expecting '$'", "text without end")
		}
		return l.cut(literalString, l.at+n+4, l.text[l.at+2:l.at+2+n])
	}
	return l.sign(c)
}

func (l *lexer) word() (token, error) {
	if n := isoLength(l.text[l.at:]); n > 0 {
		return l.cut(literalDuration, l.at+n, l.text[l.at:l.at+n])
	}
	n := wordLength(l.text[l.at:])
	switch text := lower(l.text[l.at : l.at+n]); text {
	case "true", "false":
		return l.cut(literalBoolean, l.at+n, text)
	case "nan":
		return l.cut(literalFloat, l.at+n, "NaN")
	case "infinity":
		return l.cut(literalFloat, l.at+n, "Infinity")
	default:
		return l.cut(word, l.at+n, text)
	}
}

func (l *lexer) number() (token, error) {
	rest := l.text[l.at:]
	if n := blobLength(rest); n > 0 {
		return l.cut(literalBlob, l.at+n, rest[2:n])
	}
	if n := durationLength(rest); n > 0 {
		return l.cut(literalDuration, l.at+n, rest[:n])
	}
	n, whole := numberLength(rest)
	if whole {
		return l.cut(literalInteger, l.at+n, rest[:n])
	}
	return l.cut(literalFloat, l.at+n, rest[:n])
}

// quoted cuts off a string or a name in quotes; a quote in it is doubled.
func (l *lexer) quoted(quote byte) (token, error) {
	doubled := false
	for i := l.at + 1; i < len(l.text); i++ {
		if l.text[i] != quote {
			continue
		}
		if i+1 < len(l.text) && l.text[i+1] == quote {
			doubled = true
			i++
			continue
		}
		text := l.text[l.at+1 : i]
		if doubled {
			text = strings.ReplaceAll(text, string([]byte{quote, quote}), string(quote))
		}
		kind := literalString
		if quote == '"' {
			kind = quoted
		}
		return l.cut(kind, i+1, text)
	}
	q := rune(quote)
	return l.fail("mismatched character '<EOF>' expecting "+strconv.QuoteRune(q), string(q)+" without its end")
}

// minus are the words that stand for a number after a minus.
var minus = map[string]string{"nan": "NaN", "infinity": "-Infinity"}

func (l *lexer) sign(c byte) (token, error) {
	n := 1
	switch c {
	case '-':
		rest := l.text[l.at+1:]
		if iso := isoLength(rest); iso > 0 {
			return l.cut(literalDuration, l.at+1+iso, l.text[l.at:l.at+1+iso])
		}
		length := wordLength(rest)
		if text, ok := minus[strings.ToLower(rest[:length])]; ok {
			return l.cut(literalFloat, l.at+1+length, text)
		}
		if l.after() == '=' {
			n = 2
		}
	case '+', '<', '>':
		if l.after() == '=' {
			n = 2
		}
	case '!':
		if l.after() != '=' {
			return l.unexpected()
		}
		n = 2
	case '.':
		if l.after() == '.' {
			n = 2
		}
	case '(', ')', '[', ']', '{', '}', ',', ';', ':', '?', '=', '*', '/', '%':
	default:
		return l.unexpected()
	}
	return l.cut(sign, l.at+n, l.text[l.at:l.at+n])
}

// unexpected fails at a character that begins no token.
func (l *lexer) unexpected() (token, error) {
	c := strconv.QuoteRune([]rune(l.text[l.at:min(l.at+4, len(l.text))])[0])
	return l.fail("no viable alternative at character "+c, "unexpected "+c)
}
