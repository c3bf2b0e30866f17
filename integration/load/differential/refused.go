package differential

import (
	"strings"

	"github.com/denorm-go/denorm/internal/cassandra/transcript"
)

// wrong are statements that Cassandra rejects, as a rule: of a table t, the first column k of its partition key, the
// last one of its key, and a column d alongside the key, if there is one. Between bars are values, and whole keys.
var wrong = []string{
	"INSERT INTO $t ($k, nothing) VALUES (1, 2)",
	"UPDATE $t SET nothing = 1 WHERE |row|",
	"SELECT nothing FROM $t WHERE |row|",
	"SELECT * FROM $t WHERE nothing = 1",
	"INSERT INTO $t ($d) VALUES (|d|)",
	"UPDATE $t SET $d = |d| WHERE $last = |last|",
	"DELETE FROM $t WHERE $k > |k|",
	"SELECT * FROM $t WHERE $k > |k|",
	"DELETE FROM $t WHERE $k = |null|",
	"SELECT * FROM $t WHERE $k = |null|",
	"SELECT * FROM $t WHERE $k = |unset|",
	"DELETE FROM $t WHERE $k = |unset|",
	"SELECT * FROM $t WHERE $k IN (|null|, |k|)",
	"UPDATE $t SET $k = |k| WHERE |row|",
	"DELETE $k FROM $t WHERE |row|",
	"SELECT * FROM $t WHERE $d = |d|",
	"SELECT * FROM $t WHERE |row| ORDER BY $k",
	"SELECT * FROM $t WHERE |row| ORDER BY $d",
	"SELECT * FROM $t LIMIT |0|",
	"SELECT * FROM $t LIMIT |-1|",
	"SELECT * FROM $t WHERE |partition| PER PARTITION LIMIT |0|",
	"SELECT writetime($k) FROM $t",
	"SELECT ttl($last) FROM $t WHERE |partition|",
	"SELECT * FROM nowhere WHERE k = 1",
	"INSERT INTO $t ($k, $k) VALUES (1, 2)",
	"INSERT INTO $t ($k) VALUES (1, 2)",
	"UPDATE $t USING TTL |-1| SET $d = |d| WHERE |row|",
	"UPDATE $t USING TTL |too long| SET $d = |d| WHERE |row|",
	"INSERT INTO $t ($k) VALUES (|no int|)",
	"SELECT * FROM $t WHERE $k = |no bytes|",
	"INSERT INTO $t ($k) VALUES (|k|) IF NOT EXISTS USING TIMESTAMP |3|",
	"UPDATE $t SET $d = 3 WHERE |row| IF $k = 1",
	"SELECT * FROM $t WHERE $k IN (|several|) ORDER BY $last",
	"SELECT FROM $t",
	"SELECT DISTINCT $d FROM $t",
	"UPDATE $t SET $d = $d + |d| WHERE |row|",
	"SELECT * FROM $t WHERE |row| AND $k = |k|",
}

// refused is a statement that Cassandra rejects, as a rule.
func (g *round) refused() transcript.Step {
	data := append(g.t.data(), g.t.key()...)[0]
	k, key := g.t.partition[0], g.t.key()
	last := key[len(key)-1]
	x := g.text("")
	values := map[string]func(){
		"d":         func() { x.put(data.typ.value(g.Rand)) },
		"k":         func() { x.put(g.keyOf(k)) },
		"last":      func() { x.put(g.keyOf(last)) },
		"several":   func() { x.list(g.some(k)) },
		"row":       func() { x.row(false) },
		"partition": func() { x.row(true) },
		"null":      func() { x.put(null) },
		"unset":     func() { x.put(unset) },
		"0":         func() { x.put(number(0)) },
		"-1":        func() { x.put(number(-1)) },
		"3":         func() { x.put(long(3)) },
		"too long":  func() { x.put(number(700_000_000)) },
		"no int":    func() { x.put(datum{bytes: []byte{1, 2, 3}, text: "'x'"}) },
		"no bytes":  func() { x.put(datum{bytes: []byte{}, text: "1.5"}) },
	}
	statement := wrong[g.IntN(len(wrong))]
	if g.t.brief && strings.HasPrefix(statement, "SELECT * FROM $t WHERE $k IN (|several|)") {
		statement = wrong[0] // the other is allowed, and would look at what is about to end
	}
	names := strings.NewReplacer("$last", last.name, "$t", g.t.name, "$k", k.name, "$d", data.name)
	for i, part := range strings.Split(statement, "|") {
		if i%2 == 1 {
			values[part]()
		} else {
			x.add("%s", names.Replace(part))
		}
	}
	return x.step()
}
