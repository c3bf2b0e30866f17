package wire

import (
	"fmt"
	"strings"
	"testing"
)

// What the marks of a statement stand for, and which of them are the partition key.
func TestMarks(t *testing.T) {
	t.Parallel()
	s := newSchema()
	for _, text := range []string{
		`CREATE TABLE shop.o (u uuid, d int, i timeuuid, total decimal, m map<text, int>, s set<uuid>, l list<text>,
			"Odd" text, fixed text STATIC, PRIMARY KEY ((u, d), i))`,
		`CREATE TABLE IF NOT EXISTS k (k text PRIMARY KEY, v frozen<list<text>>)`,
	} {
		if _, _, err := s.create(text, "shop", 1); err != nil {
			t.Fatal(err)
		}
	}
	for text, want := range map[string]string{
		`INSERT INTO o (u,d,i,total) VALUES (?,?,?,?) USING TIMESTAMP ? AND TTL ?`:        "u uuid, d int, i timeuuid, total decimal, [timestamp] bigint, [ttl] int [0 1]",
		`INSERT INTO shop.o (d, i, u, "Odd") VALUES (?, now(), ?, ?)`:                     "d int, u uuid, Odd text [1 0]",
		`INSERT INTO o (u,d,i) VALUES (?,5,?) IF NOT EXISTS`:                              "u uuid, i timeuuid []",
		`DELETE FROM o USING TIMESTAMP ? WHERE u=? AND d=? AND i=?`:                       "[timestamp] bigint, u uuid, d int, i timeuuid [1 2]",
		`DELETE m[?], total FROM o WHERE u = ? AND d = ? AND i = ?`:                       "m text, u uuid, d int, i timeuuid [1 2]",
		`UPDATE o USING TTL ? SET total=?, m[?]=?, s=s+?, l=?+l WHERE u=? AND d=? IF i=?`: "[ttl] int, total decimal, m text, m int, s set<uuid>, l list<text>, u uuid, d int, i timeuuid [6 7]",
		`UPDATE k SET v=? WHERE k=? IF v=? AND v IN (?, ?)`:                               "v frozen<list<text>>, k text, v frozen<list<text>>, v frozen<list<text>>, v frozen<list<text>> [1]",
		`SELECT u, writetime(total), count(*) FROM o WHERE u IN ? AND d IN (?,?) LIMIT ?`: "u list<uuid>, d int, d int, [limit] int []",
		`SELECT * FROM k WHERE k=? AND v > ? ALLOW FILTERING`:                             "k text, v frozen<list<text>> [0]",
		`SELECT * FROM o WHERE s CONTAINS ? AND m CONTAINS KEY ?`:                         "s uuid, m text []",
		`INSERT INTO o (u,x) VALUES (?,?)`:                                                "undefined column name x",
		`INSERT INTO other (u) VALUES (?)`:                                                "unconfigured table other",
		`TRUNCATE o`:                                                                      "no statement that this server knows",
	} {
		p := s.parse(text, "shop")
		got := fmt.Sprint(p.err)
		if p.err == nil {
			var marks []string
			for _, m := range p.marks {
				marks = append(marks, m.column+" "+m.typ.String())
			}
			got = fmt.Sprint(strings.Join(marks, ", "), " ", p.routing)
		}
		if got != want {
			t.Errorf("%s:\n got %s\nwant %s", text, got, want)
		}
	}
	p := s.parse(`SELECT u, writetime(total), "Odd" FROM o`, "shop")
	if got := fmt.Sprint(p.columns()); got != "[{u uuid} {writetime(total) bigint} {Odd text}]" {
		t.Error(got)
	}
	o := s.tables[[2]string{"shop", "o"}]
	var kinds []string
	for _, c := range o.columns {
		kinds = append(kinds, fmt.Sprint(c.name, " ", c.kind, " ", c.position, " ", c.order))
	}
	if got := strings.Join(kinds[:4], ", "); got != "u partition_key 0 none, d partition_key 1 none, i clustering 0 asc, total regular -1 none" {
		t.Error(got)
	}
}

func TestCreateRefuses(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		`CREATE TABLE t (k text PRIMARY KEY)`, `CREATE TABLE ks.t (k text)`, `CREATE TABLE ks.t (k sometype PRIMARY KEY)`,
		`CREATE TABLE ks.t (k text, PRIMARY KEY (x))`, `CREATE TABLE ks.t`, `CREATE INDEX i ON t (k)`, `CREATE TABLE ks.t (k)`,
	} {
		s := newSchema()
		if _, _, err := s.create(text, "", 1); err == nil {
			t.Errorf("%s is created", text)
		}
	}
}
