package schema

import "slices"

func (p *parser) createTable() {
	p.ifNotExists()
	t := Table{At: p.position(), ID: p.id(), Options: map[string]string{}}
	p.sign("(")
	var part, clustering []string
	seen := make(map[string]bool)
	for p.err == nil {
		if p.takeWords("primary", "key") {
			part, clustering = p.primaryKey()
		} else {
			c := Column{Name: p.ident(), Type: p.typeName(false).String(), Kind: Regular}
			if p.takeWords("static") {
				c.Kind = Static
			}
			if p.takeWords("primary", "key") {
				part = []string{c.Name}
			}
			if seen[c.Name] {
				p.fail("column %s stands twice", c.Name)
			}
			seen[c.Name] = true
			t.Columns = append(t.Columns, c)
		}
		if !p.takeSign(",") {
			break
		}
	}
	p.sign(")")
	p.setKey(&t.Columns, part, clustering)
	if p.takeWords("with") {
		p.tableOptions(t.Columns, t.Options)
	}
	t.splitComment()
	if _, twice := p.tables[t.ID]; twice {
		p.fail("table %s stands twice", t.ID)
	}
	p.tables[t.ID] = len(p.out.Tables)
	p.out.Tables = append(p.out.Tables, t)
}

// primaryKey reads ((a, b), c, d).
func (p *parser) primaryKey() (part, clustering []string) {
	p.sign("(")
	if p.takeSign("(") {
		for p.err == nil {
			part = append(part, p.ident())
			if !p.takeSign(",") {
				break
			}
		}
		p.sign(")")
	} else {
		part = []string{p.ident()}
	}
	for p.err == nil && p.takeSign(",") {
		clustering = append(clustering, p.ident())
	}
	p.sign(")")
	return part, clustering
}

// setKey brings the columns into their order, those of the key first.
func (p *parser) setKey(columns *[]Column, part, clustering []string) {
	if p.err != nil {
		return
	}
	if len(part) == 0 {
		p.fail("%w", errNoKey)
		return
	}
	rest := make(map[string]int, len(*columns))
	for i, c := range *columns {
		rest[c.Name] = i
	}
	var sorted []Column
	for i, name := range slices.Concat(part, clustering) {
		at, ok := rest[name]
		if !ok {
			p.fail("key column %s is none of the columns, or stands twice in the key", name)
			return
		}
		delete(rest, name)
		c := (*columns)[at]
		c.Kind = PartitionKey
		if i >= len(part) {
			c.Kind = Clustering
		}
		sorted = append(sorted, c)
	}
	for _, c := range *columns {
		if _, ok := rest[c.Name]; ok {
			sorted = append(sorted, c)
		}
	}
	*columns = sorted
}

func (p *parser) tableOptions(columns []Column, options map[string]string) {
	for p.err == nil {
		switch {
		case p.takeWords("clustering", "order", "by"):
			p.sign("(")
			for p.err == nil {
				column := p.ident()
				i := slices.IndexFunc(columns, func(c Column) bool { return c.Name == column && c.Kind == Clustering })
				if i < 0 {
					p.fail("CLUSTERING ORDER names %s, which is no clustering column", column)
					return
				}
				columns[i].Desc = p.descending()
				if !p.takeSign(",") {
					break
				}
			}
			p.sign(")")
		case p.isWord("compact", "storage"):
			p.fail("COMPACT STORAGE is not supported")
		default:
			option := p.ident()
			p.sign("=")
			if p.err != nil {
				return
			}
			if _, twice := options[option]; twice {
				p.fail("option %s stands twice", option)
			}
			if literal := p.optionValue(option); option != "id" { // an id is that of one table, not of its description
				options[option] = literal
			}
		}
		if !p.takeWords("and") {
			return
		}
	}
}

// optionValue reads the value of an option and spells it in the one way in which it is compared.
func (p *parser) optionValue(option string) string {
	if p.isSign("{") {
		return mapLiteral(normalOption(option, p.mapValue()))
	}
	t := p.next()
	switch t.kind {
	case text:
		return textLiteral(t.text)
	case number:
		return numberLiteral(t.text)
	case word:
		return t.text
	default:
		p.fail("option %s: unexpected %q", option, t.text)
		return ""
	}
}

// mapValue reads {'a': 'b', 'c': 4}.
func (p *parser) mapValue() map[string]string {
	m := map[string]string{}
	p.sign("{")
	for p.err == nil && !p.isSign("}") {
		key := p.next().text
		p.sign(":")
		m[key] = p.next().text
		if !p.takeSign(",") {
			break
		}
	}
	p.sign("}")
	return m
}
