package differential

import (
	"encoding/binary"
	"maps"
	"slices"
	"strings"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/internal/cassandra/transcript"
	"github.com/denorm-go/denorm/internal/cqltype"
)

// timed is a statement that writes, with its own timestamp or TTL, or that of the protocol.
type timing struct {
	timestamp int64 // of the statement, 0 without
	protocol  int64
	ttl       int // -1 without
}

// timing chooses timestamps that collide, and lifetimes that do not: of two that end in the same second or not,
// depending on how fast the clusters are, another one would win.
func (g *round) timing() timing {
	g.written++
	out := timing{ttl: -1}
	if g.timed {
		at := 1 + int64(g.IntN(8))
		if g.t.expires { // a lifetime that all statements have in common must not meet itself
			at = 1 + int64(g.written*7919%1009)
		}
		if g.IntN(2) == 0 {
			out.timestamp = at
		} else {
			out.protocol = at
		}
		if g.IntN(30) == 0 {
			out.timestamp = -at
		}
	}
	switch {
	case g.t.counter:
	case g.t.brief:
		out.ttl = []int{-1, 1, 2, 3}[g.IntN(4)]
		if out.ttl > 0 && out.timestamp+out.protocol != 0 { // the same for those that may tie
			out.ttl = -1
			if at := out.timestamp + out.protocol; at > 0 && at%2 == 0 {
				out.ttl = 1 + int(at)%3
			}
		}
	case g.IntN(6) == 0:
		out.ttl = 100_000 + 1000*g.written
		if g.IntN(8) == 0 {
			out.ttl = 0
		}
	}
	return out
}

// using adds USING, if there is anything.
func (x *text) using(u timing) *text {
	if u.timestamp == 0 && u.ttl < 0 {
		return x
	}
	x.add(" USING ")
	if u.timestamp != 0 {
		x.add("TIMESTAMP ").put(long(u.timestamp))
	}
	if u.timestamp != 0 && u.ttl >= 0 {
		x.add(" AND ")
	}
	if u.ttl >= 0 {
		x.add("TTL ").put(number(u.ttl))
	}
	return x
}

// write is a step that writes.
func (g *round) write() transcript.Step {
	switch {
	case g.IntN(12) == 0:
		return g.refused()
	case g.t.lwt:
		return g.conditional()
	case g.IntN(9) == 0:
		return g.batch()
	}
	statement, u := g.mutation()
	return transcript.Step{Statements: []transcript.Statement{statement}, Timestamp: u.protocol}
}

// mutation is a statement that writes, without conditions.
func (g *round) mutation() (transcript.Statement, timing) {
	u := g.timing()
	switch {
	case g.t.counter && g.IntN(14) == 0: // forever: what is added later is not seen
		return g.deleteColumns(u).statement(), u
	case g.t.counter:
		return g.count().statement(), u
	}
	if len(g.t.data()) == 0 {
		if g.IntN(3) > 0 {
			return g.insert(u).statement(), u
		}
		return g.deleteRows(u).statement(), u
	}
	switch g.pick(35, 35, 12, 18) {
	case 0:
		return g.insert(u).statement(), u
	case 1:
		return g.update(u).statement(), u
	case 2:
		return g.deleteColumns(u).statement(), u
	}
	return g.deleteRows(u).statement(), u
}

// insert is an INSERT, at times of static columns only.
func (g *round) insert(u timing) *text {
	columns := append([]column{}, g.t.key()...)
	data := g.t.data()
	if len(g.t.static) > 0 && g.IntN(6) == 0 {
		columns, data = g.t.partition, g.t.static
	}
	if g.IntN(8) > 0 {
		columns = append(columns[:len(columns):len(columns)], g.subset(data)...)
	}
	if len(columns) == len(g.t.partition) && len(g.t.clustering) > 0 { // it must have one
		columns = append(columns[:len(columns):len(columns)], data[0])
	}
	x := g.text("INSERT INTO %s (%s) VALUES (", g.t.name, strings.Join(names(columns), ", "))
	return each(x, columns, ", ", func(c column) {
		if _, isKey := g.domains[c.name]; isKey {
			x.put(g.keyOf(c))
		} else {
			x.put(g.content(c.typ))
		}
	}).add(")").using(u)
}

