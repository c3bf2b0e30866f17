package lint_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/denorm-go/denorm/schema"
	"github.com/denorm-go/denorm/schema/lint"
	"github.com/denorm-go/denorm/tables"
	"github.com/gocql/gocql"
)

type event struct {
	SensorID gocql.UUID
	At       time.Time
}

// What is unknown, how bad that is, and what may be meant by it.
func TestUnknown(t *testing.T) {
	t.Parallel()
	events := tables.Must(tables.New[event]("event", tables.Table{
		Keyspace: "log", Name: "events", PartKey: []string{"sensor_id"}, SortKey: []string{"at"}, Rotate: tables.Month("at"),
	}))
	month := time.Now().UTC().Format("events_2006_01")
	const orders = `CREATE TABLE shop.orders (order_id uuid PRIMARY KEY, total decimal);
		CREATE MATERIALIZED VIEW shop.orders_by_total AS SELECT * FROM shop.orders WHERE total IS NOT NULL AND order_id IS NOT NULL
			PRIMARY KEY (total, order_id);`
	for query, want := range map[string]string{
		"SELECT total FROM shop.orders WHERE order_id = ?":                                           "",
		"SELECT total FROM shop.ordrs WHERE order_id = ?":                                            "error DN506 shop.ordrs: a query of a table that the schema does not have: did you mean orders?",
		"SELECT total FROM orders WHERE order_id = ?":                                                "", // the session has the keyspace
		"SELECT * FROM shop.parcels WHERE order_id = ?":                                              "error DN506 shop.parcels: a query of a table that the schema does not have",
		"SELECT a FROM b.c WHERE a = ?":                                                              "note DN506 b.c: no rule looks at a query of it, as the schema has nothing of keyspace b",
		"SELECT a FROM b.orders WHERE a = ?":                                                         "note DN506 b.orders: no rule looks at a query of it, as the schema has nothing of keyspace b: did you mean shop.orders?",
		"SELECT nothing FROM system.local":                                                           "",
		"SELECT totl FROM shop.orders WHERE order_id = ?":                                            "error DN507 shop.orders: a query names a column totl, which the table does not have: did you mean total?",
		"SELECT order_id FROM shop.orders_by_total WHERE total = ?":                                  "",
		"SELECT oder_id FROM shop.orders_by_total WHERE total = ?":                                   "error DN507 shop.orders_by_total: a query names a column oder_id, which the table does not have: did you mean order_id?",
		"SELECT * FROM log." + month + " WHERE sensor_id = ?":                                        "",
		"BEGIN BATCH UPDATE log." + month + " SET v = ? WHERE sensor_id = ? AND at = ?; APPLY BATCH": "error DN507 log.events: a query names a column v, which the table does not have",
		"SELECT * FROM log.events_old WHERE sensor_id = ?":                                           "error DN506 log.events_old: a query of a table that the schema does not have: did you mean events?",
		"SELECT sensor FROM log." + month + " WHERE sensor_id = ?":                                   "error DN507 log.events: a query names a column sensor, which the table does not have: did you mean sensor_id?",
		"-- denorm:ignore DN506 b.c it is another team's\nSELECT a FROM b.c":                         "",
	} {
		s := schema.Must(schema.Declare(schema.Sets(events), schema.CQL(orders+query)))
		var got []string
		for _, f := range lint.Check(s) {
			if f.Suppressed == "" && f.Query != "" && f.Code != "DN519" {
				got = append(got, f.String())
			}
		}
		if wants := slices.DeleteFunc([]string{want}, func(s string) bool { return s == "" }); !slices.Equal(got, wants) {
			t.Errorf("%s\n got %q\nwant %q", query, got, wants)
		}
	}
}

// A nil schema is a finding, not a panic.
func TestNilSchema(t *testing.T) {
	t.Parallel()
	found := lint.Check(nil)
	if len(found) != 1 || lint.Worst(found) != lint.Error || !strings.Contains(found[0].String(), "the schema is nil, so nothing is reviewed") {
		t.Errorf("%v", found)
	}
}

// A table whose statement is not understood is there nevertheless: its queries are no errors.
func TestQueriesOfTablesThatWereNotRead(t *testing.T) {
	t.Parallel()
	s, err := schema.Review(schema.Source{File: "f", Text: `USE k;
CREATE TABLE IF NOT EXISTS k.old (odl int, a int, b int, c int, PRIMARY KEY (a, b)) WITH COMPRESSION;
CREATE TABLE new (a int PRIMARY KEY);
CREATE INDEX ON old (c);
SELECT c FROM old WHERE a = ? AND b = ?;
SELECT c FROM odl WHERE a = ?;`})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range lint.Check(s) {
		got = append(got, f.String())
	}
	slices.Sort(got)
	want := []string{
		"error DN506 k.odl: a query of a table that the schema does not have",
		"error DN508 *: line 2: want \"=\", not \";\"",
		"note DN506 k.old: no rule looks at a query of it, as the statement that creates the table is not understood",
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

// A quote or a comment without its end hides the rest of the file.
func TestUnclosedIsAnError(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"INSERT INTO k.t (a, b) VALUES (?, 'oops);", "/* SELECT b FROM k.t", "$$ what"} {
		s, err := schema.Review(schema.Source{File: "f", Text: "CREATE TABLE k.t (a int PRIMARY KEY, b text);\n" + text + "\nSELECT c FROM k.t WHERE b = ?;\n"})
		if err != nil {
			t.Fatal(err)
		}
		if found := lint.Check(s); lint.Worst(found) != lint.Error || !strings.Contains(fmt.Sprint(found[0].Fix), "the rest of the file was not read") {
			t.Errorf("%s: %v", text, found)
		}
	}
}

// What is told once of several statements is told once of each file, with the place of the first.
func TestOnceAFile(t *testing.T) {
	t.Parallel()
	const text = "ALTER TABLE k.a ADD x int;\nALTER TABLE k.a ADD y int;\n"
	s, err := schema.Review(schema.Source{File: "1.cql", Text: "\n" + text}, schema.Source{File: "2.cql", Text: text})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range lint.Check(s) {
		got = append(got, fmt.Sprintf("%s:%d %s", f.At.File, f.At.Line, f.Reason))
	}
	want := []string{
		"1.cql:2 line 2: ALTER TABLE k.a: the text does not create it before, and 1 more like it",
		"2.cql:1 line 1: ALTER TABLE k.a: the text does not create it before, and 1 more like it",
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}
