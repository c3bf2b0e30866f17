package schema

import (
	"slices"
	"strconv"
	"strings"
)

// readBatch reads BEGIN ... APPLY BATCH.
func (p *parser) readBatch() {
	p.words("begin")
	logged := !p.takeWords("unlogged") && !p.takeWords("counter")
	p.takeWords("logged")
	p.words("batch")
	p.batch++
	batch := p.batch
	using := &Query{}
	if p.isWord("using") {
		p.using(using)
	}
	first := len(p.out.Queries)
	for p.err == nil && !p.takeWords("apply", "batch") {
		if p.takeSign(";") {
			continue
		}
		if t := p.peek(); t.kind == note {
			p.at++
			p.note(t)
			continue
		}
		p.query(batch, logged)
	}
	for i := first; i < len(p.out.Queries); i++ {
		p.out.Queries[i].Timestamped = p.out.Queries[i].Timestamped || using.Timestamped
	}
	p.takeSign(";")
}

// query reads one statement up to its semicolon.
func (p *parser) query(batch int, logged bool) {
	q := Query{At: p.position(), Batch: batch, Logged: logged, Verb: Verb(strings.ToUpper(p.peek().text))}
	from := p.peek().from
	switch {
	case p.takeWords("select"):
		p.takeModifier("json")
		p.takeModifier("distinct")
		p.columnsTo(&q, "from")
		p.words("from")
		q.Table = p.id()
	case p.takeWords("insert"):
		p.words("into")
		q.Table = p.id()
		if p.takeSign("(") {
			q.names(p.identList()...)
		}
		p.skipTo("values", "json")
		p.next()
	case p.takeWords("update"):
		q.Table = p.id()
		if p.isWord("using") {
			p.using(&q)
		}
		p.words("set")
		p.columnsTo(&q, "where")
	case p.takeWords("delete"):
		p.columnsTo(&q, "from")
		p.words("from")
		q.Table = p.id()
	default:
		p.fail("want a statement, not %q", p.peek().text)
		return
	}
	for p.err == nil && !p.ends() {
		switch {
		case p.takeWords("where"):
			p.where(&q)
		case p.takeWords("order", "by"):
			p.orderBy(&q)
		case p.takeWords("group", "by"):
			p.groupBy(&q)
		case p.takeWords("allow", "filtering"):
			q.AllowFiltering = true
		case p.isWord("using"):
			p.using(&q)
		case p.takeWords("if"):
			q.Conditional = true
			if !p.takeWords("exists") && !p.takeWords("not", "exists") {
				p.relations(&q)
			}
		default:
			p.next()
		}
	}
	if p.err == nil {
		q.Text = oneLine(withoutComments(p.source[from:p.peek().from]))
	}
	p.out.Queries = append(p.out.Queries, q)
}

func withoutComments(s string) string {
	lines := strings.Split(s, "\n")
	for i, l := range lines {
		if at := strings.Index(l, "--"); at >= 0 && !strings.ContainsAny(l[:at], "'") {
			lines[i] = l[:at]
		}
	}
	return strings.Join(lines, "\n")
}

// ends says whether the statement is over. In a batch the semicolon may be missing.
func (p *parser) ends() bool {
	return p.peek().kind == end || p.isSign(";") || p.isWord("apply", "batch")
}

// skipTo goes to the first of the words that stands outside of brackets.
func (p *parser) skipTo(words ...string) {
	for depth := 0; p.err == nil; p.at++ {
		t := p.peek()
		switch {
		case p.ends():
			p.fail("want %s before the end of the statement", strings.ToUpper(strings.Join(words, " or ")))
		case t.opens():
			depth++
		case t.closes():
			depth--
		case depth == 0 && t.kind == word && slices.Contains(words, t.text):
			return
		}
	}
}

func (p *parser) using(q *Query) {
	p.words("using")
	for p.err == nil {
		switch {
		case p.takeWords("timestamp"):
			p.next()
			q.Timestamped = true
		case p.takeWords("ttl"):
			q.TTL = -1
			if n, err := strconv.ParseInt(p.next().text, 10, 64); err == nil {
				q.TTL = n
			}
		default:
			p.fail("unexpected %q after USING", p.peek().text)
		}
		if !p.takeWords("and") {
			return
		}
	}
}

