package differential

import "github.com/denorm-go/denorm/internal/cassandra/transcript"

// refused is a statement that Cassandra rejects, as a rule.
func (g *round) refused() transcript.Step {
	t := g.t
	data := append(t.data(), t.key()...)[0]
	k, key := t.partition[0], t.key()
	last := key[len(key)-1]
	wrong := []func() *text{
		func() *text { return g.text("INSERT INTO %s (%s, nothing) VALUES (1, 2)", t.name, k.name) },
		func() *text { return g.text("UPDATE %s SET nothing = 1 WHERE ", t.name).row(false) },
		func() *text { return g.text("SELECT nothing FROM %s WHERE ", t.name).row(false) },
		func() *text { return g.text("SELECT * FROM %s WHERE nothing = 1", t.name) },
		func() *text {
			return g.text("INSERT INTO %s (%s) VALUES (", t.name, data.name).put(data.typ.value(g.Rand)).add(")")
		},
		func() *text {
			return g.text("UPDATE %s SET %s = ", t.name, data.name).put(data.typ.value(g.Rand)).add(" WHERE %s = ", last.name).put(g.keyOf(last))
		},
		func() *text { return g.text("DELETE FROM %s WHERE %s > ", t.name, k.name).put(g.keyOf(k)) },
		func() *text { return g.text("SELECT * FROM %s WHERE %s > ", t.name, k.name).put(g.keyOf(k)) },
		func() *text { return g.text("DELETE FROM %s WHERE %s = ", t.name, k.name).put(null) },
		func() *text { return g.text("SELECT * FROM %s WHERE %s = ", t.name, k.name).put(null) },
		func() *text { return g.text("SELECT * FROM %s WHERE %s = ", t.name, k.name).put(unset) },
		func() *text { return g.text("DELETE FROM %s WHERE %s = ", t.name, k.name).put(unset) },
		func() *text {
			return g.text("SELECT * FROM %s WHERE %s IN (", t.name, k.name).list([]datum{null, g.keyOf(k)}).add(")")
		},
		func() *text {
			return g.text("UPDATE %s SET %s = ", t.name, k.name).put(g.keyOf(k)).add(" WHERE ").row(false)
		},
		func() *text { return g.text("DELETE %s FROM %s WHERE ", k.name, t.name).row(false) },
		func() *text {
			return g.text("SELECT * FROM %s WHERE %s = ", t.name, data.name).put(data.typ.value(g.Rand))
		},
		func() *text { return g.text("SELECT * FROM %s WHERE ", t.name).row(false).add(" ORDER BY %s", k.name) },
		func() *text {
			return g.text("SELECT * FROM %s WHERE ", t.name).row(false).add(" ORDER BY %s", data.name)
		},
		func() *text { return g.text("SELECT * FROM %s LIMIT ", t.name).put(number(g.IntN(2) - 1)) },
		func() *text {
			return g.text("SELECT * FROM %s WHERE ", t.name).row(true).add(" PER PARTITION LIMIT ").put(number(0))
		},
		func() *text { return g.text("SELECT writetime(%s) FROM %s", k.name, t.name) },
		func() *text { return g.text("SELECT ttl(%s) FROM %s WHERE ", last.name, t.name).row(true) },
		func() *text { return g.text("SELECT * FROM nowhere WHERE k = 1") },
		func() *text { return g.text("INSERT INTO %s (%s, %[2]s) VALUES (1, 2)", t.name, k.name) },
		func() *text { return g.text("INSERT INTO %s (%s) VALUES (1, 2)", t.name, k.name) },
		func() *text {
			return g.text("UPDATE %s USING TTL ", t.name).put(number(-1)).add(" SET %s = ", data.name).put(data.typ.value(g.Rand)).add(" WHERE ").row(false)
		},
		func() *text {
			return g.text("UPDATE %s USING TTL ", t.name).put(number(700_000_000)).add(" SET %s = ", data.name).put(data.typ.value(g.Rand)).add(" WHERE ").row(false)
		},
		func() *text {
			return g.text("INSERT INTO %s (%s) VALUES (", t.name, k.name).put(datum{bytes: []byte{1, 2, 3}, text: "'x'"}).add(")")
		},
		func() *text {
			return g.text("SELECT * FROM %s WHERE %s = ", t.name, k.name).put(datum{bytes: []byte{}, text: "1.5"})
		},
		func() *text {
			return g.text("INSERT INTO %s (%s) VALUES (", t.name, k.name).put(g.keyOf(k)).add(") IF NOT EXISTS USING TIMESTAMP ").put(long(3))
		},
		func() *text {
			return g.text("UPDATE %s SET %s = 3 WHERE ", t.name, data.name).row(false).add(" IF %s = 1", k.name)
		},
		func() *text {
			return g.text("SELECT * FROM %s WHERE %s IN (", t.name, k.name).list(g.some(k)).add(") ORDER BY %s", last.name)
		},
		func() *text { return g.text("SELECT FROM %s", t.name) },
		func() *text { return g.text("SELECT DISTINCT %s FROM %s", data.name, t.name) },
		func() *text {
			return g.text("UPDATE %s SET %s = %[2]s + ", t.name, data.name).put(data.typ.value(g.Rand)).add(" WHERE ").row(false)
		},
		func() *text {
			return g.text("SELECT * FROM %s WHERE ", t.name).row(false).add(" AND %s = ", k.name).put(g.keyOf(k))
		},
	}
	which := g.IntN(len(wrong))
	if g.t.brief && which == 31 { // which is allowed, and would look at what is about to end
		which = 0
	}
	return wrong[which]().step()
}
