package differential

import "github.com/denorm-go/denorm/internal/cassandra/transcript"

// refused is a statement that Cassandra rejects, as a rule.
func (g *round) refused() transcript.Step {
	t := g.t
	data := append(t.data(), t.key()...)[0]
	k, key := t.partition[0], t.key()
	last := key[len(key)-1]
	var x *text
	which := g.IntN(36)
	if g.t.brief && which == 31 { // which is allowed, and would look at what is about to end
		which = 0
	}
	switch which {
	case 0:
		x = g.text("INSERT INTO %s (%s, nothing) VALUES (1, 2)", t.name, k.name)
	case 1:
		x = g.text("UPDATE %s SET nothing = 1 WHERE ", t.name).row(false)
	case 2:
		x = g.text("SELECT nothing FROM %s WHERE ", t.name).row(false)
	case 3:
		x = g.text("SELECT * FROM %s WHERE nothing = 1", t.name)
	case 4:
		x = g.text("INSERT INTO %s (%s) VALUES (", t.name, data.name).put(data.typ.value(g.Rand)).add(")")
	case 5:
		x = g.text("UPDATE %s SET %s = ", t.name, data.name).put(data.typ.value(g.Rand)).add(" WHERE %s = ", last.name).put(g.keyOf(last))
	case 6:
		x = g.text("DELETE FROM %s WHERE %s > ", t.name, k.name).put(g.keyOf(k))
	case 7:
		x = g.text("SELECT * FROM %s WHERE %s > ", t.name, k.name).put(g.keyOf(k))
	case 8:
		x = g.text("DELETE FROM %s WHERE %s = ", t.name, k.name).put(null)
	case 9:
		x = g.text("SELECT * FROM %s WHERE %s = ", t.name, k.name).put(null)
	case 10:
		x = g.text("SELECT * FROM %s WHERE %s = ", t.name, k.name).put(unset)
	case 11:
		x = g.text("DELETE FROM %s WHERE %s = ", t.name, k.name).put(unset)
	case 12:
		x = g.text("SELECT * FROM %s WHERE %s IN (", t.name, k.name).list([]datum{null, g.keyOf(k)}).add(")")
	case 13:
		x = g.text("UPDATE %s SET %s = ", t.name, k.name).put(g.keyOf(k)).add(" WHERE ").row(false)
	case 14:
		x = g.text("DELETE %s FROM %s WHERE ", k.name, t.name).row(false)
	case 15:
		x = g.text("SELECT * FROM %s WHERE %s = ", t.name, data.name).put(data.typ.value(g.Rand))
	case 16:
		x = g.text("SELECT * FROM %s WHERE ", t.name).row(false).add(" ORDER BY %s", k.name)
	case 17:
		x = g.text("SELECT * FROM %s WHERE ", t.name).row(false).add(" ORDER BY %s", data.name)
	case 18:
		x = g.text("SELECT * FROM %s LIMIT ", t.name).put(number(g.IntN(2) - 1))
	case 19:
		x = g.text("SELECT * FROM %s WHERE ", t.name).row(true).add(" PER PARTITION LIMIT ").put(number(0))
	case 20:
		x = g.text("SELECT writetime(%s) FROM %s", k.name, t.name)
	case 21:
		x = g.text("SELECT ttl(%s) FROM %s WHERE ", last.name, t.name).row(true)
	case 22:
		x = g.text("SELECT * FROM nowhere WHERE k = 1")
	case 23:
		x = g.text("INSERT INTO %s (%s, %[2]s) VALUES (1, 2)", t.name, k.name)
	case 24:
		x = g.text("INSERT INTO %s (%s) VALUES (1, 2)", t.name, k.name)
	case 25:
		x = g.text("UPDATE %s USING TTL ", t.name).put(number(-1)).add(" SET %s = ", data.name).put(data.typ.value(g.Rand)).add(" WHERE ").row(false)
	case 26:
		x = g.text("UPDATE %s USING TTL ", t.name).put(number(700_000_000)).add(" SET %s = ", data.name).put(data.typ.value(g.Rand)).add(" WHERE ").row(false)
	case 27:
		x = g.text("INSERT INTO %s (%s) VALUES (", t.name, k.name).put(datum{bytes: []byte{1, 2, 3}, text: "'x'"}).add(")")
	case 28:
		x = g.text("SELECT * FROM %s WHERE %s = ", t.name, k.name).put(datum{bytes: []byte{}, text: "1.5"})
	case 29:
		x = g.text("INSERT INTO %s (%s) VALUES (", t.name, k.name).put(g.keyOf(k)).add(") IF NOT EXISTS USING TIMESTAMP ").put(long(3))
	case 30:
		x = g.text("UPDATE %s SET %s = 3 WHERE ", t.name, data.name).row(false).add(" IF %s = 1", k.name)
	case 31:
		x = g.text("SELECT * FROM %s WHERE %s IN (", t.name, k.name).list(g.some(k)).add(") ORDER BY %s", last.name)
	case 32:
		x = g.text("SELECT FROM %s", t.name)
	case 33:
		x = g.text("SELECT DISTINCT %s FROM %s", data.name, t.name)
	case 34:
		x = g.text("UPDATE %s SET %s = %[2]s + ", t.name, data.name).put(data.typ.value(g.Rand)).add(" WHERE ").row(false)
	default:
		x = g.text("SELECT * FROM %s WHERE ", t.name).row(false).add(" AND %s = ", k.name).put(g.keyOf(k))
	}
	return x.step()
}
