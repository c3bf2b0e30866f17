package ast

import "github.com/denorm-go/denorm/internal/cql"

import "testing"

func native(name string) *cql.Type { return &cql.Type{Name: name} }

func TestKeyspaces(t *testing.T) {
	t.Parallel()
	compare(t, []parsed{
		{"USE ks", &Use{"ks"}},
		{`USE "Ks"`, &Use{"Ks"}},
		{"TRUNCATE ks.t", &Truncate{cql.Name{Keyspace: "ks", Name: "t"}}},
		{"TRUNCATE TABLE t", &Truncate{cql.Name{Keyspace: "", Name: "t"}}},
		{
			"CREATE KEYSPACE IF NOT EXISTS ks WITH replication = {'class': 'NetworkTopologyStrategy', 'dc1': 3} AND " +
				"durable_writes = FALSE",
			&CreateKeyspace{Keyspace: "ks", IfNotExists: true, Replication: map[string]string{
				"class": "NetworkTopologyStrategy",
				"dc1":   "3",
			}},
		},
		{"DROP SCHEMA ks", &Drop{What: "KEYSPACE", Name: cql.Name{Name: "ks"}}},
		{"CREATE SCHEMA ks WITH REPLICATION = {}", &CreateKeyspace{
			Keyspace: "ks", Replication: map[string]string{}, Durable: true, KeepDurable: true,
		}},
	})
}

func TestTables(t *testing.T) {
	t.Parallel()
	compare(t, []parsed{
		{"CREATE TABLE t (k int PRIMARY KEY)", &CreateTable{
			Table: cql.Name{Keyspace: "", Name: "t"}, Columns: []ColumnDefinition{{Name: "k", Type: native("int")}},
			Partition: []string{"k"},
		}},
		{
			`CREATE COLUMNFAMILY IF NOT EXISTS ks."T" (a INT, b map<text,frozen<list< "U">>>, s text static, c ks.u, d tuple<int,text>,` +
				` e vector<float,3>, f 'org.X', PRIMARY KEY ((a, b), c, d),)` +
				` WITH CLUSTERING ORDER BY (c DESC, d ASC) AND comment = 'it''s' AND gc_grace_seconds = -1 AND cdc = TRUE` +
				` AND ID = 123e4567-e89b-12d3-a456-426614174000 AND compaction = {'class': 'X', 'n': 4, 'on': true}` +
				` AND extensions = {'a': 0xff} AND crc_check_chance = 0.5`,
			&CreateTable{
				Table: cql.Name{Keyspace: "ks", Name: "T"}, IfNotExists: true,
				Columns: []ColumnDefinition{
					{Name: "a", Type: native("int")},
					{Name: "b", Type: &cql.Type{Kind: cql.Collection, Name: "map", Args: []*cql.Type{
						native("text"), {
							Kind: cql.Collection, Name: "list", Frozen: true,
							Args: []*cql.Type{{Kind: cql.UserType, Name: "U"}},
						},
					}}},
					{Name: "s", Type: native("text"), Static: true},
					{Name: "c", Type: &cql.Type{Kind: cql.UserType, Keyspace: "ks", Name: "u"}},
					{Name: "d", Type: &cql.Type{Kind: cql.TupleType, Name: "tuple", Args: []*cql.Type{native("int"), native("text")}}},
					{Name: "e", Type: &cql.Type{
						Kind: cql.Vector, Name: "vector",
						Args: []*cql.Type{native("float"), {Kind: cql.Dimension, Name: "3"}},
					}},
					{Name: "f", Type: &cql.Type{Kind: cql.Class, Name: "org.X"}},
				},
				Partition: []string{"a", "b"}, Clustering: []string{"c", "d"}, Order: []Order{
					{Column: "c", Descending: true},
					{Column: "d"},
				},
				Options: []Option{
					{Name: "comment", Kind: String, Text: "it's"},
					{Name: "gc_grace_seconds", Kind: Integer, Text: "-1"},
					{Name: "cdc", Kind: Boolean, Text: "true"},
					{Name: "id", Kind: UUID, Text: "123e4567-e89b-12d3-a456-426614174000"},
					{Name: "compaction", Map: map[string]string{"class": "X", "n": "4", "on": "true"}},
					{Name: "extensions", Map: map[string]string{"a": "0xff"}},
					{Name: "crc_check_chance", Kind: Float, Text: "0.5"},
				},
			},
		},
		{"CREATE TABLE t (a int, PRIMARY KEY (a, b))", &CreateTable{
			Table: cql.Name{Keyspace: "", Name: "t"}, Columns: []ColumnDefinition{{Name: "a", Type: native("int")}},
			Partition: []string{"a"}, Clustering: []string{"b"},
		}},
	})
}

