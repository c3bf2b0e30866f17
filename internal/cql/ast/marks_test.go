package ast

// Marks gives the names of the marks of a statement, in their order; that of ? is empty.
func Marks(s Statement) []string {
	var m marks
	m.statement(s)
	return m
}

type marks []string

func (m *marks) statement(s Statement) {
	switch s := s.(type) {
	case *Select:
		m.selectors(s.Columns)
		m.relations(s.Where)
		m.term(s.PerLimit)
		m.term(s.Limit)
	case *Insert:
		m.terms(s.Values)
		m.using(s.Using)
	case *Update:
		m.using(s.Using)
		for i := range s.Set {
			m.term(s.Set[i].Target.Key)
			m.term(&s.Set[i].Value)
		}
		m.relations(s.Where)
		m.relations(s.If)
	case *Delete:
		for i := range s.Columns {
			m.term(s.Columns[i].Key)
		}
		m.using(s.Using)
		m.relations(s.Where)
		m.relations(s.If)
	case *Batch:
		m.using(s.Using)
		for _, one := range s.Statements {
			m.statement(one)
		}
	}
}

func (m *marks) selectors(ss []Selector) {
	for i := range ss {
		m.term(&ss[i].Term)
	}
}

func (m *marks) relations(rs []Relation) {
	for i := range rs {
		m.term(rs[i].Key)
		m.terms(rs[i].Values)
	}
}

func (m *marks) using(u Using) {
	m.term(u.Timestamp)
	m.term(u.TTL)
}

func (m *marks) terms(ts []Term) {
	for i := range ts {
		m.term(&ts[i])
	}
}

// term puts a mark at its number; TIMESTAMP and TTL may come in either order.
func (m *marks) term(t *Term) {
	if t == nil {
		return
	}
	if t.Kind != Mark {
		m.terms(t.Elems)
		return
	}
	for len(*m) <= t.Mark {
		*m = append(*m, "")
	}
	(*m)[t.Mark] = t.Text
}
