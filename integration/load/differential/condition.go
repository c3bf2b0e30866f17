package differential

import (
	"encoding/binary"
	"maps"
	"strings"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/internal/cassandra/transcript"
)

// conditional is a lightweight transaction.
func (g *round) conditional() transcript.Step {
	if g.IntN(5) > 0 {
		return g.compareAndSet().step()
	}
	out := transcript.Step{Batch: "LOGGED"}
	if g.IntN(3) == 0 {
		out.Batch = "UNLOGGED"
	}
	out.Columns = names(g.t.columns())
	whole := g.domains
	g.domains = maps.Clone(whole)
	for _, c := range g.t.partition { // one partition, as a rule
		if g.IntN(12) > 0 {
			g.domains[c.name] = []datum{g.keyOf(c)}
		}
	}
	g.single = true
	out.Statements = append(out.Statements, g.compareAndSet().statement())
	for range g.IntN(3) {
		next := g.compareAndSet
		if g.IntN(2) == 0 {
			next = func() *text { return g.plainly() }
		}
		out.Statements = append(out.Statements, next().statement())
	}
	g.domains, g.single = whole, false
	if g.IntN(3) == 0 {
		return spelled(out)
	}
	return out
}

// life is a lifetime, or none. A lightweight transaction has no timestamp of its own.
func (g *round) life() timing {
	g.written++
	u := timing{ttl: -1}
	if g.IntN(8) == 0 {
		u.ttl = 100_000 + 1000*g.written
	}
	return u
}

// plainly is a statement without condition, alongside others that have one.
func (g *round) plainly() *text {
	switch g.IntN(3) {
	case 0:
		return g.insert(g.life())
	case 1:
		return g.update(g.life())
	}
	return g.deleteColumns(g.life())
}

// compareAndSet is a statement with a condition.
func (g *round) compareAndSet() *text {
	switch g.pick(30, 50, 20) {
	case 0:
		u := g.life()
		x := g.insert(timing{ttl: -1})
		x.add(" IF NOT EXISTS")
		return x.using(u)
	case 1:
		x := g.update(g.life())
		return x.condition(x.String())
	}
	if g.IntN(3) == 0 {
		x := g.deleteRows(g.life())
		return x.condition(x.String())
	}
	x := g.deleteColumns(g.life())
	return x.condition(x.String())
}

// condition adds an IF.
func (x *text) condition(statement string) *text {
	x.add(" IF ")
	if x.IntN(4) == 0 {
		return x.add("EXISTS")
	}
	data := x.t.data()
	_, where, _ := strings.Cut(statement, " WHERE ")
	if len(x.t.clustering) > 0 && !strings.Contains(where, x.t.clustering[0].name+" ") && x.IntN(10) > 0 {
		data = x.t.static
	}
	some := x.subset(data)
	return each(x, some[:min(2, len(some))], " AND ", x.compare)
}

// compare adds a condition of one column.
func (x *text) compare(c column) {
	name, of := c.name, c.typ
	if c.typ.Kind() == gocql.TypeMap && x.IntN(2) == 0 {
		x.add("%s[", name).put(of.elem(0).value(x.Rand)).add("] ")
		of = of.elem(1)
	} else {
		x.add("%s ", name)
	}
	value := func() datum {
		if x.IntN(4) == 0 {
			return null
		}
		return of.value(x.Rand)
	}
	switch x.pick(50, 20, 15, 15) {
	case 0:
		x.add("= ").put(value())
	case 1:
		x.add("!= ").put(value())
	case 2:
		than := of.value(x.Rand)
		for of.MultiCell() && binary.BigEndian.Uint32(than.bytes) == 0 { // refused, unless another condition is looked at first and fails
			than = of.value(x.Rand)
		}
		x.add("%s ", []string{"<", "<=", ">", ">="}[x.IntN(4)]).put(than)
	case 3:
		x.add("IN (").list([]datum{value(), value()}).add(")")
	}
}
