package tables_test

import (
	"testing"
	"time"

	"github.com/denorm-go/denorm/internal/describe"
	"github.com/denorm-go/denorm/tables"
	"github.com/gocql/gocql"
)

// visit is the row type of the tests of derived columns.
type visit struct {
	ID      gocql.UUID
	At      time.Time
	Until   *time.Time
	Room    string
	Count   int64
	Stamped int64
}

type homed struct{ Home geo }

// Every declaration of a bucket that would lose rows, or could not be read, is rejected with its reason.
func TestDeriveFaults(t *testing.T) {
	t.Parallel()
	visits := tables.Table{Name: "visits", PartKey: []string{"id"}}
	byB := tables.Table{Name: "visits_by_b", PartKey: []string{"b"}, SortKey: []string{"at", "id"}}
	noon := time.Date(2024, 1, 1, 12, 0, 0, 0, time.UTC)
	derive := func(options ...tables.Option) declaration {
		return declaring[visit](append([]tables.Option{visits, byB}, options...)...)
	}
	runFaultCases(t, []faultCase{
		{"sound", derive(tables.Derive("b", tables.Hour("at"))), nil},
		{"sound hash", derive(tables.Derive("b", tables.Hash(10, "id", "room")), tables.Type("b", "tinyint")), nil},
		{"type", derive(tables.Derive("b", tables.Hour("at")), tables.Type("b", "strin")), []string{
			`column b: CQL type "strin": unknown or unsupported type "strin"`,
		}},
		{"no function", derive(tables.Derive("b", tables.Bucket{})), []string{
			"column b: Derive: the function is missing",
		}},
		{"the same function again", derive(tables.Derive("b", tables.Day("at"),
			tables.Since{Time: noon, Bucket: tables.Day("at")})), []string{
			"column b: function 2 is the one before it: leave its Since out",
		}},
		{
			"back to an earlier function",
			derive(tables.Derive("b", tables.Day("at"), tables.Since{Time: noon, Bucket: tables.Hour("at")},
				tables.Since{Time: noon.AddDate(0, 1, 0), Bucket: tables.Day("at")})), nil,
		},
		{
			"a function that is none before two later ones",
			derive(tables.Derive("b", tables.Hash(0, "id"), tables.Since{Time: noon, Of: "at", Bucket: tables.Hash(2, "id")},
				tables.Since{Time: noon.AddDate(0, 1, 0), Of: "at", Bucket: tables.Hash(3, "id")})),
			[]string{"column b: Derive: 0 buckets: 1 to 1024 can be, as a read asks each of them"},
		},
		{"name", declaring[visit](visits, tables.Derive("B-1", tables.Hour("at"))), []string{
			"column B-1: Derive: the column's name must be " + columnRule,
		}},
		{"unknown source", declaring[visit](visits, tables.Derive("b", tables.Hour("when"))), []string{
			"column when: Derive(b) names a column that is no field of tables_test.visit",
		}},
		{
			"twice", derive(tables.Derive("b", tables.Hour("at")), tables.Derive("b", tables.Day("at"))),
			[]string{"column b: has two Derive options"},
		},
		{
			"of a derived one", derive(tables.Derive("b", tables.Hash(2, "c")), tables.Derive("c", tables.Day("at"))),
			[]string{
				"column c: Derive(b) names a column that is no field of tables_test.visit",
				"column c: is derived, and in the key of no table: it would be of no use",
			},
		},
		{"in no key", declaring[visit](visits, tables.Derive("b", tables.Hour("at"))), []string{
			"column b: is derived, and in the key of no table: it would be of no use",
		}},
		{
			"hash of a user-defined type",
			declaring[homed](tables.Table{Name: "homes", PartKey: []string{"b"}, SortKey: []string{"home"}}, geoType,
				tables.Derive("b", tables.Hash(4, "home"))),
			[]string{
				"column b: hash(4, home): home is of a user-defined type, of which the hash is another one once the type gets a " +
					"field: " +
					"take a field of it as a column of its own",
			},
		},
		{"no time", derive(tables.Derive("b", tables.Day("room"))), []string{
			"column room: is the time of a bucket, and text: it must be timestamp or timeuuid",
		}},
		{"hour as date", derive(tables.Derive("b", tables.Hour("at")), tables.Type("b", "date")), []string{
			"column b: hour(at): several buckets would share a date: declare text, int or bigint",
		}},
		{"day as uuid", derive(tables.Derive("b", tables.Day("at")), tables.Type("b", "uuid")), []string{
			"column b: day(at): a time bucket is text, int, bigint or date, not uuid",
		}},
		{"hash as text", derive(tables.Derive("b", tables.Hash(2, "id")), tables.Type("b", "text")), []string{
			"column b: hash(2, id): a hash bucket is tinyint, smallint, int or bigint, not text",
		}},
		{"hash too wide", derive(tables.Derive("b", tables.Hash(129, "id")), tables.Type("b", "tinyint")), []string{
			"column b: hash(129, id): 129 buckets do not fit into a tinyint",
		}},
		{"hash just fits", derive(tables.Derive("b", tables.Hash(128, "id")), tables.Type("b", "tinyint")), nil},
		{"too many", declaring[visit](visits, tables.Derive("b", tables.Hash(1025, "id"))), []string{
			"column b: Derive: 1025 buckets: 1 to 1024 can be, as a read asks each of them",
		}},
		{
			"of nothing", declaring[visit](visits, tables.Derive("b", tables.Hash(2))),
			[]string{"column b: Derive: a hash of no column"},
		},
		{"a day of nanoseconds", derive(tables.Derive("b", tables.Every(24*60*60, "at"))), []string{
			"column b: Derive: a period of 86.4µs: it must be positive and whole milliseconds, the resolution of a timestamp",
		}},
		{"no period", declaring[visit](visits, tables.Derive("b", tables.Every(0, "at"))), []string{
			"column b: Derive: a period of 0s: it must be positive and whole milliseconds, the resolution of a timestamp",
		}},
		{"text of less than a second", derive(tables.Derive("b", tables.Every(time.Millisecond, "at")),
			tables.Type("b", "text")), []string{
			"column b: every(1ms, at): periods of 1ms cannot be distinguished as text, which has seconds: declare int or bigint",
		}},
		{"rule of its own", derive(tables.Derive("b", tables.Hash(2, "id")), tables.SingleWriter("b")), []string{
			"column b: is derived, and changes as the columns can that it follows from: SingleWriter is for those",
		}},
		{"of a stamp", derive(tables.Derive("b", tables.Hash(2, "stamped")), tables.Stamp("stamped")), []string{
			"column stamped: Stamp cannot be a key column: it changes with every write",
		}},
		{
			"OneOf not in the key", derive(tables.Derive("b", tables.Hash(2, "room")), tables.OneOf("room", "x", "y"),
				tables.Stamp("stamped")),
			[]string{"table visits_by_b: column b: follows from room, which is OneOf and not in the key: its former rows " +
				"could not be distinguished"},
		},
		{
			"time is OneOf", derive(tables.Derive("b", tables.Hour("at")), tables.OneOf("at", noon), tables.Stamp("stamped")),
			[]string{
				"column at: is the time of a bucket, and OneOf: that is for hash buckets",
			},
		},
		{
			"base key changes", declaring[visit](tables.Table{Name: "visits", PartKey: []string{"id", "b"}},
				tables.Derive("b", tables.Day("at")), tables.SingleWriter("at")),
			[]string{"table visits: column at: the base key identifies the entity and cannot change, so SingleWriter is rejected"},
		},
		{
			"base key absent", declaring[visit](tables.Table{Name: "visits", PartKey: []string{"id", "b"}},
				tables.Derive("b", tables.Day("until"))),
			[]string{"table visits: column b: follows from until, a pointer: a column of the base key cannot be absent"},
		},
		{
			"base key under several functions", declaring[visit](tables.Table{Name: "visits", PartKey: []string{"id", "b"}},
				tables.Derive("b", tables.Hash(2, "id"), tables.Since{Bucket: tables.Hash(4, "id")})),
			[]string{"table visits: column b: rows may be stored under several functions, and the base row is read by one " +
				"key: give the functions " +
				"a time from which on they are valid, or choose another base table"},
		},
		{
			"query table without the base bucket's sources", declaring[visit](
				tables.Table{Name: "visits", PartKey: []string{"id", "b"}}, tables.Table{
					Name: "by_room", PartKey: []string{"room"},
					SortKey: []string{"id"},
				},
				tables.Derive("b", tables.Day("at"))),
			[]string{"table by_room: column b: the key of a query table must contain the base key, or two entities " +
				"could share a row: add it; or declare ID(\"id\"), if no two entities have one; if no two may have one " +
				"key, declare the table Unique"},
		},
		{
			"query table with them", declaring[visit](
				tables.Table{Name: "visits", PartKey: []string{"id", "b"}}, tables.Table{
					Name: "by_room", PartKey: []string{"room"},
					SortKey: []string{"at", "id"},
				},
				tables.Derive("b", tables.Day("at"))), nil,
		},
		{
			"no time from which on", derive(tables.Derive("b", tables.Day("at"), tables.Since{Bucket: tables.Hour("at")})),
			[]string{
				"column b: a later function lacks the time from which on it is valid: with it the bucket of a row never changes",
			},
		},
		{"not later", derive(tables.Derive("b", tables.Day("at"), tables.Since{Time: noon, Bucket: tables.Hour("at")},
			tables.Since{Time: noon, Bucket: tables.Month("at")})), []string{
			"column b: function 3 is not valid from a later time than the one before it",
		}},
		{"not whole", derive(tables.Derive("b", tables.Day("at"),
			tables.Since{Time: noon.Add(1), Bucket: tables.Hour("at")})), []string{
			"column b: function 2 is valid from a time that is not whole milliseconds",
		}},
		{"time of what", derive(tables.Derive("b", tables.Hash(2, "id"),
			tables.Since{Time: noon, Bucket: tables.Hash(4, "id")})), []string{
			"column b: a later function has a time from which on it is valid, but no column holds the time of a row: name it " +
				"in Of",
		}},
		{"time named", derive(tables.Derive("b", tables.Hash(2, "id"),
			tables.Since{Time: noon, Of: "at", Bucket: tables.Hash(4, "id")})), nil},
		{"too many rows to sweep", derive(tables.Derive("b", tables.Hash(1, "id"), sinces(65)...)), []string{
			"one change would sweep 65 rows, more than 64: narrow the domains of OneOf, or the tables whose keys hold them",
		}},
	})
}