func (p *parser) where(q *Query) { q.Where = p.relations(q) }

// relations reads the restrictions of a WHERE, or the conditions of an IF.
func (p *parser) relations(q *Query) []Relation {
	var out []Relation
	for p.err == nil {
		r := p.relation()
		q.names(r.Columns...)
		out = append(out, r)
		if !p.takeWords("and") {
			break
		}
	}
	return out
}

func (p *parser) relation() Relation {
	var r Relation
	switch {
	case p.isWord("expr") && p.followedBy("("): // of an index of one's own
		p.at += 2
		p.closing(")")
		return Relation{Op: "EXPR"}
	case p.isWord("token"):
		p.at++
		p.sign("(")
		r.Token, r.Columns = true, p.identList()
	case p.takeSign("("):
		r.Columns = p.identList()
	default:
		r.Columns = []string{p.ident()}
		if p.takeSign("[") { // m['key'] = ?
			p.term()
			p.sign("]")
			r.Op = "ENTRY"
		}
		for p.takeSign(".") { // a field, in an IF
			p.ident()
		}
	}
	switch {
	case p.takeWords("in"):
		r.Op = "IN"
		r.Values = p.inValues()
		return r
	case p.takeWords("contains", "key"), p.takeWords("contains"):
		r.Op = "CONTAINS"
	case p.takeWords("like"):
		r.Op = "LIKE"
	case p.takeWords("is", "not", "null"):
		r.Op = "IS NOT NULL"
		return r
	case p.takeWords("between"):
		r.Op = "BETWEEN"
		p.term()
		p.words("and")
	default:
		op := p.next()
		if op.kind != sign {
			p.fail("want a comparison, not %q", op.text)
		}
		if r.Op == "" {
			r.Op = op.text
		}
	}
	p.term()
	return r
}

// groupBy reads columns, and functions of them.
func (p *parser) groupBy(q *Query) {
	from := p.at
	for p.err == nil && !p.ends() && !p.isWord("order") && !p.isWord("per") && !p.isWord("limit") && !p.isWord("allow") {
		p.next()
	}
	q.names(columnsIn(p.tokens[from:p.at])...)
}

func (p *parser) orderBy(q *Query) {
	for p.err == nil {
		q.Order = append(q.Order, Order{p.ident(), p.descending()})
		q.names(q.Order[len(q.Order)-1].Column)
		if !p.takeSign(",") {
			return
		}
	}
}

// descending reads ASC, DESC or nothing.
func (p *parser) descending() bool {
	if p.takeWords("desc") {
		return true
	}
	p.takeWords("asc")
	return false
}

// identList reads the rest of (a, b).
func (p *parser) identList() []string {
	var out []string
	for p.err == nil {
		out = append(out, p.ident())
		if !p.takeSign(",") {
			break
		}
	}
	p.sign(")")
	return out
}

// inValues counts what stands in an IN, -1 for a marker.
func (p *parser) inValues() int {
	if p.peek().kind == marker {
		p.at++
		return -1
	}
	p.sign("(")
	n := 0
	for p.err == nil && !p.isSign(")") {
		p.term()
		n++
		if !p.takeSign(",") {
			break
		}
	}
	p.sign(")")
	return n
}

// term reads a value: a literal, a marker, a call, or something in brackets; or several with signs of arithmetic between them.
func (p *parser) term() {
	for p.factor(); p.err == nil && (p.isSign("+") || p.isSign("-") || p.isSign("*") || p.isSign("/")); p.factor() {
		p.at++
	}
}

func (p *parser) factor() {
	p.takeSign("-")
	t := p.next()
	if t.kind == sign {
		closing := map[string]string{"(": ")", "[": "]", "{": "}"}[t.text]
		if closing == "" {
			p.fail("want a value, not %q", t.text)
			return
		}
		p.closing(closing)
	} else if (t.kind == word || t.kind == name) && p.takeSign("(") {
		p.closing(")")
	}
}

// closing goes behind the bracket that ends what was begun.
func (p *parser) closing(bracket string) {
	for depth := 0; p.err == nil; {
		t := p.next()
		switch {
		case depth == 0 && t.kind == sign && t.text == bracket:
			return
		case t.opens():
			depth++
		case t.closes():
			depth--
		}
	}
}
