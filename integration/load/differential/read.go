package differential

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/internal/cassandra/transcript"
)

// everything are all columns, with WRITETIME and TTL of those that have one.
func (g *round) everything() string {
	out := names(g.t.key())
	for _, c := range g.t.data() {
		out = append(out, c.name)
		switch {
		case g.t.counter:
		case !c.typ.MultiCell():
			out = append(out, fmt.Sprintf("writetime(%s), ttl(%[1]s)", c.name))
		case c.typ.Kind() == gocql.TypeList && !g.old:
			out = append(out, fmt.Sprintf("maxwritetime(%s), ttl(%[1]s)", c.name))
		}
	}
	return strings.Join(out, ", ")
}

// whole reads a partition as a whole.
func (g *round) whole() transcript.Step {
	x := g.text("SELECT %s FROM %s WHERE ", g.everything(), g.t.name)
	return each(x, g.t.partition, " AND ", func(c column) { x.equal(c, false) }).step()
}

// all reads all partitions of the round.
func (g *round) all() transcript.Step {
	x := g.text("SELECT %s FROM %s WHERE ", g.everything(), g.t.name)
	return each(x, g.t.partition, " AND ", func(c column) { x.add("%s IN (", c.name).list(g.domains[c.name]).add(")") }).step()
}

// selection is what a SELECT gives.
func (g *round) selection() string {
	switch {
	case len(g.t.data()) == 0:
		return "*"
	case g.t.brief: // what others find depends on the form of the read: see package query
		return []string{"*", g.everything()}[g.IntN(2)]
	}
	switch g.pick(25, 20, 20, 12, 8, 8) {
	case 0:
		return "*"
	case 1:
		return g.everything()
	case 2:
		var out []string
		for _, c := range g.subset(g.t.columns()) {
			out = append(out, c.name)
			if g.IntN(8) == 0 {
				out[len(out)-1] += " AS x" + c.name
			}
		}
		return strings.Join(out, ", ")
	case 3:
		return "count(*)"
	case 4:
		return "DISTINCT " + strings.Join(names(slices.Concat(g.t.partition, g.t.static)), ", ")
	}
	return fmt.Sprintf("token(%s), %s", strings.Join(names(g.t.partition), ", "), g.t.data()[0].name)
}

// read is a SELECT of any kind.
func (g *round) read() transcript.Step {
	what := g.selection()
	distinct := strings.HasPrefix(what, "DISTINCT")
	x := g.text("SELECT %s FROM %s WHERE ", what, g.t.name)
	many := g.IntN(5) == 0
	each(x, g.t.partition, " AND ", func(c column) { x.equal(c, many && g.IntN(3) > 0) })
	filtering := false
	if !distinct || g.IntN(6) == 0 {
		filtering = x.narrow()
	}
	if g.IntN(4) == 0 && len(g.t.clustering) > 0 && (!distinct || g.IntN(9) == 0) {
		x.order()
	}
	if g.IntN(6) == 0 && (!distinct || g.IntN(9) == 0) {
		x.add(" PER PARTITION LIMIT ").put(number(1 + g.IntN(2)))
	}
	if g.IntN(5) == 0 {
		x.add(" LIMIT ").put(number(1 + g.IntN(4)))
	}
	if filtering && g.IntN(10) > 0 {
		x.add(" ALLOW FILTERING")
	}
	out := x.step()
	if g.IntN(4) == 0 {
		out.PageSize = 1 + g.IntN(3)
	}
	return out
}

// narrow adds restrictions of rows, and says whether they need ALLOW FILTERING.
func (x *text) narrow() (filtering bool) {
	n := len(x.t.clustering)
	prefix := x.IntN(n + 1)
	x.clustered(prefix, prefix < n && x.IntN(2) == 0, 6)
	if x.IntN(8) == 0 && len(x.t.data()) > 0 && !x.t.counter {
		x.add(" AND ").filter()
		filtering = true
	}
	if prefix+1 < n && x.IntN(12) == 0 {
		x.add(" AND ").equal(x.t.clustering[n-1], x.IntN(3) == 0)
		filtering = true
	}
	return filtering
}

// filter adds a restriction of a column alongside the key.
func (x *text) filter() {
	c := x.subset(x.t.data())[0]
	switch {
	case c.typ.Kind() == gocql.TypeMap && x.IntN(3) == 0:
		x.add("%s[", c.name).put(c.typ.elem(0).value(x.Rand)).add("] = ").put(c.typ.elem(1).value(x.Rand))
	case c.typ.Kind() == gocql.TypeMap && c.typ.Frozen() && x.IntN(2) == 0: // of others Cassandra finds keys that were deleted
		x.add("%s CONTAINS KEY ", c.name).put(c.typ.elem(0).value(x.Rand))
	case len(c.typ.Elems()) > 0 && c.typ.Kind() != gocql.TypeUDT && (c.typ.MultiCell() || x.IntN(2) == 0):
		value := c.typ.elem(len(c.typ.Elems()) - 1).value(x.Rand)
		if c.typ.MultiCell() && (c.typ.Kind() == gocql.TypeSet || len(value.bytes) == 0) { // as above, also of empty values
			x.add("%s = ", c.name).put(c.typ.value(x.Rand))
			return
		}
		x.add("%s CONTAINS ", c.name).put(value)
	case c.typ.Kind() == gocql.TypeUDT && c.typ.MultiCell() || c.typ.Kind() == gocql.TypeDuration:
		x.add("%s = ", c.name).put(c.typ.value(x.Rand))
	default:
		x.add("%s %s ", c.name, []string{"=", "=", "<", "<=", ">", ">="}[x.IntN(6)]).put(c.typ.value(x.Rand))
	}
}

// order adds ORDER BY.
func (x *text) order() {
	n := 1 + x.IntN(len(x.t.clustering))
	reverse := x.IntN(2) == 0
	x.add(" ORDER BY ")
	each(x, x.t.clustering[:n], ", ", func(c column) {
		down := c.desc != reverse
		if x.IntN(20) == 0 {
			down = !down
		}
		x.add("%s %s", c.name, map[bool]string{true: "DESC", false: "ASC"}[down])
	})
}