// sinces are n more functions without a time.
func sinces(n int) (out []tables.Since) {
	for i := range n {
		out = append(out, tables.Since{Bucket: tables.Hash(i+2, "id")})
	}
	return out
}

func TestRotateFaults(t *testing.T) {
	t.Parallel()
	rotate := func(b tables.Bucket, options ...tables.Option) declaration {
		return declaring[visit](append([]tables.Option{tables.Table{
			Name: "visits", PartKey: []string{"id"},
			SortKey: []string{"at"}, Rotate: b,
		}}, options...)...)
	}
	runFaultCases(t, []faultCase{
		{"sound", rotate(tables.Month("at")), nil},
		{"weeks", rotate(tables.Every(7*24*time.Hour, "at")), nil},
		{"hash", rotate(tables.Hash(2, "id")), []string{"table visits: Rotate: tables rotate by time, not by hash"}},
		{"hours of its own", rotate(tables.Every(2*time.Hour, "at")), []string{
			"table visits: Rotate: a period of its own must be whole days, as the table's name says the first one",
		}},
		{
			"no column", rotate(tables.Day("when")),
			[]string{"table visits: column when: Rotate names a column that is no field of tables_test.visit"},
		},
		{
			"no time", rotate(tables.Day("room")),
			[]string{"table visits: column room: tables rotate by a timestamp or timeuuid, and this is text"},
		},
		{"may be absent", rotate(tables.Day("until")), []string{
			"table visits: column until: tables rotate by it, so it cannot be a pointer, which may be absent",
		}},
		{"changes", declaring[visit](tables.Table{Name: "visits", PartKey: []string{"id"}},
			tables.Table{Name: "visits_at", PartKey: []string{"id"}, SortKey: []string{"at"}, Rotate: tables.Day("at")},
			tables.SingleWriter("at")), []string{
			"table visits_at: column at: tables rotate by it, so it cannot change",
		}},
		{
			"outside the key", declaring[visit](tables.Table{Name: "visits", PartKey: []string{"id"}, Rotate: tables.Day("at")}),
			[]string{
				"table visits: column at: tables rotate by it, and it is not in the key of this one, so no query could say in " +
					"which tables its rows are: " +
					"add it to PartKey or SortKey",
			},
		},
		{"derived in the key", declaring[visit](tables.Table{
			Name: "visits", PartKey: []string{"day"},
			SortKey: []string{"id"}, Rotate: tables.Month("at"),
		},
			tables.Derive("day", tables.Day("at"))), []string{
			"table visits: column at: tables rotate by it, and it is not in the key of this one, so no query could say in " +
				"which tables its rows are: " +
				"add it to PartKey or SortKey",
		}},
		{"long name", declaring[visit](tables.Table{
			Name: "visits_of_all_the_museums_in_the_city_of_vienna", PartKey: []string{"id"}, SortKey: []string{"at"},
			Rotate: tables.Month("at"),
		}), []string{"table visits_of_all_the_museums_in_the_city_of_vienna: Rotate: with the bucket behind it the name is " +
			"too long: " +
			"a table's has at most 48 characters"}},
	})
}

