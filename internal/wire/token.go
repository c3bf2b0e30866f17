package wire

import "strings"

// split cuts CQL into words, marks and signs. Unquoted words are in lower case, but those of strings stay as they are,
// with their quotes.
func split(text string) []string {
	var out []string
	for i := 0; i < len(text); {
		c := text[i]
		start := i
		switch {
		case c == ' ' || c == '\t' || c == '\n' || c == '\r':
			i++
			continue
		case isWord(c):
			for i < len(text) && isWord(text[i]) {
				i++
			}
			out = append(out, strings.ToLower(text[start:i]))
		case c == '"' || c == '\'':
			for i++; i < len(text); i++ { // a doubled quote stands for one; no name or string of a test has any
				if text[i] == c {
					break
				}
			}
			i = min(i+1, len(text))
			out = append(out, text[start:i])
		case (c == '<' || c == '>' || c == '!') && i+1 < len(text) && text[i+1] == '=':
			i += 2
			out = append(out, text[start:i])
		default:
			i++
			out = append(out, text[start:i])
		}
	}
	return out
}

func isWord(c byte) bool {
	return c == '_' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

// unquoted is a name or string without its quotes.
func unquoted(word string) string {
	if len(word) >= 2 && (word[0] == '"' || word[0] == '\'') {
		return word[1 : len(word)-1]
	}
	return word
}

// words is CQL being read.
type words struct{ rest []string }

func (w *words) peek() string {
	if len(w.rest) == 0 {
		return ""
	}
	return w.rest[0]
}

func (w *words) next() string {
	word := w.peek()
	if word != "" {
		w.rest = w.rest[1:]
	}
	return word
}

// accept reads these words if they are the next ones.
func (w *words) accept(expected ...string) bool {
	if len(w.rest) < len(expected) {
		return false
	}
	for i, e := range expected {
		if w.rest[i] != e {
			return false
		}
	}
	w.rest = w.rest[len(expected):]
	return true
}

// table reads the name of a table, in the keyspace given if it names none.
func (w *words) table(keyspace string) (string, string) {
	name := unquoted(w.next())
	if w.accept(".") {
		return name, unquoted(w.next())
	}
	return keyspace, name
}

// until reads up to one of the ends outside of brackets, which is not read.
func (w *words) until(ends ...string) []string {
	depth, n := 0, 0
	for ; n < len(w.rest); n++ {
		word := w.rest[n]
		if depth == 0 && contains(ends, word) {
			break
		}
		switch word {
		case "(", "[", "{", "<":
			depth++
		case ")", "]", "}", ">":
			depth--
		}
	}
	out := w.rest[:n]
	w.rest = w.rest[n:]
	return out
}

func contains(words []string, word string) bool {
	for _, w := range words {
		if w == word {
			return true
		}
	}
	return false
}
