package schema

import (
	"regexp"
	"slices"
)

// names takes down columns that the query names.
func (q *Query) names(columns ...string) {
	for _, c := range columns {
		if !slices.Contains(q.Columns, c) {
			q.Columns = append(q.Columns, c)
		}
	}
}

// takeModifier goes on behind JSON or DISTINCT, unless it is the name of a column.
func (p *parser) takeModifier(word string) {
	if p.isWord(word) && !p.isWord(word, "from") && !p.followedBy(",") && !p.followedBy(".") && !p.followedBy("[") {
		p.at++
	}
}

// followedBy says whether the token after the next one is this sign.
func (p *parser) followedBy(s string) bool { return p.tokens[min(p.at+1, len(p.tokens)-1)].is(s) }

// columnsTo goes to the first of the words that stands outside of brackets, and takes down the columns before it.
func (p *parser) columnsTo(q *Query, words ...string) {
	from := p.at
	p.skipTo(words...)
	q.names(columnsIn(p.tokens[from:p.at])...)
}

// literalWord is a literal that looks like a name: a constant, or a duration as ISO 8601 has it.
var literalWord = regexp.MustCompile(`^(null|true|false|nan|infinity|p([0-9]+[ymwd])+(t([0-9]+[hms])+)?|pt([0-9]+[hms])+|p[0-9]{4})$`)

// columnsIn gives the columns that selectors or assignments name. Other names in these are of functions, fields, types and aliases, or
// stand in literals.
func columnsIn(tokens []token) []string {
	var out []string
	at := func(i int) token {
		if i < 0 || i >= len(tokens) {
			return token{}
		}
		return tokens[i]
	}
	for i := 0; i < len(tokens); i++ {
		t, next := tokens[i], at(i+1)
		switch {
		case t.is("["), t.is("{"), t.is("(") && isType(tokens, i):
			i = closingOf(tokens, i)
		case !t.named(), next.is("("), at(i - 1).is("."), next.is(".") && at(i+3).is("("), t.kind == word && literalWord.MatchString(t.text):
		case t.kind == word && t.text == "as" && next.named():
			i++
		default:
			out = append(out, t.text)
		}
	}
	return out
}

// isType says whether the bracket at i begins the type of what follows it, as in (int) ?.
func isType(tokens []token, i int) bool {
	to := closingOf(tokens, i)
	if i > 0 && tokens[i-1].named() || to+1 >= len(tokens) {
		return false
	}
	for _, t := range tokens[i+1 : to] {
		if !t.named() && !t.is("<") && !t.is(">") && !t.is(",") {
			return false
		}
	}
	t := tokens[to+1]
	return t.opens() || t.kind != sign && (t.kind != word || t.text != "as")
}

// closingOf is where the bracket that is opened at i is closed.
func closingOf(tokens []token, i int) int {
	depth := 0
	for ; i < len(tokens); i++ {
		switch {
		case tokens[i].opens():
			depth++
		case tokens[i].closes():
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return len(tokens) - 1
}