// A row of a rotating table is written to, deleted from and selected from the table of its time.
func TestRotatedRows(t *testing.T) {
	t.Parallel()
	type row struct {
		ID int32
		At time.Time
	}
	set := tables.Must(tables.New[row]("row",
		tables.Table{Name: "rows", PartKey: []string{"id"}, SortKey: []string{"at"}, Rotate: tables.Month("at")}))
	for at, want := range map[time.Time]string{
		time.Date(2024, 1, 31, 23, 59, 59, 0, time.UTC): "rows_2024_01",
		time.Date(2024, 2, 1, 0, 0, 0, 0, time.UTC):     "rows_2024_02",
		time.Date(1969, 12, 31, 0, 0, 0, 0, time.UTC):   "rows_1969_12",
	} {
		r := row{1, at}
		for _, c := range []tables.Change{set.Insert(r), set.Update(r, r), set.Delete(r)} {
			rendered, err := c.Internal().Render(1000, func(string) string { return "shop" })
			if err != nil {
				t.Fatal(err)
			}
			if m := rendered.Mutations; len(m) != 1 || m[0].Table != want {
				t.Errorf("%v: %v, want %s", c, m, want)
			}
		}
		name, stmt, key, err := set.Internal().SelectRow("shop", r)
		if err != nil || stmt != "SELECT id,at FROM shop."+want+" WHERE id=? AND at=?" || name != want ||
			len(key) != 2 {
			t.Errorf("%s, %s, %v, %v", name, stmt, key, err)
		}
	}
	if _, err := set.Insert(row{1, time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC)}).Internal().Render(1, nil); err == nil {
		t.Error("a table of the year 10000: want a refusal")
	}
	if _, _, _, err := set.Internal().SelectRow("", row{1, time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC)}); err == nil {
		t.Error("a table of the year 10000: want a refusal")
	}
}