// update is an UPDATE.
func (g *round) update(u timing) *text {
	x := g.text("UPDATE %s", g.t.name).using(u).add(" SET ")
	chosen := g.chosen()
	return each(x, chosen, ", ", x.assign).add(" WHERE ").row(g.partly(chosen))
}

// chosen are some of the columns that are not of the key, at times static ones only.
func (g *round) chosen() []column {
	data := g.t.data()
	if len(g.t.static) > 0 && g.IntN(5) == 0 {
		data = g.t.static
	}
	return g.subset(data)
}

// partly says whether a statement about those columns has no clustering columns: all are static. At times it is wrong.
func (g *round) partly(columns []column) bool {
	if slices.ContainsFunc(columns, func(c column) bool { return !slices.Contains(g.t.static, c) }) {
		return g.IntN(60) == 0
	}
	return g.IntN(15) > 0
}

// assign adds an assignment.
func (x *text) assign(c column) {
	whole := func() { x.add("%s = ", c.name).put(x.content(c.typ)) }
	if !c.typ.MultiCell() || x.IntN(3) == 0 {
		whole()
		return
	}
	switch c.typ.Kind() {
	case gocql.TypeUDT:
		i := x.IntN(len(c.typ.Elems()))
		x.add("%s.%s = ", c.name, c.typ.field(i)).put(x.content(c.typ.elem(i)))
	case gocql.TypeSet:
		x.add("%s = %[1]s %s ", c.name, []string{"+", "-"}[x.IntN(2)]).put(x.content(c.typ))
	case gocql.TypeList:
		if x.IntN(2) == 0 {
			x.add("%s = ", c.name).put(c.typ.value(x.Rand)).add(" + %s", c.name)
			return
		}
		x.add("%s = %[1]s + ", c.name).put(x.content(c.typ))
	case gocql.TypeMap:
		switch x.IntN(3) {
		case 0:
			x.add("%s[", c.name).put(c.typ.elem(0).value(x.Rand)).add("] = ").put(x.content(c.typ.elem(1)))
		case 1:
			x.add("%s = %[1]s + ", c.name).put(x.content(c.typ))
		default:
			x.add("%s = %[1]s - ", c.name).put(typ{cqltype.SetOf(c.typ.Elems()[0])}.value(x.Rand))
		}
	}
}

// equal adds a relation of = or IN.
func (x *text) equal(c column, in bool) {
	if !in {
		x.add("%s = ", c.name).put(x.keyOf(c))
		return
	}
	some := x.some(c)
	if !x.once && x.IntN(5) == 0 {
		some = append(some, some[0])
	}
	if x.IntN(3) > 0 {
		x.add("%s IN (", c.name).list(some).add(")")
		return
	}
	var parts []byte // IN ?
	for _, d := range some {
		parts = cqltype.AppendValue(parts, d.bytes)
	}
	before := x.bound
	x.bound = 100
	x.add("%s IN ", c.name).put(datum{bytes: append(number(len(some)).bytes, parts...)})
	x.bound = before
}

// row adds the whole key, or that of the partition only.
func (x *text) row(partition bool) *text {
	columns := x.t.key()
	if partition {
		columns = x.t.partition
	}
	return each(x, columns, " AND ", func(c column) {
		x.equal(c, x.IntN(14) == 0 && (!x.single || !slices.Contains(x.t.partition, c)))
	})
}

// deleteColumns is a DELETE of columns and elements.
func (g *round) deleteColumns(u timing) *text {
	x := g.text("DELETE ")
	chosen := g.chosen()
	each(x, chosen, ", ", func(c column) {
		x.add("%s", c.name)
		switch {
		case !c.typ.MultiCell() || g.IntN(2) == 0:
		case c.typ.Kind() == gocql.TypeUDT:
			x.add(".%s", c.typ.field(g.IntN(len(c.typ.Elems()))))
		case c.typ.Kind() != gocql.TypeList:
			x.add("[").put(c.typ.elem(0).value(g.Rand)).add("]")
		}
	})
	u.ttl = -1
	return x.add(" FROM %s", g.t.name).using(u).add(" WHERE ").row(g.partly(chosen))
}

