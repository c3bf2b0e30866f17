package ast

import (
	"errors"
	"testing"
)

// Whatever the text: no panic, an end, and either a statement whose marks can be counted or one of the two errors.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		"SELECT a, b AS c, count(*), ttl(x), token(a, b), cast(c AS text), f(now(), 1) FROM ks.\"T\" WHERE a = ? AND (b, " +
			"c) > (?, :n)" +
			" AND token(a) > token(?) AND d IN ? AND e IN (1, 2) AND m['k'] = 1 AND f CONTAINS KEY ? AND g LIKE 'x' AND h IS " +
			"NOT NULL" +
			" ORDER BY b DESC PER PARTITION LIMIT 1 LIMIT ? ALLOW FILTERING;",
		"INSERT INTO t (a, b, c, d) VALUES ({1: [2, 'it''s']}, {f: (int) -1.5e3}, 0xff, 123e4567-e89b-12d3-a456-426614174000)" +
			" IF NOT EXISTS USING TTL ? AND TIMESTAMP 1",
		"UPDATE t USING TTL 1 SET a = a + ?, b = ? + b, c -= {1}, d[?] = P1Y2M, e.f = 1h30m, n = n -3 WHERE k = $$x$$ IF " +
			"a[1] = 2 AND b.c IN (1)",
		"BEGIN UNLOGGED BATCH USING TIMESTAMP ? DELETE a, b[1], c.d FROM t WHERE k = NaN IF EXISTS; UPDATE t SET a = null " +
			"WHERE b = -Infinity APPLY BATCH",
		"CREATE TABLE IF NOT EXISTS t (a int, b map<text, frozen<list<\"U\">>> static, c vector<float, 3>, PRIMARY KEY " +
			"((a), b))" +
			" WITH CLUSTERING ORDER BY (b DESC) AND comment = '' AND compaction = {'class': 'x'} -- end\n",
		"BEGIN TRANSACTION INSERT INTO t (a) VALUES (1); COMMIT TRANSACTION",
		"CREATE KEYSPACE k WITH replication = {'class': 'x'} AND durable_writes = false",
		"CREATE TYPE u (a int)", "TRUNCATE TABLE t", `USE "K"`,
		"CREATE MATERIALIZED VIEW v AS SELECT * FROM t WHERE a IS NOT NULL PRIMARY KEY (a) WITH x = 1",
		"CREATE CUSTOM INDEX i ON t (keys(a)) USING 'sai' WITH OPTIONS = {'a': 'b'}", "TRUNCATE /* x */ t // y\n;",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s, err := Parse(text)
		syntax, invalid := new(*SyntaxError), new(*InvalidError)
		switch {
		case err == nil && s == nil:
			t.Error("neither a statement nor an error")
		case err == nil:
			Marks(s)
		case s != nil:
			t.Errorf("%#v and %v", s, err)
		case !errors.As(err, syntax) && !errors.As(err, invalid):
			t.Errorf("%T", err)
		}
	})
}

func BenchmarkParse(b *testing.B) {
	const insert = "INSERT INTO shop.orders_by_user (user_id,order_id,status,total,created,updated_at,note,tags)" +
		" VALUES (?,?,?,?,?,?,?,?) USING TIMESTAMP ?"
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Parse(insert); err != nil {
			b.Fatal(err)
		}
	}
}