func TestTypesAndViews(t *testing.T) {
	t.Parallel()
	compare(t, []parsed{
		{"CREATE TYPE IF NOT EXISTS ks.u (a int, \"B\" frozen<v>)", &CreateType{
			Type: cql.Name{Keyspace: "ks", Name: "u"}, IfNotExists: true,
			Fields: []ColumnDefinition{
				{Name: "a", Type: native("int")},
				{Name: "B", Type: &cql.Type{Kind: cql.UserType, Name: "v", Frozen: true}},
			},
		}},
		{
			"CREATE MATERIALIZED VIEW IF NOT EXISTS v AS SELECT a, b FROM ks.t WHERE a IS NOT NULL AND b IS NOT NULL PRIMARY " +
				"KEY ((b), a)" +
				" WITH CLUSTERING ORDER BY (a DESC) AND comment = 'x'",
			&CreateView{
				View: cql.Name{Keyspace: "", Name: "v"}, IfNotExists: true, From: cql.Name{Keyspace: "ks", Name: "t"},
				Columns: []string{"a", "b"},
				Where: []Relation{
					{Columns: []string{"a"}, Operator: "IS NOT NULL"},
					{Columns: []string{"b"}, Operator: "IS NOT NULL"},
				},
				Partition: []string{"b"}, Clustering: []string{"a"}, Order: []Order{{Column: "a", Descending: true}},
				Options: []Option{{Name: "comment", Kind: String, Text: "x"}},
			},
		},
		{"CREATE MATERIALIZED VIEW v AS SELECT * FROM t PRIMARY KEY (a)", &CreateView{
			View: cql.Name{Keyspace: "", Name: "v"}, From: cql.Name{Keyspace: "", Name: "t"}, Partition: []string{"a"},
		}},
		{"CREATE INDEX ON t (a)", &CreateIndex{Table: cql.Name{Keyspace: "", Name: "t"}, Targets: []IndexTarget{{"a", ""}}}},
		{"CREATE INDEX IF NOT EXISTS i ON ks.t (keys)", &CreateIndex{
			Index: "i", IfNotExists: true,
			Table: cql.Name{Keyspace: "ks", Name: "t"}, Targets: []IndexTarget{{"keys", ""}},
		}},
		{"CREATE INDEX i ON t (keys(a))", &CreateIndex{
			Index: "i", Table: cql.Name{Keyspace: "", Name: "t"},
			Targets: []IndexTarget{{"a", "keys"}},
		}},
		{"CREATE INDEX i ON t (VALUES(a))", &CreateIndex{
			Index: "i", Table: cql.Name{Keyspace: "", Name: "t"},
			Targets: []IndexTarget{{"a", "values"}},
		}},
		{"CREATE INDEX i ON t (entries(a))", &CreateIndex{
			Index: "i", Table: cql.Name{Keyspace: "", Name: "t"},
			Targets: []IndexTarget{{"a", "entries"}},
		}},
		{"CREATE CUSTOM INDEX i ON t (full(a)) USING 'StorageAttachedIndex' WITH OPTIONS = {'mode': 'x'}", &CreateIndex{
			Index: "i", Table: cql.Name{Keyspace: "", Name: "t"}, Targets: []IndexTarget{{"a", "full"}},
			Using:   "StorageAttachedIndex",
			Options: map[string]string{"mode": "x"},
		}},
	})
}