// What a set says of its buckets.
func TestDescribeBuckets(t *testing.T) {
	t.Parallel()
	type row struct {
		ID   int32
		At   time.Time
		Room string
	}
	set := tables.Must(tables.New[row]("row",
		tables.Table{Name: "rows", PartKey: []string{"id"}},
		tables.Table{
			Name: "by_room", PartKey: []string{"room", "day", "slot"}, SortKey: []string{"at", "id"},
			Rotate: tables.Month("at"),
		},
		tables.Derive("day", tables.Day("at")), tables.Derive("slot", tables.Hash(4, "room"),
			tables.Since{Bucket: tables.Hash(8, "room")}),
		tables.Type("day", "date"), tables.SingleWriter("room")))
	d := describe.Of(set.Internal())
	if d.Tables[0].Rotation != nil || len(d.Tables[0].Columns) != 3 {
		t.Errorf("%+v", d.Tables[0])
	}
	if r := d.Tables[1].Rotation; r == nil || r.String() != "month(at)" {
		t.Errorf("rotation %v", r)
	}
	day, slot := d.Tables[1].Columns[1], d.Tables[1].Columns[2]
	if want := (describe.Column{
		Name: "day", Type: "date", Kind: "partition_key", Position: 1,
		Derived: "day(at)",
	}); day != want {
		t.Errorf("%+v, want %+v", day, want)
	}
	if want := (describe.Column{
		Name: "slot", Type: "int", Kind: "partition_key", Position: 2, Changes: true, Derived: "hash(8, room)", Buckets: 8,
	}); slot != want {
		t.Errorf("%+v, want %+v", slot, want)
	}
}