// deleteRows is a DELETE of a row, a prefix, a range or a partition.
func (g *round) deleteRows(u timing) *text {
	u.ttl = -1
	x := g.text("DELETE FROM %s", g.t.name).using(u).add(" WHERE ")
	each(x, g.t.partition, " AND ", func(c column) { x.equal(c, g.IntN(14) == 0 && !g.single) })
	n := len(g.t.clustering)
	if n == 0 {
		return x
	}
	prefix := []int{n, g.IntN(n), g.IntN(n), 0}[g.pick(45, 20, 30, 5)]
	return x.clustered(prefix, prefix < n && g.IntN(3) > 0, 10)
}

// clustered adds some of the clustering columns, with IN for one in so many, and bounds of those that follow.
func (x *text) clustered(prefix int, bounded bool, in int) *text {
	x.once = bounded && prefix+1 < len(x.t.clustering)
	for _, c := range x.t.clustering[:prefix] {
		x.add(" AND ").equal(c, x.IntN(in) == 0)
	}
	if bounded {
		x.add(" AND ").bounds(x.t.clustering[prefix:])
	}
	return x
}

// bounds adds a range of clustering columns, with one or two bounds, of one column or several.
func (x *text) bounds(columns []column) {
	width := 1
	for width < len(columns) && columns[width].desc == columns[0].desc {
		width++
	}
	n := 0
	bound := func(operator string) {
		// Of different length they lose rows: d >= 1 AND (d, e) <= (1, true) does not find d = 1 AND e = true.
		if n == 0 || !columns[0].desc {
			n = 1 + x.IntN(width)
		}
		if n == 1 && x.IntN(4) > 0 {
			x.add("%s %s ", columns[0].name, operator).put(x.keyOf(columns[0]))
			return
		}
		var values []datum
		for _, c := range columns[:n] {
			values = append(values, x.keyOf(c))
		}
		x.add("(%s) %s (", strings.Join(names(columns[:n]), ", "), operator).list(values).add(")")
	}
	which := x.IntN(3)
	if which != 1 {
		bound([]string{">", ">="}[x.IntN(2)])
	}
	if which == 0 {
		x.add(" AND ")
	}
	if which != 2 {
		bound([]string{"<", "<="}[x.IntN(2)])
	}
}

// count is an UPDATE of counters.
func (g *round) count() *text {
	x := g.text("UPDATE %s SET ", g.t.name)
	chosen := g.chosen()
	return each(x, chosen, ", ", func(c column) {
		by := long(int64(g.IntN(7)) - 3)
		if g.IntN(20) == 0 {
			by = unset
		}
		x.add([]string{"%s = %[1]s + ", "%s = %[1]s - ", "%s += ", "%s -= "}[g.IntN(4)], c.name).put(by)
	}).add(" WHERE ").row(g.partly(chosen))
}

// batch is a batch: one of the protocol, or in text.
func (g *round) batch() transcript.Step {
	kind := []string{"LOGGED", "UNLOGGED"}[g.IntN(2)]
	if g.t.counter {
		kind = "COUNTER"
	}
	out := transcript.Step{Batch: kind}
	for range 1 + g.IntN(4) {
		statement, u := g.mutation()
		out.Statements = append(out.Statements, statement)
		out.Timestamp = max(out.Timestamp, u.protocol)
	}
	if g.timed && out.Timestamp == 0 {
		out.Timestamp = 1 + int64(g.IntN(8))
	}
	if g.IntN(3) == 0 {
		return spelled(out)
	}
	return out
}

// spelled is a batch as a text.
func spelled(batch transcript.Step) transcript.Step {
	whole := transcript.Statement{Text: map[string]string{
		"LOGGED": "BEGIN BATCH ", "UNLOGGED": "BEGIN UNLOGGED BATCH ", "COUNTER": "BEGIN COUNTER BATCH ",
	}[batch.Batch]}
	for _, s := range batch.Statements {
		whole.Text += s.Text + "; "
		whole.Values = append(whole.Values, s.Values...)
	}
	whole.Text += "APPLY BATCH"
	return transcript.Step{Statements: []transcript.Statement{whole}, Timestamp: batch.Timestamp}
}

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
